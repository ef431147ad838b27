"""Features for the model of real photographs, written to the cache: labelled photographs and pictures through a camera.

    python -m training.detect_pictures looks  --cache DIR --data BIQ2021
    python -m training.detect_pictures plain  --cache DIR --bsds DIR --imagenet DIR --limit 360
    python -m training.detect_pictures other  --cache DIR --imagenet DIR
    python -m training.detect_pictures resized --cache DIR --data BIQ2021 --imagenet DIR --seed 1
    python -m training.detect_pictures camera --cache DIR --bsds DIR --imagenet DIR --split train --seed 31 --limit 1500
    python -m training.detect_pictures hard   --cache DIR --bsds DIR --imagenet DIR --split train --seed 34 --limit 200
    python -m training.detect_pictures whole  --cache DIR --bsds DIR --imagenet DIR --seed 77 --limit 110

`looks` measures the photographs of `looks.csv`, `other` those of `other_looks.csv` to learn from; `plain` photographs
of other sources as they are, without those for choosing and checking; `resized` the photographs of `looks` and `other`
at other sizes and shapes (`training/resized.py`); `camera` makes pictures through a camera, hard
negatives (half of them through a file) and pictures damaged by known kinds from clean photographs; `hard` only hard
negatives and clean views; `whole` damages whole photographs instead of views. Each file holds trunk statistics at both
sizes, traces and measurements; stage-5 maps lie beside it, so that another tail needs no new extraction.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import cv2
import numpy as np

from agenticiqa.embedded.distortions.feature_vector import measure_traces
from agenticiqa.embedded.distortions.light_features import light_traces
from agenticiqa.embedded.distortions.tile_features import cut_tiles, tile_traces
from agenticiqa.embedded.trunk import Backbone, load_backbone
from agenticiqa.tools.synthetic.kinds import mix
from training.camera import FLAWS, draw_shot, recode, severities, take, unsuspicious_file
from training.detect_extract import draw_parts
from training.detect_negatives import MAKERS, is_kept_for_testing, subject_of
from training.looks import OTHER_TABLE, TABLE, read_looks
from training.pictures import Pixels, read_pixels
from training.resized import list_varied
from training.sources import SIDE, Scene, list_scenes, view

# How many of each a photograph gives, on average; free photographs, of which there are few, five times as many.
SHARES = {"clean": 0.2, "single": 1.25, "mixture": 0.35, "hard": 0.35, "camera": 1.15}
ONLY_HARD = {"clean": 0.4, "hard": 1.2}
WHOLE_DAMAGED = 0.85
OPEN_TIMES = 5
FAULTS = (0.2, 0.55, 0.25)
FREE_SIDES = (SIDE, 1400)


@dataclass(frozen=True)
class Made:
    """A picture made by us: photograph, terms, recipe, name if it is hard, flaws of the guide and its world."""

    photograph: str
    terms: str
    recipe: str
    hard: str
    flaws: tuple[float, ...]
    world: str
    pixels: Pixels


def list_plain(bsds: Path, imagenet: Path) -> Iterator[Path]:
    """Photographs as their sources give them, in random order, but those labelled for checking."""
    checked = {each.image for split in ("choice", "check") for each in read_looks(split, OTHER_TABLE)}
    files = [path for path in sorted(imagenet.glob("*.JPEG")) if path.name not in checked] + sorted(bsds.rglob("*.jpg"))
    return (files[int(n)] for n in np.random.default_rng(11).permutation(len(files)))


def list_made(
    scenes: list[Scene], split: str, seed: int, shares: Mapping[str, float] = MappingProxyType(SHARES)
) -> Iterator[Made]:
    """The pictures of a split in random order of photographs."""
    random = np.random.default_rng((seed, split == "held"))
    for index in random.permutation(len(scenes)):
        scene = scenes[int(index)]
        kept = is_kept_for_testing(scene.photograph)
        if (scene.split == "held" or kept) != (split == "held"):
            continue
        times = OPEN_TIMES if scene.terms == "open" and split == "train" else 1
        for what, share in shares.items():
            for _ in range(int(times * share + random.random())):
                made = _make(scene, what, random) if not kept or what in ("clean", "hard") else None
                if made is not None:
                    yield made


def list_whole(scenes: list[Scene], seed: int, limit: int) -> Iterator[Made]:
    """Most of so many whole photographs, each damaged by one kind at a level that is seen."""
    random = np.random.default_rng(seed)
    files = sorted({s.photograph for s in scenes if s.split != "held" and s.terms == "research"})
    for index in random.permutation(len(files))[:limit]:
        clean = read_pixels(Path(files[int(index)]))
        if random.random() >= WHOLE_DAMAGED:
            continue
        parts = [(kind, max(2, level)) for kind, level in draw_parts(1, random)]
        recipe = "+".join(f"{kind}:{level}" for kind, level in parts)
        damaged = mix(clean, parts, int(random.integers(1 << 30)))
        yield Made(files[int(index)], "research", recipe, "", (0.0,) * len(FLAWS), "whole", damaged)


def _make(scene: Scene, what: str, random: np.random.Generator) -> Made | None:
    moved = replace(scene, offset=(float(random.random()), float(random.random())))
    if what == "camera" and scene.terms == "open":
        moved = replace(moved, scaled_to=int(random.integers(*FREE_SIDES)))
    elif scene.scaled_to and random.random() < 0.5:
        moved = replace(moved, scaled_to=int(random.integers(SIDE, 480)))
    clean = view(moved)
    if clean is None or clean.shape != (SIDE, SIDE, 3):
        return None
    if what == "camera":
        return _photographed(scene, clean, random)
    subject = subject_of(scene.photograph)
    none = (0.0,) * len(FLAWS)
    if subject and what in ("clean", "hard"):
        return Made(scene.photograph, scene.terms, "clean", f"photograph: {subject}", none, "hard", clean)
    if what == "hard":
        return _hard(scene, clean, random)
    parts = draw_parts({"clean": 0, "single": 1}.get(what, int(random.integers(2, 4))), random)
    recipe = "+".join(f"{kind}:{level}" for kind, level in parts) or "clean"
    damaged = mix(clean, parts, int(random.integers(1 << 30)))
    return Made(scene.photograph, scene.terms, recipe, "", none, "kinds", damaged)


def _photographed(scene: Scene, clean: Pixels, random: np.random.Generator) -> Made:
    shot = draw_shot(random, int(random.choice(3, p=FAULTS)))
    taken = take(clean, shot, int(random.integers(1 << 30)))
    found = severities(shot, taken)
    recipe = f"camera:{json.dumps(asdict(shot))}"
    return Made(scene.photograph, scene.terms, recipe, "", tuple(found[f] for f in FLAWS), "camera", taken.pixels)


def _hard(scene: Scene, clean: Pixels, random: np.random.Generator) -> Made:
    name = str(random.choice(list(MAKERS)))
    picture = MAKERS[name](clean, random)
    if random.random() < 0.5:
        picture = recode(picture, **unsuspicious_file(random))
    return Made(scene.photograph, scene.terms, "clean", name, (0.0,) * len(FLAWS), "hard", picture)


def extract(pictures: Iterator[tuple[Pixels, Mapping[str, object]]], target: Path) -> None:
    """Features and notes of every picture, and the stage-5 maps beside them."""
    backbone = load_backbone()
    rows, notes, maps = [], [], []
    for pixels, note in pictures:
        features, stage5 = look(pixels, backbone)
        rows.append(features)
        notes.append(note)
        maps.append(stage5)
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    noted = {name: np.array([note[name] for note in notes]) for name in notes[0]}
    np.savez(target, **columns, **noted)  # type: ignore[arg-type]
    flat = np.concatenate([stage5.ravel() for stage5 in maps])
    np.savez(target.with_name(f"{target.stem}_s5.npz"), flat=flat, shapes=np.array([m.shape for m in maps]))
    print(target.name, len(rows))


def look(pixels: Pixels, backbone: Backbone) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """What the model is shown of one picture but the tail, and the map the tail is shown."""
    features = backbone.features(pixels)
    seen = light_traces(features.working) | tile_traces(cut_tiles(features.working))
    found = {
        "pooled": features.pooled,
        "half": features.pooled_half,
        "traces": np.array(list(measure_traces(pixels, features.working).values()), np.float32),
        "seen": np.array(list(seen.values()), np.float32),
    }
    return found, features.maps[-1].astype(np.float16)


def main() -> None:
    """Extract what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("looks", "other", "plain", "resized", "camera", "hard", "whole"))
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="folder of BIQ2021")
    parser.add_argument("--bsds", type=Path)
    parser.add_argument("--imagenet", type=Path)
    parser.add_argument("--split", choices=("train", "held"), default="train")
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--limit", type=int, default=1500)
    given = parser.parse_args()
    cv2.setNumThreads(1)
    if given.what == "looks":
        names = [photograph.image for photograph in read_looks("train")]
        photographs = ((read_pixels(given.data / "Images" / name), {"names": name}) for name in names)
        extract(photographs, given.cache / "looks.npz")
        return
    if given.what == "plain":
        files = islice(list_plain(given.bsds, given.imagenet), given.limit)
        extract(((read_pixels(path), {"names": str(path)}) for path in files), given.cache / "plain.npz")
        return
    if given.what == "other":
        names = [photograph.image for photograph in read_looks("train", OTHER_TABLE)]
        photographs = ((read_pixels(given.imagenet / name), {"names": name}) for name in names)
        extract(photographs, given.cache / "other.npz")
        return
    if given.what == "resized":
        for name, table, folder in (("looks", TABLE, given.data / "Images"), ("other", OTHER_TABLE, given.imagenet)):
            named = ((each.image, read_pixels(folder / each.image)) for each in read_looks("train", table))
            extract(list_varied(named, given.seed), given.cache / f"resized_{name}_{given.seed}.npz")
        return
    scenes, shares = list_scenes(given.bsds, given.imagenet, 6), ONLY_HARD if given.what == "hard" else SHARES
    pictures = list_made(scenes, given.split, given.seed, shares)
    made = islice((each for each in pictures if given.what == "camera" or each.recipe == "clean"), given.limit)
    if given.what == "whole":
        made = islice(list_whole(scenes, given.seed, given.limit), given.limit)
    notes = ((each.pixels, {k: v for k, v in vars(each).items() if k != "pixels"}) for each in made)
    extract(notes, given.cache / f"made_{given.split}_{given.seed}.npz")


if __name__ == "__main__":
    main()
