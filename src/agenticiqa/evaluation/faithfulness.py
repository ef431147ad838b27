"""Whether an explanation says what the evidence says: each claim tied to it, contradicting it, or without support.

Claims are read with a lexicon of our own, sentence by sentence, so any model's words can be examined: named
distortions with their severity or absence, quality levels, and scores of tools.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from agenticiqa.evaluation.claim_words import Mention, claim_words, masked
from agenticiqa.score_fusion import ScoreFusion
from agenticiqa.state import LevelLetter, Severity

Verdict = Literal["tied", "contradicting", "unsupported"]
# Explanations round scores to one decimal.
_ROUNDING = 0.06
_EXAMPLES = 10
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|[。！？]")
_TOOL_SCORE = re.compile(r"\b([A-Z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)\b[^.;,]{0,40}?\b([1-5]\.\d+)\b")


@dataclass(frozen=True)
class Checked:
    """One claim of an explanation and how it stands to the evidence."""

    claim: str
    verdict: Verdict
    evidence: str


@dataclass(frozen=True)
class Faithfulness:
    """Counts over all explanations, and examples of what is not tied."""

    explanations: int
    claims: int
    counts: dict[Verdict, int]
    without_claims: int
    examples: list[Checked]

    def share(self, verdict: Verdict) -> float:
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
    """The claims of one explanation against `distortions`, `tools`, `score` and `levels` of its result."""
    return [claim for sentence in _SENTENCE.split(text) if sentence for claim in _sentence(sentence, evidence)]


def _sentence(sentence: str, evidence: Mapping[str, Any]) -> Iterator[Checked]:
    scores = list(_scores(sentence, evidence))
    yield from scores
    claim = read_statement(_head(sentence).lower())
    found = {entry["type"]: entry for entry in evidence.get("distortions") or []}
    for category, mention in {mention.category: mention for mention in reversed(claim.mentions)}.items():
        denied = mention.absent or claim.denied
        # A tool measured "for compression" names its subject, and claims nothing of the picture.
        if not scores:
            yield _distortion(category, claim.severity, denied, found)
    if claim.level is not None and not claim.mentions:
        yield _level(claim.level, evidence)


def _head(sentence: str) -> str:
    """What a sentence claims: of "Noise (slight): grain covers flat areas" the part that is then described."""
    head, colon, _ = sentence.partition(": ")
    return head if colon and read_statement(head.lower()).mentions else sentence


def _distortion(category: str, severity: str | None, denied: bool, found: Mapping[str, Any]) -> Checked:
    entry = found.get(category)
    stated = f"no {category}" if denied else f"{category}, {severity}" if severity else category
    known = f"{category}: {entry.get('severity')}" if entry else ""
    present = entry is not None and entry.get("severity") != "none"
    if denied:
        # What was not reported as found was looked for and not found, if anything was looked for at all.
        return Checked(stated, "contradicting" if present else "tied", known or "not among the findings")
    if entry is None:
        return Checked(stated, "unsupported", "not among the findings")
    if not present:
        return Checked(stated, "contradicting", known)
    if severity is None or entry.get("severity") is None:
        return Checked(stated, "tied", known)
    return Checked(stated, "tied" if severity == entry["severity"] else "contradicting", known)


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


@dataclass(frozen=True)
class Statement:
    """The distortions named, how strong or whether denied, and the level of quality claimed."""

    mentions: tuple[Mention, ...] = ()
    severity: Severity | None = None
    level: LevelLetter | None = None
    denied: bool = False


def read_statement(text: str) -> Statement:
    """The claims of a sentence in lower case, in English or Chinese."""
    words = claim_words()
    found = words.matches(text, "nothing", "distortions", "any_distortion", "places")
    rest = masked(text, (match.span for match in found), "\x00")
    severities = words.matches(rest, "severities")
    levels = words.matches(rest, "levels")
    severity = severities[0].meaning if severities else None
    approved = words["approval"].found_in(rest)
    plain = masked(rest, (match.span for match in severities))
    negated = len(words["negations"].spans(plain)) % 2 == 1
    return Statement(
        mentions=tuple(
            replace(m.meaning, neutral=False, absent=approved) if m.meaning.neutral else m.meaning
            for m in found
            if m.group == "distortions"
        ),
        severity=severity,
        level=levels[0].meaning if levels else None,
        denied=negated or severity == "none" or any(match.group == "nothing" for match in found),
    )
