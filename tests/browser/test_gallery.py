"""Folders in the browser: many images checked one by one, sorted, compared, exported and found again."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.visits import Visit
from tests.server.running import RunningService


@pytest.fixture
def folder(visitor: Visit, pictures: dict[str, Path]) -> Visit:
    """A folder of three images, checked."""
    visitor.page.set_input_files("#choose", list(pictures.values()))
    visitor.page.check("[name=several][value=check]")
    visitor.page.click("#go")
    expect(visitor.page.locator(".gallery-bar .doing")).to_have_text("3 of 3 checked")
    return visitor


def names(visit: Visit) -> list[str]:
    """The images shown, in order."""
    return visit.page.locator(".tile-slot:not([hidden]) .tile-name").all_inner_texts()


def test_every_image_is_judged_in_the_order_given(folder: Visit, pictures: dict[str, Path]) -> None:
    assert names(folder) == [path.name for path in pictures.values()]
    expect(folder.page.locator(".tile-slot .tile:not([disabled])")).to_have_count(3)
    assert folder.troubles == []


def test_a_folder_is_sorted_and_filtered_by_what_was_found(folder: Visit) -> None:
    given = names(folder)

    folder.page.get_by_label("Sort").select_option("worst")
    worst = names(folder)
    folder.page.get_by_label("Show").select_option("Noise")

    assert sorted(worst) == sorted(given)
    assert worst[-1] == "clean.png"
    assert "clean.png" not in names(folder)


def test_the_keyboard_walks_the_images_and_opens_one(folder: Visit) -> None:
    page = folder.page
    page.locator(".tile").first.focus()

    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")

    folder.result()
    page.get_by_role("button", name="← All images").click()
    expect(page.locator(".tile")).to_have_count(3)


def test_two_images_are_laid_under_one_slider(folder: Visit) -> None:
    page = folder.page
    for place in (0, 1):
        page.locator(".tile-choose input").nth(place).check()

    page.get_by_role("button", name="Compare the two chosen").click()

    expect(page.locator(".divider span").first).to_have_text("clean.png")
    page.locator(".stage").focus()
    before = page.locator(".divider").evaluate("one => one.style.left")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".divider").evaluate("one => one.style.left") != before


def test_the_table_holds_what_the_page_shows(folder: Visit) -> None:
    with folder.page.expect_download() as table:
        folder.page.get_by_role("button", name="Save as CSV").click()
    with folder.page.expect_download() as records:
        folder.page.get_by_role("button", name="Save as JSON").click()
    with folder.page.expect_download() as report:
        folder.page.get_by_role("button", name="Save one report").click()

    rows = list(csv.DictReader(table.value.path().read_text(encoding="utf-8").splitlines()))
    kept = json.loads(records.value.path().read_text(encoding="utf-8"))
    assert [row["image"] for row in rows] == names(folder) == [one["name"] for one in kept]
    assert all(1 <= float(row["score"]) <= 5 for row in rows)
    assert all(name in report.value.path().read_text(encoding="utf-8") for name in names(folder))


def test_a_reload_shows_the_folder_again(folder: Visit) -> None:
    folder.page.reload()

    expect(folder.page.locator(".gallery-bar .doing")).to_have_text("3 of 3 checked")
    folder.page.locator(".tile").first.click()
    folder.result()


def test_the_back_button_returns_to_the_folder(folder: Visit) -> None:
    folder.page.locator(".tile").first.click()
    folder.result()

    folder.page.go_back()

    expect(folder.page.locator(".tile")).to_have_count(3)


def test_what_is_no_picture_is_refused_before_it_is_sent(visitor: Visit, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("no picture")

    visitor.page.set_input_files("#choose", notes)

    expect(visitor.page.locator("#form-trouble")).to_contain_text("notes.txt")


def test_a_run_can_be_cancelled_while_it_works(visitor: Visit, pictures: dict[str, Path]) -> None:
    visitor.ask(pictures["white_noise"], question="Where is the noise strongest?")

    visitor.page.get_by_role("button", name="Cancel").click()

    expect(visitor.page.locator(".welcome")).to_be_visible()
    expect(visitor.page.locator(".working")).to_have_count(0)


def test_a_phone_shows_two_images_a_row_with_buttons_a_thumb_can_hit(
    browser: Browser, page_service: RunningService, pictures: dict[str, Path]
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    visit = Visit(context.new_page(), page_service.address)
    visit.listen()
    visit.open()
    visit.page.set_input_files("#choose", list(pictures.values()))
    visit.page.check("[name=several][value=check]")
    visit.page.click("#go")
    expect(visit.page.locator(".gallery-bar .doing")).to_have_text("3 of 3 checked")

    tops = visit.page.locator(".tile-slot").evaluate_all("all => all.map(one => one.getBoundingClientRect().top)")
    heights = visit.page.locator(".gallery button").evaluate_all("all => all.map(one => one.offsetHeight)")
    assert tops[0] == tops[1] < tops[2]
    assert min(height for height in heights if height) >= 40
    context.close()
