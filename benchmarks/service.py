"""The service under load: many uploads at once; lost requests, refusals, health latency, memory.

    python -m benchmarks.service [--uploads 64] [--workers 2] [--queue 32]

Every upload is another small picture. A refused one waits as long as it is told and tries again.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.server.running import picture, running_service

PATIENCE = 300.0


@dataclass
class Load:
    """What was seen while the uploads were under way."""

    finished: int = 0
    refused: int = 0
    lost: list[str] = field(default_factory=list)
    seconds: float = 0.0
    health: list[float] = field(default_factory=list)
    peak_megabytes: float = 0.0

    def in_words(self) -> str:
        """The figures, one per line."""
        ordered = sorted(self.health) or [0.0]
        return "\n".join(
            [
                f"results: {self.finished}",
                f"answers 429 before: {self.refused}",
                f"lost: {len(self.lost)} {self.lost[:3] if self.lost else ''}".rstrip(),
                f"seconds for all: {self.seconds:.1f}",
                f"health asked {len(self.health)} times: median {1000 * ordered[len(ordered) // 2]:.0f} ms, "
                f"worst {1000 * ordered[-1]:.0f} ms",
                f"peak memory of service and workers: {self.peak_megabytes:.0f} MB",
            ]
        )


async def press(address: str, uploads: int, process_id: int | None = None) -> Load:
    """Sends all uploads at once and keeps asking for the service's health meanwhile."""
    load, pictures = Load(), [picture(seed, 96) for seed in range(uploads)]
    watching = Watching(address, load, process_id)
    limits = httpx.Limits(max_connections=uploads + 8)
    async with httpx.AsyncClient(base_url=address, timeout=PATIENCE, limits=limits) as client:
        watching.start()
        started = time.monotonic()
        await asyncio.gather(*(_upload(client, name, data, load) for name, data in enumerate(pictures)))
        load.seconds = time.monotonic() - started
    watching.end()
    return load


async def _upload(client: httpx.AsyncClient, name: int, data: bytes, load: Load) -> None:
    while True:
        try:
            answer = await client.post("/v1/assess", files={"image": (f"{name}.png", data)})
        except httpx.HTTPError as error:
            load.lost.append(repr(error))
            return
        if answer.status_code == 429:
            load.refused += 1
            await asyncio.sleep(float(answer.headers["retry-after"]))
            continue
        if answer.status_code == 200 and answer.json()["status"] == "finished":
            load.finished += 1
        else:
            load.lost.append(answer.text[:200])
        return


class Watching(threading.Thread):
    """Asks for the service's health over and over, apart from the uploads, so that only the service can delay it."""

    def __init__(self, address: str, load: Load, process_id: int | None) -> None:
        super().__init__(daemon=True)
        where = urlsplit(address)
        self._line = HTTPConnection(where.hostname or "", where.port, timeout=30)
        self._load, self._process_id = load, process_id
        self._over = threading.Event()

    def run(self) -> None:
        """Asks until the end."""
        while not self._over.wait(0.02):
            started = time.monotonic()
            self._line.request("GET", "/v1/health/live")
            answer = self._line.getresponse()
            answer.read()
            self._load.health.append(time.monotonic() - started)
            if answer.status != 200:
                self._load.lost.append(f"health answered {answer.status}")
            if self._process_id is not None:
                self._load.peak_megabytes = max(self._load.peak_megabytes, family_megabytes(self._process_id))

    def end(self) -> None:
        """Waits for the last answer."""
        self._over.set()
        self.join()
        self._line.close()


def family_megabytes(process_id: int) -> float:
    """Resident memory of a process and its children; shared pages are counted in each."""
    family = [process_id]
    for member in family:
        # A child belongs to the thread that started it.
        for children in Path(f"/proc/{member}/task").glob("*/children"):
            with suppress(OSError):
                family += map(int, children.read_text().split())
    return sum(_resident(member) for member in family)


def _resident(process_id: int) -> float:
    try:
        pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> int:
    """Starts a service, presses it and prints the figures; exit code 1 when a request was lost."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--uploads", type=int, default=64)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--queue", type=int, default=32)
    chosen = options.parse_args()
    limits = ("--workers", str(chosen.workers), "--queue", str(chosen.queue))
    with tempfile.TemporaryDirectory() as folder, running_service(Path(folder), *limits) as service:
        load = asyncio.run(press(service.address, chosen.uploads, service.process.pid))
    print(f"{chosen.uploads} uploads at once, {chosen.workers} workers, queue of {chosen.queue}")
    print(load.in_words())
    return 1 if load.lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
