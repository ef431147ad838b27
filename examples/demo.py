"""Photographs as they come out of cameras, an object, a pair and a folder, judged offline.

    python examples/demo.py [FOLDER]

Writes the pictures, one JSON record each, report.html and the folder's audit to FOLDER (default: demo) and prints what
was found. `examples/photographs/NOTICE` says whose the photographs are and which went through a simulated camera.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from agenticiqa import Assessment, Assessor
from agenticiqa.assessor.regions import draw_regions
from agenticiqa.audit import audit
from agenticiqa.audit.gallery import gallery_page
from agenticiqa.images import load_image
from agenticiqa.outputs import write_whole
from agenticiqa.report.page import write_report
from agenticiqa.tools.synthetic.kinds import distort

PHOTOGRAPHS = Path(__file__).with_name("photographs")


@dataclass(frozen=True)
class Exhibit:
    """A photograph, what is asked about it and what a right answer says; with `damage` it is one of a pair."""

    photograph: str
    question: str
    expected: str
    damage: tuple[str, int] | None = None


EXHIBITS = (
    Exhibit("clock-moved", "Is it blurry?", "Yes"),
    Exhibit("coffee-too-dark", "What is wrong with this photo?", "underexposure"),
    Exhibit("astronaut-burnt-out", "Is it over-exposed?", "Yes"),
    Exhibit("motorcycle-noisy", "Which is worse? A. Noise B. Blur C. Compression D. None", "A"),
    Exhibit("coffee-fine", "Rate the perceptual quality of this image.", "A or B"),
    Exhibit("cat-out-of-focus", "Is the cat blurry?", "Yes"),
    Exhibit("coffee-too-dark", "这张照片太暗了吗？", "是"),
    Exhibit("coffee-fine", "Is this image as good as the reference?", "No", ("jpeg", 4)),
)


def main() -> int:
    """Judges every exhibit; the exit code counts the wrong answers."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path, nargs="?", default=Path("demo"))
    folder: Path = options.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    assessor = Assessor()
    wrong, records = 0, []
    for number, exhibit in enumerate(EXHIBITS, 1):
        is_right, record = show(f"{number}-{exhibit.photograph}", exhibit, assessor, folder)
        wrong += not is_right
        records.append(record)
    write_report(records, folder / "report.html", title="Image quality: the demonstration")
    audit_folder(folder / "audit")
    sys.stdout.write(
        f"\n{len(EXHIBITS) - wrong} of {len(EXHIBITS)} right; pictures, records, report.html, audit: {folder}/\n"
    )
    return wrong


def show(name: str, exhibit: Exhibit, assessor: Assessor, folder: Path) -> tuple[bool, dict[str, Any]]:
    """Judges one exhibit, writes and prints it; whether the answer is the expected one, and the record."""
    original = load_image(PHOTOGRAPHS / f"{exhibit.photograph}.jpg").pixels
    picture = distort(original, *exhibit.damage) if exhibit.damage else original
    path = folder / f"{name}.png"
    Image.fromarray(picture).save(path)
    found = assessor.assess(path, exhibit.question, reference=original if exhibit.damage else None)
    (folder / f"{name}.json").write_text(found.to_json(), encoding="utf-8")
    if any(found.regions.values()):
        (folder / f"{name}-regions.png").write_bytes(draw_regions(load_image(path), found.regions))
    print_found(name, exhibit, found)
    is_right = any(part.strip().casefold() in found.answer.casefold() for part in exhibit.expected.split(" or "))
    return is_right, json.loads(found.to_json())


def print_found(name: str, exhibit: Exhibit, found: Assessment) -> None:
    """The question, the answer with its score and reasons, and where named things are."""
    score = "no score" if found.score is None else f"{found.score:.1f} of 5, {found.level_name}"
    sys.stdout.write(f"\n{name}: {exhibit.question}\n  {found.answer} ({score})\n  {found.reasoning}\n")
    for thing, region in found.regions.items():
        where = f"at {region.left},{region.top} to {region.right},{region.bottom}" if region else "not found"
        sys.stdout.write(f"  {thing}: {where} ({name}-regions.png)\n")


def audit_folder(output: Path) -> None:
    """Checks the folder of photographs for faults, as one would a data set, and writes its gallery."""
    result = audit(PHOTOGRAPHS, output)
    page = gallery_page(result, lambda row: load_image(row["path"]), "Audit of the demonstration's photographs")
    write_whole(output / "gallery.html", page)
    sys.stdout.write(f"\nThe folder of photographs, audited: {result}\n")


if __name__ == "__main__":
    raise SystemExit(main())
