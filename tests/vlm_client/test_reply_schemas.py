"""Schemas of replies: narrowed by the request, closed for services that enforce them, bounded for small models."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agenticiqa.state import PlannerOutput
from agenticiqa.vlm_client import VLMRequest
from agenticiqa.vlm_client.schemas import GOOGLE_KEYWORDS, bounded, cleaned, closed, schema_for, schema_rule
from agenticiqa.vlm_client.tasks import (
    AnalyzeInputs,
    AnalyzeReply,
    AnswerInputs,
    AnswerReply,
    DetectInputs,
    DetectReply,
    InspectInputs,
    LocateInputs,
    LocateReply,
    PlanInputs,
    SelectToolsInputs,
    SelectToolsReply,
    ToolOffer,
)
from tests.wire.asking import answer_request, score_request

NO_REFERENCE = {"query": "q", "reference_mode": "No-Reference"}
DISTORTIONS = {"car": ["Blurs", "Noise"], "Global": ["Contrast"]}


def asked(task: str, inputs: Any, model: Any) -> VLMRequest:
    return answer_request(task=task, inputs=inputs, reply_model=model)


REQUESTS = {
    "detect": asked(
        "detect",
        DetectInputs(objects=("car", "Global"), categories=("Blurs", "Noise"), **NO_REFERENCE),
        DetectReply,
    ),
    "analyze": asked("analyze", AnalyzeInputs(distortions=DISTORTIONS, **NO_REFERENCE), AnalyzeReply),
    "select_tools": asked(
        "select_tools",
        SelectToolsInputs(
            distortions=DISTORTIONS,
            tools=(ToolOffer(name="NIQE", reference="NR"), ToolOffer(name="PIQE", reference="NR")),
            **NO_REFERENCE,
        ),
        SelectToolsReply,
    ),
    "locate": asked("locate", LocateInputs(objects=("car",)), LocateReply),
}


def field(task: str, name: str) -> dict[str, Any]:
    properties: dict[str, Any] = schema_for(REQUESTS[task])["properties"][name]
    return properties


def test_detection_may_name_only_the_objects_and_categories_asked_about() -> None:
    found = field("detect", "distortion_set")

    assert found["required"] == ["car", "Global"]
    assert found["additionalProperties"] is False
    assert found["properties"]["car"]["items"]["enum"] == ["Blurs", "Noise"]


def test_an_analysis_covers_each_object_with_its_own_distortions() -> None:
    found = field("analyze", "distortion_analysis")["properties"]

    assert found["car"]["items"]["properties"]["type"]["enum"] == ["Blurs", "Noise"]
    assert found["Global"]["items"]["properties"]["type"]["enum"] == ["Contrast"]
    assert found["Global"]["items"]["properties"]["severity"]["enum"] == [
        "none", "slight", "moderate", "severe", "extreme",
    ]  # fmt: skip


def test_only_offered_tools_can_be_chosen() -> None:
    found = field("select_tools", "selected_tools")["properties"]

    assert list(found["car"]["properties"]) == ["Blurs", "Noise"]
    assert found["car"]["properties"]["Noise"]["enum"] == ["NIQE", "PIQE"]


def test_a_level_is_a_letter_or_the_admission_that_there_is_none() -> None:
    found = schema_for(score_request())["properties"]["final_answer"]

    assert found["enum"] == ["A", "B", "C", "D", "E", "Unable to determine"]
    assert "enum" not in schema_for(answer_request())["properties"]["final_answer"]


def test_with_no_tool_to_offer_the_schema_is_still_valid() -> None:
    inputs = SelectToolsInputs(distortions={"Global": ["Noise"]}, tools=(), **NO_REFERENCE)

    found = schema_for(asked("select_tools", inputs, SelectToolsReply))["properties"]["selected_tools"]

    assert found["properties"]["Global"]["properties"]["Noise"] == {"type": "string"}


@pytest.mark.parametrize("task", REQUESTS)
def test_narrowed_schemas_can_be_enforced_strictly(task: str) -> None:
    assert closed(schema_for(REQUESTS[task])) is not None


def test_a_closed_schema_requires_everything_and_says_nothing_a_service_refuses() -> None:
    shut = closed(AnswerReply.model_json_schema())

    assert shut == {
        "description": "The answer to the question, or the level in scoring, with its reasons.",
        "type": "object",
        "properties": {"final_answer": {"type": "string"}, "quality_reasoning": {"type": "string"}},
        "required": ["final_answer", "quality_reasoning"],
        "additionalProperties": False,
    }


def test_a_plan_names_its_own_objects_so_its_schema_stays_open() -> None:
    request = asked("plan", PlanInputs(query="q", has_reference=False), PlannerOutput)

    assert closed(schema_for(request)) is None


def test_bounds_end_every_list_and_text_but_no_choice() -> None:
    schema = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "kind": {"type": "string", "enum": ["a"]},
            "names": {"type": "array", "items": {"type": "string"}},
            "two": {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
        },
    }

    found = bounded(schema)["properties"]

    assert found["text"] == {"type": "string", "maxLength": 800}
    assert found["kind"] == {"type": "string", "enum": ["a"]}
    assert found["names"] == {"type": "array", "items": {"type": "string", "maxLength": 120}, "maxItems": 8}
    assert found["two"]["maxItems"] == 2


def test_the_rule_in_words_holds_the_schema() -> None:
    schema = AnswerReply.model_json_schema()

    assert json.loads(schema_rule(schema).partition("\n")[2]) == schema


def every_request() -> list[VLMRequest]:
    plan = asked("plan", PlanInputs(query="q", has_reference=False), PlanInputs.reply)
    choices = answer_request(inputs=AnswerInputs(query="q", choices={"A": "Yes", "B": "No"}))
    look = InspectInputs(objects=("car",), categories=("Blurs",), tools=REQUESTS_TOOLS, **NO_REFERENCE)
    return [*REQUESTS.values(), plan, choices, score_request(), asked("inspect", look, InspectInputs.reply)]


def without_type_of_choices(node: Any) -> Any:
    """The schema as Claude's form has it: a choice among words says its type by them."""
    if isinstance(node, list):
        return [without_type_of_choices(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        name: without_type_of_choices(value)
        for name, value in node.items()
        if not (name == "type" and isinstance(node.get("enum"), list))
    }


REQUESTS_TOOLS = (ToolOffer(name="PIQE", reference="NR"),)


@pytest.mark.parametrize("request_", every_request(), ids=lambda request: request.task)
def test_openais_own_strict_form_changes_nothing_in_what_is_sent(request_: VLMRequest) -> None:
    from openai.lib._pydantic import _ensure_strict_json_schema

    sent = closed(schema_for(request_))
    if sent is None:
        pytest.skip("free keys are not enforced")

    assert _ensure_strict_json_schema(json.loads(json.dumps(sent)), path=(), root=sent) == sent


@pytest.mark.parametrize("request_", every_request(), ids=lambda request: request.task)
def test_claudes_own_form_changes_nothing_in_what_is_sent(request_: VLMRequest) -> None:
    from anthropic import transform_schema

    sent = closed(schema_for(request_))
    if sent is None:
        pytest.skip("free keys are not enforced")

    assert transform_schema(json.loads(json.dumps(sent))) == without_type_of_choices(sent)


@pytest.mark.parametrize("request_", every_request(), ids=lambda request: request.task)
def test_geminis_schema_holds_only_what_its_api_lists(request_: VLMRequest) -> None:
    words = json.dumps(cleaned(schema_for(request_), GOOGLE_KEYWORDS))

    assert not [word for word in ("prefixItems", "const", "default", "examples", "maxLength") if f'"{word}":' in words]


def test_a_multiple_choice_answer_may_only_be_one_of_its_letters() -> None:
    sent = closed(schema_for(answer_request(inputs=AnswerInputs(query="q", choices={"A": "Yes", "B": "No"}))))

    assert sent is not None
    assert sent["properties"]["final_answer"]["enum"] == ["A", "B", "Unable to determine"]
