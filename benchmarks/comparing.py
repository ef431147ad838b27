"""Whether `compare` names the right picture: 12 questions, each on 20 sets of four pictures whose order is known.

    python -m benchmarks.comparing [--sets 20] [--json FILE]

A set is one photograph at four strengths of one change; it is right when the picture asked for is named alone. Only
what the comparison itself does is run: reading the question, measuring every picture, ranking.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agenticiqa.assessor.ranking import ask_to_rank
from agenticiqa.parts import Parts, build_parts
from agenticiqa.tools.synthetic.kinds import distort
from benchmarks.reading_pictures import photograph_called

Pixels = NDArray[np.uint8]
# The question, the change that orders a set, and whether the strongest or the weakest is asked for.
QUESTIONS: tuple[tuple[str, str, str], ...] = (
    ("Which one is the sharpest?", "gaussian_blur", "weakest"),
    ("Which photo is the blurriest?", "gaussian_blur", "strongest"),
    ("Which one is the noisiest?", "white_noise", "strongest"),
    ("Which of these is the cleanest, with the least noise?", "white_noise", "weakest"),
    ("Which picture is the darkest?", "darken", "strongest"),
    ("Which picture is the most overexposed?", "brighten", "strongest"),
    ("Which file is the most compressed?", "jpeg", "strongest"),
    ("Which has the fewest JPEG artifacts?", "jpeg", "weakest"),
    ("Which has the best colours?", "color_cast", "weakest"),
    ("Which has the strongest colour cast?", "color_cast", "strongest"),
    ("Which one looks the most washed out?", "contrast_down", "strongest"),
    ("哪张噪点最多？", "white_noise", "strongest"),
)
PHOTOGRAPHS = ("astronaut", "chelsea", "coffee", "motorcycle_left", "rocket")
STRENGTHS = (0, 2, 3, 5)


def main() -> None:
    """Prints the share of right answers per question and in all."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sets", type=int, default=20)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    random, parts = np.random.default_rng(3), build_parts()
    right: dict[str, list[bool]] = {question: [] for question, _, _ in QUESTIONS}
    for number in range(given.sets):
        pixels = _cut(photograph_called(PHOTOGRAPHS[number % len(PHOTOGRAPHS)]), random)
        for question, kind, wanted in QUESTIONS:
            order = list(random.permutation(STRENGTHS))
            pictures = [pixels if strength == 0 else distort(pixels, kind, int(strength)) for strength in order]
            right[question].append(_named(question, pictures, parts) == _asked(order, wanted))
    for question, marks in right.items():
        print(f"{question:55} {np.mean(marks):.3f}")
    print(f"all {np.mean([mark for marks in right.values() for mark in marks]):.3f} (target 0.95)")
    if given.json:
        given.json.write_text(json.dumps({question: float(np.mean(marks)) for question, marks in right.items()}))


def _named(question: str, pictures: list[Pixels], parts: Parts) -> int | None:
    """The place of the picture that is named; None when none or several are."""
    from agenticiqa.assessor.ranking import SAME_SHARE

    found, _ = ask_to_rank(question, pictures, parts)
    if not found.images:
        return None
    sign = -1 if found.first == "most" else 1
    places = sorted(range(len(pictures)), key=lambda place: sign * found.images[place].amount)
    first, second = (found.images[place].amount for place in places[:2])
    return places[0] if abs(first - second) >= SAME_SHARE else None


def _asked(order: list[int], wanted: str) -> int:
    return order.index(max(order) if wanted == "strongest" else min(order))


def _cut(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """Three quarters of the picture from a random place, so that sets of one photograph differ."""
    height, width = (3 * side // 4 for side in pixels.shape[:2])
    top = int(random.integers(0, pixels.shape[0] - height + 1))
    left = int(random.integers(0, pixels.shape[1] - width + 1))
    return np.ascontiguousarray(pixels[top : top + height, left : left + width])


if __name__ == "__main__":
    main()
