"""One run of a batch in a process of its own, which fails or dies as it is told: `python -m tests.chaos.batch_worker`.

The outcome is the exit code: 0 nothing left to do, 1 something left, 75 the disk failed; a killed process has none.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenticiqa.assessor import Assessor
from agenticiqa.batch import BatchOptions, Manifest, Sample, run_batch
from agenticiqa.batch.journal import Disk
from agenticiqa.batch.samples import Assess
from agenticiqa.config import Settings
from agenticiqa.errors import JournalError, OutputError
from agenticiqa.parts import Parts
from agenticiqa.vlm_client.factory import create_role_clients
from tests.support import agent
from tests.wire import asking
from tests.wire.asking import MODELS

DISK_FAILED = 75


@dataclass(frozen=True)
class Orders:
    """What this run has to do, and how it is to end."""

    url: str
    folder: str
    samples: int
    ending: str
    """clean, "half a write", "after a write", "before the rename", "after the rename", "disk full", "read-only"."""
    after: int
    """How many records are written before it ends."""
    workers: int


class DoomedDisk(Disk):
    """A disk on which one write goes wrong, or at which the process dies."""

    def __init__(self, ending: str, after: int) -> None:
        self._ending, self._left = ending, after

    def open(self, path: Path, *, empty: bool = False) -> int:
        if self._ending == "read-only":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return super().open(path, empty=empty)

    def write(self, descriptor: int, content: bytes) -> int:
        self._left -= 1
        if self._left >= 0:
            return super().write(descriptor, content)
        if self._ending == "half a write":
            super().write(descriptor, content[: len(content) // 2])
            die()
        if self._ending == "disk full":
            super().write(descriptor, content[: len(content) // 3])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(descriptor, content)

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        if self._left < 0 and self._ending == "after a write":
            die()

    def replace(self, source: Path, target: Path) -> None:
        if self._ending == "before the rename":
            die()
        super().replace(source, target)
        if self._ending == "after the rename":
            die()


@dataclass(frozen=True)
class AskTheService:
    """Prepares the agent with the service as its only model and one fixed tool."""

    settings: Settings

    def __call__(self) -> Assess:
        clients = create_role_clients(self.settings)
        assessor = Assessor(parts=Parts(clients, agent.registry(agent.FixedTool("GAUGE", 2.6)), self.settings))

        def assess(sample: Sample) -> dict[str, Any]:
            found = assessor.assess(sample.image_path, sample.query)
            values: dict[str, Any] = json.loads(found.to_json())
            # A fault in gathering evidence is no failure of the sample; here it has to be, so that it is tried again.
            lacking = found.evidence_errors
            return {**values, "error": found.error or (json.dumps(lacking) if lacking else None)}

        return assess


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def settings_for(orders: Orders) -> Settings:
    role = {"backend": MODELS["openai"], "base_url": orders.url, "timeout": 20.0, "max_tokens": 512}
    transport = {"attempts": 4, "max_seconds": 60.0, "breaker_failures": 10**6}
    return asking.settings(
        Path(orders.folder) / "cache", planner=role, executor=role, summarizer=role,
        pipeline={"transport": transport, "max_replan_iterations": 0,
                  "cache": {"enabled": True, "directory": f"{orders.folder}/cache"}},
    )  # fmt: skip


def samples_of(orders: Orders) -> list[Sample]:
    return [
        Sample(
            f"sample-{number}", f"{orders.folder}/picture{number % 4}.png", f"How good is the cat in sample-{number}?"
        )
        for number in range(orders.samples)
    ]


def run(orders: Orders) -> int:
    settings = settings_for(orders)
    try:
        summary = run_batch(
            Manifest.of(samples_of(orders)),
            Path(orders.folder) / "out.jsonl",
            BatchOptions(engine="threads", concurrency=orders.workers),
            settings=settings,
            prepare=AskTheService(settings),
            disk=DoomedDisk(orders.ending, orders.after),
        )
    except (JournalError, OutputError) as error:
        sys.stderr.write(f"{error}\n")
        return DISK_FAILED
    return 1 if summary.remaining else 0


if __name__ == "__main__":
    work: Callable[[Orders], int] = run
    sys.exit(work(Orders(**json.loads(sys.argv[1]))))
