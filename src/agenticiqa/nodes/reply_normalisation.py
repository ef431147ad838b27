"""Making a model's free words fit the plan: its objects, the seven categories, the five severities, the tools."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping, Sequence

from agenticiqa.question.distortion_words import word_for
from agenticiqa.state import (
    GLOBAL,
    OVERALL,
    SEVERITIES,
    DistortionAnalysis,
    PlannerOutput,
    Region,
    canonical_category,
    canonical_severity,
)
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.values import Distortion
from agenticiqa.vlm_client.tasks import AnalyzedDistortion, Box, InspectedDistortion

logger = logging.getLogger("agenticiqa.nodes.executor")

Described = AnalyzedDistortion | InspectedDistortion
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


def known_categories(words: Sequence[str], notes: list[str]) -> list[str]:
    """The categories these words stand for, each once; what was mapped or dropped is added to the notes."""
    return list(dict.fromkeys(category for word in words if (category := known_category(word, notes))))


def detected_distortions(found: Mapping[str, Sequence[str]], plan: PlannerOutput, notes: list[str]) -> Distortions:
    """The known categories per object of the scope, each once; an object without any has an empty list."""
    distortions: Distortions = {name: [] for name in plan.objects()}
    for name, words in found.items():
        place = object_in_scope(name, plan)
        distortions[place] = list(dict.fromkeys([*distortions.get(place, []), *known_categories(words, notes)]))
    return distortions


def analyzed_distortions(
    found: Mapping[str, Sequence[Described]], asked: Distortions, plan: PlannerOutput
) -> tuple[Analysis, list[str]]:
    """The usable entries per object, and a sentence for each asked distortion that got none."""
    analysis: Analysis = {name: [] for name in asked}
    for name, entries in found.items():
        place = object_in_scope(name, plan)
        for entry in entries:
            usable = _usable(entry, place, asked)
            if usable and all(usable.type != other.type for other in analysis[place]):
                analysis[place].append(usable)
    unjudged = [
        f"the severity of {category} on {name} was not judged"
        for name, categories in asked.items()
        for category in categories
        if all(entry.type != category for entry in analysis[name])
    ]
    return analysis, unjudged


def findings_of(analysis: Analysis, own: Sequence[Distortion]) -> list[Distortion]:
    """The findings behind an analysis: those the backend gives as values, else what its words say."""
    known = {(found.place, found.category): found for found in own}
    return [
        known.get((place, entry.type))
        or Distortion.called(entry.type, entry.severity, words=entry.explanation, place=place)
        for place, entries in analysis.items()
        for entry in entries
    ]


def targets_of(distortions: Distortions, plan: PlannerOutput) -> Distortions:
    """What is to be measured per object; "Overall" where no distortion was found."""
    objects = dict.fromkeys([*plan.objects(), *distortions])
    targets = {name: list(distortions.get(name) or [OVERALL]) for name in objects}
    if GLOBAL not in plan.objects() and not distortions.get(GLOBAL):
        targets.pop(GLOBAL, None)
    return targets


def without(plan: PlannerOutput, absent: Collection[str]) -> PlannerOutput:
    """The plan for what is in the picture; the whole image where nothing that it names is."""
    left = [name for name in plan.objects() if name not in absent]
    given = [(name if name not in absent else GLOBAL, kinds) for name, kinds in (plan.distortions or {}).items()]
    distortions = {name: kinds for name, kinds in given if name in left or not left}
    return plan.model_copy(update={"query_scope": left or GLOBAL, "distortions": distortions or None})


def region_of(box: Box, width: int, height: int) -> Region:
    """A box in fractions as pixels, at least one pixel wide and high."""
    # Rounded, so that a box made of pixels comes back as it was: 1 / 49 * 49 is a little less than 1.
    left, top = min(round(box[0] * width), width - 1), min(round(box[1] * height), height - 1)
    right, bottom = round(box[2] * width), round(box[3] * height)
    return Region(left=left, top=top, right=max(right, left + 1), bottom=max(bottom, top + 1))


def known_category(word: str, notes: list[str]) -> str | None:
    """The category a word stands for; a word beyond the seven, mapped or dropped, is added to the notes."""
    meant = word_for(word)
    if meant is None:
        logger.warning("distortion %r is none of the seven categories: dropped", word)
        notes.append(f"{word!r} is no distortion that is known; dropped")
    elif canonical_category(word) != meant.category:
        detail = ", ".join(filter(None, (meant.kind, meant.direction)))
        notes.append(f"{word!r} was read as {meant.category} ({detail})")
    return meant.category if meant else None


def known_name(name: str, tools: ToolRegistry) -> str:
    """The registry's spelling of a tool's name; UnknownToolError if it has none."""
    same = next((known for known in tools.names() if letters_of(known) == letters_of(name)), None)
    return same or tools.get(name).name


def letters_of(name: str) -> str:
    """The name without case, spaces, underscores and hyphens, in which spellings differ."""
    return re.sub(r"[\s_-]", "", name).casefold()


def _usable(entry: Described, place: str, asked: Distortions) -> DistortionAnalysis | None:
    category, severity = known_category(entry.type, []), canonical_severity(entry.severity)
    if category is None:
        return None
    if severity not in SEVERITIES or not entry.explanation.strip():
        logger.warning("analysis of %s on %s has no usable severity or explanation: dropped", category, place)
        return None
    if category not in asked.get(place, []):
        logger.warning("analysis of %s on %s was not asked for: dropped", category, place)
        return None
    values = {"type": category, "severity": severity, "explanation": entry.explanation}
    return DistortionAnalysis.model_validate(values)
