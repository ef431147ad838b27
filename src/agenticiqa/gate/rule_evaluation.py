"""A rule held against one assessment: whether it holds, and the numbers that say so.

A rule that cannot be judged is never taken for kept: a measurement that was not made is `unknown`, an object that
is not in the picture is `absent`, and callers decide what either means for them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agenticiqa.gate.rules import FLAWS, SCORES, Comparison, Joined, Negation, Operator, Rule, category_of, folded
from agenticiqa.state import DOUBTFUL, SEVERITIES

Outcome = Literal["holds", "fails", "absent", "unknown"]

COMPARE: dict[Operator, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
# What is known of every picture without measuring it.
SIZES: dict[str, Callable[[int, int], float]] = {
    "width": lambda width, height: width,
    "height": lambda width, height: height,
    "megapixels": lambda width, height: width * height / 1e6,
}
# What people call a measurement, and the tool that makes it.
TOOL_NAMES = {"clipped highlights": "overexposed", "clipped shadows": "underexposed"}
# What rules name besides tools, as it is usually written.
RULE_WORDS = (*SCORES, *SIZES, *FLAWS)

# Names of a distortion and of a tool: a number is compared with what the tool measures.
BOTH = ("contrast", "sharpness")


@dataclass(frozen=True)
class Verdict:
    """What came of a rule, with the reason in words."""

    outcome: Outcome
    reason: str


class _NoValueError(Exception):
    """There is nothing to compare: it is not in the picture, or it was not looked for."""

    def __init__(self, reason: str, outcome: Literal["absent", "unknown"] = "unknown") -> None:
        self.verdict = Verdict(outcome, reason)


def judge(rule: Rule, assessment: Mapping[str, Any]) -> Verdict:
    """Holds a rule against an assessment's JSON values (`assessment.model_dump(mode="json")`)."""
    if isinstance(rule, Comparison):
        return _compare(rule, assessment)
    if isinstance(rule, Negation):
        verdict = judge(rule.part, assessment)
        opposites: dict[Outcome, Outcome] = {"holds": "fails", "fails": "holds"}
        return Verdict(opposites.get(verdict.outcome, verdict.outcome), verdict.reason)
    return _join(rule, [judge(part, assessment) for part in rule.parts])


def _compare(rule: Comparison, assessment: Mapping[str, Any]) -> Verdict:
    try:
        found = _value_of_whole(rule, assessment) if rule.place is None else _value_at(rule.place, rule, assessment)
    except _NoValueError as missing:
        return missing.verdict
    holds = COMPARE[rule.operator](found, rule.value)
    where = f"{rule.place}: " if rule.place else ""
    value = SEVERITIES[int(found)] if rule.by_severity else f"{found:.4g}"
    return Verdict("holds" if holds else "fails", f"{where}{rule.name} is {value}")


def _value_of_whole(rule: Comparison, assessment: Mapping[str, Any]) -> float:
    if rule.name in SCORES:
        return _score(assessment.get(SCORES[rule.name]), f"there is no {rule.name}")
    if rule.name in SIZES:
        origin = ((assessment.get("provenance") or {}).get("images") or {}).get("test image") or {}
        if not origin.get("width"):
            raise _NoValueError("the size of the image was not recorded")
        return float(SIZES[rule.name](origin["width"], origin["height"]))
    category = category_of(rule.name)
    if category is None or is_measurement(rule):
        return _measured(rule, assessment, "global")
    if not _is_judged(category, assessment):
        raise _NoValueError(f"{rule.name} was not looked for")
    return _severity(category, _whole_findings(assessment))


def _value_at(place: str, rule: Comparison, assessment: Mapping[str, Any]) -> float:
    regions = {folded(name): region for name, region in (assessment.get("regions") or {}).items()}
    if folded(place) not in regions:
        raise _NoValueError(f"the {place} was not looked for")
    region = regions[folded(place)]
    # A guess is enough to answer a question with, which says so; it is not enough to pass or fail a picture.
    is_found = region is not None and not (region.get("confidence") is not None and region["confidence"] < DOUBTFUL)
    if rule.name == "found":
        return float(is_found)
    if not is_found:
        raise _NoValueError(f"no {place} was found", "absent")
    if rule.name in SCORES:
        return _score(region.get("score"), f"the {place} has no score")
    category = category_of(rule.name)
    if category is None:
        return _measured(rule, assessment, folded(place))
    if region.get("findings") is None:
        raise _NoValueError(f"the {place} was located and not judged")
    return _severity(category, region["findings"])


def _score(score: float | None, reason: str) -> float:
    if score is None:
        raise _NoValueError(reason)
    return float(score)


def _severity(category: str, findings: Iterable[Mapping[str, Any]]) -> float:
    found = [finding.get("severity") for finding in findings if finding["type"] == category]
    if None in found:
        raise _NoValueError(f"{category} was found and its severity not judged")
    return float(max((SEVERITIES.index(severity) for severity in found if severity is not None), default=0))


def _measured(rule: Comparison, assessment: Mapping[str, Any], place: str) -> float:
    """What a tool read, raw."""
    wanted, reason = {rule.name, TOOL_NAMES.get(rule.name, rule.name)}, f"{rule.name} was not measured"
    for reading in assessment.get("tools") or []:
        if folded(reading["object_name"]) == place and folded(reading["tool"]) in wanted:
            if reading.get("raw") is not None:
                return float(reading["raw"])
            reason = reading.get("reason") or reason
    raise _NoValueError(reason)


def unjudged_category(rule: Comparison, assessment: Mapping[str, Any]) -> str | None:
    """The distortion of the whole image that the rule compares and the assessment does not judge; None for others."""
    category = category_of(rule.name)
    if category is None or rule.place is not None or rule.name in SCORES or is_measurement(rule):
        return None
    unknown = any(each["type"] == category and each.get("severity") is None for each in _whole_findings(assessment))
    return category if unknown or not _is_judged(category, assessment) else None


def _whole_findings(assessment: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [finding for finding in assessment.get("distortions") or [] if finding["object_name"] == "Global"]


def _is_judged(category: str, assessment: Mapping[str, Any]) -> bool:
    """Whether a category was found or, without a finding, was looked for, so that its absence means something."""
    if any(finding["type"] == category for finding in _whole_findings(assessment)):
        return True
    plan = assessment.get("plan") or {}
    failed = {"distortion_detection", "distortion_analysis"} & set(assessment.get("evidence_errors") or {})
    if failed or not plan:
        return False
    planned = {each for listed in (plan.get("distortions") or {}).values() for each in listed}
    return category in planned or bool((plan.get("plan") or {}).get("distortion_detection"))


def is_measurement(rule: Comparison) -> bool:
    """Whether a tool makes what the rule compares; `contrast < 0.1` is measured, `contrast >= moderate` is judged."""
    if rule.place is not None or rule.name in SCORES or rule.name in SIZES:
        return False
    return category_of(rule.name) is None or (rule.name in BOTH and not rule.by_severity)


def _join(rule: Joined, verdicts: list[Verdict]) -> Verdict:
    """Three-valued logic: one part decides if it can, else what is not known decides."""
    deciding: Outcome = "fails" if rule.by == "and" else "holds"
    for outcome in (deciding, "unknown", "absent"):
        decisive = [verdict for verdict in verdicts if verdict.outcome == outcome]
        if decisive:
            return Verdict(decisive[0].outcome, "; ".join(verdict.reason for verdict in decisive))
    return Verdict(verdicts[0].outcome, "; ".join(verdict.reason for verdict in verdicts))
