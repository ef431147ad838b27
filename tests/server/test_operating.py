"""What an operator does and sees: lists, deletions, limits, killed workers, orphans, file rights, folders."""

from __future__ import annotations

import os
import signal
import stat
import time
from pathlib import Path

import httpx
import pytest

from tests.server.running import RunningService, finished_job, picture, running_service, worker_ids


def test_runs_and_jobs_are_listed_page_by_page_and_deleted_for_good(client: httpx.Client) -> None:
    runs = [client.post("/v1/assess?wait=false", files={"image": ("l.png", picture(700 + n))}).json() for n in range(3)]
    job = client.post("/v1/jobs", data={"paths": ["photo0.png"]}).json()

    first = client.get("/v1/runs?limit=2").json()
    second = client.get(first["next"]).json()
    jobs = client.get("/v1/jobs?limit=1").json()
    cancelled = client.delete(f"/v1/runs/{runs[2]['run_id']}?remove=true")
    gone = client.get(f"/v1/runs/{runs[2]['run_id']}")
    never = client.get("/v1/runs/000000000000000000000000")

    listed = [run["run_id"] for run in first["runs"] + second["runs"]]
    assert listed[:3] == [run["run_id"] for run in reversed(runs)]
    assert jobs["jobs"][0]["job_id"] == job["job_id"]
    assert cancelled.status_code == 200
    assert (gone.status_code, gone.json()["code"]) == (410, "gone")
    assert "deleted on request" in gone.json()["detail"]
    assert never.status_code == 404


def test_a_job_sent_twice_under_one_key_is_one_job_and_its_results_come_in_pages(client: httpx.Client) -> None:
    headers, paths = {"Idempotency-Key": "k-1"}, ["photo0.png", "photo1.png", "photo2.png"]

    first = client.post("/v1/jobs", data={"paths": paths}, headers=headers)
    again = client.post("/v1/jobs", data={"paths": paths}, headers=headers)
    other = client.post("/v1/jobs", data={"paths": paths[:1]}, headers=headers)
    job = finished_job(client, first.json()["job_id"])
    deleted = client.delete(f"/v1/jobs/{job['job_id']}").json()
    page = client.get(f"{job['results_url']}?limit=2")
    rest = client.get(page.links["next"]["url"])

    assert first.json()["job_id"] == again.json()["job_id"]
    assert again.headers["idempotent-replayed"] == "true"
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")
    assert deleted["status"] == "finished"
    assert (len(page.text.splitlines()), len(rest.text.splitlines())) == (2, 1)


def test_allow_names_every_method_of_a_path_and_no_form_field_is_nullable(client: httpx.Client) -> None:
    answers = {path: client.put(path) for path in ("/v1/jobs", "/v1/jobs/x", "/v1/runs/x", "/v1/assess")}
    document = client.get("/v1/openapi.json").json()

    allowed = {path: answer.headers["allow"] for path, answer in answers.items()}
    assert allowed == {
        "/v1/jobs": "GET, HEAD, POST",
        "/v1/jobs/x": "DELETE, GET, HEAD",
        "/v1/runs/x": "DELETE, GET, HEAD",
        "/v1/assess": "POST",
    }
    forms = {name: schema for name, schema in document["components"]["schemas"].items() if name.startswith("Body_")}
    assert forms
    assert "null" not in str(forms)


def test_the_limits_that_are_told_are_those_that_hold(client: httpx.Client) -> None:
    limits = client.get("/v1/limits").json()

    files = [("images", ("a.png", b"x")) for _ in range(limits["max_job_uploads"] + 1)]
    too_many = client.post("/v1/jobs", files=files)

    assert limits["max_jobs"] == 16
    assert limits["max_pixels_by_format"]["WebP"] == limits["max_pixels"] == 2_000_000
    assert limits["requests_per_minute"] is None
    assert too_many.status_code in (400, 422)
    assert str(limits["max_job_uploads"]) in too_many.json()["detail"]


def test_a_strip_is_refused_and_says_why(client: httpx.Client) -> None:
    from tests.fuzz.hostile_files import png

    answer = client.post("/v1/assess", files={"image": ("strip.png", png(8, 20_000, b""))})

    assert (answer.status_code, answer.json()["code"]) == (422, "image_shape")
    assert answer.json()["detail"].startswith("strip.png: has 8×20000 pixels")


def test_everything_the_service_writes_is_for_its_user_alone(client: httpx.Client, service: RunningService) -> None:
    client.post("/v1/assess", files={"image": ("a.png", picture(720))})

    found = [service.folder, *service.folder.rglob("*")]
    open_to_others = [path for path in found if path.lstat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]

    assert len(found) > 5
    assert open_to_others == []


def test_a_killed_worker_is_back_at_once_and_workers_end_with_their_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with running_service(Path("relative"), "--workers", "1") as service, service.client() as client:
        before = worker_ids(service.process.pid)
        os.kill(before[0], signal.SIGKILL)
        deadline = time.monotonic() + 240
        while client.get("/v1/health/ready").status_code != 200 and time.monotonic() < deadline:
            time.sleep(0.2)
        ready = client.get("/v1/health/ready").status_code
        answer = client.post("/v1/assess", files={"image": ("a.png", picture(1))})
        after = worker_ids(service.process.pid)
        service.stop(signal.SIGKILL)
        deadline = time.monotonic() + 30
        while any(Path(f"/proc/{process}").exists() for process in after) and time.monotonic() < deadline:
            time.sleep(0.2)

    assert (ready, answer.status_code) == (200, 200)
    assert after
    assert after != before
    assert not any(Path(f"/proc/{process}").exists() for process in after)
