"""Fits the linear model and the weights of the polarity, and writes the two weight files of the reader.

    python -m training.questions.export --networks a.pt b.pt --held-out held.pt --vectors words.npz --out FOLDER

`--held-out` names the network trained without the held-out rows: the polarity's weights are fitted on those.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.linear_model import LogisticRegression, SGDClassifier

from agenticiqa.question.composition import asking_part, composed_polarity
from agenticiqa.question.reader import BUCKETS, HEADS, LANGUAGES, letter_groups
from agenticiqa.question.text import number_of
from training.manifest import write_arrays
from training.questions.network import Network, batch_of
from training.questions.onnx_graph import graph_of
from training.questions.phrasings import Row, changed, made, split, written

MADE = 5000
LINEAR_HEADS: dict[str, tuple[str, ...]] = {**HEADS, "language": LANGUAGES}
# Words beyond this place of the vector file are kept only where phrasings use them.
COMMON = 9500


def counted(rows: list[Row]) -> Any:
    """The letter groups of every row, as the reader counts them."""
    places, columns, values = [], [], []
    for place, row in enumerate(rows):
        counts = Counter(number_of(group, BUCKETS) for group in letter_groups(row["q"]))
        amounts = np.sqrt(np.array(list(counts.values()), dtype=float))
        places += [place] * len(counts)
        columns += list(counts)
        values += list(amounts / np.linalg.norm(amounts))
    return sparse.csr_matrix((values, (places, columns)), shape=(len(rows), BUCKETS))


def fit_linear(rows: list[Row], seed: int = 0) -> tuple[Any, Any]:
    """Weights and biases of all heads, one below the other."""
    rng = random.Random(seed)
    again = [changed(row, rng) for row in rows if row["lang"] != "en" or rng.random() < 0.5]
    every = [{**row, "language": row["lang"]} for row in (*rows, *again, *(made(rng) for _ in range(MADE)))]
    weight = np.array([1.0] * len(rows) + [0.6] * len(again) + [0.5] * MADE)
    features, weights, biases = counted(every), [], []
    for head, values in LINEAR_HEADS.items():
        labels = np.array([row.get(head, "-") for row in every])
        known = np.isin(labels, values)
        model = SGDClassifier(loss="log_loss", alpha=3e-6, max_iter=14, tol=None, random_state=seed, average=True)
        model.fit(features[known], labels[known], sample_weight=weight[known])
        table, bias = np.zeros((len(values), BUCKETS)), np.full(len(values), -9.0)
        signs = [(model.classes_[1], 0.5), (model.classes_[0], -0.5)] if len(model.coef_) == 1 else []
        for value, sign in signs:
            table[values.index(value)] = sign * model.coef_[0]
            bias[values.index(value)] = sign * model.intercept_[0]
        for place, value in enumerate(model.classes_ if not signs else ()):
            table[values.index(value)], bias[values.index(value)] = model.coef_[place], model.intercept_[place]
        weights.append(table)
        biases.append(bias)
    return np.concatenate(weights), np.concatenate(biases)


def fit_polarity(rows: list[Row], flaw_by_order: Any, flaw_by_letters: Any) -> Any:
    """Per language group the weights of network, linear model and composition, fitted on rows neither had seen."""
    composed = np.array([composed_polarity(row["q"], row["lang"]) for row in rows])
    evidence = np.stack(
        [_log_odds(flaw_by_order), _log_odds(flaw_by_letters), composed, composed * (np.abs(composed) == 1)], axis=1
    )
    fitted = []
    for group in ("en", "zh", "other"):
        chosen = [
            place
            for place, row in enumerate(rows)
            if row["yes_means"] != "-" and (row["lang"] if row["lang"] in ("en", "zh") else "other") == group
        ]
        model = LogisticRegression(C=1).fit(evidence[chosen], [rows[place]["yes_means"] == "flaw" for place in chosen])
        fitted.append([*model.coef_[0], model.intercept_[0]])
    return np.array(fitted)


def main() -> None:
    """Writes reader.onnx and reader_words.npz."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--networks", type=Path, nargs="+", required=True)
    options.add_argument("--held-out", type=Path, required=True)
    options.add_argument("--vectors", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    found = np.load(given.vectors)
    kept, held = split(written())
    # As the reader does: polarity is read in the sentences that ask.
    held = [{**row, "q": asking_part(row["q"], row["lang"])} for row in held]
    states = [torch.load(path) for path in given.networks]
    polarity = fit_polarity(held, _by_order(torch.load(given.held_out), found, held), _by_letters(kept, held))
    linear, bias = fit_linear(written())
    chosen = [place for place in range(len(found["words"])) if place < COMMON or place >= 13_000]
    tables: dict[str, Any] = {"linear.bias": bias.astype(np.float32), "polarity": polarity.astype(np.float32)}
    tables["linear"], tables["linear.scale"] = _in_bytes(linear, axis=1)
    tables["embedding"], tables["embedding.scale"] = _in_bytes(
        np.stack([s["emb.weight"].numpy() for s in states]), axis=1
    )
    tables["vectors"], tables["vectors.scale"] = _in_bytes(found["vecs"][chosen], axis=0)
    tables["words"] = np.frombuffer("\n".join(map(str, found["words"][chosen])).encode(), dtype=np.uint8)
    write_arrays(given.out / "reader_words.npz", tables)
    (given.out / "reader.onnx").write_bytes(graph_of(states))


def _by_order(state: Any, found: Any, rows: list[Row]) -> Any:
    vectors = {str(word): place + 1 for place, word in enumerate(found["words"])}
    table = torch.tensor(np.concatenate([np.zeros((1, found["vecs"].shape[1])), found["vecs"]]).astype(np.float32))
    network = Network(table.shape[1]).eval()
    network.load_state_dict(state)
    with torch.no_grad():
        *inputs, _ = batch_of(rows, vectors, table)
        return torch.softmax(network(*inputs)["yes_means"], -1)[:, 0].numpy()


def _by_letters(kept: list[Row], held: list[Row]) -> Any:
    weights, bias = fit_linear(kept)
    start = len(HEADS["intent"]) + len(HEADS["attribute"])
    scores = counted(held) @ weights[start : start + 2].T + bias[start : start + 2]
    return 1 / (1 + np.exp(scores[:, 1] - scores[:, 0]))


def _log_odds(likely: Any) -> Any:
    bounded = np.clip(likely, 0.001, 0.999)
    return np.log(bounded / (1 - bounded))


def _in_bytes(array: Any, axis: int) -> tuple[Any, Any]:
    scale = np.abs(array).max(axis=axis, keepdims=True) / 127 + 1e-12
    return np.round(array / scale).astype(np.int8), scale.astype(np.float32)


if __name__ == "__main__":
    main()
