"""Answers follow the evidence, whatever the wording and the order of the options."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.evidence import Evidence, gather, with_look
from agenticiqa.embedded.answers.reasons import explain
from agenticiqa.embedded.findings import Look
from agenticiqa.question.read import read_question
from agenticiqa.state import DISTORTION_CATEGORIES, GLOBAL, SEVERITIES, UNABLE, DistortionAnalysis, Severity
from agenticiqa.values import Distortion, Reading
from tests.support.looks import BLURRED, CLEAN, NOISY, judged, seen

DARK = seen(2.6, Brightness_change=(0.9, "severe", "darken"))
SLIGHT_BLUR = seen(3.9, Blurs=(0.7, "slight", "gaussian_blur"))
EXTREME_BLUR = seen(1.2, Blurs=(0.99, "extreme", "gaussian_blur"))
LOW_CONTRAST = seen(3.0, Contrast=(0.9, "moderate", "contrast_down"))
JPEG = seen(2.2, Compression=(0.95, "severe", "jpeg"))
QUALITY_10 = Distortion.called("Compression", "severe", 0.95, "jpeg", readings=(Reading("JPEG quality", 10.0),))
BLURRED_AND_NOISY = seen(1.9, Blurs=(0.9, "severe", None), Noise=(0.8, "moderate", None))
SHIFTED_UP = Distortion.called(
    "Brightness change", "severe", 0.95, "mean_shift", readings=(Reading("mean brightness", 200.0),)
)


def told(query: str, look: Look, choices: dict[str, str] | None = None, *, reference: bool = False) -> str:
    """The answer to a question about an image that looks so, without the remark after a yes or a no."""
    text = answer(read_question(query, choices), evidence_of(look, reference=reference)).text
    return re.split(r" \(|（", text)[0]


def evidence_of(look: Look, *, reference: bool = False) -> Evidence:
    """All there is to know of the whole image."""
    return gather({GLOBAL: look}, has_reference=reference)


@pytest.mark.parametrize(
    ("query", "look", "expected"),
    [
        ("Is the image blurry?", BLURRED, "Yes"),
        ("Is the image blurry?", NOISY, "No"),
        ("Is the image sharp?", BLURRED, "No"),
        ("Is the image sharp?", CLEAN, "Yes"),
        ("Is the image free of noise?", NOISY, "No"),
        ("Is the image free of noise?", BLURRED, "Yes"),
        ("Is the picture not blurry?", BLURRED, "No"),
        ("Isn't the picture blurry?", BLURRED, "Yes"),
        ("Is the image severely blurred?", BLURRED, "Yes"),
        ("Is the image severely blurred?", SLIGHT_BLUR, "No"),
        ("Is it a bit blurry?", SLIGHT_BLUR, "Yes"),
        ("Does it suffer from motion blur?", BLURRED, "Yes"),
        ("Does it suffer from motion blur?", SLIGHT_BLUR, "No"),
        ("Is it too dark?", DARK, "Yes"),
        ("Is it too bright?", DARK, "No"),
        ("Is the photo well exposed?", DARK, "No"),
        ("Is the photo well exposed?", CLEAN, "Yes"),
        ("Is noise the main problem in this image?", NOISY, "Yes"),
        ("Is the image distorted?", JPEG, "Yes"),
        ("Is the image distorted?", CLEAN, "No"),
        ("Is the image free from distortions?", CLEAN, "Yes"),
        ("Is the image quality good?", CLEAN, "Yes"),
        ("Is the image quality good?", BLURRED, "No"),
        ("Is the quality poor?", BLURRED, "Yes"),
        ("图像模糊吗？", BLURRED, "是"),
        ("这张照片是否清晰？", BLURRED, "否"),
        ("画面是不是太暗了？", DARK, "是"),
        ("图像没有噪声，对吗？", CLEAN, "是"),
        ("Is the exposure correct?", DARK, "No"),
        ("Is the exposure correct?", CLEAN, "Yes"),
        ("Is the contrast good?", CLEAN, "Yes"),
        ("照片曝光是否正常", DARK, "否"),
        ("Is anything wrong with the brightness?", DARK, "Yes"),
        ("Is it too dark or too bright?", DARK, "too dark"),
        ("Is it too dark or too bright?", CLEAN, UNABLE),
        ("Is the image noisy or blurry?", CLEAN, UNABLE),
        ("How severe is the noise?", NOISY, "moderate"),
        ("How blurry is the image?", EXTREME_BLUR, "extreme"),
        ("模糊程度如何？", BLURRED, "严重"),
        ("What is the noise sigma?", NOISY, "14 grey levels"),
        ("What JPEG quality was used?", seen(2.2, Compression=QUALITY_10), "10"),
        ("How is the contrast?", LOW_CONTRAST, "contrast off"),
        ("What is the main distortion in this image?", JPEG, "severe JPEG compression"),
        ("What kind of blur is this?", BLURRED, "severe motion blur"),
        ("Is the image noisy or blurry?", BLURRED, "blurry"),
        ("What is the main distortion in this image?", CLEAN, "no visible distortion"),
        ("Describe the noise in this picture.", BLURRED, "no visible noise"),
        ("描述图像的噪声", BLURRED, "没有可见的噪声"),
        ("What's wrong with this photo?", BLURRED, "severe motion blur"),
        ("这张照片有什么问题？", NOISY, "中等白噪声"),
        ("What animal is this?", BLURRED, UNABLE),
        ("Tell me a joke", BLURRED, UNABLE),
    ],
)
def test_a_question_without_options_is_answered_in_a_few_words(query: str, look: Look, expected: str) -> None:
    assert told(query, look) == expected


@pytest.mark.parametrize(
    ("query", "look", "expected"),
    [
        ("Which is worse, noise or blur? A. Noise B. Blur", BLURRED, "B"),
        ("Which is worse, noise or blur? A. Noise B. Blur", NOISY, "A"),
        ("Which distortion is it? A. motion blur B. defocus blur C. gaussian blur D. noise", BLURRED, "A"),
        ("Which distortions? A. noise B. blur C. noise and blur D. none", BLURRED_AND_NOISY, "C"),
        ("Which distortions? A. noise B. blur C. noise and blur D. none", BLURRED, "B"),
        ("Which distortions? A. noise B. blur C. both", BLURRED_AND_NOISY, "C"),
        ("Which distortion is present? A. blur B. noise C. none of the above", CLEAN, "C"),
        ("Which distortion is present? A. blur B. noise C. None", NOISY, "B"),
        ("How blurry is it? A. Not blurry B. Slightly blurry C. Very blurry", CLEAN, "A"),
        ("How blurry is it? A. Not blurry B. Slightly blurry C. Very blurry", SLIGHT_BLUR, "B"),
        ("How blurry is it? A. Not blurry B. Slightly blurry C. Very blurry", BLURRED, "C"),
        ("How severe is the noise? A. none B. slight C. moderate D. severe E. extreme", NOISY, "C"),
        ("How severe is the blur? A. none B. slight C. moderate D. severe E. extreme", EXTREME_BLUR, "E"),
        ("How severe is the blur? A. none B. slight C. moderate D. severe E. extreme", CLEAN, "A"),
        ("What is the noise level? A. High B. Medium C. Low", NOISY, "B"),
        ("Which problem does not exist? A. Noise B. Blur", BLURRED, "A"),
        ("Which distortion is least visible? A. Noise B. Blur", NOISY, "B"),
        ("Is the image blurry? A. Yes B. No", BLURRED, "A"),
        ("Is the image blurry? A. No, it is sharp B. Yes, it is blurry", BLURRED, "B"),
        ("Is the image free of noise? A. Yes B. No", NOISY, "B"),
        ("Is the exposure correct? A. Yes B. No, too dark C. No, too bright", DARK, "B"),
        ("Is the exposure correct? A. Yes B. No, too dark C. No, too bright", CLEAN, "A"),
        ("Is it blurry? A. Yes, slightly B. Yes, severely C. No", BLURRED, "B"),
        ("Is it blurry? A. Yes, slightly B. Yes, severely C. No", SLIGHT_BLUR, "A"),
        ("Is it blurry? A. Yes, slightly B. Yes, severely C. No", CLEAN, "C"),
        ("How is the clarity? A. High B. Medium C. Low", BLURRED, "C"),
        ("How is the clarity? A. High B. Medium C. Low", CLEAN, "A"),
        ("How is the sharpness of this image? A. Good B. Average C. Poor", BLURRED, "C"),
        ("How is the contrast? A. High B. Low C. Normal", LOW_CONTRAST, "B"),
        ("How is the contrast? A. High B. Low C. Normal", CLEAN, "C"),
        ("How is the brightness? A. Too dark B. Normal C. Too bright", DARK, "A"),
        ("How is the brightness? A. Too dark B. Normal C. Too bright", CLEAN, "B"),
        ("Is the contrast of the image low? A. No B. Yes", LOW_CONTRAST, "B"),
        ("画面亮度如何？A、偏暗 B、适中 C、偏亮", DARK, "A"),
        ("Which is true? A. It is sharp and clean. B. It is noisy. C. It is overexposed.", CLEAN, "A"),
        ("Which is true? A. It is sharp and clean. B. It is noisy. C. It is overexposed.", NOISY, "B"),
        ("Which is true? A. It is sharp and clean. B. It is too dark. C. It is too bright.", DARK, "B"),
        ("How bad is the noise? A. imperceptible B. perceptible, not annoying C. slightly annoying", NOISY, "C"),
        ("How bad is the blur? A. perceptible but not annoying B. slightly annoying C. annoying", BLURRED, "C"),
        ("Which fits best? A. too dark B. too bright C. well exposed", DARK, "A"),
        ("Which fits best? A. too dark B. too bright C. well exposed", CLEAN, "C"),
        ("The quality is: A. Bad B. Poor C. Fair D. Good E. Excellent", CLEAN, "E"),
        ("The quality is: A. Bad B. Poor C. Fair D. Good E. Excellent", BLURRED, "B"),
        ("Rate the quality: A. 1 B. 2 C. 3 D. 4 E. 5", BLURRED, "B"),
        ("哪种失真最严重？A、噪声 B、模糊 C、压缩", JPEG, "C"),
        ("这张图有多模糊？A、轻微 B、中等 C、严重", BLURRED, "C"),
        ("图像清晰吗？（A）是（B）否", BLURRED, "B"),
        ("图像有噪点吗？A. 有 B. 没有", NOISY, "A"),
        ("图像质量属于？A、优秀 B、良好 C、一般 D、较差 E、很差", BLURRED, "D"),
        ("Which animal is it? A. Cat B. Dog", BLURRED, UNABLE),
        ("Which distortion is it? A. grain B. noise", NOISY, UNABLE),
    ],
)
def test_the_option_that_fits_the_evidence_is_chosen(query: str, look: Look, expected: str) -> None:
    assert told(query, look) == expected


@pytest.mark.parametrize(
    ("query", "score", "found", "expected"),
    [
        ("Is this image better than the reference?", 3.0, BLURRED, "No"),
        ("Is the image worse than the original?", 3.0, BLURRED, "Yes"),
        ("Is the image worse than the original?", 5.0, CLEAN, "No"),
        ("Is the left one sharper than the reference?", 3.0, BLURRED, "No"),
        ("Is it darker than the original?", 3.0, DARK, "Yes"),
        ("Is it brighter than the original?", 3.0, DARK, "No"),
        ("这张图比原图更模糊吗？", 3.0, BLURRED, "是"),
        ("Which image is sharper, left or right?", 3.0, BLURRED, "the reference image"),
        ("Which image is noisier, left or right?", 3.0, NOISY, "the test image"),
        ("Which image has higher quality?", 3.0, NOISY, "the reference image"),
        ("Which image is less noisy?", 3.0, NOISY, "the reference image"),
        ("Is it less noisy than the original?", 3.0, NOISY, "No"),
        ("Is it less sharp than the original?", 3.0, BLURRED, "Yes"),
        ("Is it darker than the original, yes or no?", 3.0, DARK, "Yes"),
        ("Are they identical?", 5.0, CLEAN, "Yes"),
        ("Are they the same?", 3.0, NOISY, "No"),
        ("Which image has higher quality?", 5.0, CLEAN, "neither of the two"),
        ("Which image is noisier?", 3.0, BLURRED, "neither of the two"),
        ("Are the two images identical?", 5.0, CLEAN, "Yes"),
        ("Are the two images identical?", 3.0, NOISY, "No"),
        ("Is there any difference between the two images?", 3.0, NOISY, "Yes"),
        ("What changed compared to the original?", 3.0, BLURRED, "severe motion blur"),
        ("What changed compared to the original?", 5.0, CLEAN, "about the same as the reference"),
        ("这两张图有什么不同？", 3.0, NOISY, "中等白噪声"),
        ("Compared to the reference, the quality is: A. better B. worse C. the same", 2.0, NOISY, "B"),
        ("Compared to the reference, the quality is: A. better B. worse C. the same", 4.95, CLEAN, "C"),
        ("Which image has better quality? A. The reference image B. The distorted image", 2.0, NOISY, "A"),
        ("Which image is noisier? A. The reference image B. The test image", 2.0, NOISY, "B"),
    ],
)
def test_a_comparison_with_the_reference_uses_the_full_reference_judgement(
    query: str, score: float, found: Look, expected: str
) -> None:
    look = seen(4.9, score, **{finding.category.replace(" ", "_"): finding for finding in found.findings})

    assert told(query, look, reference=True) == expected


def test_a_comparison_without_a_reference_is_not_guessed() -> None:
    given = answer(read_question("Is it better than the reference?"), evidence_of(BLURRED))

    assert (given.text, given.why_not) == (UNABLE, "no_reference")


@pytest.mark.parametrize("look", [BLURRED, NOISY, CLEAN, DARK, JPEG, BLURRED_AND_NOISY])
@pytest.mark.parametrize(
    "query_and_options",
    [
        ("Which distortion is worst?", ["Noise", "Blur", "JPEG compression", "Underexposure"]),
        ("How blurry is it?", ["Not at all", "Slightly", "Moderately", "Very"]),
        ("How good is it?", ["Excellent", "Good", "Fair", "Poor"]),
        ("Is it blurry?", ["Yes", "No"]),
    ],
)
def test_the_order_of_the_options_does_not_matter(look: Look, query_and_options: tuple[str, list[str]]) -> None:
    query, options = query_and_options

    chosen = set()
    for order in itertools.permutations(options):
        choices = dict(zip("ABCD", order, strict=False))
        letter = told(query, look, choices)
        chosen.add(choices.get(letter, letter))

    assert len(chosen) == 1


def test_the_analysis_in_the_evidence_wins_over_the_own_look() -> None:
    analysis = {"Global": [DistortionAnalysis(type="Noise", severity="severe", explanation="Heavy grain.")]}

    evidence = gather({GLOBAL: CLEAN}, analysis)

    assert answer(read_question("Is it noisy?"), evidence).text == "Yes (severe noise)"


@pytest.mark.parametrize(
    ("query", "look", "expected"),
    [
        ("Is it blurry?", BLURRED, "Yes (severe blur)"),
        ("Is it blurry? Answer yes or no only.", BLURRED, "Yes"),
        ("Is it noisy?", BLURRED, "No (no visible noise)"),
        ("True or false: the photo is blurry.", BLURRED, "True (severe blur)"),
        ("Rate the sharpness from 1 to 5", BLURRED, "2 / 5"),
        ("Rate the noise level from 0 to 10.", CLEAN, "0 / 10"),
        ("How sharp is it?", CLEAN, "very sharp"),
        ('Is it blurry? Reply with JSON: {"blurry": true or false}', BLURRED, '{"blurry": true}'),
        ("Ist das Bild unscharf?", BLURRED, "Ja (starke Unschärfe)"),
        ("What is wrong with this photo?", CLEAN, "no visible distortion"),
    ],
)
def test_an_answer_takes_the_form_asked_for(query: str, look: Look, expected: str) -> None:
    assert answer(read_question(query), evidence_of(look)).text == expected


def test_advice_says_what_to_change_and_whether_it_can_be_mended() -> None:
    text = answer(read_question("How can I fix this photo?"), evidence_of(NOISY)).text

    assert text.startswith("Moderate white noise: When shooting, use a lower ISO")
    assert "can be mended" in text


def test_another_thing_of_a_name_is_put_into_the_evidence_as_the_first_was() -> None:
    shifted = seen(2.6, Brightness_change=SHIFTED_UP, Contrast=(0.95, "severe", "contrast_up"))

    other = with_look(gather({"face": CLEAN}), "face", shifted)

    assert other.findings == gather({"face": shifted}).findings
    # The shift of the brightness has a side, and explains the contrast it changed.
    assert [(each.category, each.kind) for each in other.findings[:2]] == [
        ("Brightness change", "brighten"),
        ("Contrast", "contrast_up"),
    ]


def test_a_finding_of_unknown_kind_still_answers_a_question_about_the_kind() -> None:
    look = seen(2.0, Blurs=Distortion.called("Blurs", "severe", 0.95))

    assert told("Is there motion blur?", look) == "Yes"


@pytest.mark.parametrize(("advantage", "expected"), [(1.8, "B"), (-1.8, "A"), (0.1, "A")])
def test_a_test_image_is_only_better_than_its_reference_with_a_clear_advantage(advantage: float, expected: str) -> None:
    evidence = replace(evidence_of(seen(4.0, 2.0), reference=True), advantage=advantage)
    question = read_question("Compared to the reference, the quality is: A. worse B. better C. the same")

    assert answer(question, evidence).text == expected


@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.sampled_from(SEVERITIES)), min_size=7, max_size=7), st.randoms())
@settings(max_examples=60, deadline=None)
def test_whatever_was_seen_reordered_options_get_the_same_answer(
    seen_of: list[tuple[float, Severity]], random: Random
) -> None:
    findings = [
        Distortion.called(category, severity, probability)
        for category, (probability, severity) in zip(DISTORTION_CATEGORIES, seen_of, strict=True)
    ]
    evidence = evidence_of(Look(judged(3.0), tuple(findings)))
    options = ["Blur", "Noise", "Compression artifacts", "Too dark", "None of the above"]
    shuffled = random.sample(options, len(options))

    first, second = (
        answer(read_question("Which is the most obvious?", dict(zip("ABCDE", order, strict=True))), evidence).text
        for order in (options, shuffled)
    )

    assert dict(zip("ABCDE", options, strict=True)).get(first) == dict(zip("ABCDE", shuffled, strict=True)).get(second)


def test_a_rating_is_the_score_and_a_finding_that_contradicts_it_is_told() -> None:
    question = read_question("Rate the quality from 1 to 10.")
    evidence = gather({GLOBAL: seen(4.2, Brightness_change=(0.9, "severe", "darken"))})

    given = answer(question, evidence)

    assert given.value == 8.2
    reasons = explain(question, evidence, given)
    assert [each.distortion.severity for each in reasons if each.distortion] == ["severe"]


@pytest.mark.parametrize("query", ["Is this picture blurry?", "Is it sharp?"])
def test_a_close_call_about_an_unfamiliar_picture_is_no_answer(query: str) -> None:
    close = Distortion.called("Blurs", "slight", 0.51, readings=(Reading("blur radius", 0.0, "px"),))
    familiar = seen(2.2, Blurs=close)
    page = replace(familiar, quality=replace(familiar.quality, out_of_domain="text"))

    assert told(query, familiar) != UNABLE
    assert told(query, page) == UNABLE


def test_only_several_things_are_counted() -> None:
    question, evidence = read_question("Are the eyes sharp?"), evidence_of(CLEAN)

    assert "2 pairs of eyes" in answer(question, replace(evidence, counts={"eyes": 2})).text
    assert "pairs" not in answer(question, replace(evidence, counts={"eyes": 1})).text


def test_a_clear_flaw_of_an_unfamiliar_picture_is_told() -> None:
    page = replace(EXTREME_BLUR, quality=replace(EXTREME_BLUR.quality, out_of_domain="text"))

    assert told("Is this picture blurry?", page) == "Yes"


def test_an_exposure_error_is_named_before_the_contrast_it_changed() -> None:
    burnt = seen(3.0, Contrast=(0.95, "severe", "contrast_up"), Brightness_change=(0.9, "moderate", "brighten"))

    text = told("What is wrong with this picture?", burnt)

    assert text.startswith("moderate overexposure")


def test_a_shifted_brightness_is_named_by_its_side() -> None:
    dark = Distortion.called(
        "Brightness change", "severe", 0.95, "mean_shift", readings=(Reading("mean brightness", 40.0),)
    )

    text = told("What is wrong with this picture?", seen(2.0, Brightness_change=dark))

    assert text == "severe underexposure"


def test_neither_is_chosen_where_none_of_the_flaws_offered_is_there() -> None:
    assert told("A: blurred B: noisy C: neither", DARK) == "C"


@pytest.mark.parametrize(
    ("query", "dark", "bright", "expected"),
    [
        ("Is the image too dark?", "severe", "moderate", "Yes"),
        ("Is the image overexposed?", "severe", "moderate", "Yes"),
        ("Is the image overexposed?", "severe", "none", "No"),
        ("Is the image too dark?", "none", "moderate", "No"),
    ],
)
def test_a_question_about_one_exposure_is_answered_by_that_direction(
    query: str, dark: Severity, bright: Severity, expected: str
) -> None:
    there = (dark != "none", bright != "none")
    sides = (
        Distortion.called("Brightness change", dark, 0.9 if there[0] else 0.1, "darken" if there[0] else None),
        Distortion.called("Brightness change", bright, 0.9 if there[1] else 0.1, "brighten" if there[1] else None),
    )
    finding = replace(max(sides, key=lambda side: side.strength), directions=sides)

    assert told(query, seen(2.4, Brightness_change=finding)) == expected


def test_of_several_flaws_offered_the_likeliest_is_told_although_it_is_hardly_seen() -> None:
    query = "Which distortion does the image have? A. Blur B. Noise C. Wrong colors D. Too dark"
    hinted = seen(4.5, Color_distortions=(0.06, "none", None), Blurs=(0.01, "none", None), Noise=(0.01, "none", None),
                  Brightness_change=(0.01, "none", None))  # fmt: skip
    silent = seen(4.5, Color_distortions=(0.012, "none", None), Blurs=(0.01, "none", None), Noise=(0.01, "none", None),
                  Brightness_change=(0.01, "none", None))  # fmt: skip

    assert answer(read_question(query), gather({GLOBAL: hinted})).text.startswith("C")
    assert answer(read_question(query), gather({GLOBAL: silent})).text == UNABLE


def test_of_two_flaws_that_are_both_absent_neither_is_chosen() -> None:
    hinted = seen(4.5, Blurs=(0.06, "none", None), Noise=(0.01, "none", None))

    assert answer(read_question("Is it blurry or noisy?"), gather({GLOBAL: hinted})).text == UNABLE
