"""Writes the curves of the learned tools, AIQA_NR and AIQA_FR, into the packaged calibrations.

    python -m training.fit_learned_tools [--biq2021 FOLDER] [--limit 300] [--scores FILE]

Both speak on the common scale already, so that their curve is the scale itself; what is measured is their spread, from
which the fusion learns how far to trust them. AIQA_NR has the error its own head states, measured on sources of
opinions left out of its fit; AIQA_FR has the error on photographs left out when it was fitted. `--scores` keeps the
scores and opinions of BIQ2021's test split for `benchmarks.fusion --simulate`.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path

import numpy as np

from agenticiqa.embedded.full_reference.pair_model import load_model
from agenticiqa.embedded.quality.quality_model import load_quality_model
from agenticiqa.images import load_image
from agenticiqa.tools.calibration import Calibration, same_scale
from agenticiqa.weights import WeightSet
from training.biq2021 import read_photographs
from training.opinions import on_common_scale

FOLDER = Path("src/agenticiqa/tools")
# On photographs of BIQ2021 left out of the fit (docs/model-card.md); tools are offered in the order of such figures.
LEFT_OUT_SRCC: dict[WeightSet, float | None] = {"research": 0.866, "open": None}


def main() -> None:
    """Fits and writes, and prints every spread."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--biq2021", type=Path)
    options.add_argument("--limit", type=int, default=300)
    options.add_argument("--seed", type=int, default=3)
    options.add_argument("--scores", type=Path)
    given = options.parse_args()
    research = {"AIQA_FR": full_reference("research"), "AIQA_NR": stated("research")}
    if given.biq2021 and given.scores:
        write_scores(given.scores, judged(given.biq2021, given.limit, given.seed))
    store(FOLDER / "calibrations.json", research)
    store(FOLDER / "calibrations_open.json", {"AIQA_FR": full_reference("open"), "AIQA_NR": stated("open")})


def judged(folder: Path, limit: int, seed: int) -> list[tuple[str, float, float]]:
    """Name, opinion on the common scale and AIQA_NR's score of pictures of the test split."""
    pictures = [picture for picture in read_photographs(folder) if picture.split == "test"]
    chosen = np.random.default_rng(seed).permutation(len(pictures))[:limit]
    model = load_quality_model("research")
    names = [pictures[index].name for index in chosen]
    opinions = on_common_scale("biq2021", [pictures[index].opinion for index in chosen])
    scores = [model.judge(load_image(folder / "Images" / name)).score for name in names]
    return [(name, float(opinion), score) for name, opinion, score in zip(names, opinions, scores, strict=True)]


def full_reference(weights: WeightSet) -> Calibration:
    """AIQA_FR's own scale with the error on photographs left out."""
    model = load_model(weights)
    if model.rated is None:
        return same_scale("synthetic damage of free photographs, no opinions", round(model.opened.spread, 4))
    spread = round(float(model.rated.spreads.mean()), 4)
    found = same_scale("a part of TID2013 (6 photographs, 720 pairs)", spread, round(model.rated.srcc, 4))
    return found.model_copy(update={"research_only": True})


def stated(weights: WeightSet) -> Calibration:
    """AIQA_NR's own scale with the error its head states."""
    error = round(load_quality_model(weights).error, 4)
    found = same_scale("sources of opinions left out of the fit", error, LEFT_OUT_SRCC[weights])
    return found.model_copy(update={"research_only": weights == "research"})


def store(path: Path, fresh: dict[str, Calibration]) -> None:
    """Writes the entries into the file, one line a tool, and leaves the others as they were."""
    entries = json.loads(path.read_text(encoding="utf-8"))
    for name, found in fresh.items():
        entries[name] = found.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        print(f"{path.name}: {name}: spread {found.overall.spread}, SRCC {found.overall.srcc}")
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted(entries.items()))
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def write_scores(path: Path, rows: list[tuple[str, float, float]]) -> None:
    """A table of picture, opinion and score."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("image", "opinion", "aiqa_nr"), *rows])


if __name__ == "__main__":
    main()
