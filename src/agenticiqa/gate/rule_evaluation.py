"""A rule held against one assessment: whether it holds, and the numbers that say so.

A rule that cannot be judged is never taken for kept: a measurement that was not made is `unknown`, an object that
is not in the picture is `absent`, and callers decide what either means for them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agenticiqa.gate.rules import Comparison, Joined, Negation, Operator, Rule, folded
from agenticiqa.state import DISTORTION_CATEGORIES, DOUBTFUL, SEVERITIES, canonical_category

Outcome = Literal["holds", "fails", "absent", "unknown"]

COMPARE: dict[Operator, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
SCORES = {"score": "score", "tool score": "tool_score", "model score": "model_score", "level": "score"}
# What is known of every picture without measuring it.
SIZES: dict[str, Callable[[int, int], float]] = {
    "width": lambda width, height: width,
    "height": lambda width, height: height,
    "megapixels": lambda width, height: width * height / 1e6,
}
# What people call a measurement, and the tool that makes it.
TOOL_NAMES = {
    "clipped highlights": "overexposed",
    "clipped shadows": "underexposed",
    "blur radius": "blur radius",
}
# What rules name besides tools, as it is usually written.
RULE_WORDS = (*SCORES, *SIZES, "blur", "noise", "compression", "brightness", "contrast", "color", "sharpness")

# Names of a distortion and of a tool: a number is compared with what the tool measures.
BOTH = ("contrast", "sharpness")


@dataclass(frozen=True)
class Verdict:
    """What came of a rule, with the reason in words."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True)
class _Missing:
    outcome: Literal["absent", "unknown"]
    reason: str


def judge(rule: Rule, assessment: Mapping[str, Any]) -> Verdict:
    """Holds a rule against an assessment's JSON values (`assessment.model_dump(mode="json")`)."""
    if isinstance(rule, Comparison):
        return _compare(rule, assessment)
    if isinstance(rule, Negation):
        return _opposite(judge(rule.part, assessment))
    return _join(rule, [judge(part, assessment) for part in rule.parts])


def _compare(rule: Comparison, assessment: Mapping[str, Any]) -> Verdict:
    found = _value(rule, assessment)
    if isinstance(found, _Missing):
        return Verdict(found.outcome, found.reason)
    holds = COMPARE[rule.operator](found, rule.value)
    where = f"{rule.place}: " if rule.place else ""
    value = SEVERITIES[int(found)] if rule.by_severity else f"{found:.4g}"
    return Verdict("holds" if holds else "fails", f"{where}{rule.name} is {value}")


def _value(rule: Comparison, assessment: Mapping[str, Any]) -> float | _Missing:
    if rule.place is None:
        return _value_of_whole(rule, assessment)
    region = _region(rule.place, assessment)
    if rule.name == "found":
        return float(region is not None) if not isinstance(region, _Missing) else region
    if isinstance(region, _Missing):
        return region
    if region is None:
        return _Missing("absent", f"no {rule.place} was found")
    return _value_of_region(rule, region, assessment)


def _region(place: str, assessment: Mapping[str, Any]) -> Mapping[str, Any] | _Missing | None:
    regions = {folded(name): region for name, region in (assessment.get("regions") or {}).items()}
    if folded(place) not in regions:
        return _Missing("unknown", f"the {place} was not looked for")
    region: Mapping[str, Any] | None = regions[folded(place)]
    # A guess is enough to answer a question with, which says so; it is not enough to pass or fail a picture.
    confidence = None if region is None else region.get("confidence")
    return None if confidence is not None and confidence < DOUBTFUL else region


def _value_of_region(rule: Comparison, region: Mapping[str, Any], assessment: Mapping[str, Any]) -> float | _Missing:
    if rule.name in SCORES:
        score = region.get("score")
        return _Missing("unknown", f"the {rule.place} has no score") if score is None else float(score)
    category = category_of(rule.name)
    if category is not None:
        if region.get("findings") is None:
            return _Missing("unknown", f"the {rule.place} was located and not judged")
        return _severity(category, region["findings"])
    return _measured(rule, assessment, folded(rule.place or ""))


