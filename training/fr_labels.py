"""Scores for damage we made ourselves, from the strength of the damage and the consensus of published metrics.

No opinion of any picture enters. Each metric has one monotone curve to the nominal quality of the level that
caused it; the label is the mean of these curves blended with the nominal quality itself, which knows about damage
the metrics overlook. Changes a person makes on purpose (brightness, contrast, saturation) leave every detail in
place: they are labelled by their strength, on a milder ladder, because metrics are known to misread them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from agenticiqa.perception.full_reference_features import HIGHER_IS_BETTER
from agenticiqa.tools.fitting import evaluate, fit_curve
from training.fr_data import Pairs

Floats = npt.NDArray[np.float64]

# The metrics that see colour and structure; weights are equal because nothing here was fitted to opinions.
CONSENSUS = ("VSI", "MS_GMSDc", "MDSI", "HaarPSI", "FSIM")
ON_PURPOSE = ("mean_shift", "darken", "brighten", "contrast_up", "contrast_down", "saturation_up", "saturation_down")
STEP, STEP_ON_PURPOSE = 0.8, 0.55
NOMINAL_SHARE, NOMINAL_SHARE_ON_PURPOSE = 0.4, 0.7


def labelled(pairs: Pairs) -> Pairs:
    """The pairs with labels on the common scale."""
    purpose = np.isin(pairs.kind, ON_PURPOSE)
    nominal = 5 - np.where(purpose, STEP_ON_PURPOSE, STEP) * pairs.level
    share = np.where(purpose, NOMINAL_SHARE_ON_PURPOSE, NOMINAL_SHARE)
    return replace(pairs, score=share * nominal + (1 - share) * consensus(pairs, nominal, ~purpose))


def consensus(pairs: Pairs, nominal: Floats, fitted: npt.NDArray[np.bool_]) -> Floats:
    """The mean of the metrics on the nominal scale, curves fitted on the chosen rows."""
    total = np.zeros(len(pairs))
    for name in CONSENSUS:
        values = pairs.metric(name)
        curve = fit_curve(values[fitted], nominal[fitted], increasing=HIGHER_IS_BETTER[name])
        total += evaluate(curve, values)
    return total / len(CONSENSUS)
