"""Fits and writes the shipped full-reference models.

    python -m training.fr_train --cache FOLDER --out src/agenticiqa/perception/weights

`fr_open.npz` rests on synthetic damage of free photographs alone; `fr_research.npz` adds the opinions of TID2013's
part, which are for research use. The same functions refit every fold of `benchmarks/accuracy_fr.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa.evaluation.statistics import srcc
from agenticiqa.perception.full_reference_consensus import ON_PURPOSE, fit_consensus, member_losses
from agenticiqa.perception.full_reference_model import distances
from agenticiqa.perception.full_reference_weights import (
    MANIFEST,
    OpenModel,
    RatedModel,
    pack_open,
    pack_rated,
    with_consensus,
)
from training.fr_data import Pairs, joined, read_synthetic, read_tid
from training.fr_fit import RECIPE, Recipe, fit_pair_model, fit_standardiser, fit_tempered_recogniser

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.bool_]
CONSENSUS_NAMES = ("consensus.score", "consensus.agreed", "consensus.tone", "consensus.explained")
# A kind's own error counts in full from this many pairs on.
ENOUGH = 20


def fit_open(synthetic: Pairs) -> OpenModel:
    """Consensus and kinds from synthetic ladders; its spread is measured against the ladders' nominal quality."""
    damage = ~np.isin(synthetic.kind, ON_PURPOSE)
    consensus = fit_consensus(member_losses(synthetic.features[damage], synthetic.names))
    standardise = fit_standardiser(synthetic.features)
    recognise, _ = fit_tempered_recogniser(standardise(synthetic.features), synthetic, RECIPE)
    nominal = 5 - 0.8 * synthetic.level[damage]
    spread = float(np.std(consensus.score(synthetic.features[damage], synthetic.names) - nominal))
    return OpenModel(synthetic.names, consensus, standardise, recognise, spread)


def fit_rated(rated: Pairs, opened: OpenModel, synthetic: Pairs | None, recipe: Recipe = RECIPE) -> RatedModel:
    """The model of rated pairs; its errors come from models that did not see the photograph.

    Kinds nobody rated are recognised when there are synthetic pairs of them; the score does not depend on those.
    """
    pairs = told_of_consensus(rated, opened)
    model = fit_pair_model(pairs, recipe)
    everything = pairs if synthetic is None else joined(pairs, told_of_consensus(synthetic, opened))
    recognise, _ = fit_tempered_recogniser(model.standardise(everything.features), everything, recipe)
    slope, offset = np.polyfit(opened.consensus.score(rated.features, rated.names), rated.score, 1)
    near = _reach(model.machine.support, pairs.group)
    errors = _held_out_errors(pairs, recipe)
    return RatedModel(
        model,
        recognise,
        (float(offset), float(slope)),
        near,
        3 * near,
        _spreads(errors, pairs.kind, model.recognise.kinds),
        len(np.unique(pairs.group)),
        srcc(pairs.score + errors, pairs.score),
    )


def told_of_consensus(pairs: Pairs, opened: OpenModel) -> Pairs:
    """The pairs with what the consensus says of them among their features."""
    return replace(pairs, features=with_consensus(pairs.features, opened), names=(*pairs.names, *CONSENSUS_NAMES))


def leave_one_photograph_out(pairs: Pairs) -> Iterator[Rows]:
    """The rows of each photograph in turn."""
    for name in np.unique(pairs.group):
        yield pairs.group == name


def _reach(standard: Floats, group: npt.NDArray[np.str_]) -> float:
    """The distance within which 95 % of pairs find one of another photograph."""
    nearest = [distances(standard[group == name], standard[group != name]).min(axis=1) for name in np.unique(group)]
    return float(np.quantile(np.concatenate(nearest), 0.95))


def _held_out_errors(pairs: Pairs, recipe: Recipe) -> Floats:
    # Fewer trees err a little more; the intervals are the safer for it and six times cheaper.
    recipe = replace(recipe, trees=40)
    errors = np.zeros(len(pairs))
    for out in leave_one_photograph_out(pairs):
        errors[out] = fit_pair_model(pairs.rows(~out), recipe).score(pairs.features[out]) - pairs.score[out]
    return errors


def _spreads(errors: Floats, kind: npt.NDArray[np.str_], kinds: tuple[str, ...]) -> Floats:
    overall = float((errors**2).mean())
    found = []
    for name in kinds:
        own = errors[kind == name]
        found.append(np.sqrt(((own**2).sum() + ENOUGH * overall) / (len(own) + ENOUGH)))
    return np.array(found)


def write(folder: Path, name: str, arrays: dict[str, Any]) -> None:
    """The archive and its line in the manifest."""
    np.savez_compressed(folder / name, **arrays)
    content = (folder / name).read_bytes()
    listed = folder / MANIFEST
    manifest = json.loads(listed.read_text()) if listed.exists() else {}
    manifest[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    listed.write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")


def read_open_pairs(cache: Path) -> Pairs:
    """The synthetic ladders of free photographs extracted so far."""
    return read_synthetic(sorted(path for path in cache.glob("open*.npz") if ".part" not in path.name))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    ladders = read_open_pairs(given.cache)
    open_model = fit_open(ladders)
    write(given.out, "fr_open.npz", pack_open(open_model))
    write(given.out, "fr_research.npz", pack_rated(fit_rated(read_tid(given.cache / "tid.npz"), open_model, ladders)))
