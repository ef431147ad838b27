"""A real service in a process of its own, on a free port, with a folder that may outlive it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from PIL import Image

COMMAND = [sys.executable, "-c", "from agenticiqa.cli import main; main()", "serve", "--port", "0"]


@dataclass(frozen=True)
class RunningService:
    """Where a service listens, and its process."""

    address: str
    process: subprocess.Popen[str]
    folder: Path

    def stop(self, how: signal.Signals = signal.SIGTERM, patience: float = 60) -> int:
        """Sends the signal and returns the exit code."""
        self.process.send_signal(how)
        return self.process.wait(patience)

    def client(self, **options: Any) -> httpx.Client:
        """A client for it."""
        return httpx.Client(base_url=self.address, timeout=120, **options)


@contextmanager
def running_service(folder: Path, *options: str, until_ready: bool = True) -> Iterator[RunningService]:
    """A service that keeps its runs in the folder; it is gone afterwards."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(folder.absolute() / "cache")}
    with subprocess.Popen(
        [*COMMAND, "--folder", str(folder), *options], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            service = RunningService(line.strip().rpartition(" ")[2], process, folder)
            wait_until_ready(service.address, "ready" if until_ready else "live")
            yield service
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(60)


def wait_until_ready(address: str, state: str) -> None:
    """Returns once the service says so."""
    for _ in range(4800):
        try:
            if httpx.get(f"{address}/v1/health/{state}").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise TimeoutError("the service did not become ready")


def worker_ids(process_id: int) -> list[int]:
    """The processes of a service's workers."""
    children = [int(word) for file in Path(f"/proc/{process_id}/task").glob("*/children")
                for word in file.read_text().split()]  # fmt: skip
    return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def picture(seed: int = 0, side: int = 64) -> bytes:
    """A small picture as PNG, another one for every seed."""
    random = np.random.default_rng(seed)
    ramp = np.linspace(0, 200, side, dtype=np.uint8)[None, :, None].repeat(side, 0).repeat(3, 2)
    stream = io.BytesIO()
    Image.fromarray(ramp + random.integers(0, 40, (side, side, 3), np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def finished_job(client: httpx.Client, job_id: str, patience: float = 120) -> dict[str, Any]:
    """The job after its end."""
    for _ in range(int(patience / 0.1)):
        job: dict[str, Any] = client.get(f"/v1/jobs/{job_id}").json()
        if job["status"] in ("finished", "cancelled"):
            return job
        time.sleep(0.1)
    raise TimeoutError(f"job {job_id} did not end")
