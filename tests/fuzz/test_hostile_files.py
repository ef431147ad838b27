"""Hostile files one by one, and the fuzzer's seeds run once through their targets."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest

from agenticiqa.errors import ImageError, MissingExtraError
from agenticiqa.images import load_image
from tests.fuzz.hostile_files import hostile_files
from tests.fuzz.targets import TARGETS, built_in_tools
from tests.support.steps import steps_of

FILES = dict(hostile_files())
SEEDS = Path(__file__).parent / "seeds"
BYTES = 100 * 2**20
STEPS, STEPS_PER_BYTE = 20_000, 100


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_a_picture_or_a_typed_error_and_costs_little(name: str) -> None:
    tracemalloc.start()

    load(FILES[name])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    steps = steps_of(lambda: load(FILES[name]))

    assert peak < BYTES
    # Work grows with the file that was sent and not with what the file claims to hold.
    assert steps < STEPS + STEPS_PER_BYTE * len(FILES[name])


def load(content: bytes) -> None:
    with suppress(ImageError, MissingExtraError):
        assert load_image(content).pixels.size <= 64 * 64 * 3


@pytest.mark.parametrize("target", TARGETS)
def test_every_seed_keeps_the_promises(target: str) -> None:
    seeds = sorted((SEEDS / target).iterdir())

    for seed in seeds:
        TARGETS[target](seed.read_bytes())

    assert len(seeds) > 10


def test_the_seeds_reach_every_built_in_metric() -> None:
    first = {seed.read_bytes()[0] for seed in (SEEDS / "metrics").iterdir()}

    assert {number % len(built_in_tools()) for number in first} == set(range(len(built_in_tools())))
