"""Trains the reader.

    python -m training.reader.train --start MINILM_DIR --rows FOLDER --out reader.pt
    python -m training.reader.train --former reader.pt --rows FOLDER --out better.pt

Runs in the environment that has torch. MINILM_DIR holds `model.fp16.safetensors` and `vocab.txt`; a former reader may
have had fewer heads. How the held-out rows are read is printed, and the weights are saved, after every epoch.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from agenticiqa.question.word_pieces import Piece, pieces_of
from training.reader.compose import Row, changed, held_out, made, written_before, written_now
from training.reader.model import CHOICES, HEADS, LONGEST, OFFERED, SEVERAL, Reader, continued, from_pretrained

WEIGHT = {
    "intent": 1.0,
    "attributes": 2.0,
    "kind": 0.3,
    "yes_means": 2.5,
    "joined": 0.4,
    "high_means": 0.7,
    "limit": 0.3,
    "option": 1.0,
    "language": 0.1,
    "fact": 0.5,
    "use": 0.3,
    "part": 0.3,
    "which": 0.3,
    "by": 0.3,
    "beside": 0.3,
    "reference": 0.3,
    "flags": 1.0,
}
OFFERED_WEIGHT = 3.0
# What begins without published weights.
NEW = ("heads", "weigh", "scope", "offered")
BATCH, RATE, HEAD_RATE = 32, 1e-4, 1e-3
# A word piece is kept if it stands in a training text or among the first, most frequent, of the published vocabulary.
FREQUENT = 6000


def vocabulary_of(published: Sequence[str], texts: Sequence[str]) -> tuple[dict[str, int], list[int]]:
    """The pieces kept with their new numbers, and the old numbers of those that have weights."""
    old = {piece: number for number, piece in enumerate(published)}
    seen = Counter(piece.number for text in texts for piece in pieces_of(text, old, 10_000))
    kept = [number for number, piece in enumerate(published) if _kept(number, piece, seen)]
    vocabulary = {published[number]: place for place, number in enumerate(kept)}
    return with_letters(vocabulary, texts), kept


def with_letters(vocabulary: dict[str, int], texts: Sequence[str]) -> dict[str, int]:
    """The vocabulary with the letters that occur at least twice and are not in it, as Chinese ones."""
    letters = Counter(letter for text in texts for letter in text.lower() if not letter.isascii() and letter.isalnum())
    new = [letter for letter, count in letters.items() if count >= 2 and letter not in vocabulary]
    return {**vocabulary, **{letter: len(vocabulary) + place for place, letter in enumerate(new)}}


def _kept(number: int, piece: str, seen: Counter[int]) -> bool:
    if piece.startswith("[unused"):
        return piece == "[unused1]"
    letter = len(piece.removeprefix("##")) == 1 and piece.isascii()
    return number < FREQUENT or number in seen or letter


def batch_of(rows: Sequence[Row], vocabulary: dict[str, int]) -> tuple[Any, Any, dict[str, Any]]:
    """Pieces, which of them are there, and the labels (-1 where a row has none)."""
    read = [pieces_of(row.text, vocabulary, LONGEST, option=row.option is not None) for row in rows]
    width = max(len(each) for each in read)
    pieces, present, scope, offered = (
        torch.zeros(len(rows), width, dtype=torch.long),
        torch.zeros(len(rows), width),
        torch.full((len(rows), width), -1.0),
        torch.full((len(rows), width), -1),
    )
    for place, (row, each) in enumerate(zip(rows, read, strict=True)):
        pieces[place, : len(each)] = torch.tensor([piece.number for piece in each])
        present[place, : len(each)] = 1
        if row.scope is not None:
            inside = [
                row.scope[0] <= piece.start and piece.end <= row.scope[1] and piece.end > piece.start for piece in each
            ]
            scope[place, : len(each)] = torch.tensor(inside).float()
        if row.offered is not None:
            offered[place, : len(each)] = torch.tensor(_offered(each, row.offered))
    labels: dict[str, Any] = {
        head: torch.tensor([values.index(value) if (value := getattr(row, head)) in values else -1 for row in rows])
        for head, values in CHOICES.items()
    }
    for head in SEVERAL:
        told = [getattr(row, head) for row in rows]
        labels[head] = torch.tensor([[float(name in (each or ())) for name in HEADS[head]] for each in told])
        labels[f"{head}_known"] = torch.tensor([float(each is not None) for each in told])
    labels["scope"], labels["offered"] = scope, offered
    return pieces, present, labels


def _offered(pieces: Sequence[Piece], spans: Sequence[tuple[int, int]]) -> list[int]:
    """For each piece whether an option begins there, goes on, or neither."""
    told: list[int] = []
    began: set[tuple[int, int]] = set()
    for piece in pieces:
        inside = [span for span in spans if span[0] <= piece.start < span[1] and piece.end > piece.start]
        told.append(OFFERED.index("goes on" if set(inside) & began else "begins" if inside else "-"))
        began.update(inside)
    return told


def loss_of(scores: dict[str, Any], labels: dict[str, Any]) -> Any:
    """The weighed sum of the heads' losses."""
    total = torch.zeros(())
    for head in CHOICES:
        if (labels[head] >= 0).any():
            loss = functional.cross_entropy(scores[head], labels[head], ignore_index=-1, label_smoothing=0.02)
            total = total + WEIGHT[head] * loss
    for head in SEVERAL:
        each = functional.binary_cross_entropy_with_logits(scores[head], labels[head], reduction="none")
        known = labels[f"{head}_known"]
        total = total + WEIGHT[head] * (each.mean(1) * known).sum() / known.sum().clamp(min=1)
    told = labels["scope"] >= 0
    if told.any():
        total = total + functional.binary_cross_entropy_with_logits(scores["scope"][told], labels["scope"][told])
    if (labels["offered"] >= 0).any():
        # Nearly all pieces are of no option.
        total = total + OFFERED_WEIGHT * functional.cross_entropy(
            scores["offered"].flatten(0, 1), labels["offered"].flatten(), ignore_index=-1
        )
    return total


