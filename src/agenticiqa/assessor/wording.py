"""Results in a few lines for a person: what `print` and the command line show of an assessment or a ranking."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agenticiqa.logs import printable_lines
from agenticiqa.state import LEVEL_LETTERS, LEVEL_NAMES
from agenticiqa.values import level_of

if TYPE_CHECKING:
    from agenticiqa.assessor.assessment import Assessment, ToolReading
    from agenticiqa.assessor.ranking import Pair, Ranked, Ranking
    from agenticiqa.assessor.regions import AssessedRegion

_ALL_PAIRS_UP_TO = 4
# The share of people's ratings that "probably" stands for.
LIKELY = 0.8


def assessment_in_words(assessment: Assessment, evidence: bool = False) -> str:
    """The answer, one reason and the score as a person reads them; with `evidence` also what they rest on."""
    rating = is_rating(assessment)
    score = ", ".join(filter(None, [rating_in_words(assessment), likely_in_words(assessment)]))
    lines = [score if rating else f"Answer: {assessment.answer}"]
    lines += [f"  {line}" for line in dict.fromkeys(assessment.ledger.stand_ins)]
    if evidence or assessment.error is None:
        lines.append(f"Why: {assessment.reasoning if evidence else one_reason(assessment)}")
    if evidence:
        lines.append(f"Score: {score_in_words(assessment)}")
        lines += [
            f"  {finding.type} on {finding.object_name}" + (f", {finding.severity}" if finding.severity else "")
            for finding in assessment.distortions
        ]
        lines += [_reading_line(reading) for reading in assessment.tools]
    elif assessment.score is not None and not rating:
        lines.append(f"Score: {score}")
    if assessment.overruled and not evidence:
        # Else the score would contradict the model's own reason; with `evidence` the reasoning says it.
        lines.append(f"The model chose {LEVEL_NAMES[assessment.overruled]}; the score is fused with the tools'.")
    lines += [_region_line(name, region) for name, region in assessment.regions.items()]
    if assessment.error is not None:
        lines.append(f"Failed: {assessment.error}")
    return printable_lines(filter(None, lines))


def rating_in_words(assessment: Assessment) -> str:
    """The score with one decimal and its level, like "3.8 of 5, Good"; with two where one would belie the level."""
    score = assessment.score or 0.0
    shown = f"{score:.1f}" if level_of(float(f"{score:.1f}")) == assessment.level else f"{score:.2f}"
    return f"{shown} of 5, {assessment.level_name}"


def likely_in_words(assessment: Assessment) -> str | None:
    """The levels people probably give it, like "probably Fair or Good": the fewest side by side that hold 80 of 100."""
    shares = assessment.level_probabilities
    if shares is None or assessment.level is None:
        return None
    own = LEVEL_LETTERS.index(assessment.level)
    runs = [LEVEL_LETTERS[best : worst + 1] for best in range(own + 1) for worst in range(own, len(LEVEL_LETTERS))]
    enough = [run for run in runs if sum(shares.get(letter, 0.0) for letter in run) >= LIKELY]
    if not enough:
        return None
    fewest = min(enough, key=lambda run: (len(run), -sum(shares.get(letter, 0.0) for letter in run)))
    best, worst = LEVEL_NAMES[fewest[0]], LEVEL_NAMES[fewest[-1]]
    if len(fewest) == 1:
        return f"probably {best}"
    return f"probably {worst} {'or' if len(fewest) == 2 else 'to'} {best}"


def _region_line(name: str, region: AssessedRegion | None) -> str:
    """Where a thing is and how good it is there."""
    if region is None:
        return f"Region: {name}: not found"
    what = "" if region.class_name is None else f" ({region.class_name}, {region.confidence:.0%} sure)"
    text = f"Region: {name}{what} at {region.left},{region.top} to {region.right},{region.bottom}"
    if region.score is None:
        return text
    flaws = ", ".join(f"{each.type} {each.severity}" for each in region.findings or ()) or "no flaw found"
    return f"{text}: {region.score:.1f} of 5, {flaws}"


def _reading_line(reading: ToolReading) -> str:
    if reading.error is not None:
        return f"  {reading.tool} for {reading.distortion} failed on {reading.object_name}: {reading.error}"
    raw = "no value" if reading.raw is None else f"{reading.raw:.4g} raw"
    score = "not calibrated" if reading.calibrated is None else f"{reading.calibrated:.2f} of 5"
    return f"  {reading.tool} for {reading.distortion} on {reading.object_name}: {raw}, {score}"


def one_reason(assessment: Assessment) -> str:
    """The decisive reason, with the limit of what is judged where one is said; else a model's own first sentence."""
    if assessment.reasons:
        first, *others = assessment.reasons
        return " ".join([first.text, *(each.text for each in others if each.name == "limit")])
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
    compared = [] if ranking.attribute != "overall" else [pair_in_words(pair) for pair in shown]
    return printable_lines([*answered, *(place_in_words(entry, ranking) for entry in ranking.entries), *compared])


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
    # What is nearly certain is not called certain.
    percent = f"{100 * pair.probability:.0f} %"
    if not 0.01 <= pair.probability <= 0.99:
        percent = "> 99 %" if pair.probability > 0.5 else "< 1 %"
    if pair.verdict == "better":
        return f"{pair.first} is better than {pair.second} (probability {percent})"
    return f"{pair.first} and {pair.second}: no clear difference (probability that the first is better: {percent})"
