"""Fitting tools and the embedded score to a user's ratings, and what that brings on ratings it has not seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agenticiqa.errors import CalibrationError
from agenticiqa.evaluation.evidence import Evidence
from agenticiqa.evaluation.runs import EMBEDDED, TOOLS
from agenticiqa.evaluation.samples import RatedSet
from agenticiqa.evaluation.statistics import Values, rmse, srcc
from agenticiqa.tools.calibration import Calibration, EmbeddedScale
from agenticiqa.tools.curve_fitting import MIN_POINTS, fit_curve, shrink
from agenticiqa.tools.registry import ToolRegistry

FOLDS = 5
LEAST_RATINGS = 30
# A tool that follows the ratings less than this gets no curve from them.
LEAST_CORRELATION = 0.2
# How far, in points, a distortion's own curve may leave the tool's overall one.
REACH = 0.3
COVERED = 0.95
# A rising curve keeps the order but for pictures at its flat ends, which become equal.
SAME_ORDER = 0.005
Fold = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Change:
    """Agreement with ratings before and after, the latter on folds the fit has not seen; None where there is none.

    Rank correlations are means over the folds: each has a curve of its own, and across them ranks would mix.
    `stored` is false for a fit that agrees less than what was there before.
    """

    name: str
    before_rmse: float | None
    after_rmse: float
    before_srcc: float | None
    after_srcc: float
    before_coverage: float | None = None
    after_coverage: float | None = None
    before_width: float | None = None
    after_width: float | None = None
    stored: bool = True

    @property
    def is_worse(self) -> bool:
        """Whether ratings left out are met less well than before, in distance or in order."""
        if self.before_rmse is None or self.before_srcc is None:
            return False
        return self.after_rmse > self.before_rmse or self.after_srcc < self.before_srcc - SAME_ORDER


@dataclass(frozen=True)
class Recalibration:
    """The curves and scales worth storing, what each fit changes, and why tools were not fitted."""

    calibrations: dict[str, Calibration]
    embedded: dict[str, EmbeddedScale]
    changes: list[Change]
    left: dict[str, str]
    folds: int


def recalibrate(rated: RatedSet, evidence: Evidence, tools: ToolRegistry, *, keep_worse: bool = False) -> Recalibration:
    """Curves and scale for these ratings, compared with those of `tools`; CalibrationError when there are too few.

    A fit that agrees less with ratings left out than what was there is not among them, unless `keep_worse`.
    """
    folds = folds_of(rated.clusters)
    if len(rated.samples) < LEAST_RATINGS or len(folds) < 2:
        raise CalibrationError(
            f"{len(rated.samples)} ratings of {len(set(rated.clusters))} contents are too few; "
            f"at least {LEAST_RATINGS} of several contents are needed"
        )
    mode = "Full-Reference" if rated.has_references else "No-Reference"
    fitted: dict[str, Calibration] = {}
    left: dict[str, str] = {}
    scale, change = _embedded(rated, evidence, folds)
    changes = [change]
    for name in sorted({name for one in evidence for name in one[TOOLS].get("raw", {})}):
        try:
            fitted[name], change = _tool(name, rated, evidence, tools, folds)
            changes.append(change)
        except CalibrationError as error:
            left[name] = str(error)
    changes = [replace(change, stored=keep_worse or not change.is_worse) for change in changes]
    stored = {change.name for change in changes if change.stored}
    return Recalibration(
        {name: calibration for name, calibration in fitted.items() if name in stored},
        {mode: scale} if changes[0].stored else {},
        changes,
        left,
        len(folds),
    )


def folds_of(clusters: Sequence[str]) -> list[Fold]:
    """The pictures left out in each fold; pictures of one content are left out together."""
    names, group = np.unique(np.asarray(clusters), return_inverse=True)
    order = np.random.default_rng(0).permutation(len(names))
    return [np.isin(group, part) for part in np.array_split(order, min(FOLDS, len(names))) if len(part)]


def _tool(
    name: str, rated: RatedSet, evidence: Evidence, tools: ToolRegistry, folds: Sequence[Fold]
) -> tuple[Calibration, Change]:
    card = tools.card(name)
    raw = np.array([one[TOOLS].get("raw", {}).get(name, math.nan) for one in evidence])
    if not np.isfinite(raw).all():
        raise CalibrationError(f"failed on {int((~np.isfinite(raw)).sum())} pictures")
    follows = srcc(raw, rated.common) * (1 if card.higher_is_better else -1)
    if not follows >= LEAST_CORRELATION:
        raise CalibrationError(f"does not follow the ratings (rank correlation {follows:.2f})")

    def fit(rows: Fold) -> Calibration:
        return fit_tool(raw[rows], rated, rows, card.higher_is_better)

    after = np.zeros(len(raw))
    for out in folds:
        after[out] = _scores(fit(~out), raw[out], rated, out)
    everything, known = np.ones(len(raw), bool), tools.calibration(name)
    before = None if known is None else _scores(known, raw, rated, everything)
    return fit(everything), _change(name, before, after, rated.common, folds)


def fit_tool(raw: Values, rated: RatedSet, rows: Fold, increasing: bool) -> Calibration:
    """The overall curve and one for each distortion with enough ratings, held near the overall one."""
    chosen = [sample for sample, inside in zip(rated.samples, rows, strict=True) if inside]
    targets = rated.common[rows]
    groups = len({sample.cluster for sample in chosen})
    overall = fit_curve(raw, targets, increasing=increasing, references=groups)
    kinds = {}
    for kind in sorted({sample.kind for sample in chosen if sample.kind}):
        own = np.array([sample.kind == kind for sample in chosen])
        if np.unique(raw[own]).size >= MIN_POINTS:
            contents = len({sample.cluster for sample in chosen if sample.kind == kind})
            curve = fit_curve(raw[own], targets[own], increasing=increasing, references=contents)
            kinds[kind] = shrink(curve, overall, REACH)
    data = f"{len(chosen)} ratings of {groups} contents in {rated.name}"
    return Calibration(method="ratings", data=data, overall=overall, kinds=kinds)


def _scores(calibration: Calibration, raw: Values, rated: RatedSet, rows: Fold) -> Values:
    kinds = [sample.kind for sample, inside in zip(rated.samples, rows, strict=True) if inside]
    known = [{kind: 1.0} if kind else None for kind in kinds]
    return np.array([calibration.score(float(value), kind)[0] for value, kind in zip(raw, known, strict=True)])


def _embedded(rated: RatedSet, evidence: Evidence, folds: Sequence[Fold]) -> tuple[EmbeddedScale, Change]:
    results = [one[EMBEDDED] for one in evidence]
    if any(result.get("score") is None for result in results):
        raise CalibrationError("the embedded model gave no score for some pictures; leave them out of the manifest")
    score, spans = (np.array([result[key] for result in results]) for key in ("score", "interval"))
    scales = [(_plain_scale(score, rated, ~out), out) for out in folds]
    after, ends = np.zeros(len(score)), np.zeros((len(score), 2))
    for scale, out in scales:
        after[out] = _applied(scale, score[out], spans[out])[:, 0]
    # How many half-widths each rating lies from the score, by a curve that has not seen it.
    needed = np.abs(rated.common - after) / np.maximum((spans[:, 1] - spans[:, 0]) / 2, 1e-3)
    for scale, out in scales:
        ends[out] = _applied(_stretched(scale, needed[~out]), score[out], spans[out])[:, 1:]
    final = _stretched(_plain_scale(score, rated, np.ones(len(score), bool)), needed)
    change = _change("embedded model", score, after, rated.common, folds, spans, ends)
    return final, change


def _plain_scale(score: Values, rated: RatedSet, rows: Fold) -> EmbeddedScale:
    clusters = {cluster for cluster, inside in zip(rated.clusters, rows, strict=True) if inside}
    curve = fit_curve(score[rows], rated.common[rows], increasing=True, references=len(clusters))
    data = f"{int(rows.sum())} ratings of {len(clusters)} contents in {rated.name}"
    return EmbeddedScale(curve=curve, interval_factor=1.0, data=data)


def _applied(scale: EmbeddedScale, scores: Values, spans: Values) -> Values:
    """Score, low and high of pictures on the user's scale."""
    found = []
    for score, (low, high) in zip(scores.tolist(), spans.tolist(), strict=True):
        new, interval = scale.apply(score, (low, high))
        assert interval is not None
        found.append((new, *interval))
    return np.array(found, np.float64)


