"""An evaluation as plain rows of words and numbers: what the terminal, the Markdown, the page and the JSON share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agenticiqa.evaluation.evaluating import Evaluation
from agenticiqa.evaluation.methods import Cost
from agenticiqa.evaluation.multiple_choice import Accuracy, Choices
from agenticiqa.evaluation.ratings import Part, Row
from agenticiqa.evaluation.runs import FULL
from agenticiqa.evaluation.statistics import Interval

# Below so many groups a percentile bootstrap covers less than it says.
FEW_GROUPS = 20
SHOWN_WORST = 12
HEADINGS = ("method", "answered", "SRCC", "KRCC", "PLCC", "RMSE", "lead in SRCC", "calls", "tokens", "s", "$")


def headline(found: Evaluation) -> list[str]:
    """What was evaluated, and everything a reader must know before the figures."""
    rated = found.rated
    groups = len(set(rated.clusters))
    missing = f"; {len(rated.missing)} listed pictures are missing" if rated.missing else ""
    lines = [
        f"{rated.name}: {len(rated.samples)} pictures, {groups} groups resampled whole{missing}",
        rated.scale.in_words(),
        *rated.notes,
    ]
    if groups < FEW_GROUPS:
        few = f"Intervals rest on {groups} groups only and are too narrow"
        lines.append(few if groups > 1 else "One group: no intervals")
    lines += [f"Not listed: {each}" for each in found.unlisted]
    if found.seen:
        lines.append(f"Not held out: {found.seen}")
    overlay = found.provenance["overlay"]
    if overlay:
        lines.append(f"Curves of {overlay} are in force: on ratings they were fitted to, figures are not held out")
    return lines


def table(rows: Sequence[Row]) -> list[list[str]]:
    """The lines of the table under HEADINGS."""
    return [
        [
            row.method.title,
            f"{row.answered:.1%}",
            *(interval(one) for one in (row.srcc, row.krcc, row.plcc, row.rmse)),
            lead(row),
            *costs(row.method.cost),
        ]
        for row in rows
    ]


def remarks(rows: Sequence[Row]) -> list[str]:
    """What has to be said about single methods: how they were made, and fits that failed."""
    found = []
    for row in rows:
        if row.method.note:
            found.append(f"{row.method.title}: {row.method.note}")
        twin = row is not rows[0] and row.method.scores is rows[0].method.scores
        if row.fit is not None and row.fit.form != "five-parameter" and not twin:
            found.append(f"{row.method.title}: PLCC and RMSE after another curve ({row.fit.message})")
    return found


def interval(found: Interval | None) -> str:
    """A figure with its 95 % interval."""
    if found is None:
        return "–"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]" if found.repetitions else f"{found.value:.3f}"


def lead(row: Row) -> str:
    """How far the agent is ahead of this method, with the interval and the p-value of the paired bootstrap."""
    if row.lead is None:
        return ""
    return f"{row.lead.value:+.3f} [{row.lead.low:+.3f}, {row.lead.high:+.3f}], p {row.lead.p_value:.3f}"


def costs(cost: Cost) -> list[str]:
    """Calls, tokens, seconds and dollars per picture."""
    seconds = "–" if cost.seconds is None else f"{cost.seconds:.3f}"
    return [f"{cost.calls:.2f}", f"{cost.tokens:.0f}", seconds, "unknown" if cost.usd is None else f"{cost.usd:.4f}"]


def accuracy_lines(found: Choices) -> list[list[str]]:
    """Accuracy overall and by part, one line each."""
    parts = [(title, one) for title, ones in found.parts.items() for one in ones]
    return [_accuracy("all", found.overall), *(_accuracy(f"{title} {one.name}", one) for title, one in parts)]


def _accuracy(title: str, one: Accuracy) -> list[str]:
    return [title, str(one.questions), interval(one.accuracy), f"{one.answered:.1%}"]


def as_json(found: Evaluation) -> dict[str, Any]:
    """The evaluation as JSON values, every picture's scores included."""
    rows = [*found.rows, *found.tools]
    names = [sample.name for sample in found.rated.samples]
    return {
        "dataset": found.rated.name,
        "pictures": len(names),
        "missing": list(found.rated.missing),
        "scale": vars(found.rated.scale),
        "not_held_out": found.seen or None,
        "methods": [_row_json(row) for row in found.rows],
        "tools": [_row_json(row) for row in found.tools],
        "by_distortion": [_part_json(part) for part in found.kinds],
        "by_level": [_part_json(part) for part in found.levels],
        "coverage": None if found.coverage is None else vars(found.coverage),
        "faithfulness": None if found.faithfulness is None else {**vars(found.faithfulness), "examples": [
            vars(example) for example in found.faithfulness.examples]},
        "recorded": None if found.recorded is None else _recorded_json(found),
        "failures": found.failures,
        "unlisted": list(found.unlisted),
        "groups": {sample.name: sample.cluster for sample in found.rated.samples},
        "scores": {
            name: {"opinion": sample.opinion, **{row.method.name: _number(row.method.scores[place]) for row in rows}}
            for place, (name, sample) in enumerate(zip(names, found.rated.samples, strict=True))
        },
        "provenance": found.provenance,
    }  # fmt: skip


def _recorded_json(found: Evaluation) -> dict[str, Any]:
    assert found.recorded is not None
    study = found.recorded
    return {
        "form": study.form,
        "joined": study.joined,
        "held_out": study.held_out,
        "choice": vars(study.choice),
        "methods": [_row_json(row) for row in study.rows],
    }


def _row_json(row: Row) -> dict[str, Any]:
    statistics = {name: getattr(row, name) for name in ("srcc", "krcc", "plcc", "rmse", "fit", "lead")}
    return {
        "name": row.method.name,
        "title": row.method.title,
        "note": row.method.note,
        "answered": row.answered,
        **{name: _figures(value) for name, value in statistics.items()},
        "cost": vars(row.method.cost),
    }


def _part_json(part: Part) -> dict[str, Any]:
    return {"name": part.name, "pictures": part.pictures, "srcc": _figures(part.srcc)}


def _figures(found: Any) -> dict[str, Any] | None:
    """A figure's parts; JSON has no NaN."""
    if found is None:
        return None
    return {key: None if isinstance(value, float) and value != value else value for key, value in vars(found).items()}


def _number(value: float) -> float | None:
    return None if value != value else float(value)


@dataclass(frozen=True)
class Disagreement:
    """One picture, its opinion, its score after the logistic fit, and the agent's words."""

    name: str
    image: Path
    opinion: float
    fitted: float
    why: str


def worst_pictures(found: Evaluation) -> list[Disagreement]:
    """The pictures with the largest residuals of the first method, the largest first."""
    if not found.rows or found.rows[0].fit is None:
        return []
    fitted = found.rows[0].fit(found.rows[0].method.scores)
    apart = np.nan_to_num(np.abs(fitted - found.rated.opinions), nan=-1.0)
    sign = 1 if found.rated.scale.higher_is_better else -1
    return [
        Disagreement(sample.name, sample.image, sample.opinion, sign * float(fitted[row]), _words(found, int(row)))
        for row in np.argsort(-apart, kind="stable")[:SHOWN_WORST]
        for sample in [found.rated.samples[row]]
        if apart[row] >= 0
    ]


def _words(found: Evaluation, row: int) -> str:
    text = str(found.evidence[row].get(FULL, {}).get("reasoning") or "")
    return text if len(text) <= 160 else text[:157] + "…"
