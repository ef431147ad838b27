"""The summarizer: two modes, evidence in words, fusion, notes, attempts, and what it returns."""

from __future__ import annotations

import json
import logging
import math
from pathlib import Path
from typing import Any

import pytest

from agenticiqa.nodes.summarizer import (
    EXPLANATION_PROMPT_TEMPLATE,
    SCORING_PROMPT_TEMPLATE,
    evidence_notes,
    summarizer_node,
    with_notes,
)
from agenticiqa.nodes.voting import mean_score, voting_scores, weigh
from agenticiqa.question.choices import match_choice
from agenticiqa.score_fusion import ScoreFusion
from agenticiqa.state import UNABLE, ExecutorOutput, SummarizerOutput
from agenticiqa.vlm_client import ScriptedVLMClient, VLMClient, VLMReply
from agenticiqa.vlm_client.middleware.retrying import FallbackVLMClient
from tests.support.agent import FAIR, FixedTool, config, picture, plan, registry, scripted, settings, state

EVIDENCE = ExecutorOutput.model_validate(
    {
        "distortion_set": {"Global": ["Blurs"]},
        "distortion_analysis": {
            "Global": [{"type": "Blurs", "severity": "moderate", "explanation": "Edges appear soft."}]
        },
        "quality_scores": {"Global": {"Blurs": ("GAUGE", 2.6)}},
    }
)
SPECIFIED_EXPLANATION = """\
System:
You are a visual quality assessment assistant. Your task is to select the most appropriate answer to the user's
question. You are given:
- Distortion analysis (severity and visual impact of listed distortions)
- Tool response (overall quality scores from IQA models)
- Image content
Decision process
1. First, understand what kind of visual information is needed to answer the user's question.
2. Check if the provided distortion analysis or tool response already contains the required information.
3. If the provided information is sufficient, use it to answer.
4. If the information is unclear or insufficient, analyze the image directly to determine the best answer.
Return a valid JSON object in the following format:
{
  "final_answer": "<one of the above letters>",
  "quality_reasoning": "<brief explanation, based on either distortion analysis, tool response, \
or direct visual observation>"
}
"""
SPECIFIED_SCORING = """\
System:
You are a visual quality assessment assistant. Given the question and the analysis (tool scores, distortion
analysis). Your task is to assess the image quality.
You must select one single answer from the following:
A. Excellent
B. Good
C. Fair
D. Poor
E. Bad
Return the JSON:
{
  "final_answer": "<one letter>",
  "quality_reasoning": "<concise justification referencing distortions or tool scores>"
}
"""
OTHER = plan(query_type="Other")
MCQ = "Is the image blurry? A. Yes B. No"


def summarized(
    tmp_path: Path,
    client: VLMClient | None = None,
    query: str = "Rate it.",
    tools: Any = (),
    more_config: dict[str, Any] | None = None,
    **more: Any,
) -> SummarizerOutput:
    fields = {"plan": plan(), "executor_evidence": EVIDENCE, **more}
    update = summarizer_node(state(tmp_path, query, **fields), config(client, tools, **(more_config or {})))
    result: SummarizerOutput = update["summarizer_result"]
    return result


def used(result: SummarizerOutput) -> dict[str, Any]:
    assert result.used_evidence is not None
    return result.used_evidence


def test_the_templates_are_the_specified_texts() -> None:
    assert EXPLANATION_PROMPT_TEMPLATE == SPECIFIED_EXPLANATION
    assert SCORING_PROMPT_TEMPLATE == SPECIFIED_SCORING


@pytest.mark.parametrize(
    ("query_type", "task", "template"),
    [
        ("IQA", "score", SPECIFIED_SCORING),
        ("Other", "answer", SPECIFIED_EXPLANATION),
        ("Explanation", "answer", SPECIFIED_EXPLANATION),
        ("MCQ", "answer", SPECIFIED_EXPLANATION),
    ],
)
def test_the_query_type_selects_the_mode(tmp_path: Path, query_type: str, task: str, template: str) -> None:
    client = scripted()

    summarized(tmp_path, client, plan=plan(query_type=query_type))

    (request,) = client.requests
    assert request.task == task
    assert request.system == template.removeprefix("System:\n")
    assert (request.sampling.temperature, request.sampling.max_tokens) == (0.0, 512)


