"""Whether an explanation says what the evidence says: each claim tied to it, contradicting it, or without support.

Claims are read with a lexicon of our own, sentence by sentence, so any model's words can be examined: named
distortions with their severity or absence, quality levels, and scores of tools.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

import yaml

from agenticiqa.score_fusion import ScoreFusion

ClaimVerdict = Literal["tied", "contradicting", "unsupported"]
# Explanations round scores to one decimal.
_ROUNDING = 0.06
_EXAMPLES = 10
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|[。！？]")
_TOOL_SCORE = re.compile(r"\b([A-Z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)\b[^.;,]{0,40}?\b([1-5]\.\d+)\b")


@dataclass(frozen=True)
class Checked:
    """One claim of an explanation and how it stands to the evidence."""

    claim: str
    verdict: ClaimVerdict
    evidence: str


@dataclass(frozen=True)
class Faithfulness:
    """Counts over all explanations, and examples of what is not tied."""

    explanations: int
    claims: int
    counts: dict[ClaimVerdict, int]
    without_claims: int
    examples: list[Checked]

    def share(self, verdict: ClaimVerdict) -> float:
        """The share of claims with this verdict; 0 without claims."""
        return self.counts.get(verdict, 0) / self.claims if self.claims else 0.0


def examine(results: Sequence[Mapping[str, Any]]) -> Faithfulness:
    """The claims of many results' `reasoning`, each checked against the same result's evidence."""
    checked = [
        check_claims(str(result.get("reasoning") or ""), result) for result in results if not result.get("error")
    ]
    every = [claim for claims in checked for claim in claims]
    return Faithfulness(
        explanations=len(checked),
        claims=len(every),
        counts=dict(Counter(claim.verdict for claim in every)),
        without_claims=sum(not claims for claims in checked),
        examples=[claim for claim in every if claim.verdict != "tied"][:_EXAMPLES],
    )


def check_claims(text: str, evidence: Mapping[str, Any]) -> list[Checked]:
    """The claims of one explanation against `distortions`, `tools` and `score` of its result."""
    return [claim for sentence in _SENTENCE.split(text) if sentence for claim in _sentence(sentence, evidence)]


def _sentence(sentence: str, evidence: Mapping[str, Any]) -> Iterator[Checked]:
    scores = list(_scores(sentence, evidence))
    yield from scores
    claim = read_statement(_head(sentence).lower())
    found = {entry["type"]: entry for entry in evidence.get("distortions") or []}
    # A tool measured "for compression" names its subject, and claims nothing of the picture.
    for category, absent in claim.distortions.items() if not scores else ():
        yield _distortion(category, claim.severity, absent or claim.denied, found)
    if claim.level is not None and not claim.distortions:
        yield _level(claim.level, evidence)


def _head(sentence: str) -> str:
    """What a sentence claims: of "Noise (slight): grain covers flat areas" the part that is then described."""
    head, colon, _ = sentence.partition(": ")
    return head if colon and read_statement(head.lower()).distortions else sentence


def _distortion(category: str, severity: str | None, denied: bool, found: Mapping[str, Any]) -> Checked:
    entry = found.get(category)
    stated = f"no {category}" if denied else f"{category}, {severity}" if severity else category
    known = f"{category}: {entry.get('severity')}" if entry else "not among the findings"
    present = entry is not None and entry.get("severity") != "none"
    if denied:
        # What was not reported as found was looked for and not found, if anything was looked for at all.
        return Checked(stated, "contradicting" if present else "tied", known)
    if entry is None:
        return Checked(stated, "unsupported", known)
    fits = present and (severity is None or entry.get("severity") in (None, severity))
    return Checked(stated, "tied" if fits else "contradicting", known)


def _level(letter: str, evidence: Mapping[str, Any]) -> Checked:
    score = evidence.get("model_score")
    score = evidence.get("score") if score is None else score
    if score is None:
        return Checked(f"level {letter}", "unsupported", "no score")
    known = {ScoreFusion().map_to_level(float(value)) for value in (score, evidence.get("score") or score)}
    return Checked(f"level {letter}", "tied" if letter in known else "contradicting", f"score {score:.2f}")


def _scores(sentence: str, evidence: Mapping[str, Any]) -> Iterator[Checked]:
    """Claims of the form "TOOL … 3.4"."""
    known = _known_scores(evidence)
    for name, number in _TOOL_SCORE.findall(sentence):
        values = known.get(name.casefold())
        stated = f"{name} {number}"
        if values is None:
            # An all-capital word beside a number is meant as a tool; other words are not.
            if name.isupper() and len(name) > 2:
                yield Checked(stated, "unsupported", "this tool was not run")
        else:
            close = any(abs(float(number) - value) <= _ROUNDING for value in values)
            found = ", ".join(f"{value:.2f}" for value in values)
            yield Checked(stated, "tied" if close else "contradicting", f"{name} {found}")


def _known_scores(evidence: Mapping[str, Any]) -> dict[str, list[float]]:
    """What each tool said: run by the agent, or the value of one of the backend's reasons."""
    known: dict[str, list[float]] = {}
    for name, value in (evidence.get("tools") or {}).items():
        known.setdefault(name.casefold(), []).extend([] if value is None else [float(value)])
    for reason in evidence.get("reasons") or []:
        for named in ({"name": reason["name"], "value": reason["number"]}, *reason["others"]):
            if named["name"] and named["value"] is not None:
                known.setdefault(named["name"].casefold(), []).append(float(named["value"]))
    return known


