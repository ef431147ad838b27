"""What the page needs of the service: folders by name, differences, advice, reports of jobs, HEAD, and /docs."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from tests.server.running import finished_job, picture


def compared(client: httpx.Client) -> str:
    """The id of a finished comparison of two pictures."""
    files = [("images", (f"{seed}.png", picture(seed))) for seed in (21, 22)]
    answer = client.post("/v1/compare", files=files)
    return str(answer.json()["run_id"])


def test_an_allowed_folder_is_listed_without_links_that_lead_out(client: httpx.Client, photos: Path) -> None:
    folders = client.get("/v1/folders").json()["folders"]
    listed = client.get("/v1/folders/files", params={"path": folders[0]}).json()

    assert folders == [str(photos)]
    assert [Path(file).name for file in listed["files"]] == ["photo0.png", "photo1.png", "photo2.png"]
    assert listed["more"] is False


def test_a_listed_file_can_be_assessed_by_its_path(client: httpx.Client, photos: Path) -> None:
    listed = client.get("/v1/folders/files", params={"path": str(photos)}).json()["files"]

    answer = client.post("/v1/assess", data={"path": listed[1]})

    assert answer.json()["names"] == ["photo1.png"]


@pytest.mark.parametrize(
    ("path", "code"), [("/etc", "path_not_allowed"), ("..", "path_not_allowed"), ("no", "path_not_found")]
)
def test_other_folders_are_refused(client: httpx.Client, path: str, code: str) -> None:
    answer = client.get("/v1/folders/files", params={"path": path})

    assert answer.json()["code"] == code


def test_the_difference_of_two_pictures_is_a_layer(client: httpx.Client) -> None:
    run = compared(client)

    same = client.get(f"/v1/runs/{run}/difference.json", params={"n": 1, "m": 1}).json()
    other = client.get(f"/v1/runs/{run}/difference.json", params={"n": 1, "m": 2}).json()

    assert same["mean"] == 0
    assert 0 < other["mean"] <= 1
    assert (len(other["grid"]), len(other["grid"][0])) == (other["rows"], other["columns"])
    assert client.get(f"/v1/runs/{run}/difference.json", params={"m": 3}).json()["code"] == "no_map"


def test_every_finding_comes_with_what_to_do(client: httpx.Client) -> None:
    run = client.post("/v1/assess", files={"image": ("a.png", picture(1))}, data={"query": "Is it noisy?"}).json()

    findings = run["assessment"]["distortions"]
    assert [bool(words) for words in run["advice"][0]] == [one["severity"] != "none" for one in findings]
    noise = next(words for one, words in zip(findings, run["advice"][0], strict=True) if one["type"] == "Noise")
    assert "denoise" in noise


def test_a_job_keeps_maps_when_asked_and_has_one_report(client: httpx.Client) -> None:
    files = [("images", (f"{seed}.png", picture(seed))) for seed in (31, 32)]
    job = client.post("/v1/jobs", files=files, data={"pictures": "true"}).json()
    finished_job(client, job["job_id"])
    records = [json.loads(line) for line in client.get(job["results_url"]).text.splitlines()]

    maps = [client.get(f"/v1/runs/{record['run_id']}/map.png").status_code for record in records]
    single = client.get(f"/v1/runs/{records[0]['run_id']}/report.html").text
    report = client.get(job["report_url"])

    assert maps == [200, 200]
    assert "31.png" in single
    assert "data:image/jpeg;base64," in report.text
    assert all(name in report.text for name in ("31.png", "32.png"))


def test_head_has_the_headers_of_get_and_no_body(client: httpx.Client) -> None:
    run = compared(client)

    for path in ("/", "/docs", "/v1/limits", f"/v1/runs/{run}", f"/v1/runs/{run}/map.png", f"/v1/runs/{run}/events"):
        got, asked = client.get(path), client.head(path)
        assert (asked.status_code, asked.content) == (200, b"")
        assert asked.headers["content-type"] == got.headers["content-type"]
        assert asked.headers.get("content-length") == got.headers.get("content-length")
    assert client.head("/v1/runs/none").status_code == 404
    assert client.head("/v1/assess").headers["allow"] == "POST"


def test_reports_have_a_date_the_hash_and_no_lines_for_programs(client: httpx.Client) -> None:
    run = client.post("/v1/assess", files={"image": ("a.png", picture(3))}).json()

    report = client.get(run["urls"]["report"]).text

    assert run["assessment"]["provenance"]["images"]["test image"]["sha256"] in report
    assert f"written {run['created'][:10]}" in report
    assert "evidence: judgement" not in report


def test_every_route_has_a_title_written_for_people(client: httpx.Client) -> None:
    paths = client.get("/v1/openapi.json").json()["paths"]
    routes = [operation for operations in paths.values() for operation in operations.values()]

    named_by_code = [one["summary"] for one in routes if one["summary"] == one["operationId"].replace("_", " ").title()]

    assert routes
    # One word may well be its own title.
    assert [title for title in named_by_code if " " in title] == []
    assert len({one["summary"] for one in routes}) == len(routes)


def test_the_limits_name_the_languages_a_question_may_be_in(client: httpx.Client) -> None:
    assert client.get("/v1/limits").json()["languages"] == ["en", "zh", "de", "es", "fr", "ja", "pt"]
