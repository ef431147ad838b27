"""Lists and pipes around `agenticiqa batch`, and copies paired with the originals of another folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from agenticiqa.batch import open_manifest
from agenticiqa.batch.manifest import pair_by_folder
from agenticiqa.batch.manifest_tables import BadLine
from agenticiqa.cli import app
from agenticiqa.errors import ImageAspectMismatchError
from agenticiqa.images import load_image
from agenticiqa.images.store import refuse_other_shape
from tests.support.agent import picture, script


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pictures").mkdir()
    for number in range(3):
        picture(tmp_path / "pictures", f"{number}.png", seed=number)
    replies = script(select_tools={"selected_tools": {}})
    replies["plan"]["plan"] |= {"tool_selection": False, "tool_execution": False}
    (tmp_path / "script.json").write_text(json.dumps(replies))
    return tmp_path


def command(folder: Path, *arguments: str) -> list[str]:
    backend = ["--backend", f"scripted.{folder / 'script.json'}", "-j", "1", "-q"]
    return [sys.executable, "-m", "agenticiqa", "batch", *arguments, *backend]


@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
def test_a_list_on_standard_input_becomes_lines_on_standard_output(folder: Path, output: str) -> None:
    listed = "# a comment\npictures/0.png\n\npictures/2.png\n"
    before = set(os.listdir("/dev"))

    done = subprocess.run(
        command(folder, "-", "-o", output), cwd=folder, input=listed, capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["sample_id"] for line in done.stdout.splitlines()] == ["pictures/0.png", "pictures/2.png"]
    assert "2 answered" in done.stderr
    assert {name for name in set(os.listdir("/dev")) - before if "stdout" in name} == set()


def test_a_reader_that_leaves_ends_the_run_in_words(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    done = subprocess.run(
        command(folder, "pictures", "-o", "-"),
        cwd=folder,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )

    os.close(writing)
    assert done.returncode == 2
    assert "the program that reads the records has ended" in done.stderr


def test_json_lines_on_standard_input_are_samples(folder: Path) -> None:
    listed = json.dumps({"image_path": "pictures/1.png", "sample_id": "one"})

    done = subprocess.run(
        command(folder, "-", "-o", "-"), cwd=folder, input=listed, capture_output=True, text=True, timeout=60
    )

    assert json.loads(done.stdout)["sample_id"] == "one"


def test_a_text_file_is_a_list_seen_from_its_folder_or_the_working_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "pictures" / "list.txt").write_text("0.png\npictures/1.png\n")
    monkeypatch.chdir(folder)

    paths = [sample.image_path for sample in open_manifest("pictures/list.txt")]

    assert paths == [str(folder / "pictures" / "0.png"), str(folder / "pictures" / "1.png")]


def test_a_table_beside_standard_output_is_refused() -> None:
    shown = CliRunner().invoke(app, ["batch", ".", "-o", "-", "--to", "csv"])

    assert shown.exit_code == 2
    assert "name one with -o" in shown.output


def test_copies_are_paired_by_relative_path_and_stem_over_formats(tmp_path: Path) -> None:
    for name in ("copies/a.webp", "copies/deep/b.jpg", "copies/c.png", "copies/d.jpg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in ("originals/a.png", "originals/deep/b.tiff", "originals/c.png", "originals/e.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "originals/c.jpg").touch()

    pairing = pair_by_folder(open_manifest(tmp_path / "copies"), tmp_path / "originals")

    found = {sample.sample_id: sample.reference_path for sample in pairing.manifest}
    originals = tmp_path / "originals"
    assert found["a.webp"] == str(originals / "a.png")
    assert found["deep/b.jpg"] == str(originals / "deep" / "b.tiff")
    assert found["c.png"] == str(originals / "c.png")
    assert pairing.without_original == ("d.jpg",)
    assert pairing.without_copy == ("c.jpg", "e.png")


def test_a_copy_that_fits_two_originals_is_a_wrong_line(tmp_path: Path) -> None:
    for name in ("copies/a.webp", "originals/a.png", "originals/a.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    (entry,) = pair_by_folder(open_manifest(tmp_path / "copies"), tmp_path / "originals").manifest.entries()

    assert isinstance(entry, BadLine)
    assert "fits a.jpg and a.png" in entry.problem


def test_a_copy_without_an_original_fails_and_is_listed(folder: Path) -> None:
    (folder / "originals").mkdir()
    for number in range(2):
        picture(folder / "originals", f"{number}.png", seed=number)

    done = subprocess.run(
        [part for part in command(folder, "pictures", "--references", "originals", "-o", "out.jsonl") if part != "-q"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 1
    assert "1 have no original in originals and fail: 2.png" in done.stderr
    assert "2 answered, 1 failed" in done.stdout


def test_a_reference_of_another_aspect_ratio_is_not_stretched(tmp_path: Path) -> None:
    test, other = load_image(picture(tmp_path, "a.png")), (200, 50)

    refuse_other_shape((99, 67), (200, 134))
    with pytest.raises(ImageAspectMismatchError, match="another aspect ratio"):
        refuse_other_shape(test.size, other)


@pytest.mark.parametrize("align", [[], ["--align", "resize"]])
def test_a_copy_of_another_aspect_ratio_is_a_file_to_change_and_no_scaling_is_advised(
    folder: Path, align: list[str]
) -> None:
    (folder / "originals").mkdir()
    for number in range(3):
        width, height = (96, 24) if number == 1 else load_image(folder / "pictures" / f"{number}.png").size
        Image.new("RGB", (width, height), (90, 120, 60)).save(folder / "originals" / f"{number}.png")

    done = subprocess.run(
        command(folder, "pictures", "--references", "originals", "-o", "out.jsonl", *align),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert "2 answered, 1 failed" in done.stdout
    assert f"{folder}/originals/1.png: test and reference differ in size" in done.stdout
    assert "another aspect ratio" in done.stdout
    assert "run the same command again" not in done.stdout
    assert "set align" not in done.stdout
