"""The audit: known faults are found, others are not invented, and an interrupted run is finished."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from agenticiqa.audit import ISSUES, Audit, AuditOptions, audit, judge
from agenticiqa.audit.auditing import write_table
from agenticiqa.audit.gallery import gallery_page
from agenticiqa.audit.issues import decide
from agenticiqa.audit.picture_measurements import grey_band, measure_picture, seen_flaws
from agenticiqa.cli import app
from agenticiqa.errors import UsageError
from agenticiqa.images import load_image
from agenticiqa.images.containers import stored_quality
from agenticiqa.values import Distortion
from tests.support.photos import photo, save

PHOTOGRAPHS = Path(__file__).parents[2] / "examples" / "photographs"
THREADS = AuditOptions(engine="threads", concurrency=1)


def photograph(name: str = "chelsea") -> Any:
    return np.ascontiguousarray(photo(name)[:300, :450])


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose file names say what is wrong with each picture."""
    folder = tmp_path_factory.mktemp("faults")
    sharp, other = photograph(), photograph("astronaut")
    rng = np.random.default_rng(0)
    pictures = {
        "fine": other,
        "blurry": cv2.GaussianBlur(sharp, (0, 0), 5),
        "dark": (photograph("motorcycle_left") * 0.1).astype(np.uint8),
        "light": np.clip(sharp.astype(np.float32) * 2.6 + 90, 0, 255).astype(np.uint8),
        "noisy": np.clip(photograph("coffee") + rng.normal(0, 40, photograph("coffee").shape), 0, 255).astype(np.uint8),
        "grayscale": cv2.cvtColor(cv2.cvtColor(photograph("rocket"), cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB),
        "odd_aspect_ratio": sharp[:40],
        "low_information": np.full((200, 300, 3), 140, np.uint8),
    }
    for name, pixels in pictures.items():
        save(folder / f"{name}.png", np.ascontiguousarray(pixels))
    save(folder / "original.png", sharp)
    save(folder / "near.jpg", cv2.resize(sharp, (360, 240), interpolation=cv2.INTER_AREA), quality=70)
    (folder / "exact.png").write_bytes((folder / "original.png").read_bytes())
    data = (folder / "near.jpg").read_bytes()
    (folder / "truncated.jpg").write_bytes(data[: len(data) // 2])
    (folder / "corrupt.png").write_bytes(b"no picture at all")
    banded = other.copy()
    banded[200:] = 128
    save(folder / "band.png", banded)
    return folder


@pytest.fixture(scope="module")
def result(faults: Path, tmp_path_factory: pytest.TempPathFactory) -> Audit:
    return audit(faults, tmp_path_factory.mktemp("out"), THREADS)


def test_the_summary_names_the_worst_pictures_of_each_issue(result: Audit) -> None:
    lines = str(result).splitlines()

    noisy = next(line for line in lines if line.startswith("  noisy"))
    exact = next(line for line in lines if line.startswith("  exact_duplicates"))
    assert "noisy.png" in noisy
    assert exact == "  exact_duplicates: 2 (exact.png, original.png)"


def test_an_empty_and_a_damaged_file_are_corrupt_and_half_a_file_is_truncated(tmp_path: Path) -> None:
    whole = save(tmp_path / "whole.png", photograph()).read_bytes()
    (tmp_path / "empty.png").touch()
    (tmp_path / "damaged.png").write_bytes(whole[:60] + bytes(len(whole) - 160) + whole[-100:])
    (tmp_path / "half.png").write_bytes(whole[: len(whole) // 2])

    result = audit(tmp_path, tmp_path / "out", THREADS, quick=True)

    assert flagged(result, "corrupt") == {"empty.png", "damaged.png"}
    assert flagged(result, "truncated") == {"half.png"}
    told = {row["name"]: row["error"] for row in result.rows}
    assert "is empty (0 bytes)" in told["empty.png"]
    assert "is damaged" in told["damaged.png"]


def test_the_help_names_every_issue() -> None:
    shown = " ".join(CliRunner().invoke(app, ["audit", "--help"]).output.split())

    assert f"Issues: {', '.join(issue.name for issue in ISSUES)}." in shown


def flagged(result: Audit, issue: str) -> set[str]:
    return {row["name"] for row in result.rows if row[f"is_{issue}_issue"]}


@pytest.mark.parametrize(
    "issue", ["blurry", "dark", "light", "noisy", "grayscale", "odd_aspect_ratio", "low_information", "corrupt"]
)
def test_a_known_fault_is_found(result: Audit, issue: str) -> None:
    assert any(name.startswith(issue) for name in flagged(result, issue))


def test_flaws_of_photographs_as_cameras_make_them_are_found(tmp_path: Path) -> None:
    found = audit(PHOTOGRAPHS, tmp_path / "out", THREADS)

    assert flagged(found, "blurry") == {"cat-out-of-focus.jpg", "clock-moved.jpg"}
    assert flagged(found, "dark") == {"coffee-too-dark.jpg"}
    assert flagged(found, "light") == {"astronaut-burnt-out.jpg"}
    assert flagged(found, "noisy") == {"motorcycle-noisy.jpg"}
    fine = next(row for row in found.rows if row["name"] == "coffee-fine.jpg")
    # coffee-too-dark.jpg is this photograph with less light.
    assert [name for name in found.issues if fine[f"is_{name}_issue"]] == ["near_duplicates"]
    assert fine["keep"]


def test_the_quick_audit_sees_light_and_sharpness_of_photographs_too(tmp_path: Path) -> None:
    found = audit(PHOTOGRAPHS, tmp_path / "out", THREADS, quick=True)

    assert flagged(found, "blurry") == {"cat-out-of-focus.jpg", "clock-moved.jpg"}
    assert flagged(found, "dark") == {"coffee-too-dark.jpg"}
    assert flagged(found, "light") == {"astronaut-burnt-out.jpg"}


def test_sound_pictures_are_left_alone(result: Audit) -> None:
    row = next(row for row in result.rows if row["name"] == "fine.png")

    assert [name for name in result.issues if row[f"is_{name}_issue"]] == []


def test_an_even_picture_and_one_of_many_pixels_are_not_called_blurry(result: Audit) -> None:
    large = cv2.resize(photograph(), None, fx=6, fy=6, interpolation=cv2.INTER_LANCZOS4)

    found = measure_picture(load_image(large), quick=True)

    assert "low_information.png" not in flagged(result, "blurry")
    assert (found["blur_radius"] or 0) < 1.5


def test_files_that_end_early_are_truncated_also_when_a_grey_band_stands_in(result: Audit) -> None:
    assert flagged(result, "truncated") == {"truncated.jpg", "band.png"}
    assert grey_band(np.full((50, 50, 3), 128, np.uint8)) == 0.0


def test_duplicates_are_grouped_with_the_best_one_to_keep(result: Audit) -> None:
    groups = {group.kind: group for group in result.groups}

    assert set(groups["exact"].members) == {"original.png", "exact.png"}
    assert "near.jpg" in groups["near"].members
    assert groups["near"].keep in ("original.png", "exact.png")


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A photograph with damaged, re-encoded and identical copies, and another one that is there twice."""
    folder = tmp_path_factory.mktemp("copies")
    sharp = photograph()
    noise = np.random.default_rng(0).normal(0, 35, sharp.shape)
    save(folder / "a-noisy.png", np.clip(sharp + noise, 0, 255).astype(np.uint8))
    save(folder / "b-soft.png", cv2.GaussianBlur(sharp, (0, 0), 2))
    save(folder / "c-the-original.png", sharp)
    save(folder / "d.png", sharp)
    save(folder / "e-coarse.jpg", sharp, quality=25)
    save(folder / "f-fair.jpg", sharp, quality=70)
    for name in ("g-other.png", "h-other.png"):
        save(folder / name, photograph("astronaut"))
    return folder


@pytest.mark.parametrize("quick", [False, True])
def test_the_least_flawed_copy_is_kept_and_one_for_each_group(copies: Path, tmp_path: Path, quick: bool) -> None:
    found = audit(copies, tmp_path / "out", THREADS, quick=quick)

    by_name = {row["name"]: row for row in found.rows}
    scene = [by_name[name] for name in sorted(by_name) if name[0] in "abcdef"]
    assert len({row["group"] for row in scene}) == 1
    assert [row["name"] for row in scene if row["keep"]] == ["d.png"]
    assert sum(by_name[name]["keep"] for name in ("g-other.png", "h-other.png")) == 1


def test_of_two_compressed_copies_the_better_one_is_kept(copies: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("e-coarse.jpg", "f-fair.jpg"):
        (tmp_path / "in" / name).write_bytes((copies / name).read_bytes())

    found = audit(tmp_path / "in", tmp_path / "out", THREADS)

    assert [group.keep for group in found.groups] == ["f-fair.jpg"]


def test_a_copy_that_lost_its_colour_is_not_the_one_to_keep(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    grey = cv2.cvtColor(cv2.cvtColor(photograph(), cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    save(tmp_path / "in" / "colour.jpg", cv2.addWeighted(grey, 0.8, photograph(), 0.2, 0), quality=70)
    save(tmp_path / "in" / "grey.png", grey)

    found = audit(tmp_path / "in", tmp_path / "out", THREADS, quick=True)

    assert [group.keep for group in found.groups] == ["colour.jpg"]


def test_the_recipe_of_the_how_to_keeps_one_of_each_scene(
    copies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (Path(__file__).parents[2] / "docs" / "how-to" / "clean-a-data-set.md").read_text(encoding="utf-8")
    recipe = text.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    write_table(audit(copies, "audit", THREADS), Path("audit/table.csv"), "csv")

    exec(recipe, {})

    kept = [Path(line).name for line in Path("kept.txt").read_text().splitlines()]
    assert [name[0] for name in kept] == ["d", "g"]


COPIES: dict[str, Callable[[Any], Any]] = {
    "mirrored": lambda pixels: pixels[:, ::-1],
    "turned left": lambda pixels: np.rot90(pixels),
    "upside down": lambda pixels: np.rot90(pixels, 2),
    "turned right and mirrored": lambda pixels: np.rot90(pixels, 3)[::-1],
    "brightened": lambda pixels: np.clip(pixels * 1.4 + 15, 0, 255).astype(np.uint8),
    "darkened": lambda pixels: (pixels * 0.5).astype(np.uint8),
    "half the size": lambda pixels: cv2.resize(pixels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA),
    "cut a little": lambda pixels: pixels[6:-9, 12:-8],
}


@pytest.mark.parametrize("quick", [False, True])
def test_turned_mirrored_and_brightened_copies_are_grouped_with_their_original_alone(
    tmp_path: Path, quick: bool
) -> None:
    originals = {name: photograph(name) for name in ("chelsea", "coffee", "rocket", "astronaut")}
    for name, pixels in originals.items():
        save(tmp_path / f"{name}.png", pixels)
        for kind, change in COPIES.items() if name == "chelsea" or quick else ():
            save(tmp_path / f"{name} {kind}.jpg", np.ascontiguousarray(change(pixels)), quality=85)

    result = audit(tmp_path, tmp_path / "out", THREADS, quick=quick)

    found = {frozenset(Path(member).stem.split()[0] for member in group.members) for group in result.groups}
    assert found == {frozenset({name}) for name in (originals if quick else ["chelsea"])}
    assert {len(group.members) for group in result.groups} == {1 + len(COPIES)}


@pytest.mark.parametrize("quick", [False, True])
def test_a_coarse_jpeg_is_compressed_and_grouped_with_its_original(tmp_path: Path, quick: bool) -> None:
    for name in ("coffee", "rocket"):
        save(tmp_path / f"{name}.png", photograph(name))
        save(tmp_path / f"{name}-coarse.jpg", photograph(name), quality=6)
        save(tmp_path / f"{name}-fine.jpg", photograph(name), quality=90)

    result = audit(tmp_path, tmp_path / "out", THREADS, quick=quick)

    assert flagged(result, "compressed") == {"coffee-coarse.jpg", "rocket-coarse.jpg"}
    assert [len(group.members) for group in result.groups] == [3, 3]
    assert {group.keep for group in result.groups} == {"coffee.png", "rocket.png"}


@pytest.mark.parametrize("quality", [1, 6, 20, 50, 75, 92, 100])
def test_the_quality_a_jpeg_was_written_with_is_read_from_its_table(tmp_path: Path, quality: int) -> None:
    data = save(tmp_path / "a.jpg", photograph(), quality=quality).read_bytes()

    assert stored_quality(data) == quality
    assert stored_quality(b"no picture") is None


def test_thresholds_can_be_set_and_unknown_issues_are_refused(faults: Path, result: Audit) -> None:
    records = Path(next(row["path"] for row in result.rows)).parent
    strict = audit(faults, records.parent / "strict", THREADS, quick=True, thresholds={"odd_aspect_ratio": 1.0})

    assert len(flagged(strict, "odd_aspect_ratio")) > 10
    assert "noisy" not in strict.issues
    with pytest.raises(UsageError, match="no issue named 'blury'"):
        audit(faults, records.parent / "never", thresholds={"blury": 0.5})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--issues", "blurry,blury"], "no issue named 'blury'; there are "),
        (["--threshold", "blurry=1.5"], "the threshold of blurry is 1.5; scores run from 0 (worst) to 1"),
        (["--threshold", "blurry=-1"], "the threshold of blurry is -1; scores run from 0 (worst) to 1"),
        (["--threshold", "blurry=high"], "write ISSUE=SCORE, for example blurry=0.5"),
    ],
)
def test_the_command_refuses_unknown_issues_and_thresholds_out_of_range_before_it_measures(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    (tmp_path / "in").mkdir()
    Image.new("RGB", (64, 64)).save(tmp_path / "in" / "a.png")

    shown = CliRunner().invoke(app, ["audit", str(tmp_path / "in"), "-o", str(tmp_path / "out"), *arguments])

    assert shown.exit_code == 2
    assert words in shown.stderr
    assert not (tmp_path / "out").exists()


def test_printing_an_audit_shows_the_counts(result: Audit) -> None:
    assert str(result).startswith(f"{len(result.rows)} pictures audited\n  ")
    assert repr(result).startswith("Audit(rows=[")


def test_columns_have_cleanvisions_names(result: Audit) -> None:
    theirs = ["blurry", "dark", "light", "low_information", "odd_aspect_ratio", "odd_size", "grayscale"]

    assert {f"is_{name}_issue" for name in [*theirs, "exact_duplicates", "near_duplicates"]} <= set(result.columns())
    assert {f"{name}_score" for name in theirs} <= set(result.columns())


def test_a_page_shows_the_worst_and_escapes_names(result: Audit, faults: Path) -> None:
    rows = [{**row, "name": f"<b>{row['name']}"} if row["name"] == "dark.png" else row for row in result.rows]
    shown = Audit(rows, result.groups, result.thresholds, result.issues)
    page = gallery_page(shown, lambda row: load_image(row["path"]))

    assert '<section id="dark">' in page
    assert "&lt;b&gt;dark.png" in page
    assert "<b>" not in page
    assert 'id="duplicates"' in page


def test_the_gallery_links_issues_to_their_pictures_and_says_why_one_cannot_be_shown(result: Audit) -> None:
    page = gallery_page(result, lambda row: load_image(row["path"]))

    assert '<a href="#blurry">blurry</a>' in page
    assert '<section id="blurry">' in page
    assert '<p class="missing">is not an image we can read' in page
    assert page.count("keep this one") == len(result.groups)


def test_a_zip_a_list_and_a_data_set_are_audited_like_a_folder(faults: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        for name in ("dark.png", "fine.png"):
            archive.write(faults / name, f"deep/{name}")

    class Pairs:
        """What torchvision gives: pictures with labels."""

        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> tuple[Any, int]:
            return Image.open(faults / ("dark.png", "fine.png")[index]), index

    rows = [{"image": Image.open(faults / "dark.png")}, {"image": Image.open(faults / "fine.png")}]
    sources = {
        "zip": (tmp_path / "set.zip", "deep/dark.png"),
        "list": ([str(faults / "dark.png"), str(faults / "fine.png")], str(faults / "dark.png")),
        "torchvision": (Pairs(), "0"),
        "datasets": (rows, "0"),
    }
    for name, (source, dark) in sources.items():
        found = audit(source, tmp_path / name, THREADS, quick=True)
        assert flagged(found, "dark") == {dark}, name


def test_directions_of_findings_are_kept_apart() -> None:
    findings = (
        Distortion("Brightness change", 0.9, 2.6, "brighten"),
        Distortion("Contrast", 0.9, 2.6, "contrast_up"),
        Distortion("Blurs", 0.9, 1.7),
    )

    seen = seen_flaws(findings, mean=0.2)

    assert (seen["light"], seen["dark"]) == (2.6, 0.0)
    assert seen["low_contrast"] == 0.0  # hard contrast is not flat
    assert seen["blurry"] == 1.7
    assert seen_flaws([replace(findings[0], kind=None)], mean=0.2)["dark"] == 2.6


def test_judging_again_measures_nothing(faults: Path, tmp_path: Path) -> None:
    audit(faults, tmp_path / "out", THREADS, quick=True)

    again = judge(tmp_path / "out" / "measurements.jsonl", {"dark": 0.0}, quick=True)

    assert flagged(again, "dark") == set()


def run_command(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "agenticiqa", "audit", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def test_the_command_writes_table_summary_and_gallery(faults: Path, tmp_path: Path) -> None:
    done = run_command(str(faults), "-o", str(tmp_path / "out"), "--quick", "-j", "1", "-q")
    shown, problems = done.communicate(timeout=120)

    assert done.returncode == 0, problems
    assert "14 pictures audited" in shown
    with open(tmp_path / "out" / "table.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == 14
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["issues"]["dark"] >= 1
    assert (tmp_path / "out" / "gallery.html").read_text().startswith("<!doctype html>")


def lines_of(path: Path) -> Iterator[str]:
    return iter(path.read_text().splitlines()) if path.exists() else iter(())


def test_a_killed_audit_is_finished_with_nothing_lost_or_doubled(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    for number in range(60):
        save(tmp_path / "set" / f"{number:03}.png", np.ascontiguousarray(photograph()[number : number + 200, :300]))
    records = tmp_path / "out" / "measurements.jsonl"
    running = run_command(str(tmp_path / "set"), "-o", str(tmp_path / "out"), "--quick", "-j", "1", "-q")
    deadline = time.monotonic() + 120
    while len(list(lines_of(records))) < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    kept = len(list(lines_of(records)))

    done = run_command(str(tmp_path / "set"), "-o", str(tmp_path / "out"), "--quick", "-j", "1", "-q")
    shown, problems = done.communicate(timeout=120)

    assert done.returncode == 0, problems
    assert kept >= 5
    names = [json.loads(line)["sample_id"] for line in lines_of(records)]
    assert sorted(names) == sorted(set(names)) == [f"{number:03}.png" for number in range(60)]
    assert "60 pictures audited" in shown


def test_two_folders_are_audited_together(tmp_path: Path) -> None:
    for folder in ("summer", "winter"):
        (tmp_path / folder).mkdir()
        save(tmp_path / folder / "one.png", photograph("astronaut" if folder == "summer" else "coffee"))

    inputs = [str(tmp_path / "summer"), str(tmp_path / "winter")]
    ran = CliRunner().invoke(app, ["audit", *inputs, "-o", str(tmp_path / "out"), "--quick", "--quiet"])

    assert ran.exit_code == 0
    with (tmp_path / "out" / "table.csv").open(encoding="utf-8") as table:
        names = [row["name"] for row in csv.DictReader(table)]
    assert sorted(names) == [f"{folder}/one.png" for folder in inputs]


def test_a_picture_named_beside_its_folder_is_audited_once(tmp_path: Path) -> None:
    file = save(tmp_path / "one.png", photograph())

    result = audit([str(tmp_path), str(file)], tmp_path / "out", replace(THREADS, quick=True))

    assert len(result.rows) == 1


def test_each_picture_is_kept_looked_at_again_or_rejected_with_reasons(result: Audit) -> None:
    found = {row["name"]: (row["decision"], row["reasons"]) for row in result.rows}

    assert found["fine.png"][0] == "keep"
    assert found["corrupt.png"] == ("reject", ["corrupt"])
    assert "a copy of exact.png" in found["near.jpg"][1]
    scene = [name for name in ("original.png", "exact.png", "near.jpg") if found[name][0] != "reject"]
    assert scene == ["exact.png"]


@pytest.mark.parametrize(
    ("scores", "decision"),
    [
        ({}, "keep"),
        ({"dark": 0.4}, "maybe"),
        ({"dark": 0.2}, "reject"),
        ({"grayscale": 0.0}, "maybe"),
        ({"truncated": 0.9}, "reject"),
    ],
)
def test_strong_flaws_reject_and_weak_ones_and_properties_ask_for_a_look(
    scores: dict[str, float], decision: str
) -> None:
    thresholds = {"dark": 0.5, "grayscale": 0.5, "truncated": 0.98}
    flags = {f"is_{name}_issue": scores.get(name, 1.0) < limit for name, limit in thresholds.items()}
    row: dict[str, Any] = {"group": None, **flags, **{f"{name}_score": scores.get(name, 1.0) for name in thresholds}}

    decide([row], thresholds)

    assert (row["decision"], row["reasons"]) == (decision, list(scores))


def test_keep_writes_a_list_of_paths_for_each_decision(faults: Path, tmp_path: Path) -> None:
    done = run_command(str(faults), "-o", str(tmp_path / "out"), "--quick", "-j", "1", "-q", "--keep")
    shown, problems = done.communicate(timeout=120)

    assert done.returncode == 0, problems
    lists = {name: (tmp_path / "out" / f"{name}.txt").read_text().splitlines() for name in ("keep", "maybe", "reject")}
    assert sum(map(len, lists.values())) == 14
    assert str(faults / "fine.png") in lists["keep"]
    assert f"  reject: {len(lists['reject'])} (" in shown


def test_the_files_fiftyone_imports_name_every_picture_where_it_is(result: Audit, faults: Path, tmp_path: Path) -> None:
    write_table(result, tmp_path / "data.json", "fiftyone")

    places, labels = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("data", "labels"))
    assert places == {row["name"]: str(faults / row["name"]) for row in result.rows}
    assert set(labels) == {"labels"}
    assert labels["labels"]["fine.png"] == ["keep"]
    assert labels["labels"]["corrupt.png"] == ["reject", "corrupt"]
