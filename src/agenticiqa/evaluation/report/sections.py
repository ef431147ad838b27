"""What a report says, as sections of words and numbers that terminal, Markdown and page share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from agenticiqa.evaluation.evaluating import Evaluation
from agenticiqa.evaluation.methods import Cost
from agenticiqa.evaluation.multiple_choice import Accuracy, Choices
from agenticiqa.evaluation.ratings import PartAgreement, Row
from agenticiqa.evaluation.runs import FULL
from agenticiqa.evaluation.samples import QuestionSet
from agenticiqa.evaluation.statistics import Difference, Interval

# Below so many groups a percentile bootstrap covers less than it says.
FEW_GROUPS = 20
SHOWN_WORST = 12
MOST_WORDS = 160
HEADINGS = ("method", "answered", "SRCC", "KRCC", "PLCC", "RMSE", "lead in SRCC", "calls", "tokens", "s", "$")
# How many of them are figures of agreement; the rest is cost.
FIGURES = 6
PARTS = ("part", "questions", "accuracy", "answered")
PUBLISHED = "Published figures are of the whole set; where ours is of a part of it, the two are not the same pictures."


@dataclass(frozen=True)
class ReportSection:
    """A table with what has to be said below it; either may be missing."""

    title: str
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    lines: Sequence[str] = ()


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


def sections_of(found: Evaluation) -> list[ReportSection]:
    """The sections of a report on ratings that hold anything, the table of methods first."""
    said = [*remarks(found.shown), *_findings(found)]
    tools = [line[:FIGURES] for line in table(found.tools)]
    published = beside_ours(found)
    worst = [[one.name, f"{one.opinion:.3g}", f"{one.fitted:.3g}", one.why] for one in worst_pictures(found)]
    sections = [
        ReportSection("Methods", HEADINGS, table(found.shown), said),
        ReportSection("By distortion type", *_parts("type", found.kinds)),
        ReportSection("By level", *_parts("level", found.levels)),
        ReportSection("Tools alone", ("tool", *HEADINGS[1:FIGURES]), tools, remarks(found.tools)),
        ReportSection(
            "Largest disagreements", ("picture", "opinion", "score after the fit", "what the agent said"), worst
        ),
        ReportSection(
            "Beside published figures",
            ("method", "published SRCC", "PLCC", "measured here", "source"),
            published,
            [PUBLISHED] if published else [],
        ),
        ReportSection(
            "Failures", lines=[f"failed {count} times: {failure}" for failure, count in found.failures.items()]
        ),
    ]
    return [section for section in sections if section.rows or section.lines]


def choice_sections(questions: QuestionSet, found: Choices) -> list[ReportSection]:
    """The sections of a report on questions, the table of accuracies first."""
    order = "the order of the choices was not varied (--rotate)"
    if found.sensitive is not None:
        order = f"their order changes {found.sensitive:.1%} of answers; accuracy over orders {found.over_orders:.3f}"
    unable = f'"Unable to determine": {found.unable:.1%}, counted as wrong; {order}'
    given = sorted({pair[1] for pair in found.confusion})
    confusion = [
        [letter, *(str(found.confusion.get((letter, other), 0)) for other in given)]
        for letter in sorted({pair[0] for pair in found.confusion})
    ]
    theirs = [[one["method"], one.get("accuracy", ""), one["source"]] for one in published(questions.name)]
    sections = [
        ReportSection("Accuracy", PARTS, accuracy_lines(found), [unable]),
        ReportSection("Right and given answers", ("right answer", *given), confusion),
        ReportSection("Beside published figures", ("method", "accuracy", "source"), theirs),
    ]
    return [section for section in sections if section.rows]


def table(rows: Sequence[Row]) -> list[list[str]]:
    return [
        [
            row.method.title,
            f"{row.answered:.1%}",
            *(interval(one) for one in (row.srcc, row.krcc, row.plcc, row.rmse)),
            "" if row.lead is None else f"{difference(row.lead)}, p {row.lead.p_value:.3f}",
            *_costs(row.method.cost),
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
    if found is None:
        return "–"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]" if found.repetitions else f"{found.value:.3f}"


def difference(found: Difference) -> str:
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def _costs(cost: Cost) -> list[str]:
    seconds = "–" if cost.seconds is None else f"{cost.seconds:.3f}"
    return [f"{cost.calls:.2f}", f"{cost.tokens:.0f}", seconds, "unknown" if cost.usd is None else f"{cost.usd:.4f}"]


def _parts(heading: str, parts: Sequence[PartAgreement]) -> tuple[Sequence[str], list[list[str]]]:
    return (heading, "pictures", "SRCC"), [[part.name, str(part.pictures), interval(part.srcc)] for part in parts]


def accuracy_lines(found: Choices) -> list[list[str]]:
    """Accuracy overall and by part, one line each."""
    parts = [(title, one) for title, ones in found.parts.items() for one in ones]
    return [_accuracy("all", found.overall), *(_accuracy(f"{title} {one.name}", one) for title, one in parts)]


def _accuracy(title: str, one: Accuracy) -> list[str]:
    return [title, str(one.questions), interval(one.accuracy), f"{one.answered:.1%}"]


def _findings(found: Evaluation) -> list[str]:
    """What was found besides the table: the choices of a fusion study, coverage, and faithfulness."""
    lines = []
    if found.recorded is not None:
        study, choice = found.recorded, found.recorded.choice
        groups = ", ".join(choice.fitted_groups[:20]) + (" …" if len(choice.fitted_groups) > 20 else "")
        lines.append(
            f"Recorded outputs ({study.form}) of {study.joined} pictures; temperature {choice.temperature:.4g} and η "
            f"{choice.eta:g} were chosen on {choice.fitted_on} pictures (contents {groups}); figures are of the other "
            f"{study.held_out}"
        )
    if found.coverage is not None:
        held = found.coverage
        lines.append(
            f"The score's 95 % interval holds {held.share:.1%} of {held.pictures} opinions with a mean width of "
            f"{held.width:.2f} points; a constant interval that holds 95 % of these opinions is {held.constant:.2f} "
            "wide."
        )
    if found.faithfulness is not None:
        said = found.faithfulness
        lines.append(
            f"Of {said.claims} claims in {said.explanations} explanations {said.share('tied'):.1%} are tied to the "
            f"agent's own evidence, {said.share('contradicting'):.1%} contradict it and "
            f"{said.share('unsupported'):.1%} are unsupported; {said.without_claims} explanations claim nothing that "
            "can be checked."
        )
    return lines


def published(dataset: str) -> list[dict[str, Any]]:
    """Method, SRCC, PLCC or accuracy as printed, and source, for a data set; empty when nothing is known."""
    text = resources.files("agenticiqa.evaluation.report").joinpath("published.yaml").read_text(encoding="utf-8")
    known = yaml.safe_load(text)
    return [{**entry, "source": known["sources"][entry["source"]]} for entry in known.get(dataset, [])]


def beside_ours(found: Evaluation) -> list[list[str]]:
    """Published figures, ours on top and marked if not held out; none when nothing is published."""
    measured = {row.method.name: f"{row.srcc.value:.3f}" for row in found.tools if row.srcc is not None}
    source = "this evaluation, not held out" if found.seen else "this evaluation"
    ours = [[row.method.title, "", "", f"{row.srcc.value:.3f}", source] for row in found.rows[:1] if row.srcc]
    theirs = [
        [one["method"], one.get("srcc", ""), one.get("plcc", ""), measured.get(str(one.get("tool")), ""), one["source"]]
        for one in published(found.rated.name)
    ]
    return ours + theirs if theirs else []


@dataclass(frozen=True)
class WorstPicture:
    """One picture, its opinion, its score after the logistic fit, and the agent's words."""

    name: str
    image: Path
    opinion: float
    fitted: float
    why: str


def worst_pictures(found: Evaluation) -> list[WorstPicture]:
    """The pictures with the largest residuals of the first method, the largest first."""
    if not found.rows or found.rows[0].fit is None:
        return []
    fitted = found.rows[0].fit(found.rows[0].method.scores)
    apart = np.nan_to_num(np.abs(fitted - found.rated.opinions), nan=-1.0)
    sign = 1 if found.rated.scale.higher_is_better else -1
    return [
        WorstPicture(sample.name, sample.image, sample.opinion, sign * float(fitted[row]), _words(found, int(row)))
        for row in np.argsort(-apart, kind="stable")[:SHOWN_WORST]
        for sample in [found.rated.samples[row]]
        if apart[row] >= 0
    ]


def _words(found: Evaluation, row: int) -> str:
    text = str(found.evidence[row].get(FULL, {}).get("reasoning") or "")
    return text if len(text) <= MOST_WORDS else text[: MOST_WORDS - 3] + "…"
