"""When the evidence suffices, and what is said when it does not."""

from __future__ import annotations

from typing import Any

import pytest

from agenticiqa.nodes.sufficiency import first_gap
from agenticiqa.nodes.summarizer import should_replan
from agenticiqa.parts import tools_for
from agenticiqa.state import DISTORTION_CATEGORIES, ExecutorOutput
from tests.support.agent import plan, settings
from training.contradicting_tools import stored


def evidence(
    severity: str = "moderate",
    scores: dict[str, dict[str, tuple[str, float]]] | None = None,
    objects: tuple[str, ...] = ("Global",),
    **more: Any,
) -> ExecutorOutput:
    entry = {"type": "Blurs", "severity": severity, "explanation": "Edges appear soft."}
    fields = {
        "distortion_set": {name: ["Blurs"] for name in objects},
        "distortion_analysis": {name: [entry] for name in objects},
        "quality_scores": {name: {"Blurs": ("GAUGE", 2.6)} for name in objects} if scores is None else scores,
        **more,
    }
    return ExecutorOutput.model_validate(fields)


def test_complete_evidence_suffices() -> None:
    assert should_replan(evidence(), "Global") == (False, "")
    assert should_replan(evidence(objects=("vehicle",)), ["vehicle"], plan(query_scope=["vehicle"])) == (False, "")


def test_an_object_of_the_scope_without_analysis_is_named() -> None:
    found = evidence(objects=("vehicle",))

    assert should_replan(found, ["vehicle", "background"]) == (True, "Missing analysis for {'background'}")


def test_several_missing_objects_are_named_in_a_fixed_order() -> None:
    found = evidence(objects=("vehicle",))

    assert should_replan(found, ["vehicle", "sky", "road"]) == (True, "Missing analysis for {'road', 'sky'}")


@pytest.mark.parametrize("scores", [None, {}])
def test_no_tool_scores_are_a_gap(scores: dict[str, Any] | None) -> None:
    found = evidence().model_copy(update={"quality_scores": scores})

    assert should_replan(found, "Global") == (True, "No tool scores available")


def test_a_plan_that_asked_for_no_tools_is_not_blamed_for_missing_scores() -> None:
    found = evidence().model_copy(update={"quality_scores": None})

    assert should_replan(found, "Global", plan(flags={"tool_execution": False})) == (False, "")
    assert should_replan(found, "Global", plan()) == (True, "No tool scores available")


def test_an_object_without_scores_is_named() -> None:
    found = evidence(objects=("vehicle", "background"), scores={"background": {"Blurs": ("GAUGE", 3.0)}})

    assert should_replan(found, ["vehicle", "background"]) == (True, "Missing tool scores for vehicle region")


def test_a_key_distortion_without_a_score_is_named_with_the_tool_that_failed() -> None:
    log = {"tool_name": "GAUGE", "distortion": "Blurs", "execution_time": 0.1, "error": "out of memory"}
    found = evidence(scores={"Global": {"Noise": ("OTHER", 3.0)}}, tool_logs=[log])

    needed, reason = should_replan(found, "Global")

    assert needed
    assert reason == "Missing tool scores for Global: Blurs was not measured (GAUGE gave no score)"


@pytest.mark.parametrize("severity", ["none", "slight"])
def test_a_minor_distortion_without_a_score_is_no_gap(severity: str) -> None:
    assert should_replan(evidence(severity, {"Global": {"Noise": ("OTHER", 3.0)}}), "Global") == (False, "")


def test_an_overall_score_covers_every_distortion() -> None:
    assert should_replan(evidence(scores={"Global": {"Overall": ("GAUGE", 3.0)}}), "Global") == (False, "")


@pytest.mark.parametrize("severity", ["severe", "extreme"])
def test_a_severe_distortion_with_a_high_score_is_a_contradiction(severity: str) -> None:
    found = evidence(severity, {"Global": {"Blurs": ("GAUGE", 4.6)}})

    needed, reason = should_replan(found, "Global")

    assert needed
    assert reason == f"Contradictory evidence: {severity} Blurs on Global but GAUGE scores 4.6"


@pytest.mark.parametrize(("severity", "score"), [("moderate", 4.6), ("severe", 4.0), ("severe", 2.0)])
def test_what_can_both_be_true_is_no_contradiction(severity: str, score: float) -> None:
    assert should_replan(evidence(severity, {"Global": {"Blurs": ("GAUGE", score)}}), "Global") == (False, "")


