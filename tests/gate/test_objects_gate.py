"""Rules about things in the picture: what must be sharp, and what is not there."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from agenticiqa.assessor.regions import assess_regions
from agenticiqa.cli import app
from agenticiqa.gate.gatekeeping import Gate, gate_sections
from agenticiqa.images import load_image
from tests.support.photos import photo


def test_a_required_rule_fails_where_its_object_is_missing_and_a_forbidden_one_does_not_apply() -> None:
    record = {"sample_id": "a.png", "assessment": {"score": 4.0, "regions": {"face": None}}}

    required = Gate(gate_sections(None, (), None, ["face: sharp"])).check(record)
    forbidden = Gate(gate_sections(None, ["face: blurred"], None)).check(record)

    assert [failure.reason for failure in required] == ["no face was found"]
    assert forbidden == []


def test_a_region_has_box_class_confidence_score_interval_and_findings() -> None:
    found = assess_regions(load_image(photo("chelsea")), None, {}, ["cat", "car"], "commercial")

    cat = found["cat"]
    assert found["car"] is None
    assert cat is not None
    assert cat.class_name == "cat"
    assert cat.confidence is not None
    assert cat.confidence > 0.5
    assert cat.score is not None
    assert cat.interval is not None
    assert cat.interval[0] <= cat.score <= cat.interval[1]
    assert cat.findings is not None
    assert cat.box[2] - cat.box[0] > photo("chelsea").shape[1] / 2


@pytest.mark.parametrize(("sigma", "code"), [(0.0, 0), (6.0, 3)])
def test_a_batch_is_gated_on_the_subject_of_each_picture(tmp_path: Path, sigma: float, code: int) -> None:
    picture = photo("chelsea") if sigma == 0 else cv2.GaussianBlur(photo("chelsea"), (0, 0), sigma)
    Image.fromarray(picture).save(tmp_path / "cat.png")

    run = CliRunner().invoke(
        app,
        ["batch", str(tmp_path), "-o", str(tmp_path / "out.jsonl"), "--engine", "threads", "--offline", "--quiet",
         "--fail-if", "subject: blur >= moderate", "--require", "cat: found"],
    )  # fmt: skip

    assert run.exit_code == code, run.output


def test_a_rule_on_several_things_fails_for_one_of_them() -> None:
    cat = cv2.resize(photo("chelsea"), (480, 400), interpolation=cv2.INTER_AREA)
    picture = np.full((480, 1080, 3), 120, np.uint8)
    picture[40:440, 40:520], picture[40:440, 560:1040] = cat, cv2.GaussianBlur(cat, (0, 0), 5)

    found = assess_regions(load_image(picture), None, {}, ["cats"], "research")
    regions = {name: region.model_dump(mode="json") if region else None for name, region in found.items()}
    record = {"sample_id": "a.png", "assessment": {"score": 4.0, "regions": regions}}

    assert Gate(gate_sections(None, ["cats: blurred"], None)).check(record)
    assert Gate(gate_sections(None, (), None, ["cats: sharp"])).check(record)


@pytest.mark.parametrize(("sigma", "code"), [(0.0, 0), (8.0, 3)])
def test_a_distortion_that_the_question_did_not_need_is_judged_for_the_rule(
    tmp_path: Path, sigma: float, code: int
) -> None:
    picture = photo("chelsea") if sigma == 0 else cv2.GaussianBlur(photo("chelsea"), (0, 0), sigma)
    Image.fromarray(picture).save(tmp_path / "cat.png")

    run = CliRunner().invoke(
        app,
        ["batch", str(tmp_path), "-o", str(tmp_path / "out.jsonl"), "--engine", "threads", "--offline", "--quiet",
         "--fail-if", "blur >= severe", "--query", "What is the capital of France?"],
    )  # fmt: skip

    assert run.exit_code == code, run.output
    assert "0 could not be judged" in run.stderr
