"""Results in a few lines for a person: what `print` shows of an assessment or a ranking."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agenticiqa.logs import printable_lines
from agenticiqa.state import LEVEL_NAMES, SEVERITIES

if TYPE_CHECKING:
    from agenticiqa.assessor.assessment import Assessment
    from agenticiqa.assessor.ranking import Pair, Ranked, Ranking

_FINDINGS = 3
_ALL_PAIRS_UP_TO = 4


def assessment_in_words(assessment: Assessment) -> str:
    """The score, the answer where a question was asked, and the strongest findings."""
    lines = [f"Score: {score_in_words(assessment)}"]
    if not is_rating(assessment):
        lines.insert(0, f"Answer: {assessment.answer}")
    found = [each for each in assessment.distortions if each.severity not in (None, "none")]
    found.sort(key=lambda each: -_strength(each.severity))
    if found:
        lines.append("Found: " + ", ".join(f"{each.type} ({each.severity})" for each in found[:_FINDINGS]))
    elif assessment.distortions:
        lines.append("Found: nothing wrong")
    if assessment.error is not None:
        lines.append(f"Failed: {assessment.error}")
    return printable_lines(lines)


def one_reason(assessment: Assessment) -> str:
    """The decisive reason: the first value's sentence, else the first sentence of a model's own explanation."""
    if assessment.reasons:
        return assessment.reasons[0].text
    return re.split(r"(?<=[.!?])\s+|(?<=[。！？])", assessment.reasoning.strip(), maxsplit=1)[0]


def is_rating(assessment: Assessment) -> bool:
    """Whether the quality was rated, rather than a question with answers of its own asked."""
    plan = assessment.plan
    rated = plan is None or plan.query_type == "IQA"
    return rated and assessment.score is not None and assessment.answer in LEVEL_NAMES


def score_in_words(assessment: Assessment) -> str:
    """Score, level and interval, or that there is none."""
    if assessment.score is None:
        return "no score"
    interval = assessment.interval
    span = f", 95 % interval {interval[0]:.1f} to {interval[1]:.1f}" if interval else ""
    return f"{assessment.score:.2f} of 5 ({assessment.level}, {assessment.level_name}){span}"


def ranking_in_words(ranking: Ranking) -> str:
    """The answer, a line per image and, for overall quality, pairs; of many images only neighbours."""
    names = [entry.name for entry in ranking.entries]
    neighbours = set(pairwise(names))
    few = len(names) <= _ALL_PAIRS_UP_TO
    shown = [pair for pair in ranking.pairs if few or (pair.first, pair.second) in neighbours]
    answered = [f"Answer: {ranking.answer}"] if ranking.answer else []
    told = [] if ranking.attribute != "overall" else [pair_in_words(pair) for pair in shown]
    return printable_lines([*answered, *(place_in_words(entry, ranking) for entry in ranking.entries), *told])


def place_in_words(entry: Ranked, ranking: Ranking) -> str:
    """One image: its place ("=1." where it is shared), what it has of the attribute asked for, and its score."""
    shared = [other.rank for other in ranking.entries].count(entry.rank) > 1
    place = "–" if entry.rank is None else f"={entry.rank}" if shared else str(entry.rank)
    evidence = f"{entry.evidence}; " if entry.evidence else ""
    return f"{place}. {entry.name}: {evidence}{score_in_words(entry.assessment)}"


def pair_in_words(pair: Pair) -> str:
    """What can be said of two images."""
    if pair.probability is None:
        return f"{pair.first} and {pair.second}: cannot be told, a score or its spread is missing"
    percent = _percent(pair.probability)
    if pair.verdict == "better":
        return f"{pair.first} is better than {pair.second} (probability {percent})"
    return f"{pair.first} and {pair.second}: no clear difference (probability that the first is better: {percent})"


def _percent(probability: float) -> str:
    """A share in percent; what is nearly certain is not called certain."""
    if probability > 0.99:
        return "> 99 %"
    return "< 1 %" if probability < 0.01 else f"{100 * probability:.0f} %"


def _strength(severity: str | None) -> int:
    known: list[str] = list(SEVERITIES)
    return known.index(severity) if severity in known else 0
