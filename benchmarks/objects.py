"""Finding things and judging them: boxes drawn by eye, composites with known truth, bokeh, cost.

python -m benchmarks.objects boxes absent bokeh composites cost --pictures SAMPLE --free WALLPAPERS

SAMPLE is the ImageNet sample (1,000 photographs, one per class); WALLPAPERS any folder of free photographs, used as
grounds. Which boxes and which pictures: object_boxes.txt and the lists below, fixed before thresholds were chosen.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from agenticiqa.assessor import Assessor
from agenticiqa.embedded.combined_models import ShippedPerception, shipped_perception
from agenticiqa.embedded.objects import scene
from agenticiqa.embedded.objects.object_detector import CLASSES, Box, Located, box_area, overlap_share
from agenticiqa.embedded.objects.scene import Scene
from agenticiqa.images import load_image
from agenticiqa.state import DOUBTFUL, UNABLE
from benchmarks.object_composites import Source, make_composites

Pixels = npt.NDArray[np.uint8]
BOXES = Path(__file__).with_name("object_boxes.txt")
LIVING = scene.LIVING | {"face"}
STEPS = (-0.2, -0.15, -0.1, -0.05, 0.0, 0.05, 0.1, 0.15, 0.2)
# Photographs of one clearly sharp thing; the class is the first box of the picture.
SINGLE = (
    "cock goldfinch pelican beagle golden_retriever dalmatian tiger_cat Persian_cat Siamese_cat Egyptian_cat "
    "brown_bear American_black_bear sorrel zebra ram ox academic_gown Windsor_tie military_uniform pizza teddy "
    "analog_clock sports_car school_bus banana umbrella coffee_mug toilet_seat microwave speedboat traffic_light"
)
# Sharp subjects before a soft background, picked by eye.
BOKEH = (
    "ladybug leaf_beetle weevil fly ant leafhopper lacewing dragonfly damselfly admiral ringlet cabbage_butterfly "
    "sulphur_butterfly lycaenid black_and_gold_garden_spider harvestman house_finch indigo_bunting bulbul jay "
    "chickadee water_ouzel great_grey_owl bee_eater hummingbird jacamar lorikeet African_grey hip acorn cock "
    "goldfinch Persian_cat Egyptian_cat military_uniform Border_collie agaric gyromitra mushroom fig tree_frog "
    "green_lizard American_chameleon papillon Saluki malamute leopard squirrel_monkey kit_fox grasshopper meerkat"
)


@dataclass(frozen=True)
class Drawn:
    """A box drawn by eye; one that `may` be found or not counts neither way."""

    kind: str
    may: bool
    box: Box


def read_boxes() -> dict[str, list[Drawn]]:
    """The boxes by picture."""
    drawn: dict[str, list[Drawn]] = {}
    for line in BOXES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#") and "|" in line:
            name, _, boxes = line.partition("|")
            drawn[name.strip()] = [_drawn(text.split()) for text in boxes.split(";") if text.strip()]
    return drawn


def boxes(pictures: Mapping[str, Path]) -> None:
    """Located at IoU .5, and false boxes, along the thresholds."""
    drawn = {name: listed for name, listed in read_boxes().items() if name in pictures}
    scenes = {name: Scene(_read(pictures[name])) for name in drawn}
    classes = {each.kind for listed in drawn.values() for each in listed if not each.may}
    print(f"{len(drawn)} pictures, {len(classes)} classes, boxes drawn by eye")
    print("shift of the thresholds | persons, faces, animals | all | false boxes per picture")
    shipped = scene.LISTED_LIVING, scene.LISTED_THING, scene.LISTED_FACE
    for step in STEPS:
        scene.LISTED_LIVING, scene.LISTED_THING, scene.LISTED_FACE = (min(0.98, value + step) for value in shipped)
        for each in scenes.values():
            each.__dict__.pop("listed", None)
        living, everything, false = _counted(drawn, scenes)
        mark = "  <- shipped" if step == 0 else ""
        print(f"{step:+.2f} | {living:.3f} | {everything:.3f} | {false:.2f}{mark}")
    scene.LISTED_LIVING, scene.LISTED_THING, scene.LISTED_FACE = shipped
    named = [
        any(overlap_share(found.box, each.box) >= 0.5 for found in scenes[name].find(each.kind))
        for name, listed in drawn.items()
        for each in listed
        if not each.may
    ]
    print(f"asked for by name: {np.mean(named):.3f} of {len(named)} boxes")


def absent(pictures: Mapping[str, Path]) -> None:
    """How often a class that is not in a picture is found, or guessed with a word of doubt; eight names a picture."""
    drawn, draw = {name: listed for name, listed in read_boxes().items() if name in pictures}, random.Random(5)
    best: list[float] = []
    for name, listed in drawn.items():
        looked_at, missing = Scene(_read(pictures[name])), set(CLASSES) - {each.kind for each in listed}
        kinds = draw.sample(sorted(missing - {"-"}), 8)
        best += [max((each.confidence for each in looked_at.find(kind)), default=0.0) for kind in kinds]
    found, guessed = np.mean([each >= DOUBTFUL for each in best]), np.mean([0 < each < DOUBTFUL for each in best])
    print(f"{len(best)} names of classes that are not there: found {found:.3f}, guessed and said so {guessed:.3f}")


def bokeh(pictures: Mapping[str, Path]) -> None:
    """How often the subject of a bokeh photograph is not called blurred."""
    eyes, right, names = ShippedPerception("research"), [], [name for name in BOKEH.split() if name in pictures]
    for name in names:
        image = load_image(pictures[name])
        blur = eyes.look(image, region=eyes.locate(image, "subject")).finding("Blurs")
        right.append(blur is None or blur.severity == "none")
        if not right[-1]:
            print(f"  called blurred: {name}")
    print(f"bokeh and macro: subject not called blurred in {np.mean(right):.3f} of {len(names)}")


def composites(pictures: Mapping[str, Path], free: Path, count: int) -> None:
    """ "Is the X blurry?" on composites, by the whole agent, and scores of blurred objects beside their picture's."""
    drawn = read_boxes()
    sources = {name: Source(drawn[name][0].kind, _read(pictures[name])) for name in SINGLE.split() if name in pictures}
    grounds = [_small(path) for path in sorted(free.rglob("*.jpg"))[::4][:24]]
    assessor, right, declined, guessed, below = Assessor(), [], 0, [], []
    for number, made in enumerate(make_composites(sources, grounds, count)):
        asked = made.blurred if number % 4 < 2 else made.sharp
        found = assessor.assess(made.pixels, f"Is the {asked} blurry?", regions=[made.blurred])
        wanted = "Yes" if asked == made.blurred else "No"
        right.append(found.answer.startswith(wanted))
        declined += found.answer == UNABLE
        judged = found.regions.get(asked)
        if judged is not None and (judged.confidence or 1.0) < DOUBTFUL:
            guessed.append(right[-1])
        if not right[-1]:
            print(f"  {made.manner}, sigma {made.sigma:.1f}: {asked} is {wanted}, said {found.answer}", flush=True)
        region = found.regions[made.blurred]
        if region is not None and region.score is not None:
            # The eyes the assessor used remember the whole picture.
            whole = shipped_perception("research").look(load_image(made.pixels)).quality.score
            below.append(region.score < whole)
        if len(right) % 20 == 0:
            print(f"  {sum(right)} of {len(right)} right, {sum(below)} of {len(below)} below", flush=True)
    print(f"composites: right {np.mean(right):.3f} of {len(right)}, declined {declined / len(right):.3f}, "
          f"right where answered {sum(right) / max(1, len(right) - declined):.3f}")  # fmt: skip
    print(f"  of them at a place said to be doubtful {len(guessed)}, right {sum(guessed)}")
    print(f"score of the blurred object below the picture's: {np.mean(below):.3f} of {len(below)} located")


