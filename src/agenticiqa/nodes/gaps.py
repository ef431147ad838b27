"""What the evidence lacks, as a sentence for people and, read back, as something a plan can answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agenticiqa.state import GLOBAL

NO_SCORES = "No tool scores available"
_ENTRY = re.compile(r"^\[Iteration \d+\]\s*")
_NAMES = re.compile(r"'((?:[^'\\]|\\.)*)'|\"([^\"]*)\"")
_SCORES_FOR = re.compile(r"[Mm]issing tool scores? for (?:the )?(.+?)(?: region)?(?::|;|$)")
_ANALYSIS_FOR = re.compile(r"[Mm]issing analysis for (\{.*?\}|[^:;]+)")


def missing_analysis(objects: Iterable[str]) -> str:
    """The reason when objects of the scope were not analysed."""
    # Written like a set, as the specification prints it, but in a fixed order.
    return "Missing analysis for {" + ", ".join(repr(name) for name in sorted(objects)) + "}"


def missing_scores(object_name: str, details: str = "") -> str:
    """The reason when an object, or one of its distortions, was not measured."""
    place = object_name if object_name == GLOBAL else f"{object_name} region"
    return f"Missing tool scores for {place}" + (f": {details}" if details else "")


@dataclass(frozen=True)
class Gap:
    """What a new plan has to provide."""

    objects: tuple[str, ...] = ()
    wants_tools: bool = False
    wants_analysis: bool = False


def read_gap(reason: str) -> Gap:
    """The gap a reason speaks of; an unknown reason asks for everything to be looked at again."""
    text = _ENTRY.sub("", reason).strip()
    scores, analysis = _SCORES_FOR.search(text), _ANALYSIS_FOR.search(text)
    if scores:
        return Gap(objects=_objects(scores.group(1)), wants_tools=True)
    if analysis:
        return Gap(objects=_objects(analysis.group(1)), wants_analysis=True)
    if text.startswith(NO_SCORES):
        return Gap(wants_tools=True)
    return Gap(wants_tools=True, wants_analysis=True)


def _objects(text: str) -> tuple[str, ...]:
    quoted = [single or double for single, double in _NAMES.findall(text)]
    names = quoted if text.startswith("{") else [text.strip()]
    return tuple(name for name in names if name and name != GLOBAL)