@pytest.mark.parametrize("query_type", ["IQA", "Other"])
def test_evidence_question_and_images_reach_the_model(tmp_path: Path, query_type: str) -> None:
    client = scripted()
    reference = picture(tmp_path, "reference.png", seed=1)
    against_reference = plan(query_type=query_type, reference_mode="Full-Reference")

    summarized(tmp_path, client, plan=against_reference, reference_path=reference)

    (request,) = client.requests
    analysis = {"Global": [{"type": "Blurs", "severity": "moderate", "explanation": "Edges appear soft."}]}
    assert json.dumps(analysis, indent=1) in request.user
    assert json.dumps({"Global": {"Blurs": ["GAUGE", 2.6]}}, indent=1) in request.user
    assert '"Rate it."' in request.user
    assert [image.label for image in request.images] == ["test image", "reference image"]


def test_a_reference_the_plan_leaves_aside_is_not_shown_to_the_model(tmp_path: Path) -> None:
    client = scripted()
    reference = picture(tmp_path, "reference.png", seed=1)

    summarized(tmp_path, client, plan=plan(reference_mode="No-Reference"), reference_path=reference)

    assert [image.label for image in client.requests[0].images] == ["test image"]


def test_the_choices_are_put_to_the_model_and_the_answer_is_one_of_them(tmp_path: Path) -> None:
    client = scripted(answer={"final_answer": "a)", "quality_reasoning": "Soft edges."})

    result = summarized(tmp_path, client, MCQ, plan=OTHER)

    assert result.final_answer == "A"
    assert json.dumps({"A": "Yes", "B": "No"}, indent=1) in client.requests[0].user


@pytest.mark.parametrize(
    "query",
    [
        "Is the image blurry? A. Yes B. No",
        "Is the image blurry? (a) Yes (b) No",
        "Is the image blurry?\nA) Yes\nB) No",
        "图像模糊吗？A、Yes B、No",
        "图像模糊吗？（A）Yes（B）No",
    ],
)
def test_choices_are_found_in_the_question_however_they_are_written(tmp_path: Path, query: str) -> None:
    client = scripted(answer={"final_answer": "No", "quality_reasoning": "Crisp."})

    assert summarized(tmp_path, client, query, plan=OTHER).final_answer == "B"


def test_choices_given_as_data_win_over_those_in_the_question(tmp_path: Path) -> None:
    client = scripted(answer={"final_answer": "Perhaps", "quality_reasoning": "Hard to say."})

    assert summarized(tmp_path, client, MCQ, plan=OTHER, choices={"X": "Perhaps", "Y": "Never"}).final_answer == "X"


def test_an_answer_that_is_no_choice_is_asked_for_again(tmp_path: Path) -> None:
    client = scripted(
        answer=[
            {"final_answer": "F", "quality_reasoning": "x"},
            {"final_answer": "B. No", "quality_reasoning": "Crisp."},
        ]
    )

    assert summarized(tmp_path, client, MCQ, plan=OTHER).final_answer == "B"
    assert len(client.requests) == 2


@pytest.mark.parametrize(
    "answer",
    ["B", "b", "b)", "(B)", "B.", "B. Good", "B: Good", "Good", "good.", "**B**", "B、好", "Option B", "B - Good",
     "Answer: B", "The answer is B"],
)  # fmt: skip
def test_every_way_to_say_a_choice_means_its_letter(answer: str) -> None:
    assert match_choice(answer, {"A": "Excellent", "B": "Good"}) == "B"


@pytest.mark.parametrize("answer", ["", "C", "Bad", "Best"])
def test_what_is_no_choice_means_none(answer: str) -> None:
    with pytest.raises(ValueError, match="allowed: A, B"):
        match_choice(answer, {"A": "Excellent", "B": "Good"})


@pytest.mark.parametrize("chosen", [plan(), OTHER])
def test_unable_to_determine_is_a_valid_answer_in_both_modes(tmp_path: Path, chosen: Any) -> None:
    unable = {"final_answer": "unable to determine", "quality_reasoning": "Too dark to say."}

    result = summarized(tmp_path, scripted(answer=unable, score=unable), MCQ, plan=chosen)

    assert result.final_answer == "Unable to determine"
    assert result.quality_reasoning.startswith("Too dark to say.")


