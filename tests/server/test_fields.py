"""What clients write into a request: misspelt fields, blank questions, lists, ids that never were."""

from __future__ import annotations

import io
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.server.running import finished_job, picture


def smaller(seed: int) -> bytes:
    """A picture of half the usual side."""
    stream = io.BytesIO()
    Image.open(io.BytesIO(picture(seed))).resize((32, 32)).save(stream, "PNG")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("path", "files"),
    [("/v1/assess", ["image"]), ("/v1/compare", ["images", "images"]), ("/v1/jobs", ["images"])],
)
def test_a_misspelt_field_is_refused_with_the_fields_there_are(
    client: httpx.Client, path: str, files: list[str]
) -> None:
    sent: Any = [(name, (f"{place}.png", picture(place))) for place, name in enumerate(files)]

    answer = client.post(path, files=sent, data={"qeury": "Is it noisy?"})

    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, "invalid_request")
    (error,) = problem["errors"]
    assert error["field"] == "qeury"
    assert error["message"].startswith("there is no such field; did you mean query? allowed are align, ")


def test_an_unknown_file_and_an_unknown_part_of_the_address_are_refused(client: httpx.Client) -> None:
    answer = client.post("/v1/assess?wiat=false", files={"image": ("a.png", picture(1)), "mask": ("b.png", picture(1))})

    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == ["mask", "wiat"]
    assert "did you mean wait?" in answer.json()["detail"]


def test_the_openapi_document_says_that_there_are_no_other_fields(client: httpx.Client) -> None:
    schemas = client.get("/v1/openapi.json").json()["components"]["schemas"]

    bodies = {name: schema for name, schema in schemas.items() if name.startswith("Body_")}
    routes = ("assess", "compare", "measure", "audit", "encode", "submit_job")
    assert set(bodies) == {f"Body_{route}" for route in routes}
    assert all(body["additionalProperties"] is False for body in bodies.values())
    assert {"align", "query", "reference"} <= set(bodies["Body_compare"]["properties"])


@pytest.mark.parametrize(("path", "image"), [("/v1/assess", "image"), ("/v1/jobs", "images")])
def test_a_blank_question_is_refused_and_an_empty_field_is_none(client: httpx.Client, path: str, image: str) -> None:
    blank = client.post(path, files={image: ("a.png", picture(1))}, data={"query": " \n"})
    empty = client.post(path, files={image: ("a.png", picture(1))}, data={"query": ""})

    assert (blank.status_code, blank.json()["code"]) == (422, "query")
    assert blank.json()["detail"] == "query: is blank; ask something or leave it out"
    assert empty.status_code in (200, 202)


def test_choices_may_be_a_list_as_in_manifests(client: httpx.Client) -> None:
    sent = {"query": "Is it noisy?", "choices": '["Yes", "No"]'}

    answer = client.post("/v1/assess", files={"image": ("a.png", picture(1))}, data=sent)

    assert answer.json()["choices"] == {"A": "Yes", "B": "No"}
    assert answer.json()["assessment"]["answer"] in ("A", "B")


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ("[]", "they must be at least two"),
        ("{}", "they must be at least two"),
        ('["Yes"]', "they must be at least two"),
        ("[1, 2]", 'they must be texts by letter like {"A": "Yes", "B": "No"}, or a list, not'),
        ('"Yes"', 'they must be texts by letter like {"A": "Yes", "B": "No"}, or a list, not \'Yes\''),
        ("Yes or No", 'is not JSON; write for example {"A": "Yes", "B": "No"} or ["Yes", "No"]'),
    ],
)
def test_choices_that_are_none_are_refused(client: httpx.Client, choices: str, message: str) -> None:
    answer = client.post("/v1/assess", files={"image": ("a.png", picture(1))}, data={"choices": choices})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["message"].startswith(message)


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/v1/assess", {"image": "https://example.org/a.png"}),
        ("/v1/compare", {"images": ["https://example.org/a.png", "https://example.org/b.png"]}),
        ("/v1/jobs", {"images": ["https://example.org/a.png"]}),
        ("/v1/assess", {"path": "https://example.org/a.png"}),
        ("/v1/jobs", {"paths": ["https://example.org/a.png"]}),
    ],
)
def test_an_address_in_place_of_a_picture_is_refused_in_words(
    client: httpx.Client, path: str, fields: dict[str, Any]
) -> None:
    answer = client.post(path, data=fields)

    assert answer.status_code in (403, 422)
    assert "addresses are not fetched" in answer.json()["detail"]
    assert "UploadFile" not in answer.text


@pytest.mark.parametrize("path", ["/v1/runs/abc", "/v1/runs/abc/events", "/v1/runs/a%00b/map.png", "/v1/jobs/abc"])
def test_an_id_that_never_was_is_not_found(client: httpx.Client, path: str) -> None:
    answer = client.get(path)

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(("path", "images"), [("/v1/assess", ["image"]), ("/v1/compare", ["images", "images"])])
def test_a_reference_of_another_size_is_refused_in_the_words_of_the_service_and_scaled_on_request(
    client: httpx.Client, path: str, images: list[str]
) -> None:
    files: Any = [(name, (f"{place}.png", picture(place))) for place, name in enumerate(images)]
    files.append(("reference", ("small.png", smaller(0))))

    refused = client.post(path, files=files)
    scaled = client.post(path, files=files, data={"align": "resize"})

    assert (refused.status_code, refused.json()["code"]) == (422, "image_size_mismatch")
    assert refused.json()["detail"] == (
        "small.png: test and reference differ in size (64×64 and 32×32); "
        "use images of the same size, or set the field `align` to resize to scale the reference"
    )
    assert scaled.status_code == 200


def test_a_line_end_in_a_name_is_shown_as_a_space(client: httpx.Client) -> None:
    answer = client.post("/v1/assess", files={"image": ("new\nline.png", picture(501))})
    job = client.post("/v1/jobs", files={"images": ("new\nline.png", picture(501))}).json()

    assert answer.json()["names"] == ["new line.png"]
    ended = finished_job(client, job["job_id"])
    assert '"1 new line.png"' in client.get(ended["results_url"]).text
