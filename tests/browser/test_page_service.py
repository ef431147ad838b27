"""The page when the service goes away, is busy or asks for a token."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.visits import PATIENCE, Visit
from tests.server.running import RunningService, running_service

TOKEN = "correct-horse-battery-staple"
FRESH = {"fresh": "true"}


@pytest.fixture
def far_visit(browser: Browser) -> Iterator[Visit]:
    """A browser that has yet to be told an address."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    found = Visit(context.new_page(), "")
    found.listen()
    yield found
    context.close()


def test_a_run_goes_on_when_the_service_is_back(far_visit: Visit, pictures: dict[str, Path], tmp_path: Path) -> None:
    page = far_visit.page
    options = ("--workers", "1", "--grace", "0")
    with running_service(tmp_path, *options) as first:
        far_visit.address = first.address
        far_visit.open()
        far_visit.ask(pictures["gaussian_blur"], pictures["clean"], pictures["white_noise"])
        expect(page.locator("#recent li")).to_have_count(1)
        first.stop()

    expect(page.locator("#health")).to_have_attribute("data-status", "gone", timeout=PATIENCE)
    expect(page.locator(".doing")).to_contain_text("cannot be reached")
    port = far_visit.address.rpartition(":")[2]
    with running_service(tmp_path, *options, "--port", port):
        far_visit.result()

        expect(page.locator(".rank")).to_have_count(3)
        expect(page.locator("#health")).to_have_attribute("data-status", "ready", timeout=PATIENCE)
        assert far_visit.faults == []


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service with a token, one worker and room for one run that waits."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "token").write_text(TOKEN, encoding="utf-8")
    with running_service(folder, "--token-file", str(folder / "token"), "--workers", "1", "--queue", "1") as running:
        yield running


def test_a_token_is_asked_for_once_and_kept_for_the_tab(far_visit: Visit, guarded: RunningService) -> None:
    page = far_visit.page
    far_visit.address = guarded.address
    far_visit.open()

    expect(page.get_by_role("dialog")).to_be_visible()
    page.get_by_label("Token", exact=True).fill("wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#token-wrong")).to_be_visible()
    page.get_by_label("Token", exact=True).fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.locator(".example")).to_have_count(6)
    page.reload()

    expect(page.locator(".example")).to_have_count(6)
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert page.evaluate("localStorage.getItem('agenticiqa.token')") is None
    assert far_visit.faults == []


def test_a_full_queue_is_waited_for_and_said(
    far_visit: Visit, guarded: RunningService, pictures: dict[str, Path]
) -> None:
    page = far_visit.page
    page.add_init_script(f"sessionStorage.setItem('agenticiqa.token', '{TOKEN}')")
    far_visit.address = guarded.address
    far_visit.open()
    fill_queue(guarded, list(pictures.values()))

    far_visit.ask(pictures["gaussian_blur"])
    far_visit.result()

    assert any("The service is busy. Trying again" in line for line in far_visit.lines())
    assert far_visit.faults == []


def fill_queue(service: RunningService, images: list[Path]) -> None:
    """Keeps the worker busy with a comparison and fills the queue behind it."""
    many = [("images", (image.name, image.read_bytes(), "image/png")) for image in images * 2]
    one = {"image": (images[0].name, images[0].read_bytes(), "image/png")}
    with service.client(headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        client.post("/v1/compare?wait=false", files=many, data=FRESH).raise_for_status()
        statuses = [client.post("/v1/assess?wait=false", files=one, data=FRESH).status_code for _ in range(3)]
    assert statuses[-1] == 429