def test_probabilities_of_the_choices_are_not_read_as_those_of_the_levels(tmp_path: Path) -> None:
    said = json.dumps({"final_answer": "B", "quality_reasoning": "Edges are soft."})
    reply = VLMReply(said, "m", level_logprobs={"A": -2.0, "B": -0.2}, probability_source="logprobs")

    result = summarized(tmp_path, ScriptedVLMClient({"answer": reply}), MCQ, plan=OTHER)

    evidence = result.used_evidence or {}
    assert result.final_answer == "B"
    assert evidence["probability_source"] != "logprobs"
    assert evidence["vlm_score"] is None


def test_without_choices_free_text_is_accepted_and_the_prompt_says_so(tmp_path: Path) -> None:
    client = scripted()

    result = summarized(tmp_path, client, "What is wrong with it?", plan=OTHER)

    assert result.final_answer == "It is blurred."
    assert "write final_answer in your own words" in client.requests[0].user


def test_scoring_fuses_tools_and_model_and_reports_all_three(tmp_path: Path) -> None:
    result = summarized(tmp_path)

    # By hand: α ∝ e^-(2.6-c)², p = .8 for 3 and .05 for the others.
    weights = {c: math.exp(-((2.6 - c) ** 2)) * (0.8 if c == 3 else 0.05) for c in range(1, 6)}
    expected = sum(c * w for c, w in weights.items()) / sum(weights.values())
    evidence = used(result)
    assert evidence["tool_score"] == pytest.approx(2.6)
    assert evidence["vlm_score"] == pytest.approx(0.8 * 3 + 0.05 * (1 + 2 + 4 + 5))
    assert evidence["fused_score"] == pytest.approx(expected)
    assert (evidence["fused_level"], evidence["probability_source"]) == ("C", "classification")
    assert evidence["tools"] == {"GAUGE": 2.6}
    assert json.loads(json.dumps(evidence)) == evidence


def test_the_tools_guide_the_model_in_the_scoring_prompt(tmp_path: Path) -> None:
    client = scripted()

    summarized(tmp_path, client)

    inputs: Any = client.requests[0].inputs
    alpha = {c: math.exp(-((2.6 - c) ** 2)) for c in range(1, 6)}
    assert inputs.tool_mean == 2.6
    assert inputs.perceptual_weights["C"] == pytest.approx(alpha[3] / sum(alpha.values()), abs=1e-4)
    assert "Mean of the tool scores:\n2.6" in client.requests[0].user


def test_log_probabilities_of_the_model_are_used_and_named(tmp_path: Path) -> None:
    logs = {"A": math.log(0.1), "B": math.log(0.6), "C": math.log(0.3)}
    reply = VLMReply(json.dumps(FAIR), "m", level_logprobs=logs, probability_source="logprobs", interval=(3.5, 4.4))

    evidence = used(summarized(tmp_path, ScriptedVLMClient({"score": reply})))

    assert evidence["level_probabilities"] == pytest.approx({"A": 0.1, "B": 0.6, "C": 0.3, "D": 0.0, "E": 0.0})
    assert evidence["vlm_score"] == pytest.approx(5 * 0.1 + 4 * 0.6 + 3 * 0.3)
    assert evidence["probability_source"] == "logprobs"
    assert evidence["interval"][0] <= evidence["fused_score"] <= evidence["interval"][1]


def test_a_model_without_a_level_leaves_the_tools_to_speak(tmp_path: Path) -> None:
    unable = {"final_answer": "Unable to determine", "quality_reasoning": "Too dark."}

    result = summarized(tmp_path, scripted(score=unable))

    evidence = used(result)
    assert (evidence["probability_source"], evidence["vlm_score"]) == ("uniform", None)
    assert evidence["fused_score"] == pytest.approx(2.6, abs=0.15)
    assert "the model gave no level" in result.quality_reasoning


def test_tools_that_speak_alone_are_not_pulled_to_the_middle_by_a_fusion_that_ignores_them() -> None:
    weighed = weigh({"VSI": 4.6, "MDSI": 4.8}, None, None, ScoreFusion(eta=0.0))

    assert weighed.fused_score == pytest.approx(4.7)
    assert weighed.fused_level == "A"


def test_nothing_to_go_by_gives_no_score_at_all(tmp_path: Path) -> None:
    unable = {"final_answer": "Unable to determine", "quality_reasoning": "Too dark."}

    evidence = used(summarized(tmp_path, scripted(score=unable), executor_evidence=None))

    assert (evidence["fused_score"], evidence["tool_score"], evidence["vlm_score"]) == (None, None, None)


