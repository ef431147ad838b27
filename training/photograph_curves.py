"""From the kernel's raw outputs to severities: one rising curve per flaw, chosen on out-of-fold outputs.

The curve of a flaw passes through three points: where slight, moderate and severe begin. Moderate begins where at most
`FALSE_ALARMS` of the photographs without the flaw are called so, slight and severe where severity words agree best with
the labels. Which flaw is the main one is not the curves' business (`photograph_model.main_first`).

Outputs for photographs of another source are smaller, so it has curves of its own, fitted on photographs left out by
folds. With their whole source left out outputs are smaller still; curves that counted those cried wolf too often.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.photograph_model import HEIGHTS, LIKE_HOME, on_scale
from agenticiqa.limits import SLIGHT
from training.clusters import folds_of
from training.looks import FLAWS, PRESENT

Floats = npt.NDArray[np.float64]
# What may be called moderate without being so; rare flaws may be imagined less often than common ones.
FALSE_ALARMS = {
    "blur": 0.05, "noise": 0.034, "compression": 0.02, "dark": 0.05, "bright": 0.038, "contrast": 0.04,
    "colour": 0.026, "oversharp": 0.006,
}  # fmt: skip
# Elsewhere: the share without a flaw below slight, the lowest output that is moderate, and how much further severe
# begins.
BELOW_SLIGHT_ELSEWHERE, LEAST_MODERATE, TO_SEVERE = 0.85, 0.35, 0.9
SLIGHT_OUTPUTS, SEVERE_OUTPUTS = (0.4, 0.5, 0.6, 0.7), (1.8, 2.0, 2.2, 2.4)


@dataclass(frozen=True)
class Sources:
    """Outputs of every row left out of the fit, of the rows away from home also with their whole source left out.

    `likeness` to home is None where there is no other source.
    """

    outputs: Floats
    unseen: Floats
    likeness: Floats | None
    home: npt.NDArray[np.bool_]
    away: npt.NDArray[np.bool_]


def fit_all_curves(sources: Sources, truth: Floats, main: npt.NDArray[np.str_]) -> dict[str, npt.NDArray[np.float32]]:
    """The knots of home and, where there is another source, of elsewhere."""
    judged = main != ""
    home = fit_curves(sources.outputs[judged], truth[judged], main[judged])
    found = {"knots": home.astype(np.float32)}
    if sources.likeness is not None:
        elsewhere = fit_elsewhere(sources.outputs[sources.away], truth[sources.away])
        _report_elsewhere(sources, truth, home, elsewhere)
        found["knots_elsewhere"] = elsewhere.astype(np.float32)
    return found


def fit_curves(outputs: Floats, truth: Floats, main: npt.NDArray[np.str_]) -> Floats:
    """Five knots per flaw, printed with what curves of four fifths of the photographs reach on the others."""
    fifth = folds_of(np.arange(len(outputs)), 5, 4)
    found = np.zeros_like(truth)
    for n in range(5):
        curves = _all_curves(outputs[fifth != n], truth[fifth != n])
        found[fifth == n] = strengths(outputs[fifth == n], curves)
    _report(found, truth, main)
    return _all_curves(outputs, truth)


def fit_elsewhere(outputs: Floats, truth: Floats) -> Floats:
    """Five knots per flaw for photographs of another source, few of which have a flaw."""
    found = []
    for n, flaw in enumerate(FLAWS):
        without, calm = outputs[truth[:, n] < PRESENT, n], outputs[truth[:, n] < 1, n]
        moderate = max(float(np.quantile(without, 1 - FALSE_ALARMS[flaw])), LEAST_MODERATE)
        slight = min(float(np.quantile(calm, BELOW_SLIGHT_ELSEWHERE)), moderate - 0.15)
        found.append(knots(slight, moderate, moderate + TO_SEVERE))
    return np.array(found)


def strengths(outputs: Floats, curves: Floats) -> Floats:
    """Severities of every flaw at home, as the product computes them."""
    return np.asarray(on_scale(outputs, np.full(len(outputs), LIKE_HOME[1]), curves, curves))


def knots(slight: float, moderate: float, severe: float) -> Floats:
    """The outputs at which the curve has its heights."""
    # Far below slight the curve still rises: of two pictures without the flaw one is nearer to having it.
    return np.array([slight - 1.5, slight, moderate, severe, severe + 1.5 * (severe - moderate)])


def kappa(truth: npt.NDArray[Any], found: npt.NDArray[Any]) -> float:
    """Quadratic kappa of severity words from none to severe, halves rounded up."""
    first, second = (np.clip(np.floor(values + 0.5), 0, 3).astype(int) for values in (truth, found))
    table = np.zeros((4, 4))
    np.add.at(table, (first, second), 1)
    apart = np.subtract.outer(np.arange(4), np.arange(4)) ** 2
    chance = np.outer(table.sum(1), table.sum(0)) / table.sum()
    return float(1 - (apart * table).sum() / max((apart * chance).sum(), 1e-9))


def main_right(found: Floats, main: npt.NDArray[np.str_]) -> float:
    """How often the strongest flaw is the main one; none where nothing is even slight."""
    said = np.where(found.max(axis=1) >= SLIGHT, np.array(FLAWS)[found.argmax(axis=1)], "none")
    return float((said == main).mean())


def _all_curves(outputs: Floats, truth: Floats) -> Floats:
    return np.array([_fit_flaw(flaw, outputs[:, n], truth[:, n]) for n, flaw in enumerate(FLAWS)])


def _fit_flaw(flaw: str, raw: Floats, truth: Floats) -> Floats:
    """The knots with moderate where false alarms allow it and the best agreement elsewhere."""
    moderate = float(np.quantile(raw[truth < PRESENT], 1 - FALSE_ALARMS[flaw]))
    tried = [
        knots(min(slight, moderate - 0.1), moderate, max(severe, moderate + 0.4))
        for slight, severe in itertools.product(SLIGHT_OUTPUTS, SEVERE_OUTPUTS)
    ]
    return max(tried, key=lambda curve: kappa(truth, np.interp(raw, curve, HEIGHTS)))


def _report(found: Floats, truth: Floats, main: npt.NDArray[np.str_]) -> None:
    for n, flaw in enumerate(FLAWS):
        present, alarmed = truth[:, n] >= PRESENT, found[:, n] >= PRESENT
        print(
            f"folds {flaw:12} {int(present.sum()):4d} present, found {alarmed[present].mean():.3f}, "
            f"false alarms {alarmed[~present].mean():.3f}, kappa {kappa(truth[:, n], found[:, n]):.3f}"
        )
    # The guide: the main flaw is unreliable where the worst severity is slight.
    clear = (truth.max(axis=1) >= PRESENT) | (main == "none")
    print(f"folds main flaw right {main_right(found, main):.3f} of {len(main)}, ", end="")
    print(f"{main_right(found[clear], main[clear]):.3f} of the {int(clear.sum())} clear ones")


def _report_elsewhere(sources: Sources, truth: Floats, home: Floats, elsewhere: Floats) -> None:
    """What both sets of curves reach on the other source, known to the fit and left out of it."""
    assert sources.likeness is not None
    true, likeness = truth[sources.away], sources.likeness[sources.away]
    for name, outputs in (("known", sources.outputs[sources.away]), ("left out", sources.unseen)):
        found = on_scale(outputs, likeness, home, elsewhere)
        present, alarmed = true >= PRESENT, found >= PRESENT
        hits, false = (present & alarmed).sum(axis=0), (~present & alarmed).sum(axis=0)
        counts = zip(FLAWS, hits, present.sum(axis=0), false, strict=True)
        print(f"other source, {name}: " + ", ".join(f"{f} {h} of {n}, {x} false" for f, h, n, x in counts))
