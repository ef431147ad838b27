"""The Ray engine on a real local Ray: the same records, the same failures, and a killed actor loses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray

from agenticiqa.batch import BatchOptions, BatchSummary, Journal, run_batch
from agenticiqa.batch.ray_engine import RayCrew
from agenticiqa.batch.worker import surroundings_of
from agenticiqa.errors import AuthenticationError, UsageError
from tests.batch.making import THREADS, DyingOnce, Judging, Unprepared, batch_settings, ids, manifest, results, samples

ROOT = Path(__file__).parents[2]
RAY = BatchOptions(engine="ray", concurrency=2)
# Ray's own start leaves files and sockets to the garbage collector.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module", autouse=True)
def _local_ray() -> Iterator[None]:
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=100_000_000,
        log_to_driver=False,
        logging_level="ERROR",
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
    )
    yield
    ray.shutdown()


def run(output: Path, options: BatchOptions = RAY, **more: Any) -> BatchSummary:
    return run_batch(manifest(8), output, options, **{"settings": batch_settings(), "prepare": Judging(), **more})


def test_ray_gives_the_same_records_resume_and_failures_as_threads(tmp_path: Path) -> None:
    prepare = Judging(failing=("s002",))

    run(tmp_path / "threads.jsonl", THREADS, prepare=prepare)
    first = run(tmp_path / "ray.jsonl", prepare=prepare)

    assert (first.engine, first.answered, first.failed) == ("ray", 7, 1)
    assert results(tmp_path / "ray.jsonl") == results(tmp_path / "threads.jsonl")
    second = run(tmp_path / "ray.jsonl")
    assert (second.done_before, second.answered, second.remaining) == (7, 1, 0)


def test_an_actor_that_dies_on_a_sample_loses_nothing(tmp_path: Path) -> None:
    summary = run(tmp_path / "out.jsonl", prepare=DyingOnce("s004", str(tmp_path / "died")))

    assert (tmp_path / "died").exists()
    assert (summary.answered, summary.failed) == (8, 0)


def test_an_actor_killed_from_outside_midway_loses_nothing(tmp_path: Path) -> None:
    crew = RayCrew(Judging(seconds=0.2), 2, 2, None, surroundings_of(batch_settings()))
    waiting = samples(12)
    found: list[str] = []
    with Journal(tmp_path / "out.jsonl") as journal:
        while len(found) < 12:
            while waiting and crew.has_room():
                crew.submit(waiting.pop(0))
            if len(found) == 4:
                ray.kill(crew._actors[0].handle)
            for record in crew.wait():
                journal.append(record)
                found.append(record["sample_id"])
    crew.close()

    assert sorted(found) == sorted(ids(tmp_path / "out.jsonl")) == [sample.sample_id for sample in samples(12)]


def test_a_sample_that_ends_every_actor_is_given_up(tmp_path: Path) -> None:
    summary = run(tmp_path / "out.jsonl", prepare=Judging(deadly=("s001",)))

    assert (summary.answered, summary.failed) == (7, 1)
    assert "actors were lost on this sample" in results(tmp_path / "out.jsonl")[1]["error"]


def test_what_keeps_an_actor_from_loading_is_raised(tmp_path: Path) -> None:
    with pytest.raises(AuthenticationError, match="OPENAI_API_KEY"):
        run(tmp_path / "out.jsonl", prepare=Unprepared())