def test_a_fused_level_other_than_the_models_is_said_in_the_reasoning(tmp_path: Path) -> None:
    found = EVIDENCE.model_copy(update={"quality_scores": {"Global": {"Blurs": ("GAUGE", 1.2)}}})

    result = summarized(
        tmp_path, scripted(score={"final_answer": "A", "quality_reasoning": "Fine."}), executor_evidence=found
    )

    assert result.final_answer == "A"
    assert used(result)["fused_level"] != "A"
    assert f"means {used(result)['fused_level']}" in result.quality_reasoning


def test_each_distinct_tool_counts_once(tmp_path: Path) -> None:
    scores = {"Global": {"Blurs": ("ONE", 2.0), "Noise": ("ONE", 2.0), "Contrast": ("TWO", 4.0)}}
    found = EVIDENCE.model_copy(update={"quality_scores": scores})

    result = summarized(tmp_path, tools=(FixedTool("ONE"), FixedTool("TWO")), executor_evidence=found)

    assert used(result)["tool_score"] == pytest.approx(3.0)


def test_a_tool_whose_evidence_is_inside_another_or_inside_the_model_does_not_vote(tmp_path: Path) -> None:
    scores = {"Global": {"Blurs": ("PART", 1.0), "Noise": ("WHOLE", 3.0), "Contrast": ("INNER", 5.0)}}
    found = EVIDENCE.model_copy(update={"quality_scores": scores})
    tools = (FixedTool("PART"), FixedTool("WHOLE", derived_from=("PART",)), FixedTool("INNER"))
    client = scripted()
    client.derived_from = ("INNER",)

    result = summarized(tmp_path, client, tools=tools, executor_evidence=found)

    assert used(result)["tools"] == {"WHOLE": 3.0}
    assert used(result)["tool_score"] == pytest.approx((3.0 + 5.0) / 2)


def test_the_documents_example_votes_though_no_catalogue_knows_its_tools_curve(tmp_path: Path) -> None:
    found = EVIDENCE.model_copy(update={"quality_scores": {"Global": {"Blurs": ("TOPIQ_FR", 2.6)}}})

    result = summarized(tmp_path, executor_evidence=found)

    assert used(result)["tools"] == {"TOPIQ_FR": 2.6}
    assert "TOPIQ_FR is not in the catalogue" in result.quality_reasoning


def test_blur_of_2_6_and_colour_of_2_8_make_a_fair_picture(tmp_path: Path) -> None:
    scores = {"Global": {"Blurs": ("TOPIQ_FR", 2.6), "Color distortions": ("QALIGN", 2.8)}}
    entries = [
        {"type": "Blurs", "severity": "moderate", "explanation": "Edges appear soft."},
        {"type": "Color distortions", "severity": "moderate", "explanation": "Colours look washed out."},
    ]
    found = ExecutorOutput.model_validate({"distortion_analysis": {"Global": entries}, "quality_scores": scores})
    client = scripted()

    result = summarized(tmp_path, client, executor_evidence=found)

    inputs: Any = client.requests[0].inputs
    assert (inputs.tool_mean, inputs.quality_scores) == (2.7, scores)
    assert (result.final_answer, used(result)["fused_level"]) == ("C", "C")
    assert used(result)["tools"] == {"QALIGN": 2.8, "TOPIQ_FR": 2.6}
    assert 2.6 <= used(result)["fused_score"] <= 3.0


@pytest.mark.parametrize("letter", ["A", "B", "C", "D", "E"])
def test_the_models_level_stands_where_no_tool_votes(letter: str, tmp_path: Path) -> None:
    client = scripted(score={"final_answer": letter, "quality_reasoning": "So it looks."})

    assert used(summarized(tmp_path, client, executor_evidence=None))["fused_level"] == letter


@pytest.mark.parametrize(("spread", "eta"), [(1.5**0.5, 1.0), (1.0, 1.5), (0.01, 4.0)])
def test_a_tool_is_trusted_as_far_as_its_known_error_allows(spread: float, eta: float, tmp_path: Path) -> None:
    evidence = used(summarized(tmp_path, tools=(FixedTool("GAUGE", spread=spread),)))

    assert evidence["eta"] == pytest.approx(eta)


def test_the_papers_fusion_keeps_eta_1_and_says_how_it_differs(tmp_path: Path) -> None:
    paper = settings(pipeline={"fusion": "paper"})

    evidence = used(summarized(tmp_path, tools=(FixedTool("GAUGE", spread=0.3),), more_config={"settings": paper}))

    assert evidence["eta"] == 1.0
    assert any("the printed sum" in note for note in evidence["notes"])


