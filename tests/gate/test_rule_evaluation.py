"""A rule holds, fails, or cannot be judged; what is not known never passes for kept."""

from __future__ import annotations

from typing import Any

import pytest

from agenticiqa.gate import judge, parse_rule

CAT = {
    "left": 0, "top": 0, "right": 10, "bottom": 10, "kind": "cat", "score": 1.8,
    "findings": [{"type": "Blurs", "severity": "severe"}],
}  # fmt: skip
ASSESSMENT: dict[str, Any] = {
    "score": 3.2,
    "distortions": [{"object_name": "Global", "type": "Noise", "severity": "slight"}],
    "tools": [
        {"tool": "SSIM", "object_name": "Global", "raw": 0.9},
        {"tool": "OVEREXPOSED", "object_name": "Global", "raw": 0.02},
        {"tool": "BLUR_RADIUS", "object_name": "cat", "raw": 4.0},
    ],
    "regions": {"cat": CAT, "face": None},
    "evidence_errors": {},
    "plan": {"distortions": None, "plan": {"distortion_detection": True}},
}


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        ("score < 3.5", "holds"),
        ("SSIM < 0.85", "fails"),
        ("clipped_highlights > 5 %", "fails"),
        ("noise >= slight", "holds"),
        ("blur >= slight", "fails"),
        ("cat: blur >= moderate", "holds"),
        ("cat: sharp", "fails"),
        ("cat: score > 2", "fails"),
        ("cat: noise >= slight", "fails"),
        ("cat: blur-radius > 3", "holds"),
        ("face: sharp", "absent"),
        ("face: found", "fails"),
        ("face: missing", "holds"),
        ("dog: sharp", "unknown"),
        ("PSNR < 30", "unknown"),
        ("not score < 3.5", "fails"),
        ("PSNR < 30 or score < 3.5", "holds"),
        ("PSNR < 30 and score < 3.5", "unknown"),
        ("face: sharp and cat: found", "absent"),
    ],
)
def test_a_rule_is_held_against_scores_findings_tools_and_regions(rule: str, outcome: str) -> None:
    assert judge(parse_rule(rule), ASSESSMENT).outcome == outcome


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [("dog: blurred", "absent"), ("dog: sharp", "absent"), ("dog: found", "fails"), ("dog: missing", "holds")],
)
def test_a_thing_that_is_only_guessed_neither_passes_nor_fails_a_picture(rule: str, outcome: str) -> None:
    assessment = {**ASSESSMENT, "regions": {"dog": {**CAT, "confidence": 0.1}}}

    assert judge(parse_rule(rule), assessment).outcome == outcome


def test_the_reason_names_the_place_and_what_was_found_there() -> None:
    assert judge(parse_rule("cat: sharp"), ASSESSMENT).reason == "cat: blur is severe"
    assert judge(parse_rule("face: sharp"), ASSESSMENT).reason == "no face was found"


def test_a_distortion_nobody_looked_for_is_not_taken_for_absent() -> None:
    asked_for_noise = {**ASSESSMENT, "plan": {"distortions": {"Global": ["Noise"]}, "plan": {}}}

    assert judge(parse_rule("blur >= slight"), asked_for_noise).outcome == "unknown"