def _stretched(scale: EmbeddedScale, needed: Values) -> EmbeddedScale:
    """The scale with its interval stretched to hold 95 % of ratings like these, one more counted for the unseen."""
    share = min(1.0, math.ceil((len(needed) + 1) * COVERED) / len(needed))
    factor = float(np.quantile(needed, share, method="higher"))
    return scale.model_copy(update={"interval_factor": round(max(factor, 0.05), 4)})


def _change(
    name: str, before: Values | None, after: Values, common: Values, folds: Sequence[Fold],
    spans_before: Values | None = None, spans_after: Values | None = None,
) -> Change:  # fmt: skip
    change = Change(
        name,
        None if before is None else rmse(before, common),
        rmse(after, common),
        None if before is None else _srcc_within(folds, before, common),
        _srcc_within(folds, after, common),
    )
    if spans_before is None or spans_after is None:
        return change
    held = [float(((common >= low) & (common <= high)).mean()) for low, high in (spans_before.T, spans_after.T)]
    widths = [float(np.ptp(spans, axis=1).mean()) for spans in (spans_before, spans_after)]
    return replace(
        change, before_coverage=held[0], after_coverage=held[1], before_width=widths[0], after_width=widths[1]
    )


def _srcc_within(folds: Sequence[Fold], values: Values, common: Values) -> float:
    """The mean rank correlation of the folds, by their size; those in which all values are equal say nothing."""
    found = [(int(out.sum()), srcc(values[out], common[out])) for out in folds if out.sum() > 1]
    known = [(size, value) for size, value in found if math.isfinite(value)]
    return sum(size * value for size, value in known) / sum(size for size, _ in known) if known else math.nan