def train(
    reader: Reader, kept: Sequence[Row], held: Sequence[Row], vocabulary: dict[str, int], given: argparse.Namespace
) -> None:
    """Fits the reader, the rows changed anew and others made in every epoch."""
    rng = random.Random(given.seed)
    heads = [value for name, value in reader.named_parameters() if name.startswith(NEW)]
    encoder = [value for name, value in reader.named_parameters() if not name.startswith(NEW)]
    groups = [{"params": encoder, "base": given.rate * RATE}, {"params": heads, "base": given.rate * HEAD_RATE}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, weight_decay=0.01)
    length = sum(_times(row, given) for row in kept) + given.made
    steps, step, began = given.epochs * math.ceil(length / BATCH), 0, time.time()
    for epoch in range(given.epochs):
        reader.train()
        written = [row for row in kept for _ in range(int(_times(row, given) + rng.random()))]
        for chunk in _batches([*(changed(row, rng) for row in written), *(made(rng) for _ in range(given.made))], rng):
            share = min(1.0, step / 100) * (0.02 + 0.49 * (1 + math.cos(math.pi * min(1.0, step / steps))))
            for group in optimizer.param_groups:
                group["lr"] = group["base"] * share
            pieces, present, labels = batch_of(chunk, vocabulary)
            # Half as long in short numbers; the sums of the loss are made in full ones.
            with torch.autocast("cpu", dtype=torch.bfloat16):
                scores = reader(pieces, present)
            loss = loss_of({head: each.float() for head, each in scores.items()}, labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step % 100 == 0:
                print(
                    f"step {step} of {steps}, loss {float(loss.detach()):.3f}, {time.time() - began:.0f} s", flush=True
                )
        torch.save({"reader": reader.state_dict(), "vocabulary": vocabulary, "layers": given.layers}, given.out)
        print(f"epoch {epoch + 1}: {json.dumps(accuracy(reader, held, vocabulary))}", flush=True)


def _times(row: Row, given: argparse.Namespace) -> float:
    """How often a written row is read in an epoch: of English ones a share, the more of the others."""
    if row.source in given.often:
        return 3.0
    return given.english if row.language == "en" else 1 / given.english


def accuracy(reader: Reader, rows: Sequence[Row], vocabulary: dict[str, int]) -> dict[str, str]:
    """Share right per language group and head, with the number of rows."""
    right: dict[str, list[bool]] = defaultdict(list)
    reader.eval()
    with torch.no_grad():
        for start in range(0, len(rows), 64):
            chunk = rows[start : start + 64]
            pieces, present, labels = batch_of(chunk, vocabulary)
            scores = reader(pieces, present)
            for place, row in enumerate(chunk):
                group = row.language if row.language in ("en", "zh") else "other"
                for head in CHOICES:
                    if labels[head][place] >= 0:
                        right[f"{group} {head}"].append(bool(scores[head][place].argmax() == labels[head][place]))
                for head in SEVERAL:
                    if getattr(row, head) is not None:
                        same = (scores[head][place] > 0) == (labels[head][place] > 0)
                        right[f"{group} {head}"].append(bool(same.all()))
                if row.scope is not None:
                    told = labels["scope"][place] >= 0
                    same = (scores["scope"][place] > 0)[told] == (labels["scope"][place] > 0)[told]
                    right[f"{group} scope"].append(bool(same.all()))
                if row.offered is not None and row.intent == "choose":
                    told = labels["offered"][place] >= 0
                    same = scores["offered"][place].argmax(-1)[told] == labels["offered"][place][told]
                    right[f"{group} offered"].append(bool(same.all()))
    return {name: f"{sum(marks) / len(marks):.3f} of {len(marks)}" for name, marks in sorted(right.items())}


def _batches(rows: list[Row], rng: random.Random) -> list[list[Row]]:
    rng.shuffle(rows)
    chunks = []
    for start in range(0, len(rows), 40 * BATCH):
        near = sorted(rows[start : start + 40 * BATCH], key=lambda row: len(row.text))
        chunks += [near[place : place + BATCH] for place in range(0, len(near), BATCH)]
    rng.shuffle(chunks)
    return chunks


def _begun(given: argparse.Namespace, texts: Sequence[str]) -> tuple[Reader, dict[str, int]]:
    """The reader with the weights it begins with, and its vocabulary."""
    if given.former:
        former = torch.load(given.former, weights_only=True)
        vocabulary, given.layers = with_letters(former["vocabulary"], texts), former["layers"]
        return continued(former["reader"], len(vocabulary), given.layers), vocabulary
    published = (given.start / "vocab.txt").read_text(encoding="utf-8").splitlines()
    vocabulary, numbers = vocabulary_of(published, texts)
    return from_pretrained(given.start / "model.fp16.safetensors", len(vocabulary), given.layers, numbers), vocabulary


def main() -> None:
    """Reads the rows, begins with the published weights, trains and saves."""
    options = argparse.ArgumentParser(description=__doc__)
    begins = options.add_mutually_exclusive_group(required=True)
    begins.add_argument("--start", type=Path)
    begins.add_argument("--former", type=Path)
    options.add_argument("--rows", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--layers", type=int, default=6)
    options.add_argument("--epochs", type=int, default=3)
    options.add_argument("--made", type=int, default=6000)
    options.add_argument("--rate", type=float, default=1.0, help="share of the rates, less where a reader is continued")
    options.add_argument("--english", type=float, default=1.0, help="share of the English rows that an epoch reads")
    options.add_argument("--often", nargs="*", default=[], help="names of files whose rows an epoch reads three times")
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    rows, rng = [*written_before(), *written_now(given.rows)], random.Random(given.seed)
    kept, held = held_out(rows)
    texts = [row.text for row in rows] + [made(rng).text for _ in range(20_000)]
    reader, vocabulary = _begun(given, texts)
    print(f"{len(kept)} rows, {len(held)} held out, {len(vocabulary)} pieces", flush=True)
    train(reader, kept, held, vocabulary, given)


if __name__ == "__main__":
    main()
