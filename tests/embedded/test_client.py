"""The embedded backend is a model client like any other: every task answered, every reply valid."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from PIL import Image
from pydantic import BaseModel

from agenticiqa.config import load_settings
from agenticiqa.embedded.client import PerceptionClient
from agenticiqa.embedded.corrections import compressed_as_it_is
from agenticiqa.embedded.findings import Look, Perception
from agenticiqa.errors import UnknownBackendError
from agenticiqa.images import LabelledImage, LoadedImage, load_image
from agenticiqa.question.asked import Choose, Compare, Flaw, Open, OptionMeaning, Question, Reply, Topic, Where
from agenticiqa.question.exact_words import named_tool
from agenticiqa.state import UNABLE, DistortionAnalysis, Gap, GapKind, PlannerOutput, Region, Severity
from agenticiqa.values import Distortion, Language, Polarity, Reading
from agenticiqa.vlm_client.client import VLMReply, VLMRequest
from agenticiqa.vlm_client.structured import value_of
from agenticiqa.vlm_client.tasks import (
    AnalyzeInputs,
    AnalyzeReply,
    AnswerInputs,
    AnswerReply,
    DetectInputs,
    DetectReply,
    LocateInputs,
    LocateReply,
    PlanInputs,
    ScoreInputs,
    SelectToolsInputs,
    SelectToolsReply,
    TaskInputs,
    ToolOffer,
)
from tests.support.answered import answered
from tests.support.looks import BLURRED, CLEAN, NOISE, NOISY, FixedEyes, judged, seen

PICTURE = load_image(np.full((32, 48, 3), 120, np.uint8))
ORIGINAL = load_image(np.full((32, 48, 3), 121, np.uint8))
BLUR, QUALITY = Flaw("blur"), Flaw()
CATEGORIES = ("Blurs", "Color distortions", "Compression", "Noise", "Brightness change", "Sharpness", "Contrast")


def ask(
    eyes: Perception, inputs: TaskInputs[Any], model: type[BaseModel], *, reference: bool = False
) -> tuple[Any, VLMReply]:
    """The reply to a task, checked as the agent checks it, and the reply as it came."""
    images = [LabelledImage("image", PICTURE)] + [LabelledImage("reference", ORIGINAL)] * reference
    request = VLMRequest(inputs.task, "", "", tuple(images), inputs, model)
    reply = PerceptionClient(eyes).ask(request)
    return value_of(reply, model), reply


class NoisyReferenceEyes(FixedEyes):
    """Perception that see noise between the two images and, of each by itself, only in the reference."""

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """The pair, or the image alone."""
        if reference is not None:
            return seen(4.7, 2.0, Noise=NOISE)
        return NOISY if image is ORIGINAL else CLEAN


def planned(query: str, **more: Any) -> PlannerOutput:
    """The plan for a question."""
    inputs = PlanInputs(query=query, has_reference=more.pop("has_reference", False), **more)
    plan: PlannerOutput = ask(FixedEyes(CLEAN), inputs, PlannerOutput)[0]
    return plan


def test_a_question_that_names_a_distortion_is_planned_explicitly() -> None:
    plan = planned("Is the vehicle blurry?")

    assert (plan.query_type, plan.query_scope, plan.distortion_source) == ("Other", ["vehicle"], "Explicit")
    assert plan.distortions == {"vehicle": ["Blurs"]}
    assert plan.reference_mode == "No-Reference"
    assert not plan.plan.distortion_detection
    assert plan.plan.distortion_analysis
    assert plan.plan.tool_execution


def test_a_wish_for_a_score_is_planned_with_everything_inferred() -> None:
    plan = planned("Rate the perceptual quality", has_reference=True)

    assert (plan.query_type, plan.query_scope, plan.distortion_source) == ("IQA", "Global", "Inferred")
    assert plan.distortions is None
    assert plan.reference_mode == "Full-Reference"
    assert all(plan.plan.model_dump().values())


@pytest.mark.parametrize("question", ["Is it over-exposed?", "Is it underexposed?", "How bad is the banding?"])
def test_an_everyday_word_that_is_also_a_tool_names_no_tool(question: str) -> None:
    names = ("OVEREXPOSED", "UNDEREXPOSED", "BANDING", "SSIM")

    assert named_tool(question, names) is None
    assert named_tool("Use BANDING and tell me.", names) == "BANDING"
    assert named_tool("what is its ssim?", names) == "SSIM"


def test_a_named_tool_is_required_and_not_selected() -> None:
    plan = planned("Use PSNR to rate the image", has_reference=True, tools=("PSNR", "SSIM"))

    assert plan.required_tool == "PSNR"
    assert not plan.plan.tool_selection
    assert plan.plan.tool_execution


def test_a_scoring_question_with_options_is_a_multiple_choice_question() -> None:
    assert planned("The quality is?", choices={"A": "Good", "B": "Bad"}).query_type == "Other"


def test_a_question_about_content_is_planned_as_a_look_at_the_quality() -> None:
    assert all(planned("What animal is this?").plan.model_dump().values())


@pytest.mark.parametrize(
    "kind",
    ["missing_analysis", "contradiction", "uncertainty"],
)
def test_a_new_plan_after_doubts_looks_for_everything_again(kind: GapKind) -> None:
    plan = planned("Is the vehicle blurry?", gap=Gap(kind=kind, reason="in words that nobody reads"))

    assert plan.distortion_source == "Inferred"
    assert all(plan.plan.model_dump().values())


def test_missing_scores_keep_the_distortions_asked_for() -> None:
    plan = planned("Is the vehicle blurry?", gap=Gap(kind="no_scores", reason="No tool scores available"))

    assert plan.distortions == {"vehicle": ["Blurs"]}
    assert plan.plan.tool_execution


def test_detection_lists_what_is_there_strongest_first() -> None:
    look = Look(
        judged(2.0),
        (Distortion.called("Noise", "slight", 0.7), Distortion.called("Blurs", "severe", 0.9), BLURRED.findings[1]),
    )
    inputs = DetectInputs(
        query="What is wrong?", objects=("Global", "zebra"), categories=CATEGORIES, reference_mode="No-Reference"
    )

    found, _ = ask(FixedEyes(look), inputs, DetectReply)

    assert found.distortion_set == {"Global": ["Blurs", "Noise"], "zebra": ["Blurs", "Noise"]}


def test_analysis_gives_severity_and_measurements_of_every_distortion_asked_for() -> None:
    inputs = AnalyzeInputs(
        query="Is it blurry?", distortions={"Global": ["Blurs", "Noise"]}, reference_mode="No-Reference"
    )

    reply, _ = ask(FixedEyes(BLURRED), inputs, AnalyzeReply)

    blur, noise = reply.distortion_analysis["Global"]
    assert (blur.type, blur.severity, noise.type, noise.severity) == ("Blurs", "severe", "Noise", "none")
    assert "9.2 px" in blur.explanation


def test_the_analysis_of_an_object_that_cannot_be_located_says_so() -> None:
    inputs = AnalyzeInputs(
        query="Is the zebra blurry?", distortions={"zebra": ["Blurs"]}, reference_mode="No-Reference"
    )

    reply, _ = ask(FixedEyes(BLURRED), inputs, AnalyzeReply)

    assert reply.distortion_analysis["zebra"][0].explanation.startswith(
        "zebra could not be located; this describes the whole image: Motion blur"
    )


def test_a_place_is_looked_at_by_itself() -> None:
    inputs = AnalyzeInputs(query="左上角模糊吗？", distortions={"左上角": ["Blurs"]}, reference_mode="No-Reference")

    reply, _ = ask(FixedEyes(CLEAN, {"top left": BLURRED}), inputs, AnalyzeReply)

    assert reply.distortion_analysis["左上角"][0].severity == "severe"
    assert "像素" in reply.distortion_analysis["左上角"][0].explanation


def test_a_tool_with_the_right_reference_and_strength_is_selected() -> None:
    offers = (
        ToolOffer(name="AIQA_FR", reference="FR", strengths=("Blurs", "Noise")),
        ToolOffer(name="NIQE", reference="NR", strengths=("Noise",)),
        ToolOffer(name="PSNR", reference="FR"),
        ToolOffer(name="VSI", reference="FR", strengths=("Blurs",)),
    )
    inputs = SelectToolsInputs(
        query="q", distortions={"Global": ["Blurs", "Noise"]}, reference_mode="Full-Reference", tools=offers
    )

    reply, _ = ask(FixedEyes(CLEAN), inputs, SelectToolsReply, reference=True)

    assert reply.selected_tools == {"Global": {"Blurs": "VSI", "Noise": "PSNR"}}


def test_a_place_is_located_in_fractions_and_an_unknown_object_is_not() -> None:
    eyes = FixedEyes(CLEAN, {"centre": CLEAN, "top left": CLEAN})

    reply, _ = ask(eyes, LocateInputs(objects=("upper left corner", "zebra")), LocateReply)

    assert reply.regions == {"upper left corner": (1 / 48, 0.0, 2 / 48, 1.0), "zebra": None}


def test_an_answer_rests_on_the_evidence_given_and_lists_it() -> None:
    analysis = {"Global": [DistortionAnalysis(type="Noise", severity="severe", explanation="Heavy grain.")]}
    options = {"A": OptionMeaning("blur", "flaw"), "B": OptionMeaning("noise", "flaw")}
    inputs = AnswerInputs(
        query="Which is worse?",
        question=Choose(Topic(), Reply(form="letter", choices={"A": "Blur", "B": "Noise"}), "flaw", options),
        distortion_analysis=analysis,
        quality_scores={"Global": {"Noise": ("NIQE", 2.0)}},
    )

    value, reply = ask(FixedEyes(CLEAN), inputs, AnswerReply)

    assert value.final_answer == "B"
    assert "Noise (severe): Heavy grain." in value.quality_reasoning
    assert reply.reasons[0].distortion is not None
    assert (reply.reasons[0].kind, reply.reasons[0].distortion.severity) == ("finding", "severe")
    assert reply.answer is not None
    assert reply.answer.value == "B"


def test_an_answer_carries_the_level_probabilities_too() -> None:
    _, reply = ask(FixedEyes(CLEAN), AnswerInputs(query="Is it blurry?"), AnswerReply)
    value, declined = ask(FixedEyes(CLEAN), AnswerInputs(query="What animal is this?"), AnswerReply)

    assert reply.level_logprobs is not None
    assert math.exp(reply.level_logprobs["A"]) == pytest.approx(0.7)
    assert value.final_answer == "Unable to determine"
    assert declined.level_logprobs == reply.level_logprobs


def test_every_reply_says_that_no_vision_language_model_was_involved() -> None:
    _, reply = ask(FixedEyes(BLURRED), AnswerInputs(query="Is it blurry?"), AnswerReply)

    assert reply.notes[0].startswith("Model-only")
    assert "no vision-language model was involved" in reply.notes[0]
    assert reply.model == "builtin.perception"


def test_a_score_carries_the_level_probabilities_of_the_quality_model() -> None:
    value, reply = ask(FixedEyes(CLEAN), ScoreInputs(query="Rate it"), AnswerReply)

    assert reply.level_logprobs is not None
    assert value.final_answer == "A"
    assert reply.probability_source == "builtin"
    assert math.exp(reply.level_logprobs["A"]) == pytest.approx(0.7)
    assert math.exp(reply.level_logprobs["B"]) == pytest.approx(0.3)
    assert reply.interval == (4.2, 5.0)


def test_with_a_reference_the_level_probabilities_are_the_full_reference_ones() -> None:
    look = Look(judged(2.0, source="AIQA_FR"), NOISY.findings)

    value, reply = ask(FixedEyes(look), ScoreInputs(query="Rate it"), AnswerReply, reference=True)

    assert reply.level_logprobs is not None
    assert value.final_answer == "D"
    assert math.exp(reply.level_logprobs["D"]) == pytest.approx(1.0)


def test_what_was_done_to_a_pair_before_it_was_judged_is_noted() -> None:
    look = Look(judged(2.0, notes=("the common part is judged",)), ())

    _, reply = ask(FixedEyes(look), ScoreInputs(query="Rate it"), AnswerReply, reference=True)

    assert "the common part is judged" in reply.notes


def at(*places: str, flaw: Flaw = BLUR) -> Topic:
    """What a question is about that names these places."""
    return Topic(flaw, places)


def sides() -> tuple[Reply, dict[str, OptionMeaning]]:
    """The left and the right offered as choices."""
    reply = Reply(form="letter", choices={"A": "Left", "B": "Right"})
    return reply, {"A": OptionMeaning(place="left"), "B": OptionMeaning(place="right")}


def test_where_is_answered_by_looking_at_each_place() -> None:
    eyes = FixedEyes(BLURRED, {"left": CLEAN, "right": BLURRED})
    reply, options = sides()

    assert answered(Choose(at(), reply, "flaw", options), PICTURE, eyes).final_answer == "B"


def test_places_a_question_names_are_compared_with_each_other() -> None:
    eyes = FixedEyes(CLEAN, {"face": BLURRED, "background": CLEAN})

    value = answered(Where(at("face", "background"), Reply(), least=True), PICTURE, eyes)

    assert value.final_answer == "background"
    assert "the background shows the least blur (none)" in value.quality_reasoning


SOFT = Distortion.called("Blurs", "none", 0.02, readings=(Reading("blur radius", 5.7, "px"),))
FOCUSED = Distortion.called("Blurs", "none", 0.02, readings=(Reading("blur radius", 0.2, "px"),))
LEFT_BLURRED = {
    "top left": seen(1.8, Blurs=SOFT),
    "top right": seen(4.4, Blurs=FOCUSED),
    "bottom left": seen(1.7, Blurs=SOFT),
    "bottom right": seen(4.3, Blurs=FOCUSED),
    "centre": seen(3.5, Blurs=FOCUSED),
    "left": seen(1.6, Blurs=SOFT),
    "right": seen(4.4, Blurs=FOCUSED, Noise=NOISE),
}


ZH = Reply("zh")


def between(one: str, other: str, polarity: Polarity, flaw: Flaw = BLUR, language: Language = "en") -> Compare:
    """Whether one place has more of a flaw than the other, or is better in that."""
    return Compare(at(one, other, flaw=flaw), Reply(language, "yesno"), polarity, between=(one, other))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (Where(at(flaw=QUALITY), Reply()), "left"),
        (Where(at(flaw=QUALITY), Reply(), least=True), "right"),
        (Where(at("left", "right", flaw=QUALITY), Reply(), least=True), "right"),
        (Where(at("left", "right", flaw=QUALITY), Reply()), "left"),
        (Where(at(flaw=QUALITY), ZH), "左侧"),
        (Where(at(flaw=QUALITY), ZH, least=True), "右侧"),
        (Where(at(), Reply()), "left"),
        (Where(at(), Reply(), least=True), "right"),
        (Choose(at(), sides()[0], "flaw", sides()[1]), "A"),
        (Where(at("left", "right"), Reply(), least=True), "right"),
        (Where(at("left", "right"), ZH), "左侧"),
        (between("left", "right", "flaw"), "Yes"),
        (between("right", "left", "flaw"), "No"),
        (between("left", "right", "fine"), "No"),
        (between("left", "right", "flaw", Flaw("noise")), "No"),
        (between("right", "left", "flaw", Flaw("noise")), "Yes"),
        (between("left", "right", "fine", QUALITY), "No"),
        (between("left", "right", "flaw", QUALITY, "zh"), "是"),
        (between("left", "right", "flaw", BLUR, "zh"), "是"),
        (between("left", "right", "fine", BLUR, "zh"), "否"),
        (between("background", "cat", "flaw"), UNABLE),
        (between("background", "cat", "flaw", BLUR, "zh"), UNABLE),
    ],
)
def test_a_part_of_the_picture_is_told_from_another_by_what_is_measured_there(
    question: Question, expected: str
) -> None:
    eyes = FixedEyes(seen(4.4, Blurs=FOCUSED), {**LEFT_BLURRED, "background": CLEAN})

    value = answered(question, PICTURE, eyes)

    assert re.split(r" \(|（", value.final_answer)[0] == expected


def test_a_comparison_of_places_tells_both_measurements() -> None:
    value = answered(between("left", "right", "flaw"), PICTURE, FixedEyes(CLEAN, LEFT_BLURRED))

    assert value.quality_reasoning.startswith("Left: blur radius 5.7 px; Right: blur radius 0.2 px.")
    assert "no visible sign" not in value.quality_reasoning


def test_places_that_are_alike_are_called_about_equal() -> None:
    eyes = FixedEyes(CLEAN, {"left": CLEAN, "right": CLEAN})

    value = answered(between("left", "right", "fine"), PICTURE, eyes)

    assert value.final_answer == "No"
    assert "The two are about equal." in value.quality_reasoning


def test_a_place_that_is_not_found_is_not_ruled_out() -> None:
    eyes = FixedEyes(CLEAN, {"background": BLURRED})

    value = answered(Where(at("zebra", "background"), Reply()), PICTURE, eyes)

    assert value.final_answer == UNABLE
    assert "No zebra could be found in the picture." in value.quality_reasoning


def noisier(of: Literal["test", "reference"], polarity: Polarity = "flaw", *, which: bool = False) -> Compare:
    """Whether that image of a pair is the noisier one, or with "fine" the cleaner one."""
    topic = Topic(Flaw("noise"), reference="wanted")
    return Compare(topic, Reply(form="word" if which else "yesno"), polarity, between=of, which=which)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (noisier("test", which=True), "the reference image"),
        (noisier("test"), "No"),
        (noisier("reference"), "Yes"),
        (noisier("test", "fine"), "Yes"),
    ],
)
def test_a_reference_that_is_the_noisy_one_is_found_out_by_looking_at_each_alone(
    question: Compare, expected: str
) -> None:
    inputs = AnswerInputs(query="as a value", question=question)

    value, _ = ask(NoisyReferenceEyes(CLEAN), inputs, AnswerReply, reference=True)

    assert re.split(r" \(|（", value.final_answer)[0] == expected


def test_a_bare_prompt_is_the_users_question() -> None:
    text = PerceptionClient(FixedEyes(BLURRED)).generate("Is the image blurry?", Image.new("RGB", (32, 32)))

    assert text.startswith("Yes (severe blur). Blur (severe): Motion blur")
    assert text.endswith("no vision-language model was involved.")


def test_the_metrics_inside_the_full_reference_judgement_do_not_vote_beside_it() -> None:
    from agenticiqa.embedded.full_reference.pair_model import load_model

    inside = {name.removeprefix("metric.") for name in load_model().opened.names if name.startswith("metric.")}

    assert {"AIQA_NR", "AIQA_FR", *inside} == set(PerceptionClient.derived_from)


def test_there_is_one_embedded_model() -> None:
    settings = load_settings(environ={})

    with pytest.raises(UnknownBackendError, match=r"builtin\.perception"):
        PerceptionClient.from_settings("other", settings.planner, settings)


@pytest.mark.parametrize(
    ("noise", "expected"), [("none", "JPEG compression"), ("severe", "compression of a noisy image")]
)
def test_a_compressed_image_is_called_noisy_only_if_noise_is_found(noise: Severity, expected: str) -> None:
    seen_by_models = seen(3.0, Compression=(0.95, "severe", "noisy_jpeg"), Noise=(0.9, noise, None))
    look = replace(seen_by_models, findings=compressed_as_it_is(seen_by_models.findings))

    value = answered(Open(Topic(Flaw("compression")), Reply(form="word")), PICTURE, FixedEyes(look))

    assert value.final_answer.startswith(expected)
