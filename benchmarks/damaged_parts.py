"""How often damage in a part of a photograph is found, where it is said to be, and whether the rest is called fine.

    python -m benchmarks.damaged_parts --photographs BSDS500/data/images/test [--limit 200] [--terms research]

Every photograph is damaged once, by one kind at a level that is seen (3 to 5), in a half, a corner, the middle, or all
around the middle. Found: the finding of that kind's category is at least slight. Right place: the centre of its box
lies in what was damaged. Fine: asked about a part that was left as it is, no finding of that category is moderate.
Nothing in the detector was fitted on photographs of BSDS500.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.combined_models import ShippedPerception
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.limits import MODERATE, SLIGHT
from agenticiqa.state import Region
from agenticiqa.tools.synthetic.kinds import KINDS, distort
from agenticiqa.values import Distortion

KINDS_OF_DAMAGE = (
    "gaussian_blur", "motion_blur", "defocus_blur", "white_noise", "correlated_noise", "darken", "brighten",
    "contrast_down", "color_cast", "saturation_up",
)  # fmt: skip
# Of each shape what is damaged, and what is left: top, bottom, left and right in shares of the sides.
Shares = tuple[float, float, float, float]
SHAPES: dict[str, tuple[Shares, Shares]] = {
    "left half": ((0, 1, 0, 0.5), (0, 1, 0.5, 1)),
    "lower half": ((0.5, 1, 0, 1), (0, 0.5, 0, 1)),
    "corner": ((0, 0.5, 0.5, 1), (0.5, 1, 0, 0.5)),
    "middle": ((0.25, 0.75, 0.25, 0.75), (0, 0.25, 0, 1)),
}


def main() -> None:
    """Prints the shares for each shape, each category and all."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--photographs", type=Path, required=True)
    options.add_argument("--limit", type=int, default=200)
    options.add_argument("--terms", choices=("research", "open"), default="research")
    given = options.parse_args()
    eyes, random = ShippedPerception(given.terms), np.random.default_rng(4)
    rows: dict[str, list[tuple[bool, bool, bool]]] = defaultdict(list)
    for path in sorted(given.photographs.glob("*.jpg"))[: given.limit]:
        kind, level = str(random.choice(KINDS_OF_DAMAGE)), int(random.integers(3, 6))
        shape = str(random.choice(list(SHAPES)))
        row = judge(eyes, load_image(path).pixels, shape, kind, level)
        for group in (shape, KINDS[kind].category, "all"):
            rows[group].append(row)
    print(f"{'':20} {'':>4} found place fine")
    for group, found in rows.items():
        shares = " ".join(f"{share:5.2f}" for share in np.mean(found, axis=0))
        print(f"{group:20} {len(found):4d} {shares}")


def judge(
    eyes: ShippedPerception, clean: npt.NDArray[np.uint8], shape: str, kind: str, level: int
) -> tuple[bool, bool, bool]:
    """Whether the damage is found, its box lies in it, and the part that was left is called fine."""
    damaged, left = (_region(shares, clean.shape[:2]) for shares in SHAPES[shape])
    image = load_image(damage_part(clean, damaged, kind, level))
    finding = _finding(eyes, image, kind)
    box = finding.region
    inside = box is not None and _holds(damaged, (box.top + box.bottom) / 2, (box.left + box.right) / 2)
    fine = _finding(eyes, image, kind, left).strength < MODERATE
    return finding.strength >= SLIGHT, inside, fine


def damage_part(clean: npt.NDArray[np.uint8], region: Region, kind: str, level: int) -> npt.NDArray[np.uint8]:
    """The picture with damage in a region alone."""
    own = slice(region.top, region.bottom), slice(region.left, region.right)
    mixed = clean.copy()
    mixed[own] = distort(clean, kind, level)[own]
    return mixed


def _finding(eyes: ShippedPerception, image: LoadedImage, kind: str, region: Region | None = None) -> Distortion:
    found = eyes.look(image, region=region).findings
    return next(finding for finding in found if finding.category == KINDS[kind].category)


def _region(shares: Shares, size: tuple[int, int]) -> Region:
    (top, bottom, left, right), (height, width) = shares, size
    return Region(
        left=round(left * width), top=round(top * height), right=round(right * width), bottom=round(bottom * height)
    )


def _holds(region: Region, row: float, column: float) -> bool:
    return region.top <= row < region.bottom and region.left <= column < region.right


if __name__ == "__main__":
    main()
