"""The page as a visitor meets it: one large target, the answer first, a clean picture, and everything else folded."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.test_page import HAND_OVER
from tests.browser.visits import Visit, all_faults, visiting
from tests.server.running import RunningService

DESK, PHONE = (1280, 800), (390, 844)
# Words of the method and of its costs; a visitor meets them below the fold alone.
INNER = ("planner", "executor", "summarizer", "nss_", "model-only", "token", "embedded", "95 %")


@pytest.fixture(params=[(DESK, "light"), (DESK, "dark"), (PHONE, "light"), (PHONE, "dark")], ids=str)
def visit(request: pytest.FixtureRequest, browser: Browser, page_service: RunningService) -> Iterator[Visit]:
    """The page on a desk and in a hand, light and dark."""
    (width, height), scheme = request.param
    with visiting(browser, page_service.address, width, scheme, height) as found:
        yield found


def drop(page: Page, picture: Path, target: str = "#stage") -> None:
    """Drops a file on the page."""
    content = base64.b64encode(picture.read_bytes()).decode()
    page.evaluate(HAND_OVER, [target, "drop", picture.name, content])


def is_in_view(page: Page, found: Locator) -> bool:
    """Whether an element lies within the window."""
    box, window = found.bounding_box(), page.viewport_size
    assert box is not None
    assert window is not None
    return box["y"] >= 0 and box["y"] + box["height"] <= window["height"] and box["x"] + box["width"] <= window["width"]


def map_opacity(page: Page) -> float:
    """How strongly a map lies over the picture; 0 without one."""
    found: float = page.evaluate("Number(document.querySelector('canvas.map')?.style.opacity ?? 0)")
    return found


def test_a_dropped_picture_is_judged_at_once_and_the_answer_comes_first(
    visit: Visit, pictures: dict[str, Path]
) -> None:
    page = visit.page
    expect(page.locator(".zone h2")).to_be_visible()
    assert is_in_view(page, page.locator(".zone .primary"))

    drop(page, pictures["gaussian_blur"])
    visit.result()
    expect(page.locator(".where").first).to_be_visible()

    assert is_in_view(page, page.locator(".said"))
    assert is_in_view(page, page.locator(".certainty"))
    tops = [box["y"] for part in (".said", ".viewer", ".findings") if (box := page.locator(part).bounding_box())]
    assert tops == sorted(tops)
    assert map_opacity(page) == 0
    expect(page.locator(".box:visible")).to_have_count(0)
    expect(page.locator(".judged-parts")).to_be_hidden()
    told = page.locator("#stage").inner_text().lower()
    assert [word for word in INNER if word in told] == []
    assert all_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert visit.troubles == []


def test_assess_and_what_went_wrong_are_always_in_view(visit: Visit, pictures: dict[str, Path]) -> None:
    page = visit.page
    notes = pictures["clean"].parent / "notes.txt"
    notes.write_text("no picture", encoding="utf-8")

    page.set_input_files("#choose", notes)
    assert is_in_view(page, page.locator("#form-trouble"))
    drop(page, pictures["gaussian_blur"])
    visit.result()
    expect(page.locator("#form-trouble")).to_be_hidden()
    visit.unfold()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert is_in_view(page, page.locator("#go"))
    page.set_input_files("#choose", notes)

    assert is_in_view(page, page.locator("#form-trouble"))


def test_another_question_needs_no_new_choosing(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    drop(page, pictures["white_noise"])
    visitor.result()

    page.locator(".suggestion", has_text="Is it blurry?").first.click()

    expect(page.locator(".question")).to_have_text("Is it blurry?")
    expect(page.locator(".said")).to_contain_text("blur")
    expect(page.locator(".verdict")).to_contain_text("white_noise.png")
    assert visitor.troubles == []


def test_pointing_at_a_flaw_shows_where_it_is(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    visitor.ask(pictures["white_noise"])
    visitor.result()
    noise = page.locator(".finding", has_text="Noise").first
    where = noise.get_by_role("button", name="Show where")

    expect(where).to_be_visible()
    noise.hover()
    hovered = map_opacity(page)
    page.locator(".said").hover()
    left = map_opacity(page)
    where.focus()
    focused = map_opacity(page)
    where.blur()

    assert (hovered > 0, left, focused > 0, map_opacity(page)) == (True, 0, True, 0)
    expect(page.locator(".legend")).to_be_hidden()


def test_a_touch_shows_where_a_flaw_is_and_another_hides_it(
    browser: Browser, page_service: RunningService, pictures: dict[str, Path]
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    visit = Visit(context.new_page(), page_service.address)
    visit.open()
    visit.ask(pictures["white_noise"])
    visit.result()
    where = visit.page.locator(".finding", has_text="Noise").first.get_by_role("button", name="Show where")

    where.tap()
    expect(where).to_have_attribute("aria-pressed", "true")
    shown = map_opacity(visit.page)
    where.tap()
    expect(where).to_have_attribute("aria-pressed", "false")
    hidden = map_opacity(visit.page)
    context.close()

    assert (shown > 0, hidden) == (True, 0)


def test_the_worst_flaw_comes_first_with_what_to_do(visitor: Visit) -> None:
    read = "async record => (await import('/static/shown.js')).flawsOf(record)"
    kinds = [("Noise", "slight", "denoise"), ("Blurs", "extreme", "retake"), ("Contrast", "none", None)]
    kinds.append(("Compression", "moderate", "denoise"))
    findings = [{"object_name": "Global", "type": kind, "severity": how, "advice": what} for kind, how, what in kinds]

    found: list[dict[str, Any]] = visitor.page.evaluate(read, {"distortions": findings})

    assert [(flaw["kind"], flaw["advice"]) for flaw in found] == [
        ("Blurs", "retake"),
        ("Compression", None),
        ("Noise", "denoise"),
    ]


@pytest.mark.parametrize(
    ("shares", "words", "span"),
    [
        ([0.02, 0.1, 0.5, 0.36, 0.02], "Probably Fair or Good.", [2.5, 4.5]),
        ([0.9, 0.08, 0.02, 0, 0], "Almost surely Bad.", [1, 1.5]),
        ([0.25, 0.2, 0.3, 0.15, 0.1], "Probably between Bad and Good.", [1, 4.5]),
    ],
)
def test_certainty_is_one_statement_that_agrees_with_what_is_drawn(
    visitor: Visit, shares: list[float], words: str, span: list[float]
) -> None:
    read = "async record => (await import('/static/shown.js')).certaintyOf(record)"
    likely = dict(zip("EDCBA", shares, strict=True))
    level = max(likely, key=lambda letter: likely[letter])

    found = visitor.page.evaluate(read, {"level": level, "level_probabilities": likely})

    assert found == {"words": words, "span": span}


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ([2.6, 4.4], "Probably Fair or Good."),
        ([1.0, 1.4], "Almost surely Bad."),
        ([4.6, 5.0], "Almost surely Excellent."),
    ],
)
def test_the_levels_named_are_those_the_interval_touches(visitor: Visit, interval: list[float], words: str) -> None:
    read = "async record => (await import('/static/shown.js')).certaintyOf(record).words"

    assert visitor.page.evaluate(read, {"level": "C", "likely_interval": interval}) == words


def test_it_says_which_languages_a_question_may_be_in(visitor: Visit) -> None:
    expect(visitor.page.locator(".languages")).to_have_text(
        "Ask about it in English, Chinese, German, Spanish, French, Japanese or Portuguese."
    )


def test_deleting_lies_apart_from_the_other_buttons(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    visitor.ask(pictures["gaussian_blur"])
    visitor.result()
    said, tools, delete = (
        page.locator(part).bounding_box() for part in (".said", ".tools-row", "button:text('Delete this run')")
    )

    assert said is not None
    assert tools is not None
    assert delete is not None
    assert said["y"] < tools["y"] < delete["y"] - 100
    page.get_by_role("button", name="Delete this run").click()
    expect(page.locator(".zone")).to_be_visible()
    expect(page.locator("#recent li")).to_have_count(0)


def test_a_question_about_something_else_still_gets_the_score_and_what_was_found(
    visitor: Visit, pictures: dict[str, Path]
) -> None:
    page = visitor.page
    visitor.ask(pictures["white_noise"], question="Who is in this picture?")
    visitor.result()

    expect(page.locator(".said")).to_contain_text("the quality is")
    expect(page.locator(".remedy")).to_contain_text("Ask, for example")
    assert 1 <= float(page.locator(".verdict .big b").inner_text()) <= 5
    expect(page.locator(".finding-head b").first).to_have_text("Noise")
    assert "backend" not in page.locator("#stage").inner_text()
