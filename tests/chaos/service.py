"""The service under attack and in trouble: kills, half-open connections, a full disk, little room, many uploads."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmarks.service import press
from tests.server.running import picture, running_service, worker_ids

HEALTH_LIMIT = 0.150


@dataclass
class Trouble:
    """What was seen: figures by name, and every promise that was broken."""

    figures: dict[str, object] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)


def kill_at_random(folder: Path, minutes: float, seed: int = 5) -> Trouble:
    """Kills workers and the service with SIGKILL while jobs run; every image has one record in the end."""
    rng, end = random.Random(seed), time.monotonic() + 60 * minutes
    kills, jobs, number = Counter[str](), dict[str, list[str]](), 0
    while time.monotonic() < end:
        with running_service(folder, until_ready=False) as service, service.client() as client:
            stop = time.monotonic() + rng.uniform(10, 30)
            while time.monotonic() < min(stop, end):
                number += 1
                with suppress(httpx.TransportError):
                    files = [("images", (f"{number}-{n}.png", picture(1000 + 10 * number + n))) for n in range(4)]
                    answer = client.post("/v1/jobs", files=files, headers={"Idempotency-Key": f"job {number}"})
                    if answer.status_code == 202:
                        jobs[answer.json()["job_id"]] = [f"{n + 1} {number}-{n}.png" for n in range(4)]
                time.sleep(rng.uniform(0.5, 3))
                if workers := worker_ids(service.process.pid):
                    os.kill(rng.choice(workers), signal.SIGKILL)
                    kills["worker"] += 1
            service.stop(signal.SIGKILL)
            kills["service"] += 1
    with running_service(folder) as service, service.client() as client:
        return _account(client, jobs, kills)


def _account(client: httpx.Client, jobs: dict[str, list[str]], kills: Counter[str]) -> Trouble:
    found = Trouble({"jobs": len(jobs), "workers killed": kills["worker"], "services killed": kills["service"]})
    lost = doubled = died = 0
    for job_id, names in jobs.items():
        records = Counter[str]()
        for record in _records(client, job_id):
            records[record["sample_id"]] += 1
            died += record["assessment"] is None
        lost += sum(records[name] == 0 for name in names)
        doubled += sum(count > 1 for count in records.values())
    found.figures |= {"records lost": lost, "records doubled": doubled, "runs that say their worker died": died}
    if lost or doubled:
        found.broken.append(f"{lost} records lost, {doubled} doubled")
    return found


def _records(client: httpx.Client, job_id: str) -> list[dict[str, Any]]:
    for _ in range(6000):
        if client.get(f"/v1/jobs/{job_id}").json().get("status") in ("finished", "cancelled"):
            break
        time.sleep(0.1)
    return [json.loads(line) for line in client.get(f"/v1/jobs/{job_id}/results").text.splitlines()]


def hold_half_open(folder: Path, connections: int = 300) -> Trouble:
    """Health while so many connections have sent half a header."""
    with running_service(folder, "--workers", "1") as service, service.client() as client:
        held = [_half_open(service.address) for _ in range(connections)]
        times = []
        for _ in range(50):
            started = time.monotonic()
            status = client.get("/v1/health").status_code
            times.append(time.monotonic() - started)
            assert status == 200
        for connection in held:
            connection.close()
    worst = 1000 * max(times)
    found = Trouble({"half-open connections": connections, "worst health (ms)": round(worst)})
    if worst > 1000:
        found.broken.append(f"health took {worst:.0f} ms during {connections} half-open connections")
    return found


def _half_open(address: str) -> socket.socket:
    where = urlsplit(address)
    connection = socket.create_connection((where.hostname or "", where.port or 0), timeout=10)
    connection.sendall(b"POST /v1/assess HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
    return connection


def upload_at_once(folder: Path, uploads: int = 64) -> Trouble:
    """Many uploads at once: none is lost, and health answers in time."""
    with running_service(folder, "--queue", "8") as service:
        load = asyncio.run(press(service.address, uploads, service.process.pid))
    worst = 1000 * max(load.health)
    found = Trouble({"uploads": uploads, "lost": len(load.lost), "worst health (ms)": round(worst),
                     "health asked": len(load.health)})  # fmt: skip
    found.broken += [f"lost: {reason}" for reason in load.lost]
    if worst > 1000 * HEALTH_LIMIT:
        found.broken.append(f"health took {worst:.0f} ms during {uploads} uploads")
    return found


def press_retention(folder: Path, jobs: int = 6) -> Trouble:
    """Far more results than there is room for: what nobody fetched is never lost, what is gone says so."""
    refused = unsaid = lost = 0
    with running_service(folder, "--keep-megabytes", "1", "--workers", "1") as service, service.client() as client:
        taken = []
        for number in range(jobs):
            files = [("images", (f"{n}.png", picture(5000 + 10 * number + n, side=96))) for n in range(6)]
            answer = client.post("/v1/jobs", files=files)
            refused += answer.status_code == 507
            if answer.status_code == 202:
                taken.append(answer.json()["job_id"])
        for job_id in taken:
            records = _records(client, job_id)
            lost += 6 - len(records)
            time.sleep(0.2)
        for job_id in taken:
            status = client.get(f"/v1/jobs/{job_id}").status_code
            unsaid += status not in (200, 410)
    found = Trouble({"jobs taken": len(taken), "refused with 507": refused, "results lost": lost})
    if lost or unsaid:
        found.broken.append(f"{lost} results lost under pressure, {unsaid} jobs gone without a word")
    return found


def fill_the_disk(folder: Path) -> Trouble:
    """A service whose disk is full: 507 for uploads, health answers, and it goes on and starts again afterwards."""
    with small_disk(folder, megabytes=24) as disk:
        if disk is None:
            return Trouble({"full disk": "not tried: only root may mount a small disk"})
        found = Trouble()
        with running_service(disk / "service", "--workers", "1") as service, service.client() as client:
            filler = disk / "filler"
            _fill(filler)
            answers = [client.post("/v1/assess", files={"image": ("a.png", _noise(n))}) for n in range(4)]
            found.figures["answers on a full disk"] = dict(Counter(answer.status_code for answer in answers))
            if not any(answer.status_code == 507 for answer in answers):
                found.broken.append(f"no 507 on a full disk: {answers[-1].text[:200]}")
            if client.get("/v1/health").status_code != 200:
                found.broken.append("health does not answer on a full disk")
            service.stop(signal.SIGKILL)
        with running_service(disk / "service", "--workers", "1") as service, service.client() as client:
            filler.unlink()
            after = client.post("/v1/assess", files={"image": ("a.png", picture(3))}).status_code
            strays = [run for run in (disk / "service" / "runs").iterdir() if (run / "image-1").exists()]
        found.figures |= {"after the disk has room again": after, "uploads left behind": len(strays)}
        if after != 200 or strays:
            found.broken.append(f"after a full disk: status {after}, {len(strays)} uploads left behind")
        return found


def _noise(seed: int) -> bytes:
    return picture(seed, side=512)


def _fill(file: Path) -> None:
    with suppress(OSError), file.open("wb", buffering=0) as target:
        while True:
            target.write(b"\0" * 65536)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path | None]:
    """A disk of that size, or None where none can be mounted."""
    where = folder / "disk"
    where.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(where)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        yield None
        return
    try:
        yield where
    finally:
        subprocess.run(["umount", "-l", str(where)], check=False)
