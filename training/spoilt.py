"""Rated photographs spoilt further: what people said of them still tells where their ladders begin.

Damage made on clean photographs alone teaches a model to take damage for a sign of that source, and the judge
of authentic photographs never sees a photograph get worse. Here each photograph drawn gets whole ladders of two
of the commonest kinds and of one other. Every picture's recipe follows from the seed; the cache holds its features.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agenticiqa.tools.synthetic.kinds import KINDS, LEVELS, mix
from training.biq2021 import read_photographs
from training.extract import open_arrays, square
from training.labels import measure
from training.pictures import read_pixels
from training.synthetic import COMMONEST
from training.trunk import open_start_network

PHOTOGRAPHS = 600


@dataclass(frozen=True)
class Ladder:
    """One kind of damage at every level, on the rated photograph of this row."""

    photograph: int
    kind: str
    seed: int


def list_ladders(count: int, seed: int) -> list[Ladder]:
    """Three ladders each of photographs drawn from the first `count` rated ones."""
    random = np.random.default_rng(seed)
    others = [kind for kind in KINDS if kind not in COMMONEST]
    ladders = []
    for number, row in enumerate(random.permutation(count)[:PHOTOGRAPHS]):
        left_out = COMMONEST[number % len(COMMONEST)]
        kinds = [kind for kind in COMMONEST if kind != left_out] + [str(random.choice(others))]
        ladders += [Ladder(int(row), kind, int(random.integers(1 << 30))) for kind in kinds]
    return ladders


def extract(data: Path, cache: Path, seed: int, part: int, parts: int) -> None:
    """Write features, stage-5 map and the measures of damage; rows already there are kept."""
    photographs = [p for p in read_photographs(data) if p.split == "train"]
    ladders = list_ladders(len(photographs), seed)
    network = open_start_network(cache)
    arrays = open_arrays(cache, "spoilt", len(ladders) * len(LEVELS), {"measures": (3,)})
    for number in range(part, len(ladders), parts):
        ladder = ladders[number]
        clean = square(read_pixels(data / "Images" / photographs[ladder.photograph].name))
        for step, level in enumerate(LEVELS):
            row = number * len(LEVELS) + step
            if arrays["pooled"][row].any():
                continue
            damaged = mix(clean, ((ladder.kind, level),), ladder.seed)
            seen = network.run(damaged)
            arrays["stage5"][row], arrays["pooled"][row] = seen[4], seen[-1]
            arrays["measures"][row] = measure(clean, damaged)
    for array in arrays.values():
        array.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--parts", type=int, default=1)
    given = parser.parse_args()
    extract(given.data, given.cache, given.seed, given.part, given.parts)