def test_tools_alone_are_marked_and_have_the_interval_of_their_error(tmp_path: Path) -> None:
    client = scripted(answer={"final_answer": "A", "quality_reasoning": "Soft."})

    result = summarized(tmp_path, client, MCQ, tools=(FixedTool(spread=0.5),), plan=OTHER)

    evidence = used(result)
    assert evidence["interval"] == pytest.approx([2.6 - 1.96 * 0.5, 2.6 + 1.96 * 0.5])
    assert any("tools' only" in note for note in evidence["notes"])


def test_an_attribute_never_votes(tmp_path: Path) -> None:
    scores = {"Global": {"Contrast": ("CONTRAST", 1.0), "Blurs": ("GAUGE", 2.6)}}
    found = EVIDENCE.model_copy(update={"quality_scores": scores})

    result = summarized(tmp_path, tools=(FixedTool(), FixedTool("CONTRAST", role="attribute")), executor_evidence=found)

    assert used(result)["tools"] == {"GAUGE": 2.6}


def test_a_fusion_passed_in_is_the_one_used(tmp_path: Path) -> None:
    sure = summarized(tmp_path, more_config={"fusion": ScoreFusion(eta=50.0)})
    unsure = summarized(tmp_path, more_config={"fusion": ScoreFusion(eta=0.0)})

    assert used(unsure)["fused_score"] == pytest.approx(3.0)
    assert abs(used(sure)["fused_score"] - 2.6) <= 0.41


def test_the_settings_choose_eta_and_temperature_per_backend_and_mode(tmp_path: Path) -> None:
    weights = {"scripted": {"No-Reference": {"eta": 0.0, "temperature": 2.0}}}
    logs = {"A": math.log(0.64), "B": math.log(0.16), "C": math.log(0.04), "D": math.log(0.16)}
    client = ScriptedVLMClient({"score": VLMReply(json.dumps(FAIR), "m", level_logprobs=logs)})
    calibrated = settings(pipeline={"fusion_weights": weights})
    paper = settings(pipeline={"fusion_weights": weights, "fusion": "paper"})

    flattened = used(summarized(tmp_path, client, more_config={"settings": calibrated}))
    plain = used(summarized(tmp_path, client, more_config={"settings": paper}))

    # Temperature 2 takes square roots: .8, .4, .2, .4 of 1.8.
    assert flattened["level_probabilities"]["A"] == pytest.approx(0.8 / 1.8, abs=1e-6)
    assert flattened["fused_score"] == pytest.approx((5 * 0.8 + 4 * 0.4 + 3 * 0.2 + 2 * 0.4) / 1.8)
    assert plain["level_probabilities"]["A"] == pytest.approx(0.64)


@pytest.mark.parametrize("found", [None, ExecutorOutput()])
@pytest.mark.parametrize("chosen", [plan(flags={"tool_execution": False}), OTHER, None])
def test_without_evidence_the_image_is_asked_and_the_lack_is_noted(tmp_path: Path, found: Any, chosen: Any) -> None:
    client = scripted()

    result = summarized(tmp_path, client, executor_evidence=found, plan=chosen)

    assert result.final_answer in ("C", "It is blurred.")
    assert "No tool or distortion evidence is available" in result.quality_reasoning
    assert "Distortion analysis:" not in client.requests[0].user
    assert "Tool response" not in client.requests[0].user


def test_a_contradiction_is_noted_and_leads_to_a_new_plan(tmp_path: Path) -> None:
    entry = {"type": "Blurs", "severity": "severe", "explanation": "Smeared."}
    found = ExecutorOutput.model_validate(
        {
            "distortion_analysis": {"Global": [entry]},
            "quality_scores": {"Global": {"Blurs": ("GAUGE", 4.5)}},
        }
    )

    result = summarized(tmp_path, executor_evidence=found)

    assert "Contradictory evidence: severe Blurs on Global but GAUGE scores 4.5" in result.quality_reasoning
    assert result.need_replan


