"""Samples and stand-ins for assessing, so that a batch is tested without a model; all can be sent to a process."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenticiqa.batch import Assess, BatchOptions, BatchRecord, Disk, Manifest, Sample, read_records
from agenticiqa.config import Settings
from agenticiqa.errors import AuthenticationError, ImageNotFoundError
from tests.support.agent import settings as plain_settings

THREADS = BatchOptions(engine="threads", concurrency=2)


def samples(count: int) -> list[Sample]:
    return [Sample(f"s{number:03}", f"/pictures/{number:03}.png") for number in range(count)]


def manifest(count: int) -> Manifest:
    return Manifest.of(samples(count))


def batch_settings(**overrides: Any) -> Settings:
    return plain_settings(**overrides)


@dataclass(frozen=True)
class Judging:
    """Prepares an assessment that is a function of the sample alone; some samples fail, some end their worker."""

    failing: tuple[str, ...] = ()
    deadly: tuple[str, ...] = ()
    seconds: float = 0.0
    cost: float | None = 0.01
    calls: int = 5

    def __call__(self) -> Assess:
        return self.assess

    def assess(self, sample: Sample) -> Mapping[str, Any]:
        time.sleep(self.seconds)
        if sample.sample_id in self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        if sample.sample_id in self.failing:
            raise ImageNotFoundError(f"{sample.image_path}: no such file; check the path")
        ledger = {"nodes": {"planner": {"calls": self.calls, "paid_calls": self.calls, "cost_usd": self.cost}}}
        score = 1.0 + len(sample.sample_id.rstrip("0")) % 5
        return {"answer": "C", "score": score, "query": sample.query or "Rate it.", "error": None, "ledger": ledger}


@dataclass(frozen=True)
class DyingOnce:
    """Prepares an assessment that ends its worker the first time it sees a sample."""

    victim: str
    mark: str

    def __call__(self) -> Assess:
        return self.assess

    def assess(self, sample: Sample) -> Mapping[str, Any]:
        if sample.sample_id == self.victim and not os.path.exists(self.mark):
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Judging().assess(sample)


@dataclass(frozen=True)
class Signing:
    """Prepares an assessment that takes a while, and leaves the number of its process in a folder."""

    folder: str

    def __call__(self) -> Assess:
        (Path(self.folder) / f"{os.getpid()}.pid").touch()
        return Judging(seconds=0.3).assess


@dataclass(frozen=True)
class Unprepared:
    """Cannot be prepared: the key is missing."""

    def __call__(self) -> Assess:
        raise AuthenticationError("openai needs a key; set the environment variable OPENAI_API_KEY")


@dataclass
class FailingDisk(Disk):
    """A disk on which one operation fails after so many; half of what was to be written arrives."""

    operation: str
    after: int
    error: int = errno.ENOSPC
    done: list[str] = field(default_factory=list)

    def write(self, descriptor: int, content: bytes) -> int:
        if self._fails("write"):
            super().write(descriptor, content[: len(content) // 2])
            raise OSError(self.error, os.strerror(self.error))
        return super().write(descriptor, content)

    def sync(self, descriptor: int) -> None:
        self._perhaps_fail("sync")
        super().sync(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        self._perhaps_fail("replace")
        super().replace(source, target)

    def truncate(self, descriptor: int, size: int) -> None:
        self._perhaps_fail("truncate")
        super().truncate(descriptor, size)

    def _perhaps_fail(self, operation: str) -> None:
        if self._fails(operation):
            raise OSError(self.error, os.strerror(self.error))

    def _fails(self, operation: str) -> bool:
        self.done.append(operation)
        return operation == self.operation and self.done.count(operation) > self.after


def without_times(records: Iterable[BatchRecord]) -> list[dict[str, Any]]:
    """The records without what differs between two runs of the same."""
    return [_without_times(record.values()) for record in records]


def results(path: Path) -> list[dict[str, Any]]:
    return without_times(read_records(path))


def ids(path: Path) -> list[str]:
    return [record.sample_id for record in read_records(path)]


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_times(item) for name, item in value.items() if name != "seconds"}
    return [_without_times(item) for item in value] if isinstance(value, list) else value
