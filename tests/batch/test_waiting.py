"""Backends that wait: as many calls at once as samples are wanted at once, and never more than a limit allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agenticiqa.batch import BatchOptions, BatchSummary, Manifest, Sample, run_batch
from tests.batch.waiting_server import WaitingServer
from tests.support.agent import picture
from tests.wire import asking

COUNT = 24


def run(folder: Path, server: WaitingServer, **transport: Any) -> BatchSummary:
    at = {"backend": "compatible.stand-in", "base_url": server.url}
    pipeline = {"max_replan_iterations": 0, "transport": transport}
    settings = asking.settings(planner=at, executor=at, summarizer=at, pipeline=pipeline)
    images = Manifest.of([Sample(str(n), picture(folder, f"{n}.png", seed=n)) for n in range(COUNT)])
    return run_batch(images, folder / "out.jsonl", BatchOptions(concurrency=12), settings=settings)


def test_as_many_calls_wait_at_once_as_samples_are_wanted(tmp_path: Path) -> None:
    with WaitingServer(0.2).running() as server:
        summary = run(tmp_path, server)

    assert (summary.engine, summary.answered, summary.failed) == ("threads", COUNT, 0)
    assert summary.calls == server.calls == 2 * COUNT
    assert 9 <= server.most_waiting <= 12


def test_a_limit_of_the_backend_is_kept_whatever_the_concurrency(tmp_path: Path) -> None:
    with WaitingServer(0.02).running() as server:
        summary = run(tmp_path, server, limits={"compatible": {"concurrency": 2}})

    assert summary.answered == COUNT
    assert server.most_waiting == 2


def test_a_rate_limit_of_the_backend_is_kept(tmp_path: Path) -> None:
    with WaitingServer(0.0).running() as server:
        summary = run(tmp_path, server, limits={"compatible": {"concurrency": 12, "requests_per_minute": 1200}})

    # 48 calls, one every 50 ms: the last begins after 47 of them.
    assert summary.seconds >= 47 * 0.05
