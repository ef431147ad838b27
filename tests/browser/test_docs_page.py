"""The description of the interface at /docs: complete, from this service alone, and fit to try a route."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.visits import Visit, all_faults
from tests.server.running import RunningService


@pytest.fixture
def docs(visitor: Visit) -> Visit:
    """The page, open."""
    visitor.page.goto(f"{visitor.address}/docs")
    expect(visitor.page.locator(".route").first).to_be_visible()
    return visitor


def test_every_route_is_described_and_nothing_comes_from_elsewhere(docs: Visit, page_service: RunningService) -> None:
    with page_service.client() as client:
        paths: dict[str, Any] = client.get("/v1/openapi.json").json()["paths"]

    expect(docs.page.locator(".route")).to_have_count(sum(len(operations) for operations in paths.values()))
    docs.page.fill("#docs-find", "/v1/compare")
    expect(docs.page.locator(".route:visible")).to_have_count(1)
    docs.page.locator(".route:visible summary").click()
    expect(docs.page.locator(".route:visible")).to_contain_text("-F images=@first.png -F images=@second.png")
    outside = [url for url in docs.requests if not url.startswith((docs.address, "blob:", "data:"))]
    assert outside == []
    assert docs.troubles == []


def test_a_route_can_be_tried(docs: Visit, pictures: dict[str, Path]) -> None:
    page = docs.page
    card = page.locator("#assess")
    card.locator("summary").click()

    card.get_by_label("image", exact=True).set_input_files(pictures["white_noise"])
    card.get_by_label("query").fill("Is it noisy?")
    card.get_by_role("button", name="Send").click()

    expect(card.get_by_role("status")).to_contain_text("200")
    expect(card.get_by_role("status")).to_contain_text('"status": "finished"')


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_nothing(browser: Browser, page_service: RunningService, scheme: Any, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{page_service.address}/docs")
    page.locator("#assess summary").click()
    expect(page.locator("#assess table").first).to_be_visible()

    faults = all_faults(page)
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    context.close()

    assert faults == []
    assert overflow <= 0
