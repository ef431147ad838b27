"""The full-reference judgement that needs no opinions: agreeing metrics, and changes made on purpose read as such.

Published metrics that see colour and structure are brought to one scale by their quantiles over synthetic damage, and
their mean counts. Which metrics: those whose mean is least behind the best single one on sources of opinions nothing
was fitted on (FSQD, HECD; docs/model-card-fr.md). A change of brightness, contrast or saturation they misread: where it
explains the difference, every detail is still there, and its size alone is judged. A pair unlike all that people rated
is asked of one more: what the trunk's later stages still recognise of the reference's structure, which sees a face
drawn anew or a sky recoloured where gradients see nothing wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.tools.synthetic.kinds import KINDS, LEVELS

Floats = npt.NDArray[np.float64]

MEMBERS = ("VSI", "MDSI")
# The stages whose loss of structure is the further member, and the value that stands for none lost.
STAGES, NONE_LOST = (3, 4, 5), -4.0
ON_PURPOSE = ("mean_shift", "darken", "brighten", "contrast_up", "contrast_down", "saturation_up", "saturation_down")
# Level 1 of a ladder is barely visible; what is damaged less than nine in ten of them is close to untouched.
BEST_DAMAGED, WORST = 4.6, 1.0
# What one level of a deliberate change costs; damage costs 0.8.
PURPOSE_STEP = 0.55
# Shares of the difference explained by tone between which the judgement passes from metrics to tone.
NOT_TONE, ALL_TONE = 0.6, 0.8
SHARES = 41
# Shares of frequencies left between which a change of tone keeps its detail.
LOST, HARDLY_LOST = 0.3, 0.5


@dataclass(frozen=True)
class Consensus:
    """The quantiles of each member's loss over synthetic damage, best first."""

    quantiles: Floats

    def members(self, losses: Floats) -> Floats:
        """Each member's score, for rows of losses in the order of MEMBERS, the structure after them."""
        scores = np.linspace(BEST_DAMAGED, WORST, SHARES)
        columns = [
            np.interp(loss, [0.0, *edges], [5.0, *scores]) for loss, edges in zip(losses.T, self.quantiles, strict=True)
        ]
        return np.stack(columns, axis=1)

    def score(self, features: Floats, names: Sequence[str]) -> Floats:
        """Scores of rows of features."""
        return self.describe(features, names)[:, 0]

    def describe(self, features: Floats, names: Sequence[str]) -> Floats:
        """What the fitted model is told of the consensus: score, agreement, tone score and the share tone explains."""
        tone = tone_change(features, names)
        agreed = self.members(member_losses(features, names))[:, : len(MEMBERS)].mean(axis=1)
        return np.stack([agreed + tone.weight * (tone.score - agreed), agreed, tone.score, tone.explained], axis=1)

    def unlike(self, features: Floats, names: Sequence[str]) -> Floats:
        """Scores of pairs unlike all that was rated: the plain mean of all members, and no reading of tone."""
        return np.asarray(self.members(member_losses(features, names)).mean(axis=1))


@dataclass(frozen=True)
class ToneChange:
    """How much of the difference brightness, contrast and saturation explain, what their change costs, detail left."""

    explained: Floats
    score: Floats
    detail: Floats

    @property
    def weight(self) -> Floats:
        """0 where the difference is damage, 1 where it is a change of tone alone."""
        return np.clip((self.explained - NOT_TONE) / (ALL_TONE - NOT_TONE), 0, 1) * self.detail


def member_losses(features: Floats, names: Sequence[str]) -> Floats:
    """The members' columns: losses, 0 for an identical pair; structure the trunk no longer recognises is the last."""
    metrics, stages = (
        features[:, [list(names).index(name) for name in wanted]]
        for wanted in ([f"metric.{name}" for name in MEMBERS], [f"stage{number}.structure" for number in STAGES])
    )
    return np.column_stack([metrics, stages.mean(axis=1) - NONE_LOST])


def tone_change(features: Floats, names: Sequence[str]) -> ToneChange:
    """The change of tone of rows of features, in levels of the deliberate kinds."""
    column = {name: features[:, place] for place, name in enumerate(names)}
    before = sum(_power(column[f"energy.{plane}"]) for plane in ("y", "cb", "cr"))
    after = _power(column["tone.luma_left"]) + 2 * _power(column["tone.chroma_left"])
    levels = [
        _levels(np.abs(column["shift.y"]), "mean_shift"),
        _either_way(column["tone.luma_gain"], "contrast_down", "contrast_up"),
        _either_way(column["tone.chroma_gain"], "saturation_down", "saturation_up"),
    ]
    cost = PURPOSE_STEP * np.sqrt(np.sum(np.square(levels), axis=0))
    # Heavy smoothing takes contrast and saturation with it; that is not a change of tone.
    detail = np.clip((column["transfer.cutoff"] - LOST) / (HARDLY_LOST - LOST), 0, 1)
    return ToneChange(np.asarray(1 - after / (before + 1e-6)), np.clip(5 - cost, WORST, 5), detail)


def _power(logged: Floats) -> Any:
    return 10**logged - 1


def _either_way(gain: Floats, down: str, up: str) -> Floats:
    return np.where(gain < 1, _levels(1 - gain, down), _levels(gain - 1, up))


def _levels(amount: Floats, kind: str) -> Floats:
    untouched = 0.0 if kind == "mean_shift" else 1.0
    known = [abs(step - untouched) for step in KINDS[kind].amounts]
    return np.asarray(np.interp(amount, [0.0, *known], [0.0, *LEVELS]), np.float64)
