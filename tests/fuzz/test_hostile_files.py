"""Hostile files one by one, and the fuzzer's seeds run once through their targets."""

from __future__ import annotations

import time
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest

from agenticiqa.errors import ImageError, MissingExtraError
from agenticiqa.images import load_image
from tests.fuzz.hostile_files import hostile_files
from tests.fuzz.targets import TARGETS, built_in_tools

FILES = dict(hostile_files())
SEEDS = Path(__file__).parent / "seeds"
SECONDS = 5.0
BYTES = 100 * 2**20


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_a_picture_or_a_typed_error_and_costs_little(name: str) -> None:
    tracemalloc.start()
    started = time.process_time()

    with suppress(ImageError, MissingExtraError):
        assert load_image(FILES[name]).pixels.size <= 64 * 64 * 3
    seconds, (_, peak) = time.process_time() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert seconds < SECONDS
    assert peak < BYTES


@pytest.mark.parametrize("target", TARGETS)
def test_every_seed_keeps_the_promises(target: str) -> None:
    seeds = sorted((SEEDS / target).iterdir())

    for seed in seeds:
        TARGETS[target](seed.read_bytes())

    assert len(seeds) > 10


def test_the_seeds_reach_every_built_in_metric() -> None:
    first = {seed.read_bytes()[0] for seed in (SEEDS / "metrics").iterdir()}

    assert {number % len(built_in_tools()) for number in first} == set(range(len(built_in_tools())))