def _value_of_whole(rule: Comparison, assessment: Mapping[str, Any]) -> float | _Missing:
    if rule.name in SCORES:
        score = assessment.get(SCORES[rule.name])
        return _Missing("unknown", f"there is no {rule.name}") if score is None else float(score)
    if rule.name in SIZES:
        return _size(rule.name, assessment)
    category = category_of(rule.name)
    if category is None or is_measurement(rule):
        return _measured(rule, assessment, None)
    return _severity_of_whole(rule.name, category, assessment)


def _size(name: str, assessment: Mapping[str, Any]) -> float | _Missing:
    images = (assessment.get("provenance") or {}).get("images") or {}
    origin = images.get("test image") or {}
    if not origin.get("width"):
        return _Missing("unknown", "the size of the image was not recorded")
    return float(SIZES[name](origin["width"], origin["height"]))


def _severity_of_whole(name: str, category: str, assessment: Mapping[str, Any]) -> float | _Missing:
    findings = [finding for finding in assessment.get("distortions") or [] if finding["object_name"] == "Global"]
    if not any(finding["type"] == category for finding in findings) and not _looked_for(category, assessment):
        return _Missing("unknown", f"{name} was not looked for")
    return _severity(category, findings)


def unjudged_category(rule: Comparison, assessment: Mapping[str, Any]) -> str | None:
    """The distortion of the whole image that the rule compares and the assessment does not judge; None for others."""
    category = category_of(rule.name)
    if category is None or rule.place is not None or rule.name in SCORES or is_measurement(rule):
        return None
    return category if isinstance(_severity_of_whole(rule.name, category, assessment), _Missing) else None


def is_measurement(rule: Comparison) -> bool:
    """Whether a tool makes what the rule compares; `contrast < 0.1` is measured, `contrast >= moderate` is judged."""
    if rule.place is not None or rule.name in SCORES or rule.name in SIZES:
        return False
    return category_of(rule.name) is None or (rule.name in BOTH and not rule.by_severity)


def category_of(name: str) -> str | None:
    """The distortion category a rule's name stands for, or None if it names something else."""
    category = canonical_category(name)
    return str(category) if category in DISTORTION_CATEGORIES else None


def _severity(category: str, findings: Iterable[Mapping[str, Any]]) -> float | _Missing:
    found = [finding.get("severity") for finding in findings if finding["type"] == category]
    if None in found:
        return _Missing("unknown", f"{category} was found and its severity not judged")
    return float(max((SEVERITIES.index(severity) for severity in found if severity is not None), default=0))


def _looked_for(category: str, assessment: Mapping[str, Any]) -> bool:
    """Whether a category without a finding was looked for, so that its absence means something."""
    plan = assessment.get("plan") or {}
    failed = {"distortion_detection", "distortion_analysis"} & set(assessment.get("evidence_errors") or {})
    if failed or not plan:
        return False
    planned = {each for listed in (plan.get("distortions") or {}).values() for each in listed}
    return category in planned or bool((plan.get("plan") or {}).get("distortion_detection"))


def _measured(rule: Comparison, assessment: Mapping[str, Any], place: str | None) -> float | _Missing:
    """What a tool read, raw; on an object's region if one is named, else on the whole image."""
    wanted, reason = {rule.name, TOOL_NAMES.get(rule.name, rule.name)}, f"{rule.name} was not measured"
    for reading in assessment.get("tools") or []:
        same_place = folded(reading["object_name"]) == (place or "global")
        if same_place and folded(reading["tool"]) in wanted:
            if reading.get("raw") is not None:
                return float(reading["raw"])
            reason = reading.get("reason") or reason
    return _Missing("unknown", reason)


def _opposite(verdict: Verdict) -> Verdict:
    turned: dict[Outcome, Outcome] = {"holds": "fails", "fails": "holds", "absent": "absent", "unknown": "unknown"}
    return Verdict(turned[verdict.outcome], verdict.reason)


def _join(rule: Joined, verdicts: list[Verdict]) -> Verdict:
    """Three-valued logic: one part decides if it can, else what is not known decides."""
    deciding: Outcome = "fails" if rule.by == "and" else "holds"
    for outcome in (deciding, "unknown", "absent"):
        decisive = [verdict for verdict in verdicts if verdict.outcome == outcome]
        if decisive:
            return Verdict(decisive[0].outcome, "; ".join(verdict.reason for verdict in decisive))
    return Verdict(verdicts[0].outcome, "; ".join(verdict.reason for verdict in verdicts))