def cost(pictures: Mapping[str, Path]) -> None:
    """CPU milliseconds that locating adds, models loaded."""
    read = [_read(pictures[name]) for name in list(read_boxes())[:20] if name in pictures]
    for what, name in (("a class", "dog"), ("a face", "face"), ("the subject", "subject")):
        Scene(read[0]).find(name)
        before = time.process_time()
        for pixels in read:
            found = Scene(pixels)
            found.find(name)
            found.edges  # noqa: B018 - measuring what it costs to ask
        print(f"{what} and its sharpness: {(time.process_time() - before) / len(read) * 1000:.0f} ms CPU per picture")


def _counted(drawn: Mapping[str, list[Drawn]], scenes: Mapping[str, Scene]) -> tuple[float, float, float]:
    hits: list[tuple[bool, bool]] = []
    false = 0
    for name, listed in drawn.items():
        left = list(scenes[name].listed)
        for each in (box for box in listed if not box.may):
            best = max(left, key=lambda found: _agreement(found, each), default=None)
            hit = best is not None and _agreement(best, each) >= 0.5
            hits.append((each.kind in LIVING, hit))
            if hit and best is not None:
                left.remove(best)
        false += sum(not _excused(found, listed) for found in left)
    living = [hit for is_living, hit in hits if is_living]
    return float(np.mean(living)), float(np.mean([hit for _, hit in hits])), false / len(drawn)


def _agreement(found: Located, drawn: Drawn) -> float:
    return overlap_share(found.box, drawn.box) if found.kind == drawn.kind else 0.0


def _excused(found: Located, listed: list[Drawn]) -> bool:
    return any(
        each.may
        and each.kind == found.kind
        and (overlap_share(found.box, each.box) > 0.3 or _inside(found.box, each.box))
        for each in listed
    )


def _inside(inner: Box, outer: Box) -> bool:
    width = min(inner[2], outer[2]) - max(inner[0], outer[0])
    height = min(inner[3], outer[3]) - max(inner[1], outer[1])
    return max(0.0, width) * max(0.0, height) > 0.8 * box_area(inner)


def _drawn(words: list[str]) -> Drawn:
    left, top, right, bottom = (float(word) / 100 for word in words[-4:])
    kind = " ".join(words[:-4])
    return Drawn(kind.lstrip("~"), kind.startswith("~"), (left, top, right, bottom))


def _read(path: Path) -> Pixels:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


def _small(path: Path) -> Pixels:
    with Image.open(path) as picture:
        picture.draft("RGB", (1600, 1000))
        shown = picture.convert("RGB")
        shown.thumbnail((1600, 1600))
        return np.asarray(shown)


def main() -> None:
    """Runs the measurements named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["boxes", "absent", "bokeh", "composites", "cost"])
    parser.add_argument("--pictures", type=Path, required=True)
    parser.add_argument("--free", type=Path, default=Path("/usr/share/wallpapers"))
    parser.add_argument("--count", type=int, default=200)
    given = parser.parse_args()
    # Files are called n01440764_tench.JPEG.
    pictures = {path.stem.partition("_")[2]: path for path in sorted(given.pictures.glob("*.JPEG"), reverse=True)}
    for what in given.what:
        if what == "composites":
            composites(pictures, given.free, given.count)
        else:
            {"boxes": boxes, "absent": absent, "bokeh": bokeh, "cost": cost}[what](pictures)


if __name__ == "__main__":
    main()