class Claims(NamedTuple):
    """What a sentence claims: distortions by category (true where a word says that there is none), and a level.

    `severity` is that of the distortions; `denied` denies all of them.
    """

    distortions: dict[str, bool]
    severity: str | None
    level: str | None
    denied: bool


def read_statement(text: str) -> Claims:
    """The claims of a sentence in lower case, in English or Chinese."""
    found = _matches(text, "nothing", "distortions", "any_distortion", "places")
    rest = _masked(text, found)
    severities, levels = _matches(rest, "severities"), _matches(rest, "levels")
    severity = severities[0].row["means"] if severities else None
    approved = any(_everywhere(rest, "approval"))
    named = [match.row for match in found if match.group == "distortions"]
    absent = [(row["means"], row.get("absent", False) or (row.get("neutral", False) and approved)) for row in named]
    negations = sum(1 for _ in _everywhere(_masked(rest, severities), "negations"))
    return Claims(
        # Of a category named twice the first mention counts.
        dict(reversed(absent)),
        severity,
        levels[0].row["means"] if levels else None,
        negations % 2 == 1 or severity == "none" or any(match.group == "nothing" for match in found),
    )


class _Match(NamedTuple):
    """Where words of a row of the lexicon stand in a text."""

    group: str
    row: dict[str, Any]
    start: int
    end: int


@cache
def _lexicon() -> dict[str, list[tuple[dict[str, Any], tuple[re.Pattern[str], ...]]]]:
    """The rows of each group of words, with the patterns that find them in English and in Chinese."""
    text = resources.files("agenticiqa.evaluation").joinpath("claim_words.yaml").read_text(encoding="utf-8")
    return {group: [(row, _patterns(row)) for row in rows] for group, rows in yaml.safe_load(text).items()}


def _patterns(row: dict[str, Any]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    english = re.compile(f"(?<![a-z0-9_])(?:{'|'.join(row['en'])})(?![a-z0-9_])", re.ASCII)
    # In an alternation the first fit wins: the longest word has to come first.
    return english, re.compile("|".join(sorted(row["zh"], key=len, reverse=True)))


def _everywhere(text: str, group: str) -> Iterator[_Match]:
    for row, patterns in _lexicon()[group]:
        for pattern in patterns:
            yield from (_Match(group, row, *match.span()) for match in pattern.finditer(text))


def _matches(text: str, *groups: str) -> list[_Match]:
    """Words of these groups in order of appearance; of overlapping ones only the longest is kept."""
    found = [match for group in groups for match in _everywhere(text, group)]
    # On equal length the group named first wins.
    found.sort(key=lambda match: (match.start - match.end, groups.index(match.group), match.start))
    kept: list[_Match] = []
    for match in found:
        if all(match.end <= other.start or other.end <= match.start for other in kept):
            kept.append(match)
    return sorted(kept, key=lambda match: match.start)


def _masked(text: str, matches: Iterable[_Match]) -> str:
    """The text with what was matched blanked out, so that it is not read again."""
    for match in matches:
        text = text[: match.start] + "\x00" * (match.end - match.start) + text[match.end :]
    return text
