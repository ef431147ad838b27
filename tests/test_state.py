"""State models: what the documents fix about plan, evidence, answer and the graph's state."""

from __future__ import annotations

import json
import logging
from typing import Any, NotRequired, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agenticiqa.state import (
    DISTORTION_CATEGORIES,
    LEVEL_LETTERS,
    LEVEL_NAMES,
    LEVEL_SCORES,
    SEVERITIES,
    AgenticIQAState,
    CallCount,
    DistortionAnalysis,
    ExecutorOutput,
    Ledger,
    PlanControlFlags,
    PlannerOutput,
    Region,
    SummarizerOutput,
    ToolExecutionLog,
    remember_replan,
)

FLAGS = {"distortion_detection": True, "distortion_analysis": True, "tool_selection": True, "tool_execution": True}


def plan(**changes: Any) -> PlannerOutput:
    fields: dict[str, Any] = {
        "query_type": "IQA",
        "query_scope": "Global",
        "distortion_source": "Inferred",
        "distortions": None,
        "reference_mode": "No-Reference",
        "required_tool": None,
        "plan": FLAGS,
    }
    return PlannerOutput.model_validate(fields | changes)


def test_the_vocabularies_are_those_of_the_paper() -> None:
    assert DISTORTION_CATEGORIES == (
        "Blurs", "Color distortions", "Compression", "Noise", "Brightness change", "Sharpness", "Contrast",
    )  # fmt: skip
    assert SEVERITIES == ("none", "slight", "moderate", "severe", "extreme")
    assert [(letter, LEVEL_NAMES[letter], LEVEL_SCORES[letter]) for letter in LEVEL_LETTERS] == [
        ("A", "Excellent", 5), ("B", "Good", 4), ("C", "Fair", 3), ("D", "Poor", 2), ("E", "Bad", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("field", "spelling", "canonical"),
    [
        ("reference_mode", "No-reference", "No-Reference"),
        ("reference_mode", "full-reference", "Full-Reference"),
        ("reference_mode", "full_reference", "Full-Reference"),
        ("query_type", "iqa", "IQA"),
        ("query_type", "Explanation", "Other"),
        ("query_type", "MCQ", "Other"),
        ("query_type", "qa", "Other"),
        ("distortion_source", "explicit", "Explicit"),
        ("query_scope", "global", "Global"),
        ("query_scope", ["Global"], "Global"),
        ("query_scope", [], "Global"),
        ("query_scope", "vehicle", ["vehicle"]),
        ("query_scope", ["vehicle", " vehicle ", "sky"], ["vehicle", "sky"]),
        ("required_tool", "None", None),
        ("required_tool", " ", None),
    ],
)
def test_spellings_models_produce_become_the_canonical_value(field: str, spelling: Any, canonical: Any) -> None:
    assert getattr(plan(**{field: spelling}), field) == canonical


def test_a_category_is_recognised_in_the_plan_by_its_everyday_name() -> None:
    named = plan(distortions={"Global": ["blur", "noisy", "compression artifacts", "color"]})

    assert named.distortions == {"Global": ["Blurs", "Noise", "Compression", "Color distortions"]}


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("query_type", "Poem", "'IQA' or 'Other'"),
        ("reference_mode", "half", "'Full-Reference' or 'No-Reference'"),
        ("distortion_source", "guess", "'Explicit' or 'Inferred'"),
        ("distortions", {"Global": ["melancholy"]}, "'Blurs'"),
    ],
)
def test_anything_else_is_an_error_naming_field_and_allowed_values(field: str, value: Any, allowed: str) -> None:
    with pytest.raises(ValidationError) as caught:
        plan(**{field: value})

    assert field in str(caught.value)
    assert allowed in str(caught.value)


def test_every_control_flag_is_required() -> None:
    for name in FLAGS:
        with pytest.raises(ValidationError, match=name):
            PlanControlFlags.model_validate({key: True for key in FLAGS if key != name})


@pytest.mark.parametrize("missing", ["type", "severity", "explanation"])
def test_a_distortion_analysis_needs_all_three_fields(missing: str) -> None:
    fields = {"type": "Blurs", "severity": "moderate", "explanation": "Edges appear soft."}
    del fields[missing]

    with pytest.raises(ValidationError, match=missing):
        DistortionAnalysis.model_validate(fields)


def test_a_blank_explanation_is_refused() -> None:
    with pytest.raises(ValidationError, match="explanation"):
        DistortionAnalysis(type="Blurs", severity="none", explanation="  \n")


def test_severity_words_of_models_are_understood() -> None:
    analysis = DistortionAnalysis.model_validate({"type": "noise", "severity": "Mild", "explanation": "grain"})

    assert (analysis.type, analysis.severity) == ("Noise", "slight")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("normalized_score", 0.99),
        ("normalized_score", 5.01),
        ("normalized_score", float("nan")),
        ("raw_score", float("inf")),
        ("execution_time", -0.1),
    ],
)
def test_a_tool_log_refuses_impossible_numbers(field: str, value: float) -> None:
    fields: dict[str, Any] = {"tool_name": "SSIM", "execution_time": 0.1, field: value}

    with pytest.raises(ValidationError, match=field):
        ToolExecutionLog.model_validate(fields)


def test_a_tool_log_with_an_error_carries_no_score() -> None:
    with pytest.raises(ValidationError, match="normalized_score"):
        ToolExecutionLog(tool_name="SSIM", execution_time=0.1, error="boom", normalized_score=3.0)


def test_an_uncalibrated_tool_has_a_raw_score_only() -> None:
    log = ToolExecutionLog(tool_name="NIQE", execution_time=0.0, raw_score=4.2)

    assert log.normalized_score is None
    assert log.timestamp.tzinfo is not None