def test_an_object_without_evidence_leads_to_a_new_plan(tmp_path: Path) -> None:
    found = EVIDENCE.model_copy(
        update={
            "distortion_analysis": {"vehicle": []},
            "quality_scores": {"vehicle": {"Overall": ("GAUGE", 3.0)}},
        }
    )

    update = summarizer_node(
        state(tmp_path, plan=plan(query_scope=["vehicle", "background"]), executor_evidence=found), config()
    )

    result = update["summarizer_result"]
    assert (result.need_replan, result.replan_reason) == (True, "Missing analysis for {'background'}")
    assert update["iteration_count"] == 1
    assert update["replan_history"] == ["[Iteration 1] Missing analysis for {'background'}"]
    assert "remaining gap: Missing analysis for {'background'}" in result.quality_reasoning


def test_what_failed_and_what_was_not_located_is_noted(tmp_path: Path) -> None:
    changes = {"errors": {"tool_selection": "no reply"}, "regions": {"vehicle": None}}
    scores = {"vehicle": {"Blurs": ("GAUGE", 2.6)}}
    found = EVIDENCE.model_copy(update={**changes, "quality_scores": scores})

    result = summarized(tmp_path, executor_evidence=found)

    assert "tool_selection failed: no reply." in result.quality_reasoning
    assert "vehicle could not be located; this describes the whole image." in result.quality_reasoning


def test_an_object_that_is_not_there_is_a_gap_that_no_new_plan_closes(tmp_path: Path) -> None:
    found = EVIDENCE.model_copy(update={"regions": {"vehicle": None}})

    update = summarizer_node(
        state(tmp_path, plan=plan(query_scope=["vehicle"]), executor_evidence=found),
        config(scripted(score={"final_answer": UNABLE, "quality_reasoning": "There is no vehicle."})),
    )

    result = update["summarizer_result"]
    assert (result.final_answer, result.need_replan) == (UNABLE, False)
    assert update["gap"].reason == "Missing analysis for {'vehicle'}"
    assert "A new plan would not find it; remaining gap: Missing analysis for {'vehicle'}" in result.quality_reasoning
    assert "No vehicle could be found in the picture" in result.quality_reasoning
    assert "is that of the whole image" in result.quality_reasoning


def test_sufficient_evidence_leaves_the_count_alone(tmp_path: Path) -> None:
    update = summarizer_node(state(tmp_path, plan=plan(), executor_evidence=EVIDENCE, iteration_count=1), config())

    assert update["iteration_count"] == 1
    assert "replan_history" not in update
    assert set(update) == {"summarizer_result", "iteration_count", "ledger"}


def test_at_the_limit_no_new_plan_is_asked_for_and_the_gap_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = EVIDENCE.model_copy(update={"quality_scores": None})

    update = summarizer_node(
        state(tmp_path, plan=plan(), executor_evidence=found, iteration_count=2, max_replan_iterations=2), config()
    )

    result = update["summarizer_result"]
    assert (result.need_replan, result.replan_reason, update["iteration_count"]) == (False, None, 2)
    assert "remaining gap: No tool scores available" in result.quality_reasoning
    assert used(result)["gap"] == "No tool scores available"
    assert "Max replanning iterations (2) reached" in caplog.text


