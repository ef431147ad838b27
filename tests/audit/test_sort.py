"""Sorting by a result: planned first, nothing written over, everything taken back, sidecars other programs read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from agenticiqa.audit import AuditOptions, audit
from agenticiqa.audit.auditing import write_summary
from agenticiqa.cli import app
from tests.support.photos import photo, save

THREADS = AuditOptions(engine="threads", concurrency=1, quick=True)
RDF, XMP = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}", "{http://ns.adobe.com/xap/1.0/}"


@pytest.fixture
def audited(tmp_path: Path) -> Path:
    """A folder of photographs, one fine, one dark, one there twice, and its audit beside it."""
    photos = tmp_path / "photos"
    (photos / "deep").mkdir(parents=True)
    save(photos / "fine.png", photo("astronaut"))
    save(photos / "dark.png", (photo("coffee") * 0.08).astype(np.uint8))
    save(photos / "deep" / "cat.png", photo("chelsea"))
    save(photos / "deep" / "mirrored cat.jpg", np.ascontiguousarray(photo("chelsea")[:, ::-1]), quality=85)
    write_summary(audit(photos, tmp_path / "audit", THREADS), tmp_path / "audit" / "summary.json")
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["sort", *map(str, arguments)])


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_without_yes_nothing_is_done(audited: Path) -> None:
    before = files(audited)

    shown = run(audited / "audit", "-o", audited / "sorted")

    assert shown.exit_code == 0, shown.output
    assert "Nothing was done. Add --yes to do it." in shown.output
    assert files(audited) == before


def test_copies_go_into_folders_by_decision_and_the_originals_stay(audited: Path) -> None:
    before = files(audited / "photos")

    shown = run(audited / "audit", "-o", audited / "sorted", "--yes")

    assert shown.exit_code == 0, shown.output
    sorted_files = set(files(audited / "sorted"))
    assert {"keep/fine.png", "keep/deep/cat.png", "reject/dark.png", "reject/deep/mirrored cat.jpg"} < sorted_files
    assert files(audited / "photos") == before


def test_a_second_run_copies_nothing_twice(audited: Path) -> None:
    run(audited / "audit", "-o", audited / "sorted", "--yes")
    before = files(audited / "sorted")

    shown = run(audited / "audit", "-o", audited / "sorted", "--yes")

    assert "Everything is there already." in shown.output
    assert files(audited / "sorted") == before


def test_a_file_in_the_way_stops_everything_before_anything_is_done(audited: Path) -> None:
    (audited / "sorted" / "keep").mkdir(parents=True)
    (audited / "sorted" / "keep" / "fine.png").write_bytes(b"somebody's own")
    before = files(audited)

    shown = run(audited / "audit", "-o", audited / "sorted", "--move", "--yes")

    assert shown.exit_code == 2
    assert "is there already" in shown.stderr
    assert files(audited) == before


def test_moved_pictures_go_back_to_where_they_were(audited: Path) -> None:
    before = files(audited / "photos")
    run(audited / "audit", "-o", audited / "sorted", "--move", "--yes", "--xmp", "darktable")
    assert files(audited / "photos") == {}

    shown = run(audited / "sorted" / "undo.jsonl", "--undo", "--yes")

    assert shown.exit_code == 0, shown.output
    assert files(audited / "photos") == before
    assert files(audited / "sorted") == {}


def test_without_yes_an_undo_only_says_what_it_would_take_back(audited: Path) -> None:
    run(audited / "audit", "-o", audited / "sorted", "--move", "--yes")
    (audited / "sorted" / "keep" / "fine.png").write_bytes(b"worked on")
    before = files(audited)

    shown = run(audited / "sorted" / "undo.jsonl", "--undo")

    assert "take back 3 files" in shown.output
    assert "Nothing was done. Add --yes to do it." in shown.output
    assert "was changed since" in shown.stderr
    assert files(audited) == before


def test_what_was_changed_since_is_not_taken_back(audited: Path) -> None:
    run(audited / "audit", "-o", audited / "sorted", "--yes")
    (audited / "sorted" / "keep" / "fine.png").write_bytes(b"worked on")

    shown = run(audited / "sorted" / "undo.jsonl", "--undo", "--yes")

    assert shown.exit_code == 1
    assert "was changed since" in shown.stderr
    assert set(files(audited / "sorted")) == {"keep/fine.png", "undo.jsonl"}


@pytest.mark.parametrize(("program", "name"), [("darktable", "dark.png.xmp"), ("lightroom", "dark.xmp")])
def test_a_sidecar_says_what_was_found_and_the_picture_stays_as_it_is(audited: Path, program: str, name: str) -> None:
    before = (audited / "photos" / "dark.png").read_bytes()

    shown = run(audited / "audit", "--xmp", program, "--yes")

    assert shown.exit_code == 0, shown.output
    described = ElementTree.parse(audited / "photos" / name).find(f".//{RDF}Description")
    assert described is not None
    assert (described.get(f"{XMP}Rating"), described.get(f"{XMP}Label")) == ("-1", "Red")
    assert "dark" in [item.text for item in described.iter(f"{RDF}li")]
    assert (audited / "photos" / "dark.png").read_bytes() == before


def test_a_sidecar_of_another_program_is_never_written_over(audited: Path) -> None:
    other = audited / "photos" / "fine.png.xmp"
    other.write_text("<edited/>")

    shown = run(audited / "audit", "--xmp", "digikam", "--yes")

    assert shown.exit_code == 2
    assert other.read_text() == "<edited/>"
    assert not (audited / "photos" / "dark.png.xmp").exists()


def batch_record(path: Path, level: str | None, name: str | None) -> dict[str, Any]:
    distortions = [{"type": "Noise", "severity": "severe"}, {"type": "Blurs", "severity": "slight"}]
    found = {
        "answer": "",
        "score": 4.9 if level else None,
        "level": level,
        "level_name": name,
        "distortions": distortions,
    }
    return {"sample_id": path.name, "image_path": str(path), "assessment": found, "error": None}


def test_a_batch_is_sorted_by_level_and_rated_with_stars(audited: Path) -> None:
    photos = audited / "photos"
    records = [batch_record(photos / "fine.png", "A", "Excellent"), batch_record(photos / "dark.png", None, None)]
    results = audited / "results.jsonl"
    results.write_text("".join(json.dumps(record) + "\n" for record in records))

    shown = run(results, "-o", audited / "sorted", "--xmp", "darktable", "--yes")

    assert shown.exit_code == 0, shown.output
    names = ["excellent/fine.png", "excellent/fine.png.xmp", "undo.jsonl", "without a score/dark.png"]
    assert sorted(files(audited / "sorted"))[:4] == names
    sidecar = (audited / "sorted" / "excellent" / "fine.png.xmp").read_text()
    assert 'xmp:Rating="5"' in sidecar
    assert "<rdf:li>noise</rdf:li></rdf:Bag>" in sidecar


def test_a_picture_that_is_gone_and_a_folder_without_an_audit_are_named(audited: Path) -> None:
    (audited / "photos" / "fine.png").unlink()

    gone, empty = run(audited / "audit", "-o", audited / "sorted"), run(audited / "photos", "-o", audited / "sorted")

    assert (gone.exit_code, empty.exit_code) == (2, 2)
    assert "is not there any more" in gone.stderr
    assert "holds no finished audit" in empty.stderr


def test_a_list_is_sorted_into_the_folder_of_its_name(audited: Path) -> None:
    listed = audited / "photos" / "reject.txt"
    listed.write_text(f"dark.png\n{audited / 'photos' / 'deep' / 'cat.png'}\n", encoding="utf-8")

    shown = run(listed, "-o", audited / "sorted", "--yes")

    assert shown.exit_code == 0, shown.output
    assert {"reject/dark.png", "reject/deep/cat.png"} <= set(files(audited / "sorted"))
    assert not (audited / "sorted" / "keep").exists()


def test_a_listed_picture_that_is_not_there_stops_the_sorting(audited: Path) -> None:
    (audited / "keep.txt").write_text("photos/fine.png\nphotos/gone.png\n", encoding="utf-8")

    shown = run(audited / "keep.txt", "-o", audited / "sorted", "--yes")

    assert shown.exit_code == 2
    assert "gone.png" in shown.output
    assert not (audited / "sorted").exists()
