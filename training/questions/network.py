"""The recurrent network in PyTorch: two bidirectional layers over word parts, attention and a small head per part.

    python -m training.questions.network --seed 0 --out reader_0.pt [--hold-out] [--start WEIGHTS.pt]

Runs in the environment that has torch; a few minutes on one core. `--hold-out` trains without the held-out rows,
`--start` goes on from weights fitted before, at half the rate (`onnx_graph.state_of` reads them from a shipped file).
"""

from __future__ import annotations

import argparse
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from agenticiqa.question.reader import HEADS
from agenticiqa.question.text import BUCKETS, parts, tokens
from training.questions.phrasings import Row, changed, made, split, written

WIDTH, HIDDEN, DROPPED = 64, 96, 0.3
WEIGHT = {"intent": 1.0, "attribute": 1.0, "yes_means": 1.5, "degree": 0.4, "form": 0.5}
MADE, BATCH, RATE = 7000, 96, 4e-3


class Network(nn.Module):
    """Embedded tokens to one distribution per head."""

    def __init__(self, vectors: int) -> None:
        super().__init__()
        self.emb = nn.EmbeddingBag(BUCKETS, WIDTH, mode="mean")
        nn.init.normal_(self.emb.weight, std=0.3)
        self.drop = nn.Dropout(DROPPED)
        self.g1 = nn.GRU(WIDTH + vectors, HIDDEN, batch_first=True, bidirectional=True)
        self.g2 = nn.GRU(2 * HIDDEN, HIDDEN, batch_first=True, bidirectional=True)
        self.att = nn.Linear(4 * HIDDEN + WIDTH + vectors, len(HEADS))
        self.out = nn.ModuleDict(
            {
                head: nn.Sequential(
                    nn.Linear(4 * HIDDEN, 64), nn.Tanh(), nn.Dropout(DROPPED), nn.Linear(64, len(values))
                )
                for head, values in HEADS.items()
            }
        )

    def forward(self, flat: Any, starts: Any, index: Any, mask: Any, vectors: Any) -> dict[str, Any]:
        """Scores per head for a batch of token lists."""
        seen = torch.cat([self.emb(flat, starts)[index], vectors], -1) * mask[..., None]
        if self.training:
            seen = seen * (torch.rand(seen.shape[:2]) > 0.06).float()[..., None]
        seen = self.drop(seen)
        lengths = mask.sum(1).long().clamp(min=1)
        first = self._run(self.g1, seen, lengths)
        second = self._run(self.g2, self.drop(first), lengths)
        states = torch.cat([first, second], -1)
        scores = self.att(torch.cat([states, seen], -1)).masked_fill(mask[..., None] == 0, -1e4)
        weights = torch.softmax(scores, 1)
        return {
            head: self.out[head](self.drop(torch.einsum("bt,btd->bd", weights[..., place], states)))
            for place, head in enumerate(HEADS)
        }

    def _run(self, layer: nn.GRU, inputs: Any, lengths: Any) -> Any:
        packed = nn.utils.rnn.pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=inputs.shape[1])[0]


def batch_of(rows: list[Row], vectors: dict[str, int], table: Any) -> tuple[Any, ...]:
    """The rows as tensors, and their labels (-1 where a row has none)."""
    words = [tokens(row["q"]) for row in rows]
    numbers = [parts(each) for each in words]
    lengths = [len(each) for each in numbers]
    flat = [number for each in numbers for token in each for number in token]
    starts = np.cumsum([0, *(len(token) for each in numbers for token in each)])[:-1]
    index, mask = torch.zeros(len(rows), max(lengths), dtype=torch.long), torch.zeros(len(rows), max(lengths))
    known, begin = torch.zeros(len(rows), max(lengths), dtype=torch.long), 0
    for place, length in enumerate(lengths):
        index[place, :length] = torch.arange(begin, begin + length)
        mask[place, :length] = 1
        known[place, : len(words[place])] = torch.tensor([vectors.get(word, 0) for word in words[place]])
        begin += length
    labels = {
        head: torch.tensor([values.index(row[head]) if row.get(head) in values else -1 for row in rows])
        for head, values in HEADS.items()
    }
    return torch.tensor(flat), torch.tensor(starts), index, mask, table[known], labels


def train(
    rows: list[Row], vectors: dict[str, int], table: Any, seed: int, epochs: int, start: dict[str, Any] | None = None
) -> Network:
    """A network fitted to the rows, changed anew every epoch, and to made ones."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    rng, network, rate = random.Random(seed), Network(table.shape[1]), RATE / 2 if start else RATE
    if start:
        network.load_state_dict(start)
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=0.01)
    steps = epochs * math.ceil(1.3 * (len(rows) + MADE) / BATCH)
    step = 0
    for epoch in range(epochs):
        drawn = [changed(row, rng) for row in rows for _ in range(1 if row["lang"] == "en" else 2)]
        drawn += [made(rng) for _ in range(MADE)]
        for chunk in _batches(drawn, rng):
            optimizer.param_groups[0]["lr"] = rate * min(1, step / 100) * _decay(step / steps)
            *inputs, labels = batch_of(chunk, vectors, table)
            scores = network(*inputs)
            loss = sum(
                WEIGHT[head]
                * functional.cross_entropy(scores[head], labels[head], ignore_index=-1, label_smoothing=0.05)
                for head in HEADS
                if (labels[head] >= 0).any()
            )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            step += 1
        print(f"epoch {epoch + 1} of {epochs}: loss of the last batch {float(loss):.3f}", flush=True)
    return network


def _decay(share: float) -> float:
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, share)))


def _batches(rows: list[Row], rng: random.Random) -> list[list[Row]]:
    rng.shuffle(rows)
    chunks = []
    for start in range(0, len(rows), 20 * BATCH):
        near = sorted(rows[start : start + 20 * BATCH], key=lambda row: len(row["q"]))
        chunks += [near[place : place + BATCH] for place in range(0, len(near), BATCH)]
    rng.shuffle(chunks)
    return chunks


def main() -> None:
    """Trains one network and saves it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--epochs", type=int, default=8)
    options.add_argument("--vectors", type=Path, required=True, help="npz with words and vecs, from word_vectors")
    options.add_argument("--hold-out", action="store_true")
    options.add_argument("--start", type=Path, help="weights to go on from")
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    kept, _ = split(written())
    found = np.load(given.vectors)
    vectors = {str(word): place + 1 for place, word in enumerate(found["words"])}
    table = torch.tensor(np.concatenate([np.zeros((1, found["vecs"].shape[1])), found["vecs"]]).astype(np.float32))
    start = torch.load(given.start) if given.start else None
    network = train(kept if given.hold_out else written(), vectors, table, given.seed, given.epochs, start)
    torch.save(network.state_dict(), given.out)


if __name__ == "__main__":
    main()
