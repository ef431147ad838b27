"""Explanations say what the evidence says, in the question's language, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.evidence import Evidence, gather
from agenticiqa.embedded.answers.reasons import explain, in_one_text
from agenticiqa.embedded.findings import Look
from agenticiqa.question.read import read_question
from agenticiqa.state import DISTORTION_CATEGORIES, GLOBAL, DistortionAnalysis
from agenticiqa.values import Distortion, Reading
from agenticiqa.wording.findings import described
from tests.support.looks import BLURRED, CLEAN, MOTION_BLUR, NOISE, NOISY, judged, seen


def told(query: str, evidence: Evidence) -> str:
    """The explanation as one text."""
    question = read_question(query)
    return in_one_text(explain(question, evidence, answer(question, evidence)), question.reply.language)


def test_a_finding_is_described_with_its_measurements_in_human_units() -> None:
    assert described(MOTION_BLUR, "en") == (
        "Motion blur, blur length 9.2 px: detail is smeared in one direction (93 % sure)."
    )
    assert described(NOISE, "zh") == "白噪声，噪声标准差 14 灰阶：平坦区域可见颗粒（把握 88%）。"


def test_an_absent_distortion_is_described_as_absent_with_what_was_measured() -> None:
    quiet = Distortion.called("Noise", "none", 0.06, readings=(Reading("noise sigma", 0.84, "grey levels"),))

    assert described(quiet, "en") == "no visible sign of it, noise sigma 0.84 grey levels (94 % sure)."


def test_no_radius_of_sharp_edges_is_told_beside_blur() -> None:
    moved = Distortion.called("Blurs", "severe", 0.97, "motion_blur", readings=(Reading("blur radius", 0.24, "px"),))

    assert "radius" not in described(moved, "en")


def test_the_explanation_names_the_worst_distortion_first_and_gives_score_and_interval() -> None:
    text = told("What's wrong with this photo?", gather({GLOBAL: BLURRED}))

    assert text == (
        "Blur (severe): Motion blur, blur length 9.2 px: detail is smeared in one direction (93 % sure). "
        "The embedded model rates the image 2.10 of 5 (Poor), 95 % interval 1.6 to 2.6."
    )


def test_the_explanation_is_in_the_language_of_the_question() -> None:
    text = told("这张照片有什么问题？", gather({GLOBAL: NOISY}))

    assert text.startswith("噪声（中等）：白噪声，噪声标准差 14 灰阶")
    assert not any(letter in "abcdefghijklmnopqrstuvwxyz" for letter in text)


def test_swapping_the_evidence_of_two_images_swaps_their_explanations() -> None:
    query = "Describe the quality problems of this picture."
    first, second = told(query, gather({GLOBAL: BLURRED})), told(query, gather({GLOBAL: NOISY}))

    swapped_first, swapped_second = told(query, gather({GLOBAL: NOISY})), told(query, gather({GLOBAL: BLURRED}))

    assert first != second
    assert (swapped_first, swapped_second) == (second, first)


def test_every_sentence_carries_the_item_of_evidence_it_is_made_from() -> None:
    scores = {"Global": {"Blurs": ("NIQE", 2.4)}}
    evidence = gather({GLOBAL: BLURRED}, None, scores)
    question = read_question("What is wrong with the image?")

    sentences = explain(question, evidence, answer(question, evidence))

    assert [(each.kind, each.place, each.name) for each in sentences] == [
        ("finding", "Global", ""),
        ("judgement", "Global", "AIQA_NR"),
        ("tool", "Global", "NIQE"),
    ]
    assert sentences[0].distortion == evidence.findings[0]
    assert [each.number for each in sentences[1:]] == [pytest.approx(2.1), 2.4]


def test_the_words_of_the_analysis_are_kept() -> None:
    analysis = {"Global": [DistortionAnalysis(type="Contrast", severity="moderate", explanation="Greys are crowded.")]}

    assert "Contrast change (moderate): Greys are crowded." in told("What is wrong?", gather({GLOBAL: CLEAN}, analysis))


def test_a_tool_that_contradicts_the_model_is_said_to() -> None:
    evidence = gather({GLOBAL: BLURRED}, None, {GLOBAL: {"Overall": ("NIQE", 4.2)}})

    assert "NIQE (4.2) and the embedded model (2.1) disagree; the answer follows the model." in told(
        "What is wrong?", evidence
    )


def test_an_image_unlike_those_the_model_knows_is_called_uncertain() -> None:
    look = Look(judged(2.5, out_of_domain="line art"), BLURRED.findings)

    assert "unlike those the model knows (line art)" in told("What is wrong?", gather({GLOBAL: look}))


def test_a_close_call_is_called_one() -> None:
    close = seen(3.4, Blurs=(0.55, "slight", None))

    text = told("Is the image blurry?", gather({GLOBAL: close}))

    assert text.endswith("This is a close call: the probability of the answer is 55 %.")


def test_with_a_reference_the_score_told_is_the_full_reference_one() -> None:
    look = Look(judged(2.0, source="AIQA_FR"), BLURRED.findings)

    text = told("What is wrong?", gather({GLOBAL: look}, has_reference=True))

    assert "Against the reference the embedded model rates the image 2.00 of 5 (Poor)." in text


def test_a_clean_image_is_not_given_a_distortion() -> None:
    text = told("What's wrong with this photo?", gather({GLOBAL: CLEAN}))

    assert text.startswith("Nothing is visibly wrong.")


def test_a_poor_image_without_a_flaw_of_its_own_is_not_said_to_have_nothing_wrong() -> None:
    text = told("What's wrong with this photo?", gather({GLOBAL: seen(2.9)}))

    assert text.startswith("No single flaw stands out; the picture as a whole loses quality.")


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("What animal is this?", "Configure a vision-language model"),
        ("这是什么动物？", "请配置视觉语言模型"),
    ],
)
def test_what_cannot_be_answered_is_declined_with_a_hint(query: str, hint: str) -> None:
    assert hint in told(query, gather({GLOBAL: BLURRED}))


def test_a_rating_of_a_place_is_not_told_as_one_of_the_image() -> None:
    text = told("How is the quality of the top left corner?", gather({"top left": BLURRED}))

    assert "rates the top left 2.10 of 5" in text
    assert "rates the image" not in text


def test_a_rating_for_an_object_that_was_not_located_is_one_of_the_image() -> None:
    evidence = replace(gather({"zebra": BLURRED}), unlocated=("zebra",))

    assert "rates the image 2.10 of 5" in told("How is the quality of the zebra?", evidence)


@pytest.mark.parametrize(
    ("query", "place", "sentence"),
    [
        ("Where is the noise?", "right", "the right shows the most noise (moderate)."),
        ("Which part is least noisy?", "left", "the left shows the least noise (none)."),
        ("Where is the image worst?", "right", "the right shows the least quality (2.9 of 5)."),
        ("噪声出现在哪个部分？", "right", "右侧的噪声（中等）最多。"),
        ("Which part is darkest?", "left", "the left shows the least mean brightness (20 grey levels)."),
        ("Which part is too bright?", "right", "the right shows the most mean brightness (120 grey levels)."),
    ],
)
def test_a_place_is_told_with_what_sets_it_apart(query: str, place: str, sentence: str) -> None:
    tones = {
        name: Distortion.called(
            "Brightness change", "none", 0.04, readings=(Reading("mean brightness", value, "grey levels"),)
        )
        for name, value in (("left", 20.0), ("right", 120.0))
    }
    places = {"left": seen(4.7, Brightness_change=tones["left"]),
              "right": seen(2.9, Noise=NOISE, Brightness_change=tones["right"])}  # fmt: skip

    text = told(query, replace(gather({GLOBAL: NOISY}), places=places, asked_place=place))

    assert sentence in text


def test_what_is_nowhere_to_be_seen_has_no_place() -> None:
    evidence = replace(gather({GLOBAL: BLURRED}), places={"left": CLEAN, "right": CLEAN}, asked_place="right")
    assert answer(read_question("Where is the noise?"), evidence).text == "no visible noise"
    assert "right" not in told("Where is the noise?", evidence)


def test_a_picture_that_equals_its_reference_has_no_likeliest_distortion() -> None:
    same = Look(judged(5.0), tuple(Distortion.called(category, "none", 0.0) for category in DISTORTION_CATEGORIES))

    text = told("What is wrong?", gather({GLOBAL: same}, has_reference=True))

    assert text.startswith("It does not differ from its reference.")


def exposed(brightness: float, shadows: float, highlights: float) -> Distortion:
    """A changed brightness with these measurements."""
    readings = (
        Reading("mean brightness", brightness, "grey levels"),
        Reading("clipped shadows", shadows, "%"),
        Reading("clipped highlights", highlights, "%"),
    )
    return Distortion.called(
        "Brightness change", "severe", 0.9, "brighten" if brightness > 128 else "darken", readings=readings
    )


def test_only_the_end_of_the_tones_that_is_clipped_is_told() -> None:
    bright, dark = described(exposed(216, 0, 38), "en"), described(exposed(30, 41, 0), "en")

    assert "clipped highlights 38 %" in bright
    assert "shadows" not in bright
    assert "clipped shadows 41 %" in dark
    assert "highlights" not in dark


def test_a_jpeg_quality_of_100_is_no_sign_of_compression() -> None:
    found = Distortion.called(
        "Compression", "moderate", 0.8, readings=(Reading("JPEG quality", 100), Reading("blockiness", 1.2))
    )

    text = described(found, "en")

    assert "JPEG quality" not in text
    assert "blockiness 1.2" in text.lower()


def test_beside_a_blur_no_absent_halos_are_told() -> None:
    text = told("How is the sharpness?", gather({GLOBAL: BLURRED}))

    assert "Blur (severe)" in text
    assert "Sharpness problem" not in text


@pytest.mark.parametrize(
    ("query", "score", "expected"),
    [
        # Hand-worked: 3 is the middle of 1 to 5, so of every scale.
        ("Rate the quality from 1 to 10.", 3.0, "1 to 10, its 3.00 on our scale of 1 to 5 is 5.5."),
        ("Rate the image out of 100.", 3.0, "0 to 100, its 3.00 on our scale of 1 to 5 is 50."),
        ("请给画质按百分制打分", 3.0, "换算到所问的 0 至 100 分为 50 分。"),
        ("画质1到10分打几分？", 5.0, "换算到所问的 1 至 10 分为 10 分。"),
    ],
)
def test_a_score_is_told_on_the_scale_asked_for(query: str, score: float, expected: str) -> None:
    assert expected in told(query, gather({GLOBAL: seen(score)}))


def test_a_level_that_reads_good_tells_everything_that_disturbs() -> None:
    disturbing = tuple(Distortion(category, 0.9, 2.0) for category in DISTORTION_CATEGORIES[:5])
    evidence = gather({GLOBAL: Look(judged(4.2), disturbing)})

    for query in ("Is the image blurry?", "How good is the quality of this image?"):
        text = told(query, evidence)

        assert all(finding.category.split()[0].rstrip("s") in text for finding in disturbing)


@pytest.mark.parametrize(("sigma", "told"), [(0.7, False), (12.0, True)])
def test_a_noise_that_is_seen_is_not_told_with_a_measurement_nobody_would_see(sigma: float, told: bool) -> None:
    noisy = Distortion.called("Noise", "moderate", 0.9, readings=(Reading("noise sigma", sigma, "grey levels"),))

    assert ("sigma" in described(noisy, "en")) is told