def test_a_severe_distortion_with_a_high_score_of_the_whole_picture_is_a_contradiction() -> None:
    found = evidence("severe", {"Global": {"Overall": ("GAUGE", 4.6)}})

    assert should_replan(found, "Global")[1] == "Contradictory evidence: severe Blurs on Global but GAUGE scores 4.6"


@pytest.mark.parametrize("analysis", [{"Global": []}, None])
def test_nothing_found_with_a_low_score_is_a_contradiction(analysis: dict[str, Any] | None) -> None:
    found = ExecutorOutput.model_validate(
        {
            "distortion_set": {"Global": []},
            "distortion_analysis": analysis,
            "quality_scores": {"Global": {"Overall": ("GAUGE", 1.4)}},
        }
    )

    needed, reason = should_replan(found, "Global")

    assert needed
    assert reason == "Contradictory evidence: no distortion found on Global but GAUGE scores 1.4"


def test_a_clean_picture_with_a_good_score_is_no_gap() -> None:
    found = ExecutorOutput.model_validate(
        {
            "distortion_set": {"Global": []},
            "distortion_analysis": {"Global": []},
            "quality_scores": {"Global": {"Overall": ("GAUGE", 4.7)}},
        }
    )

    assert should_replan(found, "Global", plan()) == (False, "")


def test_explicit_uncertainty_is_a_gap_after_all_others() -> None:
    doubtful = evidence(uncertainties=["the severity of Noise on Global was not judged"])
    worse = doubtful.model_copy(update={"quality_scores": None})

    assert should_replan(doubtful, "Global")[1] == (
        "Uncertain evidence: the severity of Noise on Global was not judged"
    )
    assert should_replan(worse, "Global")[1] == "No tool scores available"


def test_an_analysis_that_failed_is_missing() -> None:
    found = ExecutorOutput.model_validate(
        {
            "quality_scores": {"Global": {"Overall": ("GAUGE", 3.0)}},
            "errors": {"distortion_analysis": "no valid reply"},
        }
    )

    assert should_replan(found, "Global") == (True, "Missing analysis for {'Global'}")


def test_an_analysis_of_severity_none_found_nothing_and_contradicts_a_low_score() -> None:
    evidence = ExecutorOutput.model_validate(
        {
            "distortion_set": {"Global": ["Blurs"]},
            "distortion_analysis": {"Global": [{"type": "Blurs", "severity": "none", "explanation": "Sharp edges."}]},
            "quality_scores": {"Global": {"Blurs": ("GAUGE", 1.5)}},
        }
    )

    needed, reason = should_replan(evidence, "Global")

    assert needed
    assert reason == "Contradictory evidence: no distortion found on Global but GAUGE scores 1.5"


@pytest.mark.parametrize(
    ("severity", "score", "contradicts"),
    [("severe", 4.2, True), ("severe", 4.0, False), ("none", 1.8, True), ("none", 2.0, False)],
)
def test_scores_contradict_an_analysis_only_beyond_four_and_below_two(
    severity: str, score: float, contradicts: bool
) -> None:
    analysis = {"Global": [{"type": "Blurs", "severity": severity, "explanation": "As seen."}]}
    scores = {"Global": {"Blurs": ("GAUGE", score)}}
    evidence = ExecutorOutput.model_validate({"distortion_analysis": analysis, "quality_scores": scores})

    assert should_replan(evidence, "Global")[0] is contradicts


@pytest.mark.parametrize(
    ("tool", "distortion", "contradicted"),
    [
        ("NSS_REGRESSION", "Brightness change", False),
        ("NSS_DISTANCE", "Color distortions", False),
        ("NSS_REGRESSION", "Noise", True),
        ("PSNR", "Brightness change", True),
        ("A_TOOL_NOBODY_MEASURED", "Contrast", True),
    ],
)
def test_a_tool_contradicts_only_damage_that_its_score_falls_with(
    tool: str, distortion: str, contradicted: bool
) -> None:
    entry = {"type": distortion, "severity": "severe", "explanation": "Clear to see."}
    scores = {"Global": {distortion: (tool, 4.8)}}
    found = ExecutorOutput.model_validate({"distortion_analysis": {"Global": [entry]}, "quality_scores": scores})

    assert (first_gap(found, "Global", tools=tools_for(settings())) is not None) == contradicted


def test_what_a_tool_may_contradict_in_the_catalogue_is_what_was_measured() -> None:
    tools = tools_for(settings())

    for name, kinds in stored().items():
        listed = tools.card(name).contradicts
        assert [kind for kind, seen in kinds.items() if seen.reliable] == list(listed or DISTORTION_CATEGORIES), name
