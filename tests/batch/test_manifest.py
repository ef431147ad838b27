"""Manifests: what is read from files and folders, and what is refused before anything is paid for."""

from __future__ import annotations

import csv
import json
import resource
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from agenticiqa.batch import Manifest, Sample, check_manifest, open_manifest
from agenticiqa.errors import ManifestError

FULL = {
    "sample_id": "one",
    "query": "Is it blurry?",
    "image_path": "pictures/a.png",
    "reference_path": "pictures/b.png",
    "choices": {"A": "Yes", "B": "No"},
    "answer": "A",
    "mos": 3.5,
    "metadata": {"split": "test"},
}


def lines(path: Path, *values: Any) -> Manifest:
    path.write_text("".join(f"{value if isinstance(value, str) else json.dumps(value)}\n" for value in values))
    return open_manifest(path)


def expected(folder: Path) -> Sample:
    paths = {name: str(folder / str(FULL[name])) for name in ("image_path", "reference_path")}
    return Sample(**{**FULL, **paths})  # type: ignore[arg-type]


def test_a_json_line_gives_every_field_and_paths_are_seen_from_the_manifest(tmp_path: Path) -> None:
    found = list(lines(tmp_path / "m.jsonl", "", FULL, {"image_path": "/c.png"}))

    assert found == [expected(tmp_path), Sample("/c.png", "/c.png")]
    assert [sample.line for sample in found] == [2, 3]


def test_a_folder_that_cannot_be_read_is_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a.png").touch()
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/b.png").touch()
    manifest = open_manifest(tmp_path)

    for _ in range(2):
        entries = iter(manifest)
        first = next(entries)
        # Gone between listing and opening: what opening it raises is what a forbidden folder raises.
        shutil.rmtree(tmp_path / "inner")
        rest = list(entries)
        (tmp_path / "inner").mkdir()

    assert (first.sample_id, rest) == ("a.png", [])
    assert [record.message for record in caplog.records] == [
        f"{tmp_path / 'inner'}: cannot be read (No such file or directory); images in it are left out"
    ]


def test_a_csv_row_gives_the_same_sample_as_a_json_line(tmp_path: Path) -> None:
    row = {**FULL, "choices": json.dumps(FULL["choices"])}
    row["metadata.split"] = "test"
    del row["metadata"]
    with open(tmp_path / "m.csv", "w", encoding="utf-8-sig", newline="") as file:
        table = csv.DictWriter(file, row)
        table.writeheader()
        table.writerow(row)

    assert list(open_manifest(tmp_path / "m.csv")) == [expected(tmp_path)]


def test_a_parquet_row_gives_the_same_sample_as_a_json_line(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([FULL]), tmp_path / "m.parquet")

    assert list(open_manifest(tmp_path / "m.parquet")) == [expected(tmp_path)]


@pytest.mark.parametrize("value", [float("nan"), b"raw", datetime(2024, 1, 1)])
def test_metadata_that_no_record_can_hold_refuses_the_manifest(tmp_path: Path, value: Any) -> None:
    row = {**FULL, "metadata": {"split": value}}
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row]), tmp_path / "m.parquet")

    with pytest.raises(ManifestError, match="metadata must be values that JSON can hold"):
        check_manifest(open_manifest(tmp_path / "m.parquet"))


