"""Folders in the browser: many images checked one by one, sorted, compared, exported and found again."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from tests.browser.visits import Visit, all_faults, tab_to, visiting
from tests.server.running import RunningService

SHOWN = ".tile-slot:not([hidden]) .tile-name"


@pytest.fixture
def folder(visitor: Visit, pictures: dict[str, Path]) -> Visit:
    """A folder of three images, checked."""
    check_each(visitor, list(pictures.values()))
    return visitor


def check_each(visit: Visit, images: list[Path]) -> None:
    """Has every image checked on its own, and waits until each has its result."""
    choose_to_check(visit, images)
    expect_checked(visit, len(images))


def choose_to_check(visit: Visit, images: list[Path]) -> None:
    """Chooses the images in a tab where "Check each one" was chosen before."""
    visit.page.evaluate("sessionStorage.setItem('agenticiqa.several', 'check')")
    visit.page.set_input_files("#choose", images)


def expect_checked(visit: Visit, count: int) -> None:
    """Waits until that many images have been judged; one that failed is shown with its reason."""
    expect(visit.page.locator(".gallery-bar .doing")).to_have_text(f"{count} of {count} checked")
    assert visit.page.locator(".tile-slot", has_text="failed").all_text_contents() == []
    expect(visit.page.locator(".tile:not([disabled])")).to_have_count(count)


def names(visit: Visit) -> list[str]:
    """The images shown, in order."""
    # Text as it stands in the document: a tile out of sight is not rendered and has no inner text.
    return visit.page.locator(SHOWN).all_text_contents()


def scores(visit: Visit) -> dict[str, float]:
    """The score of every image, by name."""
    words = visit.page.locator(".tile-score").all_text_contents()
    return dict(zip(names(visit), (float(one.split()[0]) for one in words), strict=True))


def test_every_image_is_judged_and_the_order_given_is_kept(folder: Visit, pictures: dict[str, Path]) -> None:
    folder.page.get_by_label("Sort").select_option("given")

    expect(folder.page.locator(SHOWN)).to_have_text([path.name for path in pictures.values()])
    assert folder.troubles == []


def test_a_folder_is_sorted_and_filtered_by_what_was_found(folder: Visit) -> None:
    page, found = folder.page, scores(folder)
    flawed = page.locator(".tile-slot", has=page.locator(".tile-flaw", has_text="Noise"))
    noisy = flawed.locator(".tile-name").all_text_contents()

    page.get_by_label("Sort").select_option("worst")
    expect(page.locator(SHOWN)).to_have_text(
        [name for _, name in sorted((score, name) for name, score in found.items())]
    )
    page.get_by_label("Sort").select_option("best")
    expect(page.locator(SHOWN).first).to_have_text("clean.png")
    page.get_by_label("Show").select_option("Noise")

    assert "white_noise.png" in noisy
    expect(page.locator(SHOWN).filter(has_text="clean.png")).to_have_count(0)
    expect(page.locator(SHOWN).filter(has_text="white_noise.png")).to_have_count(1)


def test_a_folder_on_the_service_is_checked_by_its_name(visitor: Visit, allowed: Path) -> None:
    page = visitor.page
    expect(page.locator("#folder-path")).to_have_value(str(allowed))

    page.fill("#folder-path", "/etc")
    page.click("#folder-go")
    expect(page.locator("#form-trouble")).to_contain_text("not an allowed folder")
    page.fill("#folder-path", str(allowed))
    page.press("#folder-path", "Enter")
    expect_checked(visitor, 2)

    expect(page.locator(SHOWN)).to_have_text(["second.png", "first.png"])
    page.wait_for_function("[...document.querySelectorAll('.tile img')].every((one) => one.naturalWidth > 0)")
    page.reload()
    expect_checked(visitor, 2)


def test_a_stopped_folder_goes_on(visitor: Visit, pictures: dict[str, Path], tmp_path: Path) -> None:
    page = visitor.page
    many = [tmp_path / f"{number:02d}.png" for number in range(8)]
    for number, path in enumerate(many):
        with Image.open(pictures["clean"]) as picture:
            picture.crop((number, 0, 200 + number, 150)).save(path)
    choose_to_check(visitor, many)
    expect(page.locator(".tile:not([disabled])").first).to_be_visible()

    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    assert page.locator(".tile:not([disabled])").count() < 8
    page.get_by_role("button", name="Go on").click()

    expect_checked(visitor, 8)
    page.get_by_label("Sort").select_option("given")
    expect(page.locator(SHOWN)).to_have_text([path.name for path in many])


def test_the_keyboard_alone_checks_walks_chooses_and_compares(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    with page.expect_file_chooser() as chooser:
        tab_to(page, "#choose")
        page.keyboard.press("Enter")
    chooser.value.set_files(list(pictures.values()))
    tab_to(page, "[name=several]")
    page.keyboard.press("ArrowDown")
    tab_to(page, "#go", backwards=True)
    page.keyboard.press("Enter")
    expect_checked(visitor, 3)

    tab_to(page, ".tile-choose input")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    tab_to(page, ".tile-choose input")
    page.keyboard.press("Space")
    tab_to(page, ".gallery .actions button:not([disabled])", backwards=True)
    expect(page.get_by_role("button", name="Compare the two chosen")).to_be_enabled()
    page.get_by_role("button", name="Compare the two chosen").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".divider span").first).to_be_visible()
    tab_to(page, ".result-head button", backwards=True)
    page.keyboard.press("Enter")
    expect(page.locator(".tile")).to_have_count(3)
    assert visitor.troubles == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_nothing_in_the_gallery(
    browser: Browser, page_service: RunningService, pictures: dict[str, Path], scheme: Any, width: int
) -> None:
    with visiting(browser, page_service.address, width, scheme) as visit:
        check_each(visit, list(pictures.values()))
        faults = all_faults(visit.page)
        for place in (0, 1):
            visit.page.locator(".tile-choose input").nth(place).check()
        visit.page.get_by_role("button", name="Compare the two chosen").click()
        expect(visit.page.get_by_text("“Map” shows where")).to_be_visible()
        faults += all_faults(visit.page)
        overflow = visit.page.evaluate("document.documentElement.scrollWidth - innerWidth")

    assert faults == []
    assert overflow <= 0


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
    page.get_by_label("Sort").select_option("given")
    for place in (0, 1):
        page.locator(".tile-choose input").nth(place).check()

    page.get_by_role("button", name="Compare the two chosen").click()

    expect(page.locator(".divider span").first).to_have_text("clean.png")
    page.locator(".stage").focus()
    before = page.locator(".divider").evaluate("one => one.style.left")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".divider").evaluate("one => one.style.left") != before
    expect(page.get_by_text("They differ by")).to_be_visible()
    page.get_by_role("button", name="Map", exact=True).click()
    assert float(page.locator("canvas.map").evaluate("one => one.style.opacity")) > 0


def test_the_table_holds_what_the_page_shows(folder: Visit) -> None:
    folder.page.get_by_label("Sort").select_option("given")
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
    words = report.value.path().read_text(encoding="utf-8")
    assert all(name in words for name in names(folder))
    assert all(len(one["sha256"]) == 64 and one["sha256"] in words for one in kept)
    assert "What to do" in words
    assert "denoise" in words


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
    with visiting(browser, page_service.address, 390, "dark") as visit:
        check_each(visit, list(pictures.values()))

        tops = visit.page.locator(".tile-slot").evaluate_all("all => all.map(one => one.getBoundingClientRect().top)")
        heights = visit.page.locator(".gallery button").evaluate_all("all => all.map(one => one.offsetHeight)")

    assert tops[0] == tops[1] < tops[2]
    assert min(height for height in heights if height) >= 40


def test_the_worst_come_first_and_one_key_decides_about_each(folder: Visit) -> None:
    page, found = folder.page, scores(folder)
    worst_first = [name for _, name in sorted((score, name) for name, score in found.items())]
    expect(page.locator(SHOWN)).to_have_text(worst_first)
    page.keyboard.press("r")
    # The first key only steps onto the images: nothing is decided about one that nobody looked at.
    expect(page.locator(".tile").first).to_be_focused()

    for key in ("r", "m", "k"):
        page.keyboard.press(key)
    pressed = page.locator(".decide[aria-pressed=true]").evaluate_all("all => all.map((one) => one.textContent)")
    page.keyboard.press("k")

    assert pressed == ["Reject", "Maybe", "Keep"]
    expect(page.locator(".decide[aria-pressed=true]")).to_have_text(["Reject", "Maybe"])
    page.get_by_label("Show").select_option("undecided")
    expect(page.locator(SHOWN)).to_have_text(worst_first[2:])
    page.locator(".tile-slot:not([hidden]) .decide.keep").click()
    expect(page.locator(SHOWN)).to_have_count(0)
    page.reload()
    expect(page.locator(".decide[aria-pressed=true]")).to_have_text(["Reject", "Maybe", "Keep"])
    assert folder.troubles == []


def test_what_was_decided_is_saved_as_a_list_of_files(visitor: Visit, allowed: Path) -> None:
    page = visitor.page
    page.fill("#folder-path", str(allowed))
    page.press("#folder-path", "Enter")
    expect_checked(visitor, 2)
    page.get_by_role("button", name="Keep first.png").click()
    page.get_by_role("button", name="Reject second.png").click()

    page.get_by_label("Show").select_option("keep")
    with page.expect_download() as kept:
        page.get_by_role("button", name="Save list of the 1 shown").click()

    assert kept.value.suggested_filename == "keep.txt"
    assert kept.value.path().read_text(encoding="utf-8") == f"{allowed / 'first.png'}\n"


def test_an_opened_image_is_decided_about_there(folder: Visit) -> None:
    page = folder.page
    page.locator(".tile").first.click()
    folder.result()

    page.locator(".result-head .decide.reject").click()

    expect(page.locator(".result-head .decide.reject")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="← All images").click()
    expect(page.locator(".tile-slot").first.locator(".decide.reject")).to_have_attribute("aria-pressed", "true")
