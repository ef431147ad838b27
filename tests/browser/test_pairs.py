"""Pairs and comparisons: one slider, one zoom for both pictures, what differs, ties, and references of another size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.visits import Visit, tab_to

BOXES = """all => all.map((one) => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return [x, y, width, height];
})"""


KEPT = """() => new Promise((resolve) => {
  const opening = indexedDB.open('agenticiqa.form', 1);
  opening.onsuccess = () => {
    const asked = opening.result.transaction('files').objectStore('files').get('form');
    asked.onsuccess = () => {
      opening.result.close();
      resolve(Boolean(asked.result?.reference) && asked.result.files.length === 3);
    };
  };
})"""


def boxes(page: Page) -> list[list[float]]:
    """Where the two pictures of a pair lie."""
    found: list[list[float]] = page.locator(".sheet img").evaluate_all(BOXES)
    return found


@pytest.fixture
def pair(visitor: Visit, pictures: dict[str, Path]) -> Visit:
    """A picture with its reference, under the slider."""
    visitor.ask(pictures["gaussian_blur"], reference=pictures["clean"])
    visitor.result()
    expect(visitor.page.get_by_role("button", name="Map", exact=True)).to_be_visible()
    visitor.page.get_by_role("button", name="Before / after").click()
    return visitor


def test_both_pictures_zoom_and_move_together(pair: Visit) -> None:
    page = pair.page
    tab_to(page, ".stage")

    page.keyboard.press("1")
    expect(page.get_by_label("Zoom, 100 %")).to_have_text("100 %")
    for _ in range(3):
        page.keyboard.press("+")
    zoomed = boxes(page)
    page.keyboard.press("Shift+ArrowRight")
    moved = boxes(page)

    assert zoomed[0] == zoomed[1]
    assert moved[0] == moved[1]
    assert moved[0][0] < zoomed[0][0]
    # 256 pixels wide, enlarged 1.5 times three times.
    assert zoomed[0][2] == pytest.approx(256 * 1.5**3, rel=0.01)


def test_a_zoomed_pair_is_dragged_beside_the_divider_and_divided_at_it(pair: Visit) -> None:
    page = pair.page
    for _ in range(4):
        page.get_by_role("button", name="Zoom in").click()
    stage = page.locator(".stage").bounding_box()
    assert stage is not None
    middle = (stage["x"] + stage["width"] / 2, stage["y"] + stage["height"] / 2)
    share = page.locator(".divider").evaluate("one => one.style.left")

    before = boxes(page)
    drag(page, (middle[0] + 100, middle[1]), -60)
    moved = boxes(page)
    kept = page.locator(".divider").evaluate("one => one.style.left")
    divider = page.locator(".divider").bounding_box()
    assert divider is not None
    drag(page, (divider["x"], middle[1]), 40)

    assert moved[0][0] == pytest.approx(before[0][0] - 60, abs=1)
    assert kept == share
    assert page.locator(".divider").evaluate("one => one.style.left") != share
    assert boxes(page)[0] == moved[0]


def drag(page: Page, start: tuple[float, float], by: float) -> None:
    """Drags sideways with the mouse."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + by / 2, start[1])
    page.mouse.move(start[0] + by, start[1])
    page.mouse.up()


def test_a_large_photograph_is_shown_pixel_by_pixel(visitor: Visit, pictures: dict[str, Path], tmp_path: Path) -> None:
    page = visitor.page
    with Image.open(pictures["clean"]) as picture:
        picture.resize((2048, 1536)).convert("RGB").save(tmp_path / "large.jpg")
    visitor.ask(tmp_path / "large.jpg")
    visitor.result()
    expect(page.get_by_role("button", name="Map", exact=True)).to_be_visible()
    preview = page.locator("img.base").evaluate("one => one.naturalWidth")

    page.get_by_role("button", name="Show every pixel").click()

    expect(page.get_by_label("Zoom, 100 %")).to_have_text("100 %")
    page.wait_for_function("document.querySelector('img.base').naturalWidth === 2048")
    assert preview == 1600
    assert page.locator("img.base").evaluate("one => one.getBoundingClientRect().width") == pytest.approx(2048, abs=2)


