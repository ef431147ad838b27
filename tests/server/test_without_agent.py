"""Measuring, auditing and encoding over REST, through a real service."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs
from tests.server.running import RunningService, picture


def photograph(damage: str | None = None) -> bytes:
    """A shipped photograph as PNG, damaged on request."""
    pixels = photographs()["chelsea"].pixels
    stream = io.BytesIO()
    Image.fromarray(distort(pixels, damage, 4) if damage else pixels).save(stream, "PNG")
    return stream.getvalue()


def asked(client: httpx.Client, route: str, files: Any = None, **fields: Any) -> dict[str, Any]:
    """The finished run of a request."""
    answer = client.post(f"/v1/{route}", files=files, data=fields)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert (found["kind"], found["status"], found["assessment"]) == (route, "finished", None)
    return found


def test_an_image_is_measured_against_its_original_by_the_metrics_named(client: httpx.Client) -> None:
    files = {"image": ("copy.png", photograph("gaussian_blur")), "reference": ("original.png", photograph())}

    run = asked(client, "measure", files, metrics=["SSIM", "PSNR"])

    ssim, psnr = run["measurements"]
    assert (ssim["tool"], psnr["tool"], psnr["unit"]) == ("SSIM", "PSNR", "dB")
    assert 0.3 < ssim["value"] < 0.99
    assert run["urls"]["report"] is None
    assert client.get(f"/v1/runs/{run['run_id']}/report.html").json()["code"] == "not_found"


def test_without_names_every_quick_metric_that_fits_is_taken(client: httpx.Client) -> None:
    run = asked(client, "measure", {"image": ("a.png", picture(3))})

    named = {one["tool"] for one in run["measurements"]}
    assert "SSIM" not in named
    assert len(named) > 3


@pytest.mark.parametrize(
    ("fields", "said"),
    [({"metrics": "SSIMM"}, "SSIM"), ({"metrics": "SSIM"}, "reference"), ({"kind": "all"}, "field")],
)
def test_what_cannot_be_measured_is_refused_with_the_way_out(
    client: httpx.Client, fields: dict[str, str], said: str
) -> None:
    answer = client.post("/v1/measure", files={"image": ("a.png", picture(3))}, data=fields)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert said in answer.json()["detail"]


def test_an_audit_names_the_fault_of_each_image_and_those_that_are_the_same(
    client: httpx.Client, service: RunningService
) -> None:
    blurred = photograph("gaussian_blur")
    names = [("good.png", photograph()), ("soft.png", blurred), ("soft.png", blurred), ("cut.png", blurred[:5000])]

    audit = asked(client, "audit", [("images", one) for one in names])["audit"]

    good, soft, again, cut = audit["images"]
    assert (good["name"], good["decision"], "blurry" in good["issues"]) == ("good.png", "keep", False)
    assert (soft["name"], again["name"]) == ("soft.png (2)", "soft.png (3)")
    assert "blurry" in soft["issues"]
    assert (cut["decision"], cut["error"].split(":")[0]) == ("reject", "cut.png")
    assert str(service.folder) not in str(audit)
    assert {"soft.png (2)", "soft.png (3)"} <= set(audit["duplicates"][0]["members"])
    assert audit["counts"]["exact_duplicates"] == 2
    assert asked(client, "audit", [("images", one) for one in names])["audit"] == audit
    renamed = [(f"image-{4 - place}.png", data) for place, (_, data) in enumerate(names)]
    assert asked(client, "audit", [("images", one) for one in renamed])["audit"]["images"][3]["name"] == "image-1.png"


def test_a_folder_is_audited_without_its_links_that_lead_out(client: httpx.Client, photos: Path) -> None:
    found = asked(client, "audit", folder=".")["audit"]

    assert [one["name"] for one in found["images"]] == sorted(file.name for file in photos.glob("photo*"))
    assert client.post("/v1/audit", data={"folder": "/etc"}).json()["code"] == "path_not_allowed"
    assert client.post("/v1/audit").json()["code"] == "image_missing"


@pytest.mark.parametrize(("kind", "suffix"), [("webp", ".webp"), ("jpeg", ".jpg"), ("avif", ".avif")])
def test_the_smallest_file_at_a_score_can_be_taken_home(client: httpx.Client, kind: str, suffix: str) -> None:
    run = asked(client, "encode", {"image": ("holiday.png", photograph())}, format=kind, min_score="3.5")

    taken = client.get(run["urls"]["copy_file"])
    assert run["encoding"]["score"] >= 3.5
    assert len(taken.content) == run["encoding"]["bytes"] < len(photograph()) / 3
    assert taken.headers["content-type"] == f"image/{kind}"
    assert f"holiday{suffix}" in taken.headers["content-disposition"]
    with Image.open(io.BytesIO(taken.content)) as opened:
        assert opened.size == photographs()["chelsea"].size


def test_bytes_to_fit_into_are_kept_and_what_cannot_be_is_said(client: httpx.Client) -> None:
    image = {"image": ("a.png", photograph())}

    fitted = asked(client, "encode", image, format="jpeg", max_bytes="20000")
    impossible = client.post("/v1/encode", files=image, data={"format": "jpeg", "max_bytes": "100"})
    nothing_asked = client.post("/v1/encode", files=image)

    assert fitted["encoding"]["bytes"] <= 20000
    assert (impossible.status_code, impossible.json()["code"]) == (422, "encoding")
    assert (nothing_asked.status_code, nothing_asked.json()["code"]) == (422, "invalid_request")
    assert client.get(f"/v1/runs/{asked(client, 'measure', image)['run_id']}/copy").status_code == 404


def test_the_document_describes_each_with_an_example(client: httpx.Client) -> None:
    found = client.get("/v1/openapi.json").json()

    for name, field in (("measure", "metrics"), ("audit", "folder"), ("encode", "min_score")):
        operation = found["paths"][f"/v1/{name}"]["post"]
        form = found["components"]["schemas"][f"Body_{name}"]["properties"]
        assert operation["summary"] != name.title()
        assert form[field]["description"]
        example = operation["responses"]["200"]["content"]["application/json"]["example"]
        assert (example["kind"], example["status"]) == (name, "finished")