def test_choices_of_a_table_may_be_parted_by_bars(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("image_path,choices\na.png,A. Yes | B. No\n")

    (found,) = open_manifest(tmp_path / "m.csv")

    assert found.choices == {"A": "Yes", "B": "No"}


def test_the_same_choice_twice_is_refused(tmp_path: Path) -> None:
    manifest = lines(tmp_path / "m.jsonl", {"image_path": "a", "choices": ["Yes", "yes "]})

    with pytest.raises(ManifestError, match="choices hold 'Yes' twice"):
        check_manifest(manifest)


def test_choices_given_as_a_list_get_letters(tmp_path: Path) -> None:
    (found,) = lines(tmp_path / "m.jsonl", {"image_path": "a", "choices": ["Yes", "No"]})

    assert found.choices == {"A": "Yes", "B": "No"}


def test_a_folder_gives_its_images_in_order_named_by_their_place(tmp_path: Path) -> None:
    for name in ("b.JPG", "a.png", "deep/c.webp", "notes.txt", ".hidden.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    assert [sample.sample_id for sample in open_manifest(tmp_path)] == ["a.png", "b.JPG", "deep/c.webp"]
    assert next(iter(open_manifest(tmp_path))).image_path == str(tmp_path / "a.png")


def test_a_pattern_and_several_images_give_their_files(tmp_path: Path) -> None:
    for name in ("b.png", "a.png", "c.jpg"):
        (tmp_path / name).touch()
    both = [str(tmp_path / "a.png"), str(tmp_path / "b.png")]

    assert [sample.image_path for sample in open_manifest(str(tmp_path / "*.png"))] == both
    assert [sample.image_path for sample in open_manifest(both)] == both


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            {"image_path": "a", "refrence_path": "b"},
            "line 2: unknown field 'refrence_path'; did you mean reference_path",
        ),
        ({"image_path": "a", "split": "x"}, "line 2: unknown field 'split'; put values of your own under metadata"),
        ({"sample_id": "x"}, "line 2: image_path is missing"),
        ({"image_path": 7}, "line 2: image_path must be text, not 7"),
        ({"image_path": "a", "mos": "high"}, "line 2: mos must be a number"),
        ('{"image_path": "a", "mos": NaN}', "line 2: is not JSON"),
        ({"image_path": "a", "choices": "A or B"}, "line 2: choices must be texts by letter"),
        ({"image_path": "a", "sample_id": " "}, "line 2: sample_id is blank"),
        ('{"image_path": "a"', "line 2: is not JSON"),
        ('["a"]', "line 2: is no JSON object"),
        ('{"image_path": "a", "image_path": "b"}', "line 2: is not JSON .a name stands there twice"),
        ({"image_path": "first.png"}, "line 2: the sample_id 'first.png' was used before"),
    ],
)
def test_a_line_that_is_wrong_refuses_the_manifest_and_is_named(tmp_path: Path, line: Any, message: str) -> None:
    manifest = lines(tmp_path / "m.jsonl", {"image_path": "first.png"}, line)

    with pytest.raises(ManifestError, match=message):
        check_manifest(manifest)


def test_many_wrong_lines_are_named_ten_at_most(tmp_path: Path) -> None:
    manifest = lines(tmp_path / "m.jsonl", *["{"] * 50)

    with pytest.raises(ManifestError) as caught:
        check_manifest(manifest)

    assert str(caught.value).count("\n") == 11


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.csv", b"image_path,mos\na.png\n", "line 2: has 1 cells, the header 2"),
        ("m.csv", b'image_path\n"a.png\n', "cannot be read as CSV"),
        ("m.csv", b"image_path\n\xff\xfe\n", "cannot be read as CSV"),
        ("m.csv", b"image_path,choices\na.png,{A\n", "line 2: choices must be JSON"),
        ("m.csv", b"image_path\n", "holds no samples"),
        ("m.jsonl", b"", "holds no samples"),
        ("m.jsonl", b"\xff\xfe\n", "line 1: is not JSON"),
        ("m.parquet", b"PAR1 but not really", "cannot be read as Parquet"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(ManifestError, match=message):
        check_manifest(open_manifest(tmp_path / name))


def test_a_missing_image_is_counted_and_its_line_named(tmp_path: Path) -> None:
    (tmp_path / "a.png").touch()

    check = check_manifest(lines(tmp_path / "m.jsonl", {"image_path": "a.png"}, {"image_path": "b.png"}))

    assert (check.samples, check.missing) == (2, 1)
    assert check.first_missing == f"line 2: {tmp_path / 'b.png'}"


@pytest.mark.slow
def test_a_million_lines_are_read_without_holding_them(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with open(path, "w") as file:
        for number in range(1_000_000):
            file.write(f'{{"sample_id": "sample {number:>60}", "image_path": "/", "query": "Is it sharp?"}}\n')
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    check = check_manifest(open_manifest(path))

    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert check.samples == 1_000_000
    # Sixteen bytes per id, as Python holds them: a set entry and a bytes object.
    assert grown < 200_000
