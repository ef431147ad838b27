"""How the full-reference model is fitted: linear discriminants, kernel ridge regression and extremely random trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agenticiqa.perception.full_reference_model import (
    Forest,
    KernelMachine,
    KindRecogniser,
    PairModel,
    Standardiser,
    kernels,
)
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
    trees: int = 200
    seed: int = 9


RECIPE = Recipe()
TEMPERATURES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
WITHOUT_DETECTION = Recipe(sharing=1.0)


def fit_pair_model(pairs: Pairs, recipe: Recipe = RECIPE) -> PairModel:
    """The model of rated pairs."""
    standardise = fit_standardiser(pairs.features)
    standard = standardise(pairs.features)
    recognise, kinds = fit_tempered_recogniser(standard, pairs, recipe)
    offset = float(pairs.score.mean())
    machine = fit_machine(standard, kinds, pairs.score - offset, recipe)
    rows = standard if recipe.sharing == 1 else np.hstack([standard, kinds])
    return PairModel(pairs.names, standardise, recognise, machine, fit_forest(rows, pairs.score, recipe), offset)


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


def fit_machine(standard: Floats, kinds: Floats, target: Floats, recipe: Recipe) -> KernelMachine:
    """Kernel ridge regression, once per width."""
    widths = np.array(recipe.widths)
    layers = kernels(standard, kinds, standard, kinds, widths, recipe.sharing)
    weights = np.stack([np.linalg.solve(layer + recipe.noise * np.eye(len(target)), target) for layer in layers])
    return KernelMachine(standard, kinds, weights, widths, recipe.sharing)


def fit_forest(rows: Floats, target: Floats, recipe: Recipe) -> Forest:
    """Extremely random trees as one table of nodes."""
    from sklearn.ensemble import ExtraTreesRegressor

    trees = ExtraTreesRegressor(recipe.trees, max_features=0.4, random_state=recipe.seed, n_jobs=1).fit(rows, target)
    parts = [estimator.tree_ for estimator in trees.estimators_]
    roots = np.cumsum([0, *(part.node_count for part in parts[:-1])])
    # scikit-learn numbers nodes depth first, so that a left child follows its parent.
    right = np.concatenate(
        [np.where(part.children_right < 0, np.arange(part.node_count), part.children_right) + root
         for part, root in zip(parts, roots, strict=True)]
    )  # fmt: skip
    return Forest(
        feature=np.concatenate([np.maximum(part.feature, 0) for part in parts]).astype(np.intp),
        threshold=np.concatenate([part.threshold for part in parts]).astype(np.float32).astype(np.float64),
        right=right.astype(np.intp),
        value=np.concatenate([part.value[:, 0, 0] for part in parts]),
        roots=roots.astype(np.intp),
        depth=max(part.max_depth for part in parts),
    )
