"""The page for everybody: keyboard alone, screen readers, dark and light, a phone, and hostile words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, expect

from tests.browser.visits import Visit, all_faults, tab_to, visiting
from tests.server.running import RunningService

HOSTILE = "<img src=x onerror=\"document.title='taken over'\"><script>document.title='taken over'</script>"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_no_fault(
    browser: Browser, page_service: RunningService, pictures: dict[str, Path], scheme: Any, width: int
) -> None:
    with visiting(browser, page_service.address, width, scheme) as visit:
        expect(visit.page.locator(".example")).to_have_count(6)
        faults = all_faults(visit.page)

        visit.ask(pictures["gaussian_blur"], reference=pictures["clean"])
        visit.result()
        expect(visit.page.get_by_role("button", name="Before / after")).to_be_visible()
        visit.unfold()
        visit.page.locator(".claim button").first.click()
        faults += all_faults(visit.page)
        visit.page.get_by_role("button", name="Remove clean.png").click()
        visit.ask(pictures["gaussian_blur"], pictures["clean"], pictures["white_noise"])
        expect(visit.page.locator(".rank")).to_have_count(3)
        faults += all_faults(visit.page)

    assert faults == []


def test_the_keyboard_alone_can_do_it_all(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    with page.expect_file_chooser() as chooser:
        tab_to(page, "#choose-reference")
        page.keyboard.press("Enter")
    chooser.value.set_files(pictures["clean"])
    with page.expect_file_chooser() as chooser:
        tab_to(page, "#choose", backwards=True)
        page.keyboard.press("Enter")
    chooser.value.set_files(pictures["gaussian_blur"])
    visitor.result()
    tab_to(page, "#question", backwards=True)
    page.keyboard.type("Is it blurry?")
    page.keyboard.press("Enter")
    expect(page.locator(".question")).to_have_text("Is it blurry?")
    expect(page.get_by_role("button", name="Before / after")).to_be_visible()

    tab_to(page, ".stage")
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    assert "scale(1.5)" in page.locator(".sheet").evaluate("element => element.style.transform")
    tab_to(page, "[data-shows=comparing]")
    page.keyboard.press("Enter")
    tab_to(page, "input.divide")
    page.keyboard.press("ArrowRight")
    assert page.locator("img.before").evaluate("element => element.style.clipPath") == "inset(0px 49% 0px 0px)"
    tab_to(page, ".judged > summary")
    page.keyboard.press("Enter")
    tab_to(page, ".claim button")
    page.keyboard.press("Enter")
    expect(page.locator(".lit")).to_be_focused()
    tab_to(page, "#recent button")
    page.keyboard.press("Enter")
    visitor.result()
    tab_to(page, "#tray button", backwards=True)
    page.keyboard.press("Enter")
    expect(page.locator("#tray .thumb")).to_have_count(0)
    assert visitor.troubles == []


def test_words_of_a_stranger_stay_words(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    content = pictures["white_noise"].read_bytes()
    hostile = FilePayload(name=f"{HOSTILE.replace('/', '_')}.png", mimeType="image/png", buffer=content)

    page.fill("#question", f"Is it noisy? {HOSTILE}")
    page.set_input_files("#choose", hostile)
    visitor.result()
    page.reload()
    visitor.result()

    expect(page.locator(".question")).to_contain_text("onerror=")
    expect(page.locator("#recent b")).to_contain_text("onerror=")
    assert page.locator("img[src=x], #stage script").count() == 0
    assert page.title().startswith("AgenticIQA")
    assert visitor.troubles == []


def test_a_phone_needs_no_sideways_scrolling(
    browser: Browser, page_service: RunningService, pictures: dict[str, Path]
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    visit = Visit(context.new_page(), page_service.address)
    visit.open()
    widths = [visit.page.evaluate("document.documentElement.scrollWidth")]

    visit.ask(pictures["gaussian_blur"], reference=pictures["clean"])
    visit.result()
    expect(visit.page.get_by_role("button", name="Before / after")).to_be_visible()
    widths.append(visit.page.evaluate("document.documentElement.scrollWidth"))
    top = visit.page.locator(".said").bounding_box()
    context.close()

    assert widths == [390, 390]
    assert top is not None
    assert 58 <= top["y"] < 422


def test_a_chosen_theme_outlives_a_reload(visitor: Visit) -> None:
    page = visitor.page
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")

    page.select_option("#theme", "dark")
    page.reload()

    expect(page.locator("#theme")).to_have_value("dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