def test_invalid_json_is_asked_for_again_with_a_stricter_instruction(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = scripted(score=["Fair, I think.", {"final_answer": "C", "quality_reasoning": "   "}, FAIR])

    result = summarized(tmp_path, client)

    assert result.final_answer == "C"
    assert [("Return ONLY valid JSON" in request.user) for request in client.requests] == [False, True, True]
    assert "attempt 1/3" in caplog.text
    assert "attempt 2/3" in caplog.text


def test_after_three_invalid_replies_the_answer_is_unable_to_determine(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = scripted(score="Fair, I think.")

    update = summarizer_node(
        state(tmp_path, plan=plan(), executor_evidence=EVIDENCE.model_copy(update={"quality_scores": None})),
        config(client),
    )

    result = update["summarizer_result"]
    assert len(client.requests) == 3
    assert result.final_answer == "Unable to determine"
    assert result.quality_reasoning == "VLM output parsing failed"
    assert not result.need_replan
    assert "no valid reply" in used(result)["error"]
    assert used(result)["tool_score"] is None
    assert any("Fair, I think." in r.getMessage() for r in caplog.records if r.levelno == logging.ERROR)


def test_the_tools_figures_stand_when_the_model_gives_no_answer(tmp_path: Path) -> None:
    evidence = used(summarized(tmp_path, scripted(score=RuntimeError("a bug in a plug-in"))))

    assert (evidence["tool_score"], evidence["tools"]) == (2.6, {"GAUGE": 2.6})
    assert "unexpected RuntimeError: a bug in a plug-in" in evidence["error"]


def test_the_fallback_backend_answers_when_the_first_cannot(tmp_path: Path) -> None:
    first, second = scripted(score="no"), scripted()
    second.model = "the other"

    result = summarized(tmp_path, FallbackVLMClient(first, second))

    assert result.final_answer == "C"
    assert len(first.requests) == 3
    assert "the other answered in place of scripted" in used(result)["notes"]


@pytest.mark.parametrize("missing", ["plan", "executor_evidence"])
def test_a_state_without_plan_or_evidence_is_an_error(tmp_path: Path, missing: str) -> None:
    fields: Any = {"plan": plan(), "executor_evidence": EVIDENCE}
    del fields[missing]

    update = summarizer_node(state(tmp_path, **fields), config())

    assert missing in update["error"]
    assert "summarizer_result" not in update


def test_an_image_that_cannot_be_read_is_no_crash(tmp_path: Path) -> None:
    update = summarizer_node(
        {"query": "q", "image_path": "gone.png", "plan": plan(), "executor_evidence": EVIDENCE}, config()
    )

    result = update["summarizer_result"]
    assert (result.final_answer, result.need_replan) == ("Unable to determine", False)
    assert "gone.png: no such file" in used(result)["error"]


def test_with_an_error_in_the_state_nothing_is_summarized(tmp_path: Path) -> None:
    assert summarizer_node(state(tmp_path, error="planner: failed"), config()) == {}


def test_the_node_accepts_a_state_alone() -> None:
    assert summarizer_node({"query": "q", "image_path": "x.png", "error": "earlier"}) == {}


def test_the_invocation_the_prompt_and_the_decision_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = EVIDENCE.model_copy(update={"quality_scores": None})

    with caplog.at_level(logging.DEBUG):
        summarized(tmp_path, executor_evidence=found)

    assert "query_type=IQA, mode=scoring" in caplog.text
    assert "evidence: 1 distortions, 0 tool scores" in caplog.text
    assert "picture.png" in caplog.text
    assert SPECIFIED_SCORING.removeprefix("System:\n") in caplog.text
    assert "reply of scripted" in caplog.text
    assert "need_replan=true, replan_reason=No tool scores available, iteration_count=1" in caplog.text


def test_the_history_keeps_its_newest_ten_entries(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    history = [f"[Iteration {n}] earlier" for n in range(1, 11)]
    fields: dict[str, Any] = {"iteration_count": 10, "max_replan_iterations": 20, "replan_history": history}

    update = summarizer_node(state(tmp_path, plan=plan(), executor_evidence=ExecutorOutput(), **fields), config())

    assert len(update["replan_history"]) == 10
    assert update["replan_history"][-1] == "[Iteration 11] No tool scores available"
    assert "Excessive replanning" in caplog.text


def test_notes_are_in_the_language_of_the_question() -> None:
    gathered = ExecutorOutput(distortion_set={"cat": ["Blurs"]}, regions={"cat": None})
    notes = evidence_notes(gathered, "en")

    chinese = with_notes("图像模糊。", evidence_notes(gathered, "zh"), "zh")
    english = with_notes("It is blurred.", notes, "en")

    assert chinese == "图像模糊。[说明：没有可用的工具证据。无法定位“cat”，以下描述整幅图像。]"
    assert english == f"It is blurred. [Notes: {' '.join(notes)}]"


@pytest.mark.parametrize("turned", [False, True])
def test_a_tool_that_spoke_twice_on_one_object_votes_with_its_mean_whatever_the_order(turned: bool) -> None:
    said = [("Blurs", ("TOPIQ_FR", 2.6)), ("Noise", ("TOPIQ_FR", 2.8))]
    scores = {"Global": dict(reversed(said) if turned else said)}
    evidence = ExecutorOutput.model_validate({"quality_scores": scores})

    assert voting_scores(evidence, registry()) == {"TOPIQ_FR": pytest.approx(2.7)}


def test_distinct_tools_have_one_vote_each_however_often_they_spoke() -> None:
    said = {"Blurs": ("FIRST", 2.0), "Noise": ("FIRST", 2.0), "Contrast": ("SECOND", 4.0)}
    evidence = ExecutorOutput.model_validate({"quality_scores": {"Global": said}})

    assert mean_score(voting_scores(evidence, registry())) == 3.0