def test_the_reference_is_scaled_at_the_press_of_a_button(
    visitor: Visit, pictures: dict[str, Path], tmp_path: Path
) -> None:
    page = visitor.page
    with Image.open(pictures["clean"]) as picture:
        picture.resize((512, 384)).save(tmp_path / "double.png")

    visitor.ask(pictures["gaussian_blur"], reference=tmp_path / "double.png")
    expect(page.get_by_role("alert").filter(has_text="differ in size")).to_be_visible()
    page.get_by_role("button", name="Scale the reference").click()
    visitor.result()

    expect(page.locator(".verdict")).to_contain_text("against double.png")
    assert visitor.faults == []


def test_any_two_of_a_comparison_lie_under_a_slider_with_what_differs(
    visitor: Visit, pictures: dict[str, Path]
) -> None:
    page = visitor.page
    visitor.ask(*pictures.values())
    visitor.result()
    expect(page.get_by_role("button", name="Compare the two chosen")).to_be_disabled()

    for place in (0, 2):
        page.locator(".rank .tile-choose input").nth(place).check()
    page.get_by_role("button", name="Compare the two chosen").click()

    expect(page.get_by_text("They differ by")).to_be_visible()
    expect(page.locator(".beside-scores h3").first).to_have_text("clean.png")
    page.get_by_role("button", name="Map", exact=True).click()
    page.locator(".stage").hover()
    expect(page.locator(".map-readout")).to_contain_text("%")
    page.get_by_role("button", name="← All images").click()
    expect(page.locator(".rank")).to_have_count(3)
    assert visitor.troubles == []


def test_ties_are_shown_as_ties(visitor: Visit) -> None:
    entries = [{"name": name, "rank": place} for place, name in enumerate("abcd", 1)]
    level = {("a", "b"), ("c", "d")}
    pairs = [
        {"first": one, "second": other, "verdict": "no clear difference" if (one, other) in level else "better"}
        for one in "abcd"
        for other in "abcd"
        if one < other
    ]
    read = "async ranking => (await import('/static/ranking.js')).placesOf(ranking)"

    found: Any = visitor.page.evaluate(read, {"entries": entries, "pairs": pairs})

    assert found == ["=1", "=1", "=3", "=3"]


def test_an_object_has_its_name_and_score_on_its_box(visitor: Visit, pictures: dict[str, Path]) -> None:
    show = """async regions => {
      const { Viewer } = await import('/static/viewer.js');
      const viewer = new Viewer('cat.png', regions);
      const worst = { left: 0, top: 0, right: 9, bottom: 9 };
      viewer.setMap({ rows: 1, columns: 1, grid: [[3]], width: 100, height: 100, worst });
      document.querySelector('main').replaceChildren(viewer.element);
    }"""
    cat = {"left": 10, "top": 10, "right": 60, "bottom": 60, "score": 2.34}

    visitor.page.evaluate(show, {"cat": cat, "dog": None})

    expect(visitor.page.locator(".box span")).to_have_text(["worst region", "cat 2.3"])


def test_every_finding_says_what_to_do_and_nothing_is_said_twice(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    visitor.ask(pictures["white_noise"], question="What's wrong with this photo?")
    visitor.result()
    visitor.unfold()

    expect(page.locator(".finding", has_text="Noise").locator(".advice").first).to_contain_text("denoise")
    texts = page.locator("#stage :is(p, li, dd)").evaluate_all(
        "all => all.filter((one) => !one.querySelector('p, li, dd')).map((one) => one.textContent.trim())"
    )
    sentences = [words for words in texts if len(words) > 30]
    assert len(sentences) == len(set(sentences))
    assert not any("evidence:" in words for words in texts)
    rows = page.locator("table.tools tbody tr").all_inner_texts()
    assert len(rows) == len(set(rows))


def test_a_reload_keeps_the_form(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    page.set_input_files("#choose", list(pictures.values()))
    page.set_input_files("#choose-reference", pictures["clean"])
    page.fill("#question", "Which one is the sharpest?")
    page.check("[name=several][value=check]")
    page.wait_for_function(KEPT)

    page.reload()

    expect(page.locator("#tray .thumb")).to_have_text([path.name for path in pictures.values()])
    expect(page.locator("#reference-tray .thumb")).to_have_text("clean.png")
    expect(page.locator("#question")).to_have_value("Which one is the sharpest?")
    expect(page.locator("[name=several][value=check]")).to_be_checked()


def test_of_two_pictures_both_are_chosen_for_the_slider(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    visitor.ask(pictures["clean"], pictures["white_noise"])
    visitor.result()
    expect(page.locator(".said")).to_have_text("clean.png is the better one")

    page.get_by_role("button", name="Compare the two chosen").click()

    expect(page.get_by_text("They differ by")).to_be_visible()
