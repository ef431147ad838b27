"""Assessing, comparing, following and looking, over HTTP."""

from __future__ import annotations

import io
import json

import httpx
from PIL import Image

from agenticiqa.assessor import Assessment, Ranking
from tests.server.running import RunningService, picture


def events_of(text: str) -> list[tuple[int, str, dict[str, object]]]:
    """The events of a stream: number, type, data."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and line[0] != ":")
        if "id" in fields:
            found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return found


def test_an_upload_is_assessed_and_called_by_its_name(client: httpx.Client) -> None:
    answer = client.post("/v1/assess", files={"image": ("my photo.png", picture(101))}, data={"query": "Is it noisy?"})

    run = answer.json()
    assessment = Assessment.model_validate(run["assessment"])
    assert answer.status_code == 200
    assert (run["status"], run["names"]) == ("finished", ["my photo.png"])
    assert assessment.query == "Is it noisy?"
    assert assessment.provenance.images["test image"].path == "my photo.png"


def test_a_pair_a_choice_and_a_chinese_default_question_are_understood(client: httpx.Client) -> None:
    choice = client.post(
        "/v1/assess",
        files={"image": ("a.png", picture(1)), "reference": ("b.png", picture(1))},
        data={"query": "Is it noisy?", "choices": '{"A": "Yes", "B": "No"}'},
    )
    chinese = client.post("/v1/assess", files={"image": ("a.png", picture(1))}, data={"language": "zh"})

    found = choice.json()
    assert found["assessment"]["plan"]["reference_mode"] == "Full-Reference"
    assert found["assessment"]["answer"] == "B"
    assert client.get(found["urls"]["reference"]).headers["content-type"] == "image/webp"
    assert "质量" in chinese.json()["assessment"]["query"]


def test_progress_can_be_followed_and_taken_up_again(client: httpx.Client) -> None:
    accepted = client.post("/v1/assess", files={"image": ("a.png", picture(2))}, headers={"Prefer": "respond-async"})

    run = accepted.json()
    events = events_of(client.get(run["urls"]["events"]).text)
    rest = events_of(client.get(run["urls"]["events"], headers={"Last-Event-ID": str(events[-2][0])}).text)

    assert accepted.status_code == 202
    assert accepted.headers["location"] == run["urls"]["self"]
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    assert [kind for _, kind, _ in events[:2]] == ["queued", "started"]
    nodes = [(data["node"], data["status"]) for _, kind, data in events if kind == "node"]
    assert nodes == [(n, s) for n in ("planner", "executor", "summarizer") for s in ("started", "finished")]
    subtasks = [data["subtask"] for _, kind, data in events if kind == "subtask" and data["status"] == "finished"]
    assert subtasks == ["distortion_detection", "distortion_analysis", "tool_selection", "tool_execution"]
    assert events[-1][1] == "finished"
    assert rest == events[-1:]


def test_identical_uploads_share_the_work_but_never_a_name_or_a_run(client: httpx.Client) -> None:
    first = client.post("/v1/assess", files={"image": ("a.png", picture(73))}).json()

    again = client.post("/v1/assess", files={"image": ("other-name.png", picture(73))}).json()
    other_question = client.post(
        "/v1/assess", files={"image": ("a.png", picture(73))}, data={"query": "Blurry?"}
    ).json()
    fresh = client.post("/v1/assess", files={"image": ("a.png", picture(73))}, data={"fresh": "true"}).json()

    assert again["run_id"] != first["run_id"]
    assert [run["shared"] for run in (first, again, other_question, fresh)] == [False, True, False, False]
    assert again["names"] == ["other-name.png"]
    assert again["assessment"]["provenance"]["images"]["test image"]["path"] == "other-name.png"
    assert again["assessment"]["score"] == first["assessment"]["score"]
    assert client.get(again["urls"]["maps"][0]).content == client.get(first["urls"]["maps"][0]).content
    assert "a.png" not in json.dumps(again).replace("/image.webp", "")


def test_a_run_has_its_map_its_preview_and_its_report(client: httpx.Client) -> None:
    urls = client.post("/v1/assess", files={"image": ("a.png", picture(4, side=128))}).json()["urls"]

    drawn = Image.open(io.BytesIO(client.get(urls["maps"][0]).content))
    preview = Image.open(io.BytesIO(client.get(urls["images"][0]).content))
    grid = client.get(urls["grids"][0]).json()
    report = client.get(urls["report"])

    assert (drawn.format, drawn.size) == ("PNG", (128, 128))
    assert (preview.format, preview.size) == ("WEBP", (128, 128))
    assert len(grid["grid"]) == grid["rows"]
    assert all(1 <= value <= 5 for row in grid["grid"] for value in row)
    assert (grid["width"], grid["height"]) == (128, 128)
    assert "data:image/jpeg;base64," in report.text
    assert "sandbox" in report.headers["content-security-policy"]


def test_images_are_ranked_and_the_order_leads_back_to_the_uploads(client: httpx.Client) -> None:
    good = client.get("/v1/examples/clean.png").content
    bad = client.get("/v1/examples/blurred.png").content
    files = [("images", ("same.png", bad)), ("images", ("same.png", good))]

    run = client.post("/v1/compare", files=files).json()

    ranking = Ranking.model_validate(run["ranking"])
    assert run["order"] == [2, 1]
    assert [entry.name for entry in ranking.entries] == ["same.png (2)", "same.png (1)"]
    assert client.get(run["urls"]["maps"][1]).status_code == 200
    events = events_of(client.get(run["urls"]["events"]).text)
    assert [data["image"] for _, kind, data in events if kind == "image"] == [1, 2]


def test_a_file_under_the_allowed_folder_may_be_named(client: httpx.Client) -> None:
    run = client.post("/v1/assess", data={"path": "photo0.png"}).json()

    assert run["names"] == ["photo0.png"]
    assert run["assessment"]["score"] is not None


def test_results_name_no_folder_of_the_service(client: httpx.Client, service: RunningService) -> None:
    good = client.post("/v1/assess", data={"path": "photo1.png"}).text
    bad = client.post("/v1/assess", files={"image": ("x.png", picture(5)[:-30])}).text

    for text in (good, bad):
        assert "/tmp" not in text
        assert "runs/" not in text.replace("/v1/runs/", "")


def test_tools_examples_limits_and_counters_are_there(client: httpx.Client) -> None:
    tools = client.get("/v1/tools").json()["tools"]
    examples = client.get("/v1/examples").json()["examples"]
    limits = client.get("/v1/limits").json()
    counters = client.get("/metrics").text

    assert {"PSNR", "SSIM"} <= {tool["name"] for tool in tools}
    assert len(examples) == 6
    assert Image.open(io.BytesIO(client.get(examples[-1]["reference_url"]).content)).format == "PNG"
    assert (limits["max_request_bytes"], limits["max_pixels"]) == (4 * 2**20, 2_000_000)
    assert 'agenticiqa_runs_total{kind="assess",outcome="finished"}' in counters
