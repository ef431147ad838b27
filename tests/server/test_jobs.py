"""Batches over HTTP: submitted, followed, cancelled, and finished although the service was stopped in between."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import httpx

from agenticiqa.assessor import Assessment
from agenticiqa.report.records import row_of
from tests.server.running import finished_job, picture, running_service


def results_of(client: httpx.Client, job: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of a job."""
    answer = client.get(job["results_url"])
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def uploads(count: int) -> list[tuple[str, tuple[str, bytes]]]:
    """Files of a job."""
    return [("images", (f"{seed}.png", picture(seed + 100))) for seed in range(count)]


def test_a_job_gives_one_record_per_image_in_order(client: httpx.Client) -> None:
    files = [*uploads(2), ("images", ("broken.png", picture(1)[:200]))]

    job = client.post("/v1/jobs", files=files, data={"query": "Is it noisy?"})
    ended = finished_job(client, job.json()["job_id"])

    records = results_of(client, ended)
    assert job.status_code == 202
    assert (ended["status"], ended["counts"]) == ("finished", {"finished": 2, "failed": 1})
    assert [record["sample_id"] for record in records] == ["1 0.png", "2 1.png", "3 broken.png"]
    assert Assessment.model_validate(records[0]["assessment"]).query == "Is it noisy?"
    assert records[2]["assessment"] is None
    assert records[2]["error"].startswith("broken.png: ")
    assert row_of(records[0])["score"] is not None


def test_uploads_that_are_no_images_fail_alone(client: httpx.Client) -> None:
    files = [*uploads(1), ("images", ("text.jpg", b"no picture at all")), ("images", ("empty.jpg", b""))]

    job = client.post("/v1/jobs", files=files)
    ended = finished_job(client, job.json()["job_id"])

    records = results_of(client, ended)
    assert (job.status_code, ended["counts"]) == (202, {"finished": 1, "failed": 2})
    assert records[0]["assessment"] is not None
    assert "text.jpg: is not an image" in records[1]["error"]
    assert "empty.jpg: is empty" in records[2]["error"]


def test_a_manifest_names_files_under_the_allowed_folder(client: httpx.Client) -> None:
    lines = [
        {"sample_id": "first", "image_path": "photo0.png", "query": "Blurry?", "choices": ["Yes", "No"], "mos": 3.5},
        {"sample_id": "second", "image_path": "missing.png"},
    ]
    manifest = "\n".join(map(json.dumps, lines)).encode()

    job = client.post("/v1/jobs", files={"manifest": ("batch.jsonl", manifest)}).json()
    records = results_of(client, finished_job(client, job["job_id"]))

    assert [record["sample_id"] for record in records] == ["first", "second"]
    assert (records[0]["mos"], records[0]["choices"]) == (3.5, {"A": "Yes", "B": "No"})
    assert records[0]["assessment"]["answer"] in ("A", "B")
    assert records[1]["error"] == "missing.png: no such file; check the path"


def test_a_job_that_reaches_outside_or_is_malformed_is_refused_whole(client: httpx.Client) -> None:
    outside = client.post("/v1/jobs", data={"paths": ["photo0.png", "../secret.png"]})
    unknown = client.post("/v1/jobs", files={"manifest": ("x.csv", b"image_path,colour\nphoto0.png,red\n")})
    broken = client.post("/v1/jobs", files={"manifest": ("x.jsonl", b'{"image_path": "photo0.png"}\n{"image_path"')})
    twice = client.post("/v1/jobs", data={"paths": ["photo0.png", "photo0.png"]})
    empty = client.post("/v1/jobs", data={"query": "Blurry?"})

    assert (outside.status_code, outside.json()["code"]) == (403, "path_not_allowed")
    assert "unknown field 'colour'" in unknown.json()["detail"]
    assert broken.json()["detail"].startswith("manifest: line 2: is not JSON")
    assert "used twice" in twice.json()["detail"]
    assert empty.json()["code"] == "image_missing"


def test_a_cancelled_job_keeps_what_it_has(client: httpx.Client) -> None:
    job = client.post("/v1/jobs", files=uploads(40)).json()

    cancelled = client.delete(f"/v1/jobs/{job['job_id']}").json()
    ended = finished_job(client, job["job_id"])

    assert cancelled["counts"]["cancelled"] > 0
    assert ended["status"] == "cancelled"
    assert sum(ended["counts"].values()) == 40
    assert len(results_of(client, ended)) == 40


def test_no_job_and_no_run_is_lost_when_the_service_is_stopped_and_started_again(tmp_path: Path) -> None:
    with running_service(tmp_path, "--grace", "1") as service, service.client() as client:
        job = client.post("/v1/jobs", files=uploads(20)).json()
        run = client.post("/v1/assess?wait=false", files={"image": ("a.png", picture(1))}).json()
        time.sleep(1)
        exit_code = service.stop(signal.SIGTERM)

    with running_service(tmp_path) as service, service.client() as client:
        ended = finished_job(client, job["job_id"])
        events = client.get(run["urls"]["events"]).text
        again = client.get(run["urls"]["self"]).json()

    assert exit_code in (0, -signal.SIGTERM)
    assert ended["counts"] == {"finished": 20}
    assert again["status"] == "finished"
    assert "event: finished" in events


def test_a_service_that_is_killed_begins_its_runs_again(tmp_path: Path) -> None:
    with running_service(tmp_path, "--workers", "1") as service, service.client() as client:
        job = client.post("/v1/jobs", files=uploads(8)).json()
        time.sleep(0.5)
        service.stop(signal.SIGKILL)

    with running_service(tmp_path, "--workers", "1") as service, service.client() as client:
        ended = finished_job(client, job["job_id"])
        records = results_of(client, ended)

    assert ended["counts"] == {"finished": 8}
    assert len({record["sample_id"] for record in records}) == 8
