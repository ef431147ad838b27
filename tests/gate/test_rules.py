"""Rules are read as they are meant, and wrong ones are refused with the way out."""

from __future__ import annotations

import pytest

from agenticiqa.errors import RuleError
from agenticiqa.gate import Comparison, comparisons, objects_of, parse_rule


@pytest.mark.parametrize(
    ("text", "place", "name", "operator", "value"),
    [
        ("score < 3.5", None, "score", "<", 3.5),
        ("SSIM < 0.95", None, "ssim", "<", 0.95),
        ("clipped_highlights > 5 %", None, "clipped highlights", ">", 0.05),
        ("PSNR < 30 dB", None, "psnr", "<", 30.0),
        ("blur_radius > 2.5px", None, "blur radius", ">", 2.5),
        ("subject: blur >= moderate", "subject", "blur", ">=", 2.0),
        ("traffic light: score <= 2", "traffic light", "score", "<=", 2.0),
        ("face: sharp", "face", "blur", "<", 2.0),
        ("猫: blurry", "猫", "blur", ">=", 2.0),
        ("level = Good", None, "level", "==", 4.0),
        ("face: found", "face", "found", "==", 1.0),
    ],
)
def test_a_comparison_is_read_with_its_object_name_operator_and_value(
    text: str, place: str | None, name: str, operator: str, value: float
) -> None:
    rule = parse_rule(text)

    assert isinstance(rule, Comparison)
    assert (rule.place, rule.name, rule.operator, rule.value) == (place, name, operator, value)


def test_and_binds_closer_than_or_and_an_object_covers_a_group() -> None:
    rule = parse_rule("score < 2 or face: (blurred and not noise < severe)")

    assert [str(each) for each in comparisons(rule)] == ["score < 2", "face: blurred", "face: noise < severe"]
    assert objects_of(rule) == ("face",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "score",
        "score <",
        "score < lots",
        "face:",
        "(score < 2",
        "score < 2 noise",
        "score ~ 2",
        "< 3",
        "PSNR < 30 dBx",
    ],
)
def test_a_rule_that_cannot_be_read_says_what_was_expected(text: str) -> None:
    with pytest.raises(RuleError, match="rule "):
        parse_rule(text)


@pytest.mark.parametrize("word", ["slight", "moderate", "severe", "good"])
@pytest.mark.parametrize(
    "name", ["underexposed", "clipped_highlights", "PIQE", "noise_sigma", "megapixels", "blur_radius", "face: found"]
)
def test_a_word_beside_a_quantity_is_refused_and_what_takes_it_is_said(name: str, word: str) -> None:
    with pytest.raises(RuleError, match=r"severities \(none.*go with blur, noise.* takes a number"):
        parse_rule(f"{name} >= {word}")


@pytest.mark.parametrize("rule", ["score < moderate", "level < severe", "blur >= good", "cat: noise < poor"])
def test_a_severity_is_no_score_and_a_level_no_severity(rule: str) -> None:
    with pytest.raises(RuleError, match="cannot be compared"):
        parse_rule(rule)


def test_a_kind_of_distortion_leads_to_the_name_that_takes_severities() -> None:
    kinds = {"underexposure": "brightness", "underexposed": "brightness", "motion blur": "blur", "cat: grain": "noise"}
    for kind, flaw in {**kinds, "face: out of focus": "blur", "JPEG": "compression", "blurr": "blur"}.items():
        with pytest.raises(RuleError, match=rf"did you mean {flaw}\?"):
            parse_rule(f"{kind} >= moderate")
