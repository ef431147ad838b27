"""What Python users call and get: one order of arguments, every option typed, answers as values."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import agenticiqa
from agenticiqa import Assessment, Assessor, assess, compare, measure, run_pipeline
from agenticiqa.assessor.assessing import AssessOptions
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.values import Reason
from tests.support.agent import picture, plan_reply, script
from tests.support.photos import photo
from tests.support.results import scripted_assessor


def parameters(function: Any, kind: Any) -> list[str]:
    found = inspect.signature(function).parameters.values()
    return [each.name for each in found if each.kind is kind and each.name != "self"]


@pytest.mark.parametrize(
    ("function", "positional"),
    [
        (assess, ["image", "query"]),
        (Assessor.assess, ["image", "query"]),
        (compare, ["images", "query"]),
        (Assessor.compare, ["images", "query"]),
        (measure, ["image", "tools"]),
        (run_pipeline, ["query", "image_path", "reference_path", "max_replan_iterations"]),
    ],
)
def test_images_and_question_stand_by_position_and_the_rest_by_name(function: Any, positional: list[str]) -> None:
    assert parameters(function, inspect.Parameter.POSITIONAL_OR_KEYWORD) == positional
    assert not parameters(function, inspect.Parameter.VAR_KEYWORD)
    annotations = [each.annotation for each in inspect.signature(function).parameters.values() if each.name != "self"]
    assert not {"Any", inspect.Parameter.empty} & set(annotations)


def test_the_options_come_in_one_order() -> None:
    order = ["reference", "choices", "backend", "align", "regions", "max_replan_iterations", "on_event"]

    for function in (assess, compare, Assessor.assess, Assessor.compare, measure):
        named = [name for name in parameters(function, inspect.Parameter.KEYWORD_ONLY) if name in order]
        assert named == [name for name in order if name in named]
    assert list(AssessOptions.__annotations__) == parameters(Assessor.assess, inspect.Parameter.KEYWORD_ONLY)


def test_a_yes_or_no_is_a_value_with_its_certainty_and_reasons() -> None:
    found = assess(distort(photo("chelsea"), "gaussian_blur", 5), "Is this image blurry?")

    assert found.value is True
    assert found.certainty is not None
    assert 0.5 < found.certainty <= 1
    blur = next(reason.distortion for reason in found.reasons if reason.distortion is not None)
    assert (blur.category, blur.is_present) == ("Blurs", True)
    assert all(reason.text in found.reasoning for reason in found.reasons)
    assert found.choices == {}


def test_a_choice_is_its_letter_and_the_choices_are_kept(tmp_path: Path) -> None:
    assessor = scripted_assessor(
        plan=plan_reply(query_type="Other"),
        answer={"final_answer": "B", "quality_reasoning": "It is soft."},
    )

    found = assessor.assess(picture(tmp_path), "Is it sharp?", choices=["Yes", "No"])

    assert (found.answer, found.value, found.choices) == ("B", "B", {"A": "Yes", "B": "No"})
    assert (found.certainty, found.reasons) == (None, [])


def test_a_rating_has_its_level_as_its_value_and_no_answer_has_none(tmp_path: Path) -> None:
    rated = scripted_assessor().assess(picture(tmp_path))
    unable = scripted_assessor(score="no json").assess(picture(tmp_path))

    assert rated.value == rated.answer == rated.level
    assert (unable.answer, unable.value) == ("Unable to determine", None)


def test_reasons_survive_the_record() -> None:
    found = assess(distort(photo("chelsea")[:128, :160], "white_noise", 5), "Is it noisy?")

    read = Assessment.from_json(found.to_json())

    assert read == found
    assert found.reasons
    assert all(isinstance(reason, Reason) for reason in read.reasons)


def test_a_backend_can_be_named_for_one_call(tmp_path: Path) -> None:
    lines = tmp_path / "script.json"
    lines.write_text(json.dumps({**script(), "score": {"final_answer": "E", "quality_reasoning": "I say so."}}))

    found = agenticiqa.assess(picture(tmp_path), backend=f"scripted.{lines}")

    assert set(found.provenance.backends.values()) == {f"scripted.{lines}"}
    assert "I say so." in found.reasoning
