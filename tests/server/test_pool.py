"""The pool beside queues of its own: a run that could not be kept, or was cancelled, costs no other run anything."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

from agenticiqa.server.storage.database import Run
from agenticiqa.server.workers.messages import RunFile, RunRequest
from agenticiqa.server.workers.pool import Pool
from tests.server.running import picture
from tests.support.agent import settings

FIRST, SECOND = "Is it noisy?", "Is it blurry?"


class FailingQueue:
    """Hands out two runs; no event of the first can be kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "image-1").write_bytes(picture(1))
        self._waiting = [_run(2, SECOND), _run(1, FIRST)]
        self.outcomes: dict[str, tuple[str, Any]] = {}
        self.all_ended = threading.Event()

    def claim(self) -> Run | None:
        return self._waiting.pop() if self._waiting else None

    def prepare(self, run: Run) -> Path:
        return self._folder

    def happened(self, run: Run, kind: str, data: dict[str, Any]) -> None:
        if run.id == "run 1":
            raise sqlite3.OperationalError("database or disk is full")

    def ended(self, run: Run, outcome: str, data: dict[str, Any]) -> None:
        self.outcomes[run.id] = outcome, data
        if len(self.outcomes) == 2:
            self.all_ended.set()

    def put_back(self, run: Run) -> None:
        raise AssertionError("nothing was interrupted")


class CancellingQueue(FailingQueue):
    """Hands out two runs; the first is cancelled as soon as something is heard of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.pool: Pool | None = None

    def happened(self, run: Run, kind: str, data: dict[str, Any]) -> None:
        assert self.pool is not None
        if run.id == "run 1":
            self.pool.cancel(run.id)

    def ended(self, run: Run, outcome: str, data: dict[str, Any]) -> None:
        self.outcomes[run.id] = outcome, data
        self.all_ended.set()


def _run(place: int, query: str) -> Run:
    request = RunRequest(query=query, images=[RunFile(file="image-1", name="a.png")], pictures=False)
    return Run(place, f"run {place}", "assess", "running", None, None, request, 0.0, 0.0, None, None, None)


def test_what_a_given_up_run_still_says_is_not_taken_for_the_next_ones_result(tmp_path: Path) -> None:
    queue = FailingQueue(tmp_path)
    pool = Pool(queue, settings(), workers=1, time_limit=120)

    pool.start()
    ended = queue.all_ended.wait(120)
    pool.stop(0)
    pool.join()

    assert ended
    assert queue.outcomes["run 1"][0] == "problem"
    outcome, data = queue.outcomes["run 2"]
    assert (outcome, data["assessment"]["query"]) == ("result", SECOND)


def test_after_a_cancelled_run_a_new_worker_serves_the_next_one(tmp_path: Path) -> None:
    queue = CancellingQueue(tmp_path)
    queue.pool = pool = Pool(queue, settings(), workers=1, time_limit=120)

    pool.start()
    ended = queue.all_ended.wait(120)
    pool.stop(0)
    pool.join()

    assert ended
    assert list(queue.outcomes) == ["run 2"]
    outcome, data = queue.outcomes["run 2"]
    assert (outcome, data["assessment"]["query"]) == ("result", SECOND)
