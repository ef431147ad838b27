"""Fits the calibrations for commercial terms: free photographs, damaged by us, labelled with the level of damage.

    python -m training.fit_open_calibrations

No opinion enters. Level 0 reads 5 and each level of damage costs 0.8, as in the labels of the open quality model.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2
import numpy as np

from agenticiqa.images import LoadedImage, load_image
from agenticiqa.tools import Calibration, ToolRegistry
from agenticiqa.tools.calibration import packaged_calibrations
from agenticiqa.tools.catalogue import BuiltinTool, load_catalogue
from agenticiqa.tools.curve_fitting import fit_curve
from agenticiqa.tools.synthetic.ladder import LADDER_KINDS, Rung, build_ladders
from training.fit_calibrations import best_raw, shortened, write_calibrations
from training.pictures import read_pixels
from training.sources import FREE_PHOTOGRAPHS

DESTINATION = Path("src/agenticiqa/tools/calibrations_open.json")
PHOTOGRAPHS = 6
SIDE = 384
LEVEL_COST = 0.8


def free_views() -> list[LoadedImage]:
    """Square views of a few photographs that are free for any use."""
    step = len(FREE_PHOTOGRAPHS) // PHOTOGRAPHS
    views = []
    for path in FREE_PHOTOGRAPHS[::step][:PHOTOGRAPHS]:
        pixels = read_pixels(Path(path))
        scale = SIDE / min(pixels.shape[:2])
        size = (max(SIDE, round(pixels.shape[1] * scale)), max(SIDE, round(pixels.shape[0] * scale)))
        small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
        left = (small.shape[1] - SIDE) // 2
        views.append(load_image(np.ascontiguousarray(small[:SIDE, left : left + SIDE])))
    return views


def main() -> None:
    """Measures every rung with every tool free of research data, fits and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", action="append", help="fit only this one; may be repeated")
    wanted = parser.parse_args().tool
    cv2.setNumThreads(1)
    cards = [card for card in load_catalogue().values() if card.implementation.startswith("builtin:")]
    cards = [card for card in cards if card.role == "metric" and not card.research_only]
    cards = [card for card in cards if not wanted or card.name in wanted]
    registry = ToolRegistry([BuiltinTool(card) for card in cards])
    raw: dict[str, list[float]] = {card.name: [] for card in cards}
    labels = []
    for rung in build_ladders(free_views()):
        labels.append(nominal(rung))
        for card in cards:
            raw[card.name].append(registry.execute(card.name, rung.image, rung.original).raw)
    data = f"{PHOTOGRAPHS} free photographs, {len(LADDER_KINDS)} kinds of damage at 5 levels, labelled by level"
    fitted = {}
    for card in cards:
        best = best_raw(card) if card.reference == "FR" else None
        curve = fit_curve(raw[card.name], labels, increasing=card.higher_is_better, best=best, references=PHOTOGRAPHS)
        print(f"{card.name}: SRCC {curve.srcc:.3f} with the level, spread {curve.spread:.2f}")
        fitted[card.name] = Calibration(method="levels", data=data, overall=shortened(curve))
    write_calibrations({**packaged_calibrations("commercial"), **fitted}, DESTINATION)


def nominal(rung: Rung) -> float:
    """The score a rung stands for by its level alone."""
    return 5.0 - LEVEL_COST * rung.level


if __name__ == "__main__":
    main()
