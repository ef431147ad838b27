"""Many uploads at once: nothing is lost, health answers, memory stays bounded, and a signal loses nothing either."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from benchmarks.service import press
from tests.server.running import RunningService, picture, running_service

UPLOADS, PLACES = 64, 8


@pytest.mark.slow
def test_of_64_uploads_at_once_each_gets_a_result_or_a_429_and_health_answers_throughout(tmp_path: Path) -> None:
    with running_service(tmp_path, "--queue", str(PLACES)) as service:
        load = asyncio.run(press(service.address, UPLOADS, service.process.pid))

    assert (load.finished, load.lost) == (UPLOADS, [])
    assert load.refused > 0
    assert load.health
    assert load.peak_megabytes < 2000


def test_a_full_queue_says_when_to_come_back(tmp_path: Path) -> None:
    with (
        running_service(tmp_path, "--workers", "1", "--queue", "1", until_ready=False) as service,
        service.client() as client,
    ):
        answers = [client.post("/v1/assess?wait=false", files={"image": ("a.png", picture(seed))}) for seed in range(3)]

    refused = answers[-1]
    assert answers[0].status_code == 202
    assert (refused.status_code, refused.json()["code"]) == (429, "queue_full")
    assert int(refused.headers["retry-after"]) >= 1


def test_whoever_waits_when_the_service_is_stopped_gets_a_result_or_is_told_that_the_run_is_kept(
    tmp_path: Path,
) -> None:
    with running_service(tmp_path, "--workers", "1") as service:
        threading.Thread(target=stop_once_all_are_in, args=(service, tmp_path / "runs", 16), daemon=True).start()
        with ThreadPoolExecutor(16) as crowd:
            answers = list(crowd.map(lambda seed: upload(service, seed), range(16)))
        service.process.wait(60)
    kept = [answer.json()["run_id"] for answer in answers if "run_id" in answer.json() and answer.status_code == 503]

    with running_service(tmp_path) as service, service.client() as client:
        after = [finished(client, run_id) for run_id in kept]

    assert {answer.status_code for answer in answers} <= {200, 503}
    assert kept
    assert after == ["finished"] * len(kept)


def stop_once_all_are_in(service: RunningService, runs: Path, count: int) -> None:
    """Sends SIGTERM when so many uploads have a folder."""
    while len(list(runs.iterdir())) < count:
        time.sleep(0.01)
    service.process.send_signal(signal.SIGTERM)


def upload(service: RunningService, seed: int) -> httpx.Response:
    """The answer to one upload."""
    with service.client() as client:
        return client.post("/v1/assess", files={"image": ("a.png", picture(seed + 200))})


def finished(client: httpx.Client, run_id: str) -> str:
    """The state of the run once it has ended."""
    for _ in range(600):
        status = str(client.get(f"/v1/runs/{run_id}").json()["status"])
        if status in ("finished", "failed"):
            return status
        time.sleep(0.1)
    return "never"
