"""Making a model's free words fit the plan: its objects, the seven categories, the five severities."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from agenticiqa.state import (
    DISTORTION_CATEGORIES,
    GLOBAL,
    OVERALL,
    SEVERITIES,
    DistortionAnalysis,
    PlannerOutput,
    Region,
    canonical_category,
    canonical_severity,
)
from agenticiqa.vlm_client.replies import AnalyzedDistortion, Box

logger = logging.getLogger("agenticiqa.nodes.executor")

Distortions = dict[str, list[str]]
Analysis = dict[str, list[DistortionAnalysis]]


def object_in_scope(name: str, plan: PlannerOutput) -> str:
    """The plan's spelling of the object; "Global" for one outside its scope."""
    for known in plan.objects():
        if known.casefold() == name.strip().casefold():
            return known
    if name.strip().casefold() != GLOBAL.casefold():
        logger.warning("object %r is outside the scope %s: taken as Global", name, plan.objects())
    return GLOBAL


def detected_distortions(found: Mapping[str, Sequence[str]], plan: PlannerOutput) -> Distortions:
    """The known categories per object of the scope, each once; an object without any has an empty list."""
    distortions: Distortions = {name: [] for name in plan.objects()}
    for name, categories in found.items():
        listed = distortions.setdefault(object_in_scope(name, plan), [])
        for category in map(_known_category, categories):
            if category and category not in listed:
                listed.append(category)
    return distortions


def analyzed_distortions(
    found: Mapping[str, Sequence[AnalyzedDistortion]], asked: Distortions, plan: PlannerOutput
) -> tuple[Analysis, list[str]]:
    """The usable entries per object, and a sentence for each asked distortion that got none."""
    analysis: Analysis = {name: [] for name in asked}
    for name, entries in found.items():
        place = object_in_scope(name, plan)
        for entry in entries:
            usable = _usable(entry, place, asked)
            if usable and all(usable.type != other.type for other in analysis[place]):
                analysis[place].append(usable)
    return analysis, _unjudged(analysis, asked)


def targets_of(distortions: Distortions, plan: PlannerOutput) -> Distortions:
    """What is to be measured per object; "Overall" where no distortion was found."""
    objects = dict.fromkeys([*plan.objects(), *distortions])
    targets = {name: list(distortions.get(name) or [OVERALL]) for name in objects}
    if GLOBAL not in plan.objects() and not distortions.get(GLOBAL):
        targets.pop(GLOBAL, None)
    return targets


def region_of(box: Box, width: int, height: int) -> Region:
    """A box in fractions as pixels, at least one pixel wide and high."""
    # Rounded, so that a box made of pixels comes back as it was: 1 / 49 * 49 is a little less than 1.
    left, top = min(round(box[0] * width), width - 1), min(round(box[1] * height), height - 1)
    right, bottom = round(box[2] * width), round(box[3] * height)
    return Region(left=left, top=top, right=max(right, left + 1), bottom=max(bottom, top + 1))


def _known_category(word: str) -> str | None:
    category = canonical_category(word)
    if category in DISTORTION_CATEGORIES:
        return str(category)
    logger.warning("distortion %r is none of the seven categories: dropped", word)
    return None


def _usable(entry: AnalyzedDistortion, place: str, asked: Distortions) -> DistortionAnalysis | None:
    category, severity = _known_category(entry.type), canonical_severity(entry.severity)
    if category is None:
        return None
    if severity not in SEVERITIES or not entry.explanation.strip():
        logger.warning("analysis of %s on %s has no usable severity or explanation: dropped", category, place)
        return None
    if category not in asked.get(place, []):
        logger.warning("analysis of %s on %s was not asked for: dropped", category, place)
        return None
    return DistortionAnalysis.model_validate({**entry.model_dump(), "type": category, "severity": severity})


def _unjudged(analysis: Analysis, asked: Distortions) -> list[str]:
    return [
        f"the severity of {category} on {name} was not judged"
        for name, categories in asked.items()
        for category in categories
        if all(entry.type != category for entry in analysis[name])
    ]
