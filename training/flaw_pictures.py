"""Features for the detector of flaws, whole and part by part, written to the cache a few hundred pictures at a time.

    python -m training.flaw_pictures looks --cache DIR --data BIQ2021 --imagenet DIR --chunk 0

The sets: `looks`, `other` and `choice` are photographs labelled by our eyes, `mmp2k` those labelled by its people,
`parts` photographs damaged in a part only, `ladders` whole ones with one fault of any strength, `camera` and `hard`
pictures through a camera and by known kinds, `resized` the labelled ones at other sizes, `hecd` recoloured ones. What
each picture is stands in `notes`; labels are read when the detector is fitted.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.feature_vector import measure_all, whole_vector
from agenticiqa.embedded.distortions.parts import PARTS_PER_SIDE, part_features
from agenticiqa.embedded.distortions.tile_features import cut_tiles
from agenticiqa.embedded.trunk import load_backbone, load_tail, to_working_size
from agenticiqa.tools.synthetic.kinds import KINDS, distort
from agenticiqa.weights import WeightSet
from training.camera import FLAWS, Shot, Taken, draw_shot, recode, severities, take, unsuspicious_file
from training.detect_negatives import is_kept_for_testing
from training.detect_pictures import ONLY_HARD, SHARES, list_made, list_whole
from training.looks import OTHER_TABLE, read_looks
from training.pictures import Pixels, read_pixels
from training.resized import list_varied
from training.sources import Scene, list_scenes

CHUNK = 200
# Flaws that lie in a part of a picture in real life too; the others come from the file or the whole exposure.
IN_PARTS = ("blur", "noise", "dark", "bright", "contrast", "colour")
IN_LADDERS = (*IN_PARTS, "compression", "oversharp", "bright", "colour", "blur", "compression")
# How many pictures stay as they are.
UNTOUCHED = 0.15
KINDS_OF = {
    "blur": ("gaussian_blur", "defocus_blur", "motion_blur", "motion_blur"),
    "noise": ("white_noise", "chroma_noise", "correlated_noise", "multiplicative_noise"),
    "compression": ("jpeg", "webp"),
    "dark": ("darken",),
    "bright": ("brighten",),
    "contrast": ("contrast_down", "contrast_up"),
    "colour": ("saturation_up", "saturation_up", "saturation_down", "color_cast"),
    "oversharp": ("over_sharpen",),
}
# The camera's fault that is as strong as a kind's amount.
SHOT_OF: dict[str, Callable[[float], dict[str, Any]]] = {
    "gaussian_blur": lambda amount: {"soft": amount},
    "defocus_blur": lambda amount: {"defocus": amount},
    "motion_blur": lambda amount: {"motion": amount},
    **dict.fromkeys(KINDS_OF["noise"], lambda amount: {"noise": amount if amount > 1 else 100 * amount}),
    "jpeg": lambda amount: {"codec": "jpeg", "quality": int(amount)},
    "webp": lambda amount: {"codec": "webp", "quality": int(amount)},
    "darken": lambda amount: {"stops": amount},
    "brighten": lambda amount: {"stops": amount},
    "contrast_down": lambda amount: {"contrast": amount},
    "contrast_up": lambda amount: {"contrast": amount},
    "saturation_up": lambda amount: {"saturation": amount},
    "saturation_down": lambda amount: {"saturation": amount},
    "color_cast": lambda amount: {"cast": (1.0, 0.0, -1.0)},
    "over_sharpen": lambda amount: {"sharpening": amount},
}
Note = dict[str, object]
Severities = dict[str, float]


def features_of(pixels: Pixels, terms: WeightSet) -> dict[str, npt.NDArray[np.generic]]:
    """Everything the detector could be shown of one picture."""
    features = load_backbone().features(pixels)
    last = load_tail(terms).features(features.maps[-1])
    tiles = cut_tiles(features.working)
    traces = measure_all(pixels, features.working, tiles)
    return {
        "whole": whole_vector(features, last, traces),
        "parts": part_features(features, last, tiles).astype(np.float16),
    }


def list_parts(files: list[Path], seed: int) -> Iterator[tuple[Pixels, Note]]:
    """Photographs with a fault in a half, a corner, a blob or all but a blob, where it is, and some without any."""
    random = np.random.default_rng(seed)
    while True:
        path = files[int(random.integers(len(files)))]
        clean = to_working_size(read_pixels(path))[0]
        if random.random() < UNTOUCHED:
            found, damaged, shot = dict.fromkeys(FLAWS, 0.0), clean, Shot()
        else:
            found, damaged, shot = _damaged(clean, IN_PARTS, random)
        if 0 < max(found.values()) < 1:
            continue
        shape, mask = draw_mask(clean.shape[:2], random)
        mixed = np.rint(mask[..., None] * damaged + (1 - mask[..., None]) * clean).astype(np.uint8)
        covered = cv2.resize(mask, (PARTS_PER_SIDE, PARTS_PER_SIDE), interpolation=cv2.INTER_AREA).ravel()
        note = {"name": str(path), "shape": shape, "covered": covered.tolist(), "flaws": [found[f] for f in FLAWS]}
        yield recode(mixed, **unsuspicious_file(random)), note | {"shot": asdict(shot)}


def list_ladders(files: list[Path], seed: int) -> Iterator[tuple[Pixels, Note]]:
    """Whole photographs with one fault of any strength, and some without any."""
    random = np.random.default_rng(seed + 500_000)
    while True:
        path = files[int(random.integers(len(files)))]
        clean = read_pixels(path)
        if random.random() < UNTOUCHED:
            found, damaged, shot = dict.fromkeys(FLAWS, 0.0), clean, Shot()
        else:
            found, damaged, shot = _damaged(clean, IN_LADDERS, random)
        note: Note = {"name": str(path), "flaws": [found[f] for f in FLAWS], "shot": asdict(shot)}
        if shot.codec == "none":
            damaged = recode(damaged, **unsuspicious_file(random))
        yield damaged, note


def _damaged(clean: Pixels, flaws: tuple[str, ...], random: np.random.Generator) -> tuple[Severities, Pixels, Shot]:
    """The severities of one fault, the picture that has it, and what made it: a camera, or a known kind of damage."""
    if random.random() < 0.5:
        while True:
            shot = replace(draw_shot(random, 1), size=1.0, codec="none")
            taken = take(clean, shot, int(random.integers(1 << 30)))
            found = severities(shot, taken)
            if max(found, key=lambda flaw: found[flaw]) in flaws:
                return found, taken.pixels, shot
    flaw = str(random.choice(flaws))
    kind, level = str(random.choice(KINDS_OF[flaw])), int(random.integers(1, 6))
    damaged = distort(clean, kind, level, int(random.integers(1 << 30)))
    shot = Shot(**SHOT_OF[kind](KINDS[kind].amounts[level - 1]))
    grain = float(np.std(damaged.astype(np.float32) - clean)) if flaw == "noise" else 0.0
    found = severities(shot, Taken(damaged, clean, grain))
    if flaw == "colour" and kind != "color_cast":
        found["colour"] = min(found["colour"], _chroma_changed(clean, damaged))
    return {f: found[f] if f == flaw else 0.0 for f in FLAWS}, damaged, shot


def _chroma_changed(clean: Pixels, damaged: Pixels) -> float:
    """How strong a change of saturation is to be seen: a grey picture has none to change."""
    labs = [cv2.cvtColor(p[::2, ::2].astype(np.float32) / 255, cv2.COLOR_RGB2LAB) for p in (clean, damaged)]
    change = float(np.abs(np.subtract(*(np.hypot(lab[..., 1], lab[..., 2]) for lab in labs))).mean())
    return float(np.interp(change, (2, 5, 10, 18, 30), (0, 1, 2, 3, 4)))


def draw_mask(size: tuple[int, int], random: np.random.Generator) -> tuple[str, npt.NDArray[np.float32]]:
    """The name of a part and its mask with a soft border."""
    rows, columns = np.mgrid[: size[0], : size[1]] / np.reshape(size, (2, 1, 1))
    shape = str(random.choice(["half", "corner", "blob", "around"]))
    if random.random() < 0.5:
        rows = 1 - rows
    if random.random() < 0.5:
        columns = 1 - columns
    if shape == "half":
        mask = (rows if random.random() < 0.5 else columns) < 0.5
    elif shape == "corner":
        mask = (rows < 0.5) & (columns < 0.5)
    else:
        centre, reach = random.uniform(0.3, 0.7, 2), random.uniform(0.22, 0.35, 2)
        mask = np.hypot((rows - centre[0]) / reach[0], (columns - centre[1]) / reach[1]) < 1
        mask = ~mask if shape == "around" else mask
    soft = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), float(random.choice([1, 4, 12])))
    return shape, np.asarray(soft, np.float32)


def list_pictures(given: argparse.Namespace) -> Iterator[tuple[Pixels, Note]]:
    """The pictures of a chunk of a set with what is known of each."""
    own = slice(given.chunk * CHUNK, (given.chunk + 1) * CHUNK)
    # Made pictures are drawn anew for every chunk.
    seed = given.seed * 1000 + given.chunk
    if given.what in ("looks", "other", "choice", "mmp2k", "hecd"):
        for path in _files(given, given.what)[own]:
            yield read_pixels(path), {"name": path.name}
    elif given.what == "resized":
        files = [*_files(given, "looks"), *_files(given, "other")][own]
        yield from list_varied(((path.name, read_pixels(path)) for path in files), seed)
    elif given.what in ("parts", "ladders"):
        made_of = list_parts if given.what == "parts" else list_ladders
        yield from islice(made_of(_clean_files(given), seed), CHUNK)
    else:
        scenes = _scenes(given)
        made = list_made(scenes, "train", seed, ONLY_HARD if given.what == "hard" else SHARES)
        if given.what == "whole":
            made = list_whole(scenes, seed, CHUNK)
        yield from (
            (each.pixels, {k: v for k, v in vars(each).items() if k != "pixels"}) for each in islice(made, CHUNK)
        )


def _clean_files(given: argparse.Namespace) -> list[Path]:
    """Photographs without a flaw that may be damaged in a part."""
    if given.terms == "open":
        return sorted({Path(scene.photograph) for scene in _scenes(given)})
    fine = {each.image for each in read_looks("train") if max(each.flaws.values()) == 0}
    seen = {scene.photograph for scene in _scenes(given) if scene.split == "train"}
    elsewhere = [path for path in _unlabelled(given.imagenet) if str(path) in seen]
    return [path for path in _files(given, "looks") if path.name in fine] + [
        path for path in elsewhere if not is_kept_for_testing(str(path))
    ]


def _scenes(given: argparse.Namespace) -> list[Scene]:
    """Views of clean photographs; for the open terms of free ones, which lie under the folder `free`."""
    scenes = list_scenes(given.bsds or Path(), given.imagenet or Path(), 6)
    if given.terms == "open":
        moved = (replace(s, photograph=str(given.free / s.photograph.lstrip("/"))) for s in scenes if s.terms == "open")
        return [scene for scene in moved if Path(scene.photograph).exists()]
    kept = set(map(str, _unlabelled(given.imagenet))) | {str(path) for path in _files(given, "other")}
    return [scene for scene in scenes if scene.photograph in kept]


def _unlabelled(imagenet: Path) -> list[Path]:
    labelled = {each.image for split in ("train", "choice", "check") for each in read_looks(split, OTHER_TABLE)}
    return [path for path in sorted(imagenet.glob("*.JPEG")) if path.name not in labelled]


def _files(given: argparse.Namespace, what: str) -> list[Path]:
    if what == "looks":
        return [given.data / "Images" / each.image for each in read_looks("train")]
    if what in ("mmp2k", "hecd"):
        return sorted((given.mmp2k if what == "mmp2k" else given.hecd).glob("*.jpg"))
    split = "train" if what == "other" else "choice"
    return [given.imagenet / each.image for each in read_looks(split, OTHER_TABLE)]


def main() -> None:
    """Extract one chunk of a set; nothing where it is at hand already."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what")
    for folder in ("cache", "data", "imagenet", "bsds", "mmp2k", "hecd", "free"):
        parser.add_argument(f"--{folder}", type=Path)
    parser.add_argument("--chunk", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--terms", choices=("research", "open"), default="research")
    given = parser.parse_args()
    target = given.cache / f"{given.what}_{given.terms}_{given.seed}_{given.chunk}.npz"
    if target.exists():
        return
    cv2.setNumThreads(1)
    rows, notes = [], []
    for pixels, note in list_pictures(given):
        rows.append(features_of(pixels, given.terms))
        notes.append(json.dumps(note, default=lambda value: value.item() if hasattr(value, "item") else str(value)))
    if rows:
        columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        np.savez(target, notes=np.array(notes), **columns)  # type: ignore[arg-type]
    print(target.name, len(rows), flush=True)


if __name__ == "__main__":
    main()