def test_a_region_must_have_an_area() -> None:
    with pytest.raises(ValidationError, match="right must exceed left"):
        Region(left=5, top=0, right=5, bottom=3)


def test_evidence_survives_json_without_loss() -> None:
    evidence = ExecutorOutput(
        distortion_set={"vehicle": ["Blurs"]},
        distortion_analysis={"vehicle": [DistortionAnalysis(type="Blurs", severity="severe", explanation="soft")]},
        selected_tools={"vehicle": {"Blurs": "VSI"}},
        quality_scores={"vehicle": {"Blurs": ("VSI", 2.25)}},
        tool_logs=[ToolExecutionLog(tool_name="VSI", object_name="vehicle", distortion="Blurs", execution_time=0.2)],
        errors={"tool_execution": "GMSD: too small"},
        uncertainties=["vehicle not found"],
        regions={"vehicle": Region(left=0, top=1, right=2, bottom=3), "sky": None},
    )

    assert ExecutorOutput.model_validate_json(evidence.model_dump_json()) == evidence


def test_evidence_distinguishes_failed_from_not_asked_for() -> None:
    nothing = ExecutorOutput()

    assert nothing.quality_scores is None
    assert nothing.errors == {}


texts = st.text(min_size=1).filter(lambda text: text.strip())


@given(answer=texts, reasoning=texts, need=st.booleans(), reason=st.none() | texts)
def test_a_summary_survives_json_without_loss(answer: str, reasoning: str, need: bool, reason: str | None) -> None:
    summary = SummarizerOutput(
        final_answer=answer, quality_reasoning=reasoning, need_replan=need, replan_reason=reason,
        used_evidence={"tools": ["VSI"], "tool_score": 2.5},
    )  # fmt: skip

    assert SummarizerOutput.model_validate_json(summary.model_dump_json()) == summary


@pytest.mark.parametrize("field", ["final_answer", "quality_reasoning"])
@pytest.mark.parametrize("blank", ["", "   ", "\n\t"])
def test_a_summary_refuses_blank_texts(field: str, blank: str) -> None:
    fields = {"final_answer": "B", "quality_reasoning": "Edges are soft.", field: blank}

    with pytest.raises(ValidationError, match=field):
        SummarizerOutput.model_validate(fields)


def test_a_summary_is_trimmed_and_does_not_replan_by_default() -> None:
    summary = SummarizerOutput(final_answer=" B ", quality_reasoning="\nEdges are soft. ")

    assert (summary.final_answer, summary.quality_reasoning) == ("B", "Edges are soft.")
    assert summary.need_replan is False


def test_a_replan_without_reason_gets_one_and_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "agenticiqa.state"):
        summary = SummarizerOutput(final_answer="x", quality_reasoning="y", need_replan=True)

    assert summary.replan_reason == "No reason provided"
    assert "replan_reason" in caplog.text


def test_the_schema_of_the_summary_carries_both_examples_and_they_validate() -> None:
    examples = SummarizerOutput.model_json_schema()["examples"]

    assert examples == [
        {
            "final_answer": "B",
            "quality_reasoning": "The image shows moderate blur affecting sharpness, "
            "consistent with tool score of 2.6.",
            "need_replan": False,
        },
        {
            "final_answer": "Unable to determine",
            "quality_reasoning": "Insufficient evidence for vehicle region.",
            "need_replan": True,
            "replan_reason": "Missing tool scores for vehicle region",
        },
    ]
    assert [SummarizerOutput.model_validate_json(json.dumps(example)).need_replan for example in examples] == [
        False,
        True,
    ]


def test_only_query_and_image_are_required_in_the_state() -> None:
    hints = get_type_hints(AgenticIQAState, include_extras=True)
    optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}

    assert set(hints) - optional == {"query", "image_path"}
    assert {"summarizer_result", "iteration_count", "max_replan_iterations", "replan_history"} <= optional
    assert AgenticIQAState.__required_keys__ == {"query", "image_path"}


def test_states_of_a_shorter_pipeline_are_valid() -> None:
    planned: AgenticIQAState = {"query": "q", "image_path": "i.png", "plan": plan()}
    gathered: AgenticIQAState = {**planned, "executor_evidence": ExecutorOutput()}

    assert planned.get("summarizer_result") is None
    assert gathered.get("summarizer_result") is None


def test_replan_history_names_iteration_and_reason() -> None:
    assert remember_replan([], 1, "Missing tool scores for vehicle region") == [
        "[Iteration 1] Missing tool scores for vehicle region"
    ]


def test_replan_history_keeps_the_newest_ten_and_warns(caplog: pytest.LogCaptureFixture) -> None:
    history: list[str] = []
    with caplog.at_level(logging.WARNING, "agenticiqa.state"):
        for iteration in range(1, 13):
            history = remember_replan(history, iteration, "gap")

    assert history == [f"[Iteration {n}] gap" for n in range(3, 13)]
    assert "Excessive replanning" in caplog.text


def test_a_ledger_adds_up_per_node_and_in_total() -> None:
    one = CallCount(calls=1, attempts=2, input_tokens=10, output_tokens=5, cost_usd=0.25, seconds=1.0)

    ledger = Ledger().adding("planner", one).adding("planner", one).adding("summarizer", one)

    assert ledger.nodes["planner"].attempts == 4
    assert ledger.total == CallCount(calls=3, attempts=6, input_tokens=30, output_tokens=15, cost_usd=0.75, seconds=3.0)


def test_an_unknown_cost_makes_the_total_unknown() -> None:
    ledger = Ledger().adding("planner", CallCount(cost_usd=None)).adding("executor", CallCount(cost_usd=1.0))

    assert ledger.total.cost_usd is None
