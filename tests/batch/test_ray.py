"""The Ray engine on a real local Ray: the same records, the same failures, and a killed actor loses nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray

from agenticiqa.batch import BatchOptions, BatchProgress, BatchSummary, read_records, run_batch
from agenticiqa.errors import AuthenticationError
from tests.batch.making import THREADS, Judging, Signing, Unprepared, batch_settings, ids, manifest, results, samples

ROOT = Path(__file__).parents[2]
RAY = BatchOptions(engine="ray", concurrency=2)
# Ray's own start leaves files and sockets to the garbage collector.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module", autouse=True)
def _local_ray() -> Iterator[None]:
    # On a busy machine workers that stand back would take minutes to start.
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - Ray spells it so
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=100_000_000,
        log_to_driver=False,
        logging_level="ERROR",
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}},
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


def test_an_actor_killed_midway_loses_nothing(tmp_path: Path) -> None:
    killed: list[int] = []

    def kill_one(progress: BatchProgress) -> None:
        if progress.answered >= 2 and not killed:
            killed.append(int(next(tmp_path.glob("*.pid")).stem))
            os.kill(killed[0], signal.SIGKILL)

    summary = run(tmp_path / "out.jsonl", prepare=Signing(str(tmp_path)), on_progress=kill_one)

    assert killed
    assert (summary.answered, summary.failed) == (8, 0)
    assert ids(tmp_path / "out.jsonl") == [sample.sample_id for sample in samples(8)]


def test_what_keeps_an_actor_from_loading_is_raised(tmp_path: Path) -> None:
    with pytest.raises(AuthenticationError, match="OPENAI_API_KEY"):
        run(tmp_path / "out.jsonl", prepare=Unprepared())


def test_a_sample_that_ends_every_actor_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    summary = run(tmp_path / "out.jsonl", prepare=Judging(deadly=("s001",)))

    (failed,) = [record for record in read_records(tmp_path / "out.jsonl") if record.error]
    assert (summary.answered, failed.sample_id) == (7, "s001")
    assert "3 actors were lost on this sample" in str(failed.error)
