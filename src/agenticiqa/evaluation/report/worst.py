"""The pictures on which score and opinion lie farthest apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agenticiqa.evaluation.evaluating import Evaluation
from agenticiqa.evaluation.runs import FULL


@dataclass(frozen=True)
class Disagreement:
    """One picture, its opinion, its score after the logistic fit, and the agent's words."""

    name: str
    image: Path
    opinion: float
    fitted: float
    why: str


def worst_pictures(found: Evaluation, count: int = 12) -> list[Disagreement]:
    """The pictures with the largest residuals of the first method, the largest first."""
    if not found.rows or found.rows[0].fit is None:
        return []
    fitted = found.rows[0].fit(found.rows[0].method.scores)
    apart = np.nan_to_num(np.abs(fitted - found.rated.opinions), nan=-1.0)
    sign = 1 if found.rated.scale.higher_is_better else -1
    return [
        Disagreement(sample.name, sample.image, sample.opinion, sign * float(fitted[row]), _words(found, int(row)))
        for row in np.argsort(-apart, kind="stable")[:count]
        for sample in [found.rated.samples[row]]
        if apart[row] >= 0
    ]


def _words(found: Evaluation, row: int) -> str:
    text = str(found.evidence[row].get(FULL, {}).get("reasoning") or "")
    return text if len(text) <= 160 else text[:157] + "…"
