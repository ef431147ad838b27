"""The report in a real Chromium: no errors, no requests, and ten thousand records at hand."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from agenticiqa.report.page import single_page, write_report
from agenticiqa.state import LEVEL_LETTERS, LEVEL_NAMES
from tests.support.agent import picture
from tests.support.results import finding, reading, record

MANY = 10_000
HOSTILE = "<img src=x onerror=\"document.title='taken over'\"></script><script>document.title='taken over'</script>"


@dataclass
class Visit:
    """A page and everything that went wrong on it."""

    page: Page
    troubles: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    found = Visit(context.new_page())
    found.page.on("console", lambda message: found.troubles.append(f"{message.type}: {message.text}"))
    found.page.on("pageerror", lambda error: found.troubles.append(str(error)))
    found.page.on("request", lambda request: found.requests.append(request.url))
    yield found
    context.close()


def sample(number: int, chance: random.Random) -> dict[str, Any]:
    score = round(1 + 4 * chance.random(), 3)
    letter = LEVEL_LETTERS[4 - min(4, int(score - 0.5))]
    kinds = chance.sample(["Blurs", "Noise", "Compression", "Contrast"], chance.randint(0, 2))
    found = record(
        score=score,
        level=letter,
        level_name=LEVEL_NAMES[letter],
        distortions=[finding(kind, "severe") for kind in kinds],
        tools=[reading("ONE", score), reading("TWO", max(1.0, score - 0.5))],
        reasoning=f"Reason number {number}.",
    )
    if number == 4321:
        found |= {"reasoning": "A needle in the haystack.", "answer": HOSTILE}
    failed = number % 100 == 7
    error = "the service did not answer" if failed else None
    return {"sample_id": f"sample-{number:05d}", "assessment": None if failed else found, "error": error}


@pytest.fixture(scope="module")
def large_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    chance = random.Random(0)
    path = folder / "report.html"
    write_report([sample(number, chance) for number in range(MANY)], path)
    return path


def shown_ids(page: Page) -> list[str]:
    return page.locator("#visible button.row span:first-child").all_inner_texts()


def test_ten_thousand_records_open_without_errors_or_requests(visit: Visit, large_report: Path) -> None:
    visit.page.goto(large_report.as_uri())
    expect(visit.page.locator("#count")).to_have_text("10,000 of 10,000")

    assert visit.troubles == []
    assert [url for url in visit.requests if not url.startswith("data:")] == [large_report.as_uri()]
    assert visit.page.locator("#visible button.row").count() < 60


def test_search_finds_the_needle_and_its_words_stay_words(visit: Visit, large_report: Path) -> None:
    page = visit.page
    page.goto(large_report.as_uri())

    page.fill("#search", "NEEDLE in the hay")
    expect(page.locator("#count")).to_have_text("1 of 10,000")
    page.locator("#visible button.row").click()

    expect(page.locator("#detail h2")).to_have_text("sample-04321")
    expect(page.locator("#detail")).to_contain_text("onerror=")
    assert page.locator("#detail img").count() == 0
    assert page.title() == "Image quality"
    assert visit.troubles == []


def test_filters_agree_with_the_records(visit: Visit, large_report: Path) -> None:
    page = visit.page
    chance = random.Random(0)
    samples = [sample(number, chance) for number in range(MANY)]
    good = [s["assessment"] for s in samples if s["assessment"]]
    noisy = [a for a in good if a["level"] == "B" and "Noise" in {f["type"] for f in a["distortions"]}]
    page.goto(large_report.as_uri())

    page.select_option("#level", "B")
    page.select_option("#distortion", "Noise")
    expect(page.locator("#count")).to_have_text(f"{len(noisy):,} of 10,000")
    page.select_option("#level", "")
    page.select_option("#distortion", "")
    page.select_option("#state", "failed")

    expect(page.locator("#count")).to_have_text("100 of 10,000")


def test_columns_sort_both_ways_and_records_without_a_value_come_last(visit: Visit, large_report: Path) -> None:
    page = visit.page
    page.goto(large_report.as_uri())

    page.locator("#head button", has_text="Image").click()
    rising = shown_ids(page)
    page.locator("#head button", has_text="Image").click()
    falling = shown_ids(page)
    page.locator("#head button", has_text="Score").click()
    page.locator("#head button", has_text="Score").click()
    scores = [float(words) for words in page.locator("#visible button.row span:nth-child(2)").all_inner_texts()]

    assert rising[:2] == ["sample-00000", "sample-00001"]
    assert falling[:2] == ["sample-09999", "sample-09998"]
    assert scores == sorted(scores, reverse=True)


def test_scrolling_reaches_the_last_record(visit: Visit, large_report: Path) -> None:
    page = visit.page
    page.goto(large_report.as_uri())
    page.locator("#head button", has_text="Image").click()

    page.locator("#scroller").evaluate("element => { element.scrollTop = element.scrollHeight; }")

    expect(page.locator("#visible button.row span:first-child").last).to_have_text("sample-09999")


def test_a_card_opens_its_record_with_picture_and_map(visit: Visit, tmp_path: Path) -> None:
    records = [
        {
            "sample_id": name,
            "image_path": picture(tmp_path, f"{name}.png", (200, 120)),
            "assessment": record(score=score),
        }
        for name, score in (("bad", 1.5), ("middling", 3.0), ("good", 4.5))
    ]
    write_report(records, tmp_path / "report.html", shown=1)
    page = visit.page
    page.goto((tmp_path / "report.html").as_uri())

    expect(page.locator("#worst .card")).to_have_count(1)
    page.locator("#worst .card").click()

    expect(page.locator("#detail h2")).to_have_text("bad")
    widths = page.locator("#detail img").evaluate_all("images => images.map((image) => image.naturalWidth)")
    assert widths == [200, 200]
    expect(page.locator("#best .card .name")).to_have_text("4.50 · good")
    assert page.url.endswith("#0")
    assert visit.troubles == []


def test_one_assessment_is_shown_at_once(visit: Visit, tmp_path: Path) -> None:
    image = picture(tmp_path, size=(120, 80))
    path = tmp_path / "one.html"
    path.write_text(single_page(record(), image), encoding="utf-8")

    visit.page.goto(path.as_uri())

    expect(visit.page.locator("#detail .verdict")).to_contain_text("of 5")
    expect(visit.page.locator("#detail")).to_contain_text("Blurs")
    expect(visit.page.locator("#list")).to_be_hidden()
    assert visit.page.locator(".levels i").count() == 5
    assert visit.troubles == []


def test_what_is_read_first_has_no_words_of_the_trade_and_no_advice_twice(visit: Visit, tmp_path: Path) -> None:
    tools = [reading("NSS_REGRESSION", 4.5) | {"distortion": kind} for kind in ("Noise", "Contrast")]
    flat = [finding("Contrast", severity) | {"advice": "adjust contrast"} for severity in ("slight", "moderate")]
    flat.append(finding("Noise", "slight"))
    rated = {"answer": "C", "level": "C", "level_name": "Fair", "probability_source": "builtin"}
    found = record(**rated, distortions=flat, tools=tools, reasoning="NSS_REGRESSION and the embedded model disagree.")
    path = tmp_path / "one.html"
    path.write_text(single_page(found, None), encoding="utf-8")

    visit.page.goto(path.as_uri())

    seen = visit.page.locator("body").inner_text()
    assert not [word for word in ("NSS_REGRESSION", "builtin", "Global", "Answer: C", "SHA-256") if word in seen]
    assert seen.count("adjust contrast") == 1
    assert "as for Contrast" in seen
    visit.page.locator("summary").click()
    assert visit.page.locator("details td", has_text="NSS_REGRESSION").count() == 1
    assert visit.troubles == []


def test_a_rating_without_findings_says_so(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "one.html"
    fine = record(answer="A", level="A", level_name="Excellent", probability_source="builtin", distortions=[])
    path.write_text(single_page(fine, None), encoding="utf-8")

    visit.page.goto(path.as_uri())

    assert "No flaw was found." in visit.page.locator("body").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_in_light_and_in_dark(browser: Browser, large_report: Path, scheme: Any) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(large_report.as_uri())

    ink, paper = (
        _luminance(page.locator("body").evaluate(f"element => getComputedStyle(element).{name}"))
        for name in ("color", "backgroundColor")
    )
    context.close()

    contrast = (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05)
    assert contrast > 7
    assert (paper > ink) == (scheme == "light")


def test_a_narrow_screen_needs_no_sideways_scrolling(browser: Browser, large_report: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(large_report.as_uri())

    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


LINES_OF_TEXT = """elements => elements.map(element => {
  const range = document.createRange();
  range.selectNodeContents(element);
  return new Set([...range.getClientRects()].filter(box => box.width).map(box => Math.round(box.bottom / 8))).size;
})"""


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    yield context.new_page()
    context.close()


def small_report(folder: Path) -> Path:
    """Twelve results of a tool with a long name, with bars of several digits."""
    tools = [reading("NSS_REGRESSION", 1.34), reading("ANOTHER_TOOL", 2.0)]
    found = record(score=1.18, distortions=[finding("Brightness change", "extreme")], tools=tools)
    write_report(
        [{"sample_id": f"photograph-{n}", "assessment": found, "error": None} for n in range(12)], folder / "r.html"
    )
    return folder / "r.html"


def test_on_a_phone_no_word_or_number_of_a_table_is_broken(phone: Page, tmp_path: Path) -> None:
    phone.goto(small_report(tmp_path).as_uri())
    phone.locator("#visible button.row").first.click()
    phone.locator("#detail summary").click()

    cells = phone.locator(
        "td:not([data-name='What it looks like']):not([data-name='What to do']):not([data-name='Remarks']):visible"
    )
    assert cells.count() > 20
    assert set(cells.evaluate_all(LINES_OF_TEXT)) == {1}
    names = cells.evaluate_all("cells => cells.map(cell => getComputedStyle(cell, '::before').content)")
    assert {'"How severe"', '"Bias"', '"1 to 5"'} <= set(names)


def test_on_a_phone_charts_and_legend_can_be_read(phone: Page, tmp_path: Path) -> None:
    phone.goto(small_report(tmp_path).as_uri())

    heights = phone.locator(".overview svg text").evaluate_all(
        "texts => texts.map(text => text.getScreenCTM().d * parseFloat(getComputedStyle(text).fontSize))"
    )
    assert min(heights) > 10
    label, bar = (
        phone.locator(f".overview:nth-of-type(2) svg {kind}").first.bounding_box() for kind in ("text", "rect")
    )
    assert label is not None
    assert bar is not None
    assert label["x"] + label["width"] <= bar["x"]
    entries = [entry.bounding_box() for entry in phone.locator(".legend .entry:has(.key)").all()]
    # One line is 22.5 px high.
    assert [entry is not None and entry["height"] < 30 for entry in entries] == [True] * 5


def test_on_a_phone_the_list_shows_as_many_headings_as_columns(phone: Page, tmp_path: Path) -> None:
    phone.goto(small_report(tmp_path).as_uri())

    shown = phone.locator("#head button:visible").all_inner_texts()
    assert shown == ["Image", "Score ▲", "Level", "Distortions"]
    assert phone.locator("#visible button.row").first.locator("span:visible").count() == len(shown)


def test_the_box_on_a_small_map_is_explained_beside_it(visit: Visit, tmp_path: Path) -> None:
    page = tmp_path / "one.html"
    page.write_text(single_page(record(), picture(tmp_path)), encoding="utf-8")

    visit.page.goto(page.as_uri())

    expect(visit.page.locator("#detail")).to_contain_text("the box is the worst region")


def _luminance(colour: str) -> float:
    """Relative luminance as WCAG defines it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
