"""Whether a second, closer look is worth its price: what changes where the first look is in doubt, for better and worse.

    python -m benchmarks.second_look --data DIR [--pictures 300] [--cache FILE]

DIR holds `mmp2k` and `mmp2k-table` (photographs of 1024 × 768 with the flaws their raters named), of which the embedded
model has seen none. Each is looked at as a whole and again closer: its main subject, and the middle of it at full
resolution. "Is it blurred, noisy, badly exposed?" is answered by the first look; where that is in doubt, the second
look's probability is mixed in. Band, view and share are chosen on the other folds. `--cache` keeps the looks.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.combined_models import ShippedEyes
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.state import Region
from agenticiqa.values import PRESENT
from benchmarks.field.flaws import read_mmp2k_labels
from benchmarks.field.sources import Data

Shares = npt.NDArray[np.float64]
CATEGORIES = ("Blurs", "Noise", "Brightness change")
VIEWS = ("whole", "subject", "middle")
CLOSE = 512
BANDS, MIXED, FOLDS = (0.1, 0.2, 0.3, 0.5), (0.3, 0.5, 0.8), 5


def main() -> None:
    """Prints what every policy changes, and what the one chosen on the other folds does."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, nargs="+", required=True)
    options.add_argument("--pictures", type=int, default=300)
    options.add_argument("--cache", type=Path)
    given = options.parse_args()
    labels = read_mmp2k_labels(Data(given.data))
    order = np.random.default_rng(7).permutation(sorted(labels.paths))[: given.pictures]
    seen = looks([labels.paths[name] for name in order], given.cache)
    told = np.array([[category in labels.present[name] for category in CATEGORIES] for name in order])
    unclear = np.array([[category in labels.doubtful[name] for category in CATEGORIES] for name in order])
    report(seen, told, ~unclear, np.arange(len(order)) % FOLDS)


def looks(paths: list[Path], cache: Path | None) -> Shares:
    """How likely each flaw is in each view of each picture; views that the picture does not have are the whole."""
    known: dict[str, list[list[float]]] = json.loads(cache.read_text()) if cache and cache.exists() else {}
    eyes = ShippedEyes("research")
    for path in paths:
        if path.name not in known:
            known[path.name] = _views(eyes, load_image(path))
            if cache:
                cache.write_text(json.dumps(known))
    return np.array([known[path.name] for path in paths])


def _views(eyes: ShippedEyes, image: LoadedImage) -> list[list[float]]:
    left, top = max(0, (image.width - CLOSE) // 2), max(0, (image.height - CLOSE) // 2)
    middle = Region(
        left=left, top=top, right=min(image.width, left + CLOSE), bottom=min(image.height, top + CLOSE)
    )
    boxes: Mapping[str, Region | None] = {"whole": None, "subject": eyes.locate(image, "subject"), "middle": middle}
    found = [eyes.look(image, region=boxes[name]) for name in VIEWS]
    items = [[look.finding(category) for category in CATEGORIES] for look in found]
    return [[0.0 if item is None else item.probability for item in row] for row in items]


def second(seen: Shares, view: str, band: float, share: float) -> Shares:
    """The probabilities after a second look wherever the first is within the band around one half."""
    first, closer = seen[:, 0], seen[:, VIEWS.index(view)]
    return np.where(np.abs(first - PRESENT) < band, (1 - share) * first + share * closer, first)


def changes(seen: Shares, told: Shares, counted: Shares, policy: tuple[str, float, float]) -> tuple[int, int]:
    """How many answers change for the better and for the worse."""
    before, after = seen[:, 0] >= PRESENT, second(seen, *policy) >= PRESENT
    changed = (before != after) & counted
    better = int((changed & (after == told)).sum())
    return better, int(changed.sum()) - better


def report(seen: Shares, told: Shares, counted: Shares, fold: Shares) -> None:
    """Prints the table and the nested choice."""
    right = ((seen[:, 0] >= PRESENT) == told)[counted].mean()
    print(f"{len(seen)} pictures, {int(counted.sum())} answers, {right:.3f} right at the first look")
    policies = [*product(VIEWS[1:], BANDS, MIXED)]
    print(f"{'view':10}{'band':>6}{'share':>7}{'looked':>8}{'better':>8}{'worse':>7}")
    for policy in policies:
        better, worse = changes(seen, told, counted, policy)
        looked = (np.abs(seen[:, 0] - PRESENT) < policy[1]).any(axis=1).mean()
        print(f"{policy[0]:10}{policy[1]:6.2f}{policy[2]:7.2f}{looked:8.2f}{better:8}{worse:7}")
    total = np.zeros(2, int)
    for number in range(FOLDS):
        inside, outside = fold != number, fold == number

        def net(policy: tuple[str, float, float], rows: Shares = inside) -> int:
            better, worse = changes(seen[rows], told[rows], counted[rows], policy)
            return better - worse

        total += changes(seen[outside], told[outside], counted[outside], max(policies, key=net))
    print(f"chosen on the other folds: {total[0]} better, {total[1]} worse")


if __name__ == "__main__":
    main()
