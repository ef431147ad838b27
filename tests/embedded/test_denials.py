"""No answer denies the evidence it stands beside, and a kind that was asked for is answered by kind."""

from __future__ import annotations

from typing import get_args

import pytest

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.evidence import gather
from agenticiqa.embedded.answers.reasons import explain, in_one_text
from agenticiqa.embedded.findings import Look
from agenticiqa.question.asked import Advice, Degree, Flaw, Open, Question, Reply, Topic, YesNo
from agenticiqa.question.read import read_question
from agenticiqa.state import DISTORTION_CATEGORIES, GLOBAL, SEVERITIES, Severity
from agenticiqa.values import CATEGORY_OF, Distortion, Language, Polarity, Reading
from agenticiqa.wording import phrase, say
from tests.support.looks import judged, seen

DEFOCUSED = seen(1.7, Blurs=(0.99, "severe", "defocus_blur"))
SHAKEN = seen(1.7, Blurs=(0.99, "severe", "motion_blur"))
BLURRED_SOMEHOW = seen(2.0, Blurs=(0.7, "severe", None))
JPEG = seen(2.0, Compression=(0.97, "severe", "jpeg"))
KINDS = (
    None, "gaussian_blur", "defocus_blur", "motion_blur", "jpeg", "jpeg2000", "banding", "white_noise", "chroma_noise",
    "darken", "brighten", "mean_shift", "contrast_up", "contrast_down", "color_cast", "chromatic_aberration",
    "over_sharpen",
)  # fmt: skip


@pytest.mark.parametrize(
    ("query", "look", "expected"),
    [
        ("Is there motion blur?", DEFOCUSED, "No (severe defocus blur, not motion blur)"),
        ("Is there camera shake?", DEFOCUSED, "No (severe defocus blur, not motion blur)"),
        ("Is there camera shake?", SHAKEN, "Yes (severe blur)"),
        ("Is there motion blur?", BLURRED_SOMEHOW, "Yes (severe blur; which kind cannot be told)"),
        ("How severe is the motion blur?", DEFOCUSED, "none (severe defocus blur, not motion blur)"),
        ("Is there banding?", JPEG, "No (severe JPEG compression, not banding)"),
    ],
)
def test_a_kind_that_was_asked_for_is_answered_by_kind(query: str, look: Look, expected: str) -> None:
    assert answer(read_question(query), gather({GLOBAL: look})).text == expected


@pytest.mark.parametrize(("share", "expected"), [(1.49, "Yes (false contours on 1.49 % of the pixels)"), (0.03, "No")])
def test_banding_that_was_measured_is_told_where_no_compression_was_found(share: float, expected: str) -> None:
    smooth = Distortion.called("Compression", "none", 0.1, readings=(Reading("banding", share, "%"),))
    question, evidence = read_question("Is there banding?"), gather({GLOBAL: seen(3.0, Compression=smooth)})

    given = answer(question, evidence)
    told = in_one_text(explain(question, evidence, given), "en")

    assert given.text.startswith(expected)
    assert ("False contours on 1.49 %" in told) == (share > 1)
    assert ("Compression (none)" in told) == (share < 1)


def made(kind: str, flaw: Flaw, polarity: Polarity, language: Language) -> Question:
    topic, reply = Topic(flaw), Reply(language)
    if kind in ("yesno", "degree"):
        return (YesNo if kind == "yesno" else Degree)(topic, reply, polarity)
    return (Open if kind == "open" else Advice)(topic, reply)


@pytest.mark.parametrize("language", get_args(Language))
@pytest.mark.parametrize("attribute", CATEGORY_OF)
@pytest.mark.parametrize("kind_of_question", ["yesno", "degree", "open", "advice"])
def test_what_was_found_is_never_denied(kind_of_question: str, attribute: str, language: Language) -> None:
    category = CATEGORY_OF[attribute]  # type: ignore[index]
    denials = {
        say("none_of", language, categories=phrase("attributes", each, language))
        for each, other in CATEGORY_OF.items()
        if other == category
    }
    for severity in SEVERITIES[1:]:
        for kind in KINDS:
            look = Look(judged(3.0), (Distortion.called(category, severity, 0.8, kind),))
            for asked in (None, "motion_blur", "jpeg2000", "impulse_noise", "saturation_up"):
                for meant in ("flaw", "fine"):
                    question = made(kind_of_question, Flaw(attribute, asked), meant, language)  # type: ignore[arg-type]
                    text = answer(question, gather({GLOBAL: look})).text
                    assert not any(denial in text for denial in denials), (text, severity, kind, asked)


@pytest.mark.parametrize("category", DISTORTION_CATEGORIES)
@pytest.mark.parametrize("severity", SEVERITIES[1:])
def test_what_is_taken_to_be_absent_is_not_told_with_a_severity(category: str, severity: Severity) -> None:
    unsure = Look(judged(4.0), (Distortion.called(category, severity, 0.3),))  # type: ignore[arg-type]
    attribute = next(name for name, other in CATEGORY_OF.items() if other == category)
    question = made("yesno", Flaw(attribute), "flaw", "en")
    evidence = gather({GLOBAL: unsure})

    told = in_one_text(explain(question, evidence, answer(question, evidence)), "en")

    assert f"({severity})" not in told
