"""Fits and writes the shipped full-reference models.

    python -m training.fr_train --cache FOLDER --out src/agenticiqa/weights

`fr_open.npz` rests on synthetic damage of free photographs alone; `fr_research.npz` adds the opinions of TID2013's
part, which are for research use. The same functions refit every fold of `benchmarks/accuracy_fr.py`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.full_reference.consensus import ON_PURPOSE, member_losses
from agenticiqa.embedded.full_reference.pair_model import (
    CONSENSUS_NAMES,
    FullReferenceModel,
    OpenModel,
    Prediction,
    RatedModel,
    Standardiser,
    read_open,
    with_consensus,
)
from agenticiqa.evaluation.statistics import srcc
from training.fr_data import Pairs, joined, read_made, read_tid
from training.fr_extract import CODERS_FOLDER
from training.fr_fit import RECIPE, Recipe, fit_consensus, fit_pair_model, fit_standardiser, fit_tempered_recogniser
from training.fr_pack import pack_open, pack_rated
from training.manifest import write_arrays, write_manifest

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.bool_]
Words = npt.NDArray[np.str_]
COVERED = 0.95
UNRATED = 1e-6
# A kind's own error counts in full from this many pairs on.
ENOUGH = 20
# From here to 5 the scale is straight: nobody rated pairs that cannot be told from their reference.
TOP = 4.4


def fit_open(ladders: Pairs) -> OpenModel:
    """Consensus and kinds from ladders; its spread is measured against the ladders' nominal quality."""
    damage = ladders.rows(~np.isin(ladders.kind, ON_PURPOSE))
    consensus = fit_consensus(member_losses(damage.features, damage.names))
    standardise = fit_standardiser(ladders.features)
    recognise, _ = fit_tempered_recogniser(standardise(ladders.features), ladders, RECIPE)
    nominal = 5 - 0.8 * damage.level
    spread = float(np.std(consensus.score(damage.features, damage.names) - nominal))
    return OpenModel(ladders.names, consensus, standardise, recognise, spread)


def keep_open(stored: OpenModel, names: tuple[str, ...]) -> OpenModel:
    """A model fitted on ladders before, for pairs with further features, which it does not look at."""
    places = [names.index(name) for name in stored.names]
    centre, scale = np.zeros(len(names)), np.ones(len(names))
    centre[places], scale[places] = stored.standardise.centre, stored.standardise.scale
    weights = np.zeros((len(names), len(stored.recognise.kinds)))
    weights[places] = stored.recognise.weights
    recognise = replace(stored.recognise, weights=weights)
    return replace(stored, names=names, standardise=Standardiser(centre, scale), recognise=recognise)


def fit_rated(rated: Pairs, opened: OpenModel, made: Pairs, recipe: Recipe = RECIPE) -> RatedModel:
    """The model of rated pairs; its errors come from models that saw neither the photograph nor, outside, the kind."""
    basic = fit_basic(rated, opened, made, recipe)
    inside = held_out(rated, opened, made, leave_one_photograph_out(rated), recipe)
    errors = np.array([one.score for one in inside]) - rated.score
    beyond = held_out(rated, opened, made, leave_one_kind_out(rated), recipe)
    far, strange = np.array([one.score for one in beyond]) - rated.score, np.array([one.strange for one in beyond])
    outside = float(np.sqrt((strange * far**2).sum() / strange.sum()))
    spreads = _spreads(errors, rated.kind, basic.model.recognise.kinds, outside)
    known = float(np.sqrt((errors**2).mean()))
    factor = float(np.quantile(np.abs(far) / joint_spread(strange, known, outside), COVERED))
    agreed = srcc(rated.score + errors, rated.score)
    return replace(basic, spreads=spreads, outside=outside, factor=factor, srcc=agreed)


def fit_basic(rated: Pairs, opened: OpenModel, made: Pairs, recipe: Recipe = RECIPE) -> RatedModel:
    """The fit alone, its errors not yet known.

    Made pairs take part with the consensus as their label: near them nothing is added.
    """
    consensus = opened.consensus.score(rated.features, rated.names)
    scale = fit_scale(consensus, rated.score)
    everything = told_of_consensus(joined(rated, made), opened)
    added = np.concatenate([rated.score - np.interp(consensus, *scale), np.zeros(len(made))])
    model = fit_pair_model(everything, added, len(rated), recipe)
    # Nobody rated the made pairs: nearness to them is no reason to believe in opinions.
    reach = np.where(np.arange(len(everything)) < len(rated), model.reach, UNRATED)
    clusters = len(np.unique(rated.group))
    spreads = np.ones(len(model.recognise.kinds))
    known = np.isin(model.recognise.kinds, rated.kind).astype(np.float64)
    return RatedModel(replace(model, reach=reach), scale, known, spreads, 1.0, 1.96, clusters, 0.0)


