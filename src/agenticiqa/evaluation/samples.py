"""What a data set holds: rated pictures or questions with known answers, and how its ratings are to be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.statistics import Values

Item = TypeVar("Item")


@dataclass(frozen=True)
class RatedPicture:
    """One rated picture; `group` names the reference or content it shares with others, `split` the owners' part."""

    name: str
    image: Path
    opinion: float
    reference: Path | None = None
    group: str | None = None
    kind: str | None = None
    level: str | None = None
    split: str | None = None

    @property
    def cluster(self) -> str:
        """What is resampled together with this picture."""
        return self.group or self.name


@dataclass(frozen=True)
class OpinionScale:
    """How opinions are to be read: their range as published, and whether more is better.

    `knots` (opinion, score) bring them to the common scale of 1 to 5 where a map was fitted; else a straight line does.
    """

    low: float
    high: float
    higher_is_better: bool = True
    knots: tuple[tuple[float, float], ...] = ()

    def to_common(self, opinions: Sequence[float] | Values) -> Values:
        """The opinions on the scale of 1 (worst) to 5."""
        values = np.asarray(opinions, np.float64)
        if self.knots:
            places, scores = np.array(self.knots, np.float64).T
            return np.asarray(np.interp(values, places, scores), np.float64)
        share = np.clip((values - self.low) / (self.high - self.low), 0, 1)
        return np.asarray(1 + 4 * (share if self.higher_is_better else 1 - share), np.float64)

    def oriented(self, opinions: Sequence[float] | Values) -> Values:
        """The opinions, turned round if less is better."""
        return np.asarray(opinions, np.float64) * (1 if self.higher_is_better else -1)

    def in_words(self) -> str:
        """One clause for tables."""
        kind, better = ("MOS", "higher") if self.higher_is_better else ("DMOS", "lower")
        way = "a fitted map" if self.knots else "a straight line"
        return f"{kind} {self.low:g} to {self.high:g}, {better} is better, brought to 1–5 by {way}"


@dataclass(frozen=True)
class RatedSet:
    """The rated pictures of a data set that are there, and the names of those that are not."""

    name: str
    samples: tuple[RatedPicture, ...]
    scale: OpinionScale
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def has_references(self) -> bool:
        """Whether every picture has an original to compare with."""
        return bool(self.samples) and all(sample.reference is not None for sample in self.samples)

    @property
    def opinions(self) -> Values:
        """Opinions as published, turned so that more is better."""
        return self.scale.oriented([sample.opinion for sample in self.samples])

    @property
    def common(self) -> Values:
        """Opinions on the scale of 1 to 5."""
        return self.scale.to_common([sample.opinion for sample in self.samples])

    @property
    def clusters(self) -> list[str]:
        return [sample.cluster for sample in self.samples]

    def files(self) -> Iterator[Path]:
        """Every picture and original."""
        return (file for sample in self.samples for file in (sample.image, sample.reference) if file is not None)

    def without_references(self) -> RatedSet:
        """The same pictures with their originals hidden; those of one original stay one group."""
        samples = tuple(
            replace(sample, reference=None, group=sample.group or sample.reference.name)
            if sample.reference is not None
            else sample
            for sample in self.samples
        )
        return replace(self, samples=samples, notes=(*self.notes, "references hidden: every picture judged alone"))

    def thinned(self, limit: int | None, split: str | None = None, seed: int = 0) -> RatedSet:
        """The pictures of one split, at most so many, drawn with the seed and kept in their order."""
        chosen = [sample for sample in self.samples if split is None or sample.split == split]
        if not chosen:
            known = ", ".join(sorted({str(sample.split) for sample in self.samples})) or "none"
            raise DatasetError(f"{self.name}: no picture is in split {split!r}; there are: {known}")
        samples, notes = _drawn(chosen, limit, seed, "pictures")
        return replace(self, samples=samples, notes=(*self.notes, *notes))


@dataclass(frozen=True)
class KnownQuestion:
    """One multiple-choice question; `answer` is the letter of the right choice."""

    name: str
    image: Path
    query: str
    choices: dict[str, str]
    answer: str
    reference: Path | None = None
    task: str | None = None
    kind: str | None = None
    category: str | None = None


@dataclass(frozen=True)
class QuestionSet:
    """The questions of a data set whose pictures are there."""

    name: str
    questions: tuple[KnownQuestion, ...]
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def files(self) -> Iterator[Path]:
        """Every picture and original."""
        return (file for each in self.questions for file in (each.image, each.reference) if file is not None)

    def thinned(self, limit: int | None, seed: int = 0) -> QuestionSet:
        """At most so many questions, drawn with the seed and kept in their order."""
        questions, notes = _drawn(self.questions, limit, seed, "questions")
        return replace(self, questions=questions, notes=(*self.notes, *notes))


def _drawn(items: Sequence[Item], limit: int | None, seed: int, what: str) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """At most so many, and a note where it is not all of them."""
    if limit is None or limit >= len(items):
        return tuple(items), ()
    rows = np.sort(np.random.default_rng(seed).permutation(len(items))[:limit])
    return tuple(items[row] for row in rows), (f"{limit} of {len(items)} {what}, drawn with seed {seed}",)
