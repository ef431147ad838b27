"""Fits the full-reference model and writes it as plain arrays.

    python -m training.fr_fit --cache FOLDER --out src/agenticiqa/perception/weights

`open` is fitted on synthetic ladders of free photographs alone. `research` corrects it with the opinions of
TID2013's part: a Gaussian process whose mean is the open model and whose kernel knows the kinds of damage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agenticiqa.perception.full_reference_model import KernelMachine, KindRecogniser, PairModel, Standardiser, kernels
from training.fr_data import Pairs

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Recipe:
    """What is chosen before fitting, the same for every fold."""

    widths: tuple[float, ...] = (0.1, 0.2, 0.4)
    noise: float = 0.1
    sharing: float = 0.5
    shrinkage: float = 0.1
    folds: int = 6


OPEN = Recipe(noise=0.3)
RESEARCH = Recipe()
WITHOUT_DETECTION = Recipe(sharing=1.0)


def fit(pairs: Pairs, recipe: Recipe, prior: PairModel | None = None) -> PairModel:
    """The model of these pairs, correcting the prior if there is one."""
    standardise = fit_standardiser(pairs.features)
    standard = standardise(pairs.features)
    recognise = fit_recogniser(standard, pairs.kind, recipe.shrinkage)
    kinds = out_of_fold_kinds(standard, pairs, recognise.kinds, recipe)
    offset, slope, target = _left_to_explain(pairs, prior)
    machine = fit_machine(standard, kinds, target, recipe)
    return PairModel(pairs.names, standardise, recognise, machine, (offset, slope), prior)


def _left_to_explain(pairs: Pairs, prior: PairModel | None) -> tuple[float, float, Floats]:
    if prior is None:
        offset = float(pairs.score.mean())
        return offset, 0.0, pairs.score - offset
    expected = prior.score(pairs.features)
    slope, offset = np.polyfit(expected, pairs.score, 1)
    return float(offset), float(slope), pairs.score - (offset + slope * expected)


def fit_standardiser(features: Floats) -> Standardiser:
    """Mean and deviation of each feature; one that never varies is left alone."""
    deviation = features.std(axis=0)
    return Standardiser(features.mean(axis=0), np.where(deviation > 1e-6, deviation, 1.0))


def fit_recogniser(standard: Floats, kind: npt.NDArray[np.str_], shrinkage: float) -> KindRecogniser:
    """Linear discriminants with a shrunk common covariance."""
    names = np.unique(kind)
    means = np.stack([standard[kind == name].mean(axis=0) for name in names])
    centred = standard - means[np.searchsorted(names, kind)]
    covariance = centred.T @ centred / len(standard)
    size = np.trace(covariance) / len(covariance)
    covariance = (1 - shrinkage) * covariance + shrinkage * size * np.eye(len(covariance))
    weights = np.linalg.solve(covariance, means.T)
    bias = -0.5 * (means.T * weights).sum(axis=0)
    return KindRecogniser(tuple(map(str, names)), weights, bias)


def out_of_fold_kinds(standard: Floats, pairs: Pairs, kinds: tuple[str, ...], recipe: Recipe) -> Floats:
    """Kind probabilities of every row by a recogniser that never saw its photograph."""
    found = np.zeros((len(pairs), len(kinds)))
    groups = np.unique(pairs.group)
    for fold in range(min(recipe.folds, len(groups))):
        out = np.isin(pairs.group, groups[fold :: recipe.folds])
        recognise = fit_recogniser(standard[~out], pairs.kind[~out], recipe.shrinkage)
        places = [kinds.index(name) for name in recognise.kinds]
        found[np.ix_(out, places)] = recognise(standard[out])
    return found


def fit_machine(standard: Floats, kinds: Floats, target: Floats, recipe: Recipe) -> KernelMachine:
    """Kernel ridge regression, once per width."""
    widths = np.array(recipe.widths)
    layers = kernels(standard, kinds, standard, kinds, widths, recipe.sharing)
    noise = recipe.noise * np.eye(len(target))
    weights = np.stack([np.linalg.solve(layer + noise, target) for layer in layers])
    return KernelMachine(standard, kinds, weights, widths, recipe.sharing)