def joint_spread(strange: Floats, known: float, outside: float) -> Floats:
    """Standard errors of pairs by how strange they are."""
    return np.asarray(np.sqrt((1 - strange) * known**2 + strange * outside**2), np.float64)


def fit_scale(consensus: Floats, score: Floats) -> Floats:
    """The consensus and the opinion it stands for, two rows: a line, and from its upper end straight to 5."""
    slope, offset = np.polyfit(consensus, score, 1)
    ends = np.array([1.0, TOP])
    return np.array([[*ends, 5.0], [*np.minimum(offset + slope * ends, 4.9), 5.0]])


def told_of_consensus(pairs: Pairs, opened: OpenModel) -> Pairs:
    """The pairs with what the consensus says of them among their features."""
    return replace(pairs, features=with_consensus(pairs.features, opened), names=(*pairs.names, *CONSENSUS_NAMES))


def leave_one_photograph_out(pairs: Pairs) -> Iterator[Rows]:
    """The rows of each photograph in turn."""
    for name in np.unique(pairs.group):
        yield pairs.group == name


def leave_one_kind_out(pairs: Pairs) -> Iterator[Rows]:
    """The rows of each kind of damage in turn; TID2013's contrast type goes both ways."""
    kinds = ladder_of(pairs)
    for name in np.unique(kinds):
        yield kinds == name


def ladder_of(pairs: Pairs) -> Words:
    """The kind as TID2013 counts them: a change of contrast is one, whichever way it goes."""
    return np.where(np.char.startswith(pairs.kind, "contrast"), "contrast", pairs.kind)


def held_out(
    rated: Pairs, opened: OpenModel, made: Pairs, folds: Iterator[Rows], recipe: Recipe = RECIPE
) -> list[Prediction]:
    """What is said of every pair by a fit without the fold it is in."""
    found: dict[int, Prediction] = {}
    for out in folds:
        basic = fit_basic(rated.rows(~out), opened, made.rows(~np.isin(made.kind, _gone(rated, out))), recipe)
        predicted = FullReferenceModel(opened, basic).predict_rows(rated.features[out])
        found |= dict(zip(map(int, np.flatnonzero(out)), predicted, strict=True))
    return [found[row] for row in range(len(rated))]


def _gone(rated: Pairs, out: Rows) -> Words:
    """The kinds that are left out altogether."""
    return np.setdiff1d(rated.kind[out], rated.kind[~out])


def _spreads(errors: Floats, kind: Words, kinds: tuple[str, ...], outside: float) -> Floats:
    overall = float((errors**2).mean())
    found = []
    for name in kinds:
        own = errors[kind == name]
        near = np.sqrt(((own**2).sum() + ENOUGH * overall) / (len(own) + ENOUGH))
        found.append(near if len(own) else outside)
    return np.array(found)


def made_columns(made: Pairs) -> dict[str, Any]:
    """What the made pairs are, beside their features in the model, for benchmarks that leave some of them out."""
    return {"made_group": made.group, "made_kind": made.kind, "made_source": made.source}


def read_all_made(cache: Path) -> Pairs:
    """The pairs as in the field and the coders' quality ladders."""
    return joined(read_made(cache / "field.npz"), *map(read_made, sorted((cache / CODERS_FOLDER).glob("*.npz"))))


def write(folder: Path, name: str, arrays: dict[str, Any]) -> None:
    """The archive and its line in the manifest."""
    write_arrays(folder / name, arrays)
    write_manifest(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--ladders", type=Path, help="fr_open.npz of ladders measured before, instead of new ones")
    given = parser.parse_args()
    tid, everything_made = read_tid(given.cache / "tid.npz"), read_all_made(given.cache)
    if given.ladders:
        open_model = keep_open(read_open(dict(np.load(given.ladders))), tid.names)
    else:
        open_model = fit_open(read_made(given.cache / "ladders.npz"))
    write(given.out, "fr_open.npz", pack_open(open_model))
    fitted = pack_rated(fit_rated(tid, open_model, everything_made))
    write(given.out, "fr_research.npz", fitted | made_columns(everything_made))
