"""A batch that is killed, starved of disk and lied to, run again and again until nothing is left to do."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import Any

from tests.chaos.batch_service import BatchService
from tests.chaos.batch_worker import DISK_FAILED, Orders
from tests.support import agent

WORKERS = 4
ROOT = Path(__file__).parents[2]
ENDINGS = ("half a write", "after a write", "disk full", "read-only")
AT_THE_END = ("before the rename", "after the rename")
KILLED = -9


@dataclass
class Siege:
    """What was done to the batch, and what it came to."""

    samples: int
    runs: int = 0
    kills: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    faults: int = 0
    lost: int = 0
    doubled: int = 0
    wrong: int = 0
    repeated_after_recorded: int = 0
    repeated: int = 0
    crashes: list[str] = field(default_factory=list)

    def problems(self) -> Iterator[str]:
        """Every promise that was broken."""
        for name in ("lost", "doubled", "wrong", "repeated_after_recorded"):
            if getattr(self, name):
                yield f"{name}: {getattr(self, name)}"
        # A kill loses the one call each worker has under way, and nothing else is paid for twice.
        if self.repeated > self.kills * WORKERS:
            yield f"{self.repeated} good answers asked for again after {self.kills} kills"
        yield from self.crashes


def besiege(
    folder: Path,
    samples: int,
    kills: int,
    seconds: tuple[float, float],
    endings: tuple[str, ...] = ENDINGS,
    seed: int = 0,
) -> Siege:
    """Runs the batch under fire: `kills` random ones besides each special ending, `seconds` apart."""
    rng, siege = random.Random(seed), Siege(samples)
    for number in range(4):
        agent.picture(folder, f"picture{number}.png", seed=number)
    with BatchService(share=0.2, seed=seed).running() as service:
        watch = _Watch(service, folder / "out.jsonl", siege)
        for ending in (*endings, *["random"] * kills):
            orders = _orders(service, folder, samples, ending, rng.randrange(1, max(2, samples // 20)))
            watch.run(orders, rng.uniform(*seconds) if ending == "random" else None)
        for ending in (*AT_THE_END, *["clean"] * 12):
            if watch.run(_orders(service, folder, samples, ending, 10**9), None) == 0:
                break
        siege.faults, siege.repeated = service.faults, service.repeated()
    _count(folder / "out.jsonl", siege)
    return siege


def _orders(service: BatchService, folder: Path, samples: int, ending: str, after: int) -> Orders:
    return Orders(service.url, str(folder), samples, ending, after, WORKERS)


class _Watch:
    """Starts runs one after the other and sees that what is recorded is never asked for again."""

    def __init__(self, service: BatchService, output: Path, siege: Siege) -> None:
        self._service, self._output, self._siege = service, output, siege
        self._settled: dict[str, int] = {}

    def run(self, orders: Orders, seconds: float | None) -> int:
        command = [sys.executable, "-m", "tests.chaos.batch_worker", json.dumps(asdict(orders))]
        with Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            if seconds is not None:
                self._kill(process, seconds)
            _, said = process.communicate()
        self._siege.runs += 1
        self._siege.endings[orders.ending] += 1
        self._siege.kills += process.returncode == KILLED
        if process.returncode not in (0, 1, DISK_FAILED, KILLED):
            self._siege.crashes.append(f"{orders.ending}: exit code {process.returncode}: {said[-500:]}")
        self._compare()
        return process.returncode

    def _kill(self, process: Popen[str], seconds: float) -> None:
        # Counted from the first request: before it there is nothing to lose.
        before, patience = sum(self._service.requests.values()), time.monotonic() + 60
        while sum(self._service.requests.values()) == before and process.poll() is None:
            if time.monotonic() > patience:
                break
            time.sleep(0.02)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()

    def _compare(self) -> None:
        for sample, count in self._settled.items():
            self._siege.repeated_after_recorded += self._service.requests[sample] - count
        done = (record["sample_id"] for record in _records(self._output) if record["error"] is None)
        self._settled = {sample: self._service.requests[sample] for sample in done}


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of the file; the last one may be half a line until the next run mends it."""
    if not path.exists():
        return
    for line in path.read_bytes().split(b"\n")[:-1]:
        yield json.loads(line)


def _count(path: Path, siege: Siege) -> None:
    records = list(_records(path))
    ids = Counter(record["sample_id"] for record in records)
    siege.lost = sum(f"sample-{number}" not in ids for number in range(siege.samples))
    siege.doubled = sum(count - 1 for count in ids.values())
    siege.wrong = sum(not _is_right(record) for record in records)


def _is_right(record: dict[str, Any]) -> bool:
    found = record["assessment"] or {}
    own = f"in {record['sample_id']}, " in str(found.get("reasoning"))
    return record["error"] is None and found.get("answer") == "C" and own and found.get("score") is not None
