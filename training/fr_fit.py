"""How the full-reference model is fitted: linear discriminants, kernel ridge regression and quantiles of losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.full_reference.consensus import SHARES, Consensus
from agenticiqa.embedded.full_reference.pair_model import (
    KernelMachine,
    KindRecogniser,
    PairModel,
    Standardiser,
    distances,
    kernels,
)
from training.fr_data import Pairs

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Recipe:
    """What is chosen before fitting, the same for every fold."""

    widths: tuple[float, ...] = (0.1, 0.2, 0.4)
    noise: float = 0.1
    # Pairs labelled by the consensus count less than rated ones.
    anchor_noise: float = 0.5
    sharing: float = 0.5
    shrinkage: float = 0.1
    folds: int = 6
    # Of the distances across photographs within a kind, the share that counts as near.
    near: float = 0.9


RECIPE = Recipe()
TEMPERATURES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
WITHOUT_DETECTION = Recipe(sharing=1.0)


def fit_pair_model(pairs: Pairs, correction: Floats, rated: int, recipe: Recipe = RECIPE) -> PairModel:
    """The model that gives, for each pair, what has to be added to the consensus; the rated pairs come first."""
    standardise = fit_standardiser(pairs.features[:rated])
    standard = standardise(pairs.features)
    recognise, kinds = fit_tempered_recogniser(standard, pairs, recipe)
    noise = np.where(np.arange(len(pairs)) < rated, recipe.noise, recipe.anchor_noise)
    machine = fit_machine(standard, kinds, correction, noise, recipe)
    return PairModel(pairs.names, standardise, recognise, machine, reaches(standard, pairs, recipe))


def reaches(standard: Floats, pairs: Pairs, recipe: Recipe) -> Floats:
    """For each pair, the distance within which most pairs of its kind find one of another photograph."""
    apart = distances(standard, standard)
    apart[pairs.group[:, None] == pairs.group[None]] = np.inf
    nearest = apart.min(axis=1)
    found = {kind: float(np.quantile(nearest[pairs.kind == kind], recipe.near)) for kind in np.unique(pairs.kind)}
    return np.array([found[kind] for kind in pairs.kind])


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


def fit_tempered_recogniser(standard: Floats, pairs: Pairs, recipe: Recipe) -> tuple[KindRecogniser, Floats]:
    """The recogniser, no surer of itself than it is right, and what it says of rows whose photograph it did not see."""
    sure = fit_recogniser(standard, pairs.kind, recipe.shrinkage)
    kinds = out_of_fold_kinds(standard, pairs, sure.kinds, recipe)
    truth = np.array([sure.kinds.index(kind) for kind in pairs.kind])
    heat = min(TEMPERATURES, key=lambda heat: -np.log(_tempered(kinds, heat)[np.arange(len(truth)), truth]).mean())
    return KindRecogniser(sure.kinds, sure.weights / heat, sure.bias / heat), _tempered(kinds, heat)


def _tempered(kinds: Floats, heat: float) -> Floats:
    softer = np.maximum(kinds, 1e-30) ** (1 / heat)
    return np.asarray(softer / softer.sum(axis=1, keepdims=True), np.float64)


def out_of_fold_kinds(standard: Floats, pairs: Pairs, kinds: tuple[str, ...], recipe: Recipe) -> Floats:
    """Kind probabilities of every row by a recogniser that never saw its photograph."""
    found = np.zeros((len(pairs), len(kinds)))
    groups = np.unique(pairs.group)
    for fold in range(min(recipe.folds, len(groups))):
        out = np.isin(pairs.group, groups[fold :: recipe.folds])
        recognise = fit_recogniser(standard[~out], pairs.kind[~out], recipe.shrinkage)
        places = np.array([kinds.index(name) for name in recognise.kinds])
        found[np.ix_(np.flatnonzero(out), places)] = recognise(standard[out])
    return found


def fit_machine(standard: Floats, kinds: Floats, target: Floats, noise: Floats, recipe: Recipe) -> KernelMachine:
    """Kernel ridge regression, once per width."""
    widths = np.array(recipe.widths)
    layers = kernels(standard, kinds, standard, kinds, widths, recipe.sharing)
    weights = np.stack([np.linalg.solve(layer + np.diag(noise), target) for layer in layers])
    return KernelMachine(standard, kinds, weights, widths, recipe.sharing)


def fit_consensus(losses: Floats) -> Consensus:
    """The quantiles of rows of losses, strictly rising."""
    edges = np.quantile(losses, np.linspace(0, 1, SHARES), axis=0).T
    return Consensus(np.maximum.accumulate(np.maximum(edges, 1e-9) + 1e-9 * np.arange(SHARES), axis=1))
