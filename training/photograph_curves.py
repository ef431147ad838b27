"""From the kernel's raw outputs to severities: one rising curve per flaw, chosen on out-of-fold outputs.

The curve of a flaw passes through three points: where slight, moderate and severe begin. Moderate begins where at most
`FALSE_ALARMS` of the photographs without the flaw are called so; slight and severe where severity words agree best
with the labels and the strongest flaw is most often the main one.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from training.looks import FLAWS, PRESENT

Floats = npt.NDArray[np.float64]
HEIGHTS = np.array([0, 0.5, 1.5, 2.5, 4.0])
FALSE_ALARMS = 0.045
# Finding more than this share of a flaw is not worth losing agreement elsewhere.
ENOUGH_FOUND = 0.86
ROUNDS = 2
# A picture in which nothing is the main flaw has its slight findings weakened: from this share on, by this much.
CALM_FROM, CALM_BY = 0.3, 0.9


def fit_curves(outputs: Floats, truth: Floats, main: npt.NDArray[np.str_]) -> Floats:
    """Five knots per flaw, printed with what they reach on the folds."""
    limits = [_fit_flaw(outputs[:, n], truth[:, n]) for n in range(len(FLAWS))]
    # The guide: the main flaw is unreliable where the worst severity is slight.
    clear = (truth.max(axis=1) >= PRESENT) | (main == "none")
    for _ in range(ROUNDS):
        for n in range(len(FLAWS)):
            limits[n] = _settle(n, limits, outputs[clear], truth[clear], main[clear])
    curves = np.array([knots(*three) for three in limits])
    _report(strengths(outputs, curves), truth, main)
    return curves


def strengths(outputs: Floats, curves: Floats) -> Floats:
    """Severities of every flaw, as the product computes them: curves, then calm pictures calmed."""
    found = np.stack([np.interp(outputs[:, n], curves[n], HEIGHTS) for n in range(len(FLAWS))], axis=1)
    calm = np.clip(outputs[:, -1] - CALM_FROM, 0, 1) * (found.max(axis=1) < PRESENT)
    return np.asarray(found * (1 - CALM_BY * calm[:, None]))


def knots(slight: float, moderate: float, severe: float) -> Floats:
    """The outputs at which the curve has its heights."""
    # Far below slight the curve still rises: of two pictures without the flaw one is nearer to having it.
    return np.array([slight - 1.5, slight, moderate, severe, severe + 1.5 * (severe - moderate)])


def kappa(truth: Floats, found: Floats) -> float:
    """Quadratic kappa of severity words from none to severe, halves rounded up."""
    first, second = (np.clip(np.floor(values + 0.5), 0, 3).astype(int) for values in (truth, found))
    table = np.zeros((4, 4))
    np.add.at(table, (first, second), 1)
    apart = np.subtract.outer(np.arange(4), np.arange(4)) ** 2
    chance = np.outer(table.sum(1), table.sum(0)) / table.sum()
    return float(1 - (apart * table).sum() / max((apart * chance).sum(), 1e-9))


def main_right(found: Floats, main: npt.NDArray[np.str_]) -> float:
    """How often the strongest flaw is the main one; none where nothing is even slight."""
    said = np.where(found.max(axis=1) >= 0.5, np.array(FLAWS)[found.argmax(axis=1)], "none")
    return float((said == main).mean())


def _fit_flaw(raw: Floats, truth: Floats) -> tuple[float, float, float]:
    """Where slight, moderate and severe begin, from a grid of shares of the photographs."""
    present = truth >= PRESENT
    best, chosen = -np.inf, (0.5, 1.0, 1.5)
    for alarms in np.linspace(0.01, FALSE_ALARMS, 6):
        moderate = float(np.quantile(raw[~present], 1 - alarms)) + 1e-9
        found = min(float((raw[present] >= moderate).mean()), ENOUGH_FOUND) if present.any() else 0.0
        lower = np.quantile(raw[raw < moderate], np.linspace(0.3, 0.97, 14))
        higher = [*np.quantile(raw[raw >= moderate], np.linspace(0.2, 0.95, 8)), moderate + 0.6]
        for slight, severe in itertools.product(lower[lower < moderate - 0.03], higher):
            three = (float(slight), moderate, max(float(severe), moderate + 0.1))
            value = 0.6 * found + kappa(truth, np.interp(raw, knots(*three), HEIGHTS))
            if value > best:
                best, chosen = value, three
    return chosen


def _settle(
    n: int, limits: list[tuple[float, float, float]], outputs: Floats, truth: Floats, main: npt.NDArray[np.str_]
) -> tuple[float, float, float]:
    """The limits of one flaw moved a little, moderate excepted, to where the main flaw is told best."""
    slight, moderate, severe = limits[n]
    curves = np.array([knots(*three) for three in limits])
    best, chosen = -np.inf, limits[n]
    for lower, higher in itertools.product(np.linspace(-0.4, 0.4, 9), (-0.3, 0, 0.3)):
        three = (min(slight + lower, moderate - 0.05), moderate, max(severe + higher, moderate + 0.1))
        curves[n] = knots(*three)
        found = strengths(outputs, curves)
        value = main_right(found, main) + 0.15 * kappa(truth[:, n], found[:, n])
        if value > best:
            best, chosen = value, three
    return chosen


def _report(found: Floats, truth: Floats, main: npt.NDArray[np.str_]) -> None:
    for n, flaw in enumerate(FLAWS):
        present, alarmed = truth[:, n] >= PRESENT, found[:, n] >= PRESENT
        print(
            f"folds {flaw:12} {int(present.sum()):4d} present, found {alarmed[present].mean():.3f}, "
            f"false alarms {alarmed[~present].mean():.3f}, kappa {kappa(truth[:, n], found[:, n]):.3f}"
        )
    clear = (truth.max(axis=1) >= PRESENT) | (main == "none")
    print(f"folds main flaw right {main_right(found, main):.3f} of {len(main)}, ", end="")
    print(f"{main_right(found[clear], main[clear]):.3f} of the {int(clear.sum())} clear ones")
