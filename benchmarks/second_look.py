"""Whether a second, closer look is worth its price: what changes where the first is in doubt, for better and for worse.

    python -m benchmarks.second_look --data DIR DIR [--pictures 300] [--cache FILE]
    python -m benchmarks.second_look --looks BIQ2021 [--pictures 500] [--cache FILE.npz]

`--data`: the folders of `mmp2k` and `mmp2k-table`, photographs of 1024 × 768 with the flaws their raters named, of
which the embedded model has seen none. Each is looked at as a whole and again closer: its main subject, and the middle
of it at full resolution.
`--looks`: the labelled training photographs (512 × 512: there is no fuller resolution), each seen again mirrored,
in two large crops, at half size and in its middle, by a model of photographs fitted on the other folds of content.
Whether a flaw is there is answered by the first look; where that is in doubt, the second look's probability is
mixed in. View, band and share are chosen on the other folds. `--cache` keeps what was seen.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.combined_models import ShippedPerception
from agenticiqa.embedded.distortions.feature_vector import measure_all, whole_vector
from agenticiqa.embedded.distortions.photograph_model import load_photograph_model
from agenticiqa.embedded.distortions.tile_features import cut_tiles
from agenticiqa.embedded.trunk import load_backbone, load_tail
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.limits import PRESENT
from agenticiqa.state import Region
from benchmarks.field.flaws import read_mmp2k_labels
from benchmarks.field.sources import Data
from training import detect_photographs as fitting
from training.clusters import find_clusters, folds_of, thumbnails
from training.looks import FLAWS, read_looks
from training.pictures import read_pixels

Values = npt.NDArray[Any]
Pixels = npt.NDArray[np.uint8]
Policy = tuple[int, float, float]
"""The view of the second look, the band around one half in which it is taken, and its share."""
CATEGORIES = ("Blurs", "Noise", "Brightness change")
CLOSER = ("whole", "subject", "middle")
AGAIN = ("whole", "mirrored", "first part", "last part", "half size", "middle")
CLOSE = 512
BANDS, SHARES, FOLDS = (0.1, 0.2, 0.3, 0.5), (0.3, 0.5, 0.8), 5
# Severities from which a flaw is asked about: anyone notices it, and it can be seen at all.
LEVELS = {"moderate": 1.5, "slight": 0.5}
ASKED = tuple(flaw for flaw in FLAWS if flaw != "oversharp")  # too rare in the labels
LANDMARKS = 1500


def main() -> None:
    """Prints what every policy changes, and what the one chosen on the other folds does."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, nargs="+")
    options.add_argument("--looks", type=Path, help="folder of BIQ2021")
    options.add_argument("--pictures", type=int, default=300)
    options.add_argument("--cache", type=Path)
    given = options.parse_args()
    if given.looks:
        on_training_labels(given.looks, given.pictures, given.cache)
    elif given.data:
        on_larger_pictures(Data(given.data), given.pictures, given.cache)
    else:
        options.error("give --data or --looks")


def on_larger_pictures(data: Data, count: int, cache: Path | None) -> None:
    """Prints what a look at the pixels themselves changes, where the first saw the picture shrunk."""
    labels = read_mmp2k_labels(data)
    order = np.random.default_rng(7).permutation(sorted(labels.paths))[:count]
    known: dict[str, list[list[float]]] = json.loads(cache.read_text()) if cache and cache.exists() else {}
    eyes = ShippedPerception("research")
    for name in order:
        if name not in known:
            known[name] = _probabilities(eyes, load_image(labels.paths[name]))
    if cache:
        cache.write_text(json.dumps(known))
    told, unclear = (
        np.array([[category in found[name] for category in CATEGORIES] for name in order])
        for found in (labels.present, labels.doubtful)
    )
    report(np.array([known[name] for name in order]), told, ~unclear, np.arange(len(order)) % FOLDS, CLOSER)


