"""Threads, processes, damage and repetition: what is shared stays right, and nothing leaks."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agenticiqa.cache import Cache
from agenticiqa.images import load_image
from agenticiqa.score_fusion import ScoreFusion
from tests.chaos.sharing import NAMESPACE, VALUE, damage, keep_records, write_and_read
from tests.support import agent
from tests.support.photos import photo

ROOT = Path(__file__).parents[2]
MEGABYTE = 1024


def in_a_process(task: str, folder: Path, number: int, **variables: str) -> Any:
    command = [sys.executable, "-W", "ignore", "-m", "tests.chaos.sharing", task, str(folder), str(number)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, **variables})
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_four_processes_share_one_cache(tmp_path: Path) -> None:
    path = str(tmp_path / "cache.sqlite")

    with multiprocessing.get_context("spawn").Pool(4) as pool:
        outcomes = pool.map(write_and_read, [(path, seed, 60) for seed in range(4)])

    assert sum(wrong for wrong, _ in outcomes) == 0
    assert sum(found for _, found in outcomes) > 0


def test_four_processes_share_one_journal_in_turn(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"

    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.map(keep_records, [(str(path), seed, 25) for seed in range(4)])

    wanted = sorted(f"{seed}-{number}" for seed in range(4) for number in range(25))
    assert sorted(json.loads(line)["sample_id"] for line in path.read_text().splitlines()) == wanted


def test_sixteen_threads_share_registry_cache_and_fusion(tmp_path: Path) -> None:
    cache, fusion = Cache(tmp_path / "cache.sqlite"), ScoreFusion()
    tools = agent.registry(*(agent.FixedTool(f"TOOL{number}", 1 + number % 5) for number in range(16)))
    image = load_image(photo("chelsea")[:32, :32])

    def work(number: int) -> tuple[float | None, str | None, float]:
        name = f"TOOL{number % 16}"
        measured = tools.execute(name, image).calibrated
        cache.put(NAMESPACE, name, str(measured))
        beliefs = fusion.extract_vlm_probabilities("C")
        return measured, cache.get(NAMESPACE, name), fusion.fuse_scores([1.0 + number % 16 % 5], beliefs)

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(work, range(640)))
    alone = [work(number) for number in range(16)]
    cache.close()

    assert found == alone * 40
    assert [value for value, _, _ in alone] == [pytest.approx(1 + number % 5) for number in range(16)]


@pytest.mark.parametrize("seed", range(10))
def test_a_damaged_cache_heals_and_gives_no_wrong_answer(tmp_path: Path, seed: int) -> None:
    path, rng = tmp_path / "cache.sqlite", random.Random(seed)
    cache = Cache(path)
    for number in range(100):
        cache.put(NAMESPACE, str(number), f"{number}: {VALUE}")
    cache.close()

    damage(path, rng)
    harmed = Cache(path)
    before = {number: harmed.get(NAMESPACE, str(number)) for number in range(100)}
    for number in range(100):
        harmed.put(NAMESPACE, str(number), f"{number}: {VALUE}")
    after = [harmed.get(NAMESPACE, str(number)) for number in range(100)]
    harmed.close()

    assert all(text in (None, f"{number}: {VALUE}") for number, text in before.items())
    assert after == [f"{number}: {VALUE}" for number in range(100)]


@pytest.mark.slow
def test_the_score_is_the_same_in_other_processes_with_other_threads(tmp_path: Path) -> None:
    scores = [in_a_process("score", tmp_path, threads, OMP_NUM_THREADS=str(threads)) for threads in (1, 2)]
    hashed = in_a_process("score", tmp_path, 1, PYTHONHASHSEED="7")

    assert max(*scores, hashed) - min(*scores, hashed) <= 1e-6


@pytest.mark.slow
def test_many_runs_keep_memory_and_descriptors_flat(tmp_path: Path) -> None:
    grown = in_a_process("soak", tmp_path, 40)

    assert grown["files_grown"] <= 0
    assert grown["kilobytes_grown"] < 30 * MEGABYTE
