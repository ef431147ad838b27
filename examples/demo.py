"""A blurred, a noisy, a compressed, a dark and a clean photograph, a pair and a multiple choice, judged offline.

    python examples/demo.py [FOLDER]

Writes the pictures, one JSON record each and report.html to FOLDER (default: demo) and prints what was found.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from agenticiqa import Assessor
from agenticiqa.assessor.regions import draw_regions
from agenticiqa.images import load_image
from agenticiqa.report.writing import write_report
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs


@dataclass(frozen=True)
class Exhibit:
    """A photograph, what is done to it, what is asked about it and what a right answer says."""

    name: str
    photograph: str
    damage: tuple[str, int] | None
    question: str
    expected: str
    with_reference: bool = False


EXHIBITS = (
    Exhibit("blurred", "chelsea", ("defocus_blur", 4), "Is the cat blurry?", "Yes"),
    Exhibit("noisy", "coffee", ("white_noise", 4), "Which is worse? A. Noise B. Blur C. Compression D. None", "A"),
    Exhibit("compressed", "astronaut", ("jpeg", 4), "What's wrong with this photo?", "compression"),
    Exhibit("dark", "coffee", ("darken", 4), "这张照片太暗了吗？", "是"),
    Exhibit("clean", "chelsea", None, "Rate the perceptual quality of this image.", "A or B"),
    Exhibit("pair", "astronaut", ("gaussian_blur", 4), "Is this image sharper than the reference?", "No", True),
)


def main() -> int:
    """Judges every exhibit; the exit code counts the wrong answers."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path, nargs="?", default=Path("demo"))
    folder: Path = options.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    assessor, originals = Assessor(), photographs()
    wrong = 0
    for exhibit in EXHIBITS:
        original = originals[exhibit.photograph].pixels
        wrong += not show(exhibit, assessor, original, folder)
    records = [json.loads((folder / f"{exhibit.name}.json").read_text(encoding="utf-8")) for exhibit in EXHIBITS]
    write_report(records, folder / "report.html", title="Image quality: the demonstration")
    sys.stdout.write(
        f"\n{len(EXHIBITS) - wrong} of {len(EXHIBITS)} right; pictures, records and report.html are in {folder}/\n"
    )
    return wrong


def show(exhibit: Exhibit, assessor: Assessor, original: NDArray[np.uint8], folder: Path) -> bool:
    """Judges one exhibit, writes and prints it; whether the answer is the expected one."""
    picture = distort(original, *exhibit.damage) if exhibit.damage else original
    path = folder / f"{exhibit.name}.png"
    Image.fromarray(picture).save(path)
    found = assessor.assess(path, exhibit.question, original if exhibit.with_reference else None)
    (folder / f"{exhibit.name}.json").write_text(found.to_json(), encoding="utf-8")
    if any(found.regions.values()):
        (folder / f"{exhibit.name}-regions.png").write_bytes(draw_regions(load_image(path), found.regions))
    is_right = any(part.strip().casefold() in found.answer.casefold() for part in exhibit.expected.split(" or "))
    score = "no score" if found.score is None else f"{found.score:.1f} of 5, {found.level_name}"
    sys.stdout.write(f"\n{exhibit.name}: {exhibit.question}\n  {found.answer} ({score})\n  {found.reasoning}\n")
    for name, region in found.regions.items():
        where = f"at {region.left},{region.top} to {region.right},{region.bottom}" if region else "not found"
        sys.stdout.write(f"  {name}: {where} ({exhibit.name}-regions.png)\n")
    return is_right


if __name__ == "__main__":
    raise SystemExit(main())