def _probabilities(eyes: ShippedPerception, image: LoadedImage) -> list[list[float]]:
    left, top = max(0, (image.width - CLOSE) // 2), max(0, (image.height - CLOSE) // 2)
    right, bottom = min(image.width, left + CLOSE), min(image.height, top + CLOSE)
    middle = Region(left=left, top=top, right=right, bottom=bottom)
    boxes: Mapping[str, Region | None] = {"whole": None, "subject": eyes.locate(image, "subject"), "middle": middle}
    looks = [eyes.look(image, region=boxes[name]) for name in CLOSER]
    items = [[look.finding(category) for category in CATEGORIES] for look in looks]
    return [[0.0 if item is None else item.probability for item in row] for row in items]


def on_training_labels(folder: Path, count: int, cache: Path | None) -> None:
    """Prints what another view of the same pixels changes, each photograph judged by a fit without its fold."""
    photographs = [each for each in read_looks("train") if (folder / "Images" / each.image).exists()]
    paths = [folder / "Images" / each.image for each in photographs]
    fair = [number for number, each in enumerate(photographs) if each.eyes[0] == "a"]
    chosen = np.random.default_rng(11).permutation(fair)[:count]
    wholes, views = _vectors(paths, set(map(int, chosen)), cache)
    fold = folds_of(find_clusters(thumbnails(paths)), FOLDS, 3)
    severities = np.array([[each.flaws[flaw] for flaw in ASKED] for each in photographs])
    outputs, seen = _out_of_fold(wholes, np.stack([views[int(n)] for n in chosen]), chosen, severities, fold)
    for name, level in LEVELS.items():
        present, likely = severities >= level, np.zeros_like(seen)
        for number, flaw in product(range(FOLDS), range(len(ASKED))):
            others, rows = fold != number, fold[chosen] == number
            start, slope = _logistic(outputs[others, flaw], present[others, flaw])
            likely[rows, :, flaw] = 1 / (1 + np.exp(-(start + slope * seen[rows, :, flaw])))
        print(f"{name} or worse:")
        report(likely, present[chosen], np.ones_like(present[chosen]), fold[chosen], AGAIN)


def _vectors(paths: list[Path], chosen: set[int], cache: Path | None) -> tuple[Values, dict[int, Values]]:
    """The features of every photograph, and those of all views of the chosen ones."""
    known = dict(np.load(cache)) if cache and cache.exists() else {}
    for number, path in enumerate(paths):
        wanted = len(AGAIN) if number in chosen else 1
        if len(known.get(path.name, ())) < wanted:
            known[path.name] = np.stack([_vector(view) for view in list(_views(read_pixels(path)))[:wanted]])
        if cache and number % 400 == 399:
            np.savez(cache, **known)
    if cache:
        np.savez(cache, **known)
    return np.stack([known[path.name][0] for path in paths]), {n: known[paths[n].name] for n in chosen}


def _views(pixels: Pixels) -> Iterator[Pixels]:
    height, width = pixels.shape[:2]
    tall, wide = height * 3 // 4, width * 3 // 4
    yield pixels
    yield pixels[:, ::-1]
    yield pixels[:tall, :wide]
    yield pixels[height - tall :, width - wide :]
    yield np.asarray(cv2.resize(pixels, (width // 2, height // 2), interpolation=cv2.INTER_AREA), np.uint8)
    yield pixels[height // 4 : height // 4 + height // 2, width // 4 : width // 4 + width // 2]


def _vector(view: Pixels) -> Values:
    """What the model of photographs is shown of a view."""
    pixels = np.ascontiguousarray(view)
    features = load_backbone().features(pixels)
    last = load_tail("research").features(features.maps[-1])
    return whole_vector(features, last, measure_all(pixels, features.working, cut_tiles(features.working)))


def _out_of_fold(
    wholes: Values, views: Values, chosen: Values, severities: Values, fold: npt.NDArray[np.intp]
) -> tuple[Values, Values]:
    """The outputs per flaw of every photograph, and of every view of the chosen ones, by a fit without their fold."""
    arrays = fitting.fit_inputs(_rows(wholes, fold))
    prepared = fitting.prepare(_rows(wholes, fold), arrays)
    again = [fitting.prepare(_rows(views[:, each], fold[chosen]), arrays) for each in range(len(AGAIN))]
    landmarks = prepared[np.random.default_rng(0).permutation(len(prepared))[:LANDMARKS]]
    far, own = fitting.distances(prepared, landmarks), fitting.distances(landmarks, landmarks)
    middle = float(np.median(far))
    near, among = ([np.exp(-width * d / middle) for width, _ in fitting.WIDTHS] for d in (far, own))
    outputs, of_views = np.zeros(severities.shape), np.zeros((len(chosen), len(AGAIN), len(ASKED)))
    for number in range(FOLDS):
        inside, rows = fold != number, fold[chosen] == number
        weight = np.ones(int(inside.sum()))
        duals, means = fitting.fit_kernel([n[inside] for n in near], among, severities[inside], weight)
        outputs[~inside] = np.mean([n[~inside] @ d for n, d in zip(near, duals, strict=True)], axis=0) + means
        for each, view in enumerate(again):
            distance = fitting.distances(view[rows], landmarks)
            parts = [np.exp(-w * distance / middle) @ d for (w, _), d in zip(fitting.WIDTHS, duals, strict=True)]
            of_views[rows, each] = np.mean(parts, axis=0) + means
    return outputs, of_views


def _rows(vectors: Values, fold: npt.NDArray[np.intp]) -> fitting.Rows:
    network, count = len(load_photograph_model("flaws_research").arrays["projection"]), len(vectors)
    values = vectors.astype(np.float64)
    return fitting.Rows(
        values[:, :network], values[:, network:], np.zeros((count, 0)), np.ones(count), fold, np.zeros(count, bool),
        np.full(count, ""),
    )  # fmt: skip


def _logistic(outputs: Values, present: Values) -> Values:
    """Start and slope of the curve from an output to the probability of a flaw."""
    columns, found = np.stack([np.ones_like(outputs), outputs], axis=1), np.zeros(2)
    for _ in range(50):
        likely = 1 / (1 + np.exp(-columns @ found))
        weighted = columns * (likely * (1 - likely) + 1e-6)[:, None]
        found += np.linalg.solve(weighted.T @ columns + 1e-3 * np.eye(2), columns.T @ (present - likely))
    return found


def after(seen: Values, policy: Policy) -> Values:
    """The probabilities when a second look is taken wherever the first is in doubt."""
    view, band, share = policy
    first = seen[:, 0]
    return np.where(np.abs(first - PRESENT) < band, (1 - share) * first + share * seen[:, view], first)


def changes(seen: Values, told: Values, counted: Values, policy: Policy) -> Values:
    """How many answers change for the better, and how many for the worse."""
    before, now = seen[:, 0] >= PRESENT, after(seen, policy) >= PRESENT
    changed = (before != now) & counted
    better = int((changed & (now == told)).sum())
    return np.array([better, int(changed.sum()) - better])


def report(seen: Values, told: Values, counted: Values, fold: Values, views: tuple[str, ...]) -> None:
    """Prints the best band and share of every view, and what the choice on the other folds changes."""
    right = ((seen[:, 0] >= PRESENT) == told)[counted].mean()
    print(f"{len(seen)} pictures, {int(counted.sum())} answers, {right:.3f} right at the first look")
    print(f"{'view':12}{'band':>6}{'share':>7}{'better':>8}{'worse':>7}   best of its bands and shares, in sample")

    def net(policy: Policy, rows: Values) -> int:
        better, worse = changes(seen[rows], told[rows], counted[rows], policy)
        return int(better - worse)

    everything = np.ones(len(seen), bool)
    policies = [*product(range(1, len(views)), BANDS, SHARES)]
    for view, name in enumerate(views[1:], 1):
        best = max((each for each in policies if each[0] == view), key=lambda each: net(each, everything))
        better, worse = changes(seen, told, counted, best)
        print(f"{name:12}{best[1]:6.2f}{best[2]:7.2f}{better:8}{worse:7}")
    total = np.zeros(2, int)
    for number in range(FOLDS):
        others, rows = fold != number, fold == number
        chosen = max(policies, key=lambda each, others=others: net(each, others))  # type: ignore[misc]
        total += changes(seen[rows], told[rows], counted[rows], chosen)
    print(f"chosen on the other folds: {total[0]} better, {total[1]} worse")


if __name__ == "__main__":
    main()
