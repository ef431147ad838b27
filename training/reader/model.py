"""The reader in PyTorch: a small transformer over word pieces, read by one head per part of a meaning."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from training.reader.compose import ATTRIBUTES, INTENTS, JOINED, KINDS, OPTIONS, SCALES
from training.reader.particulars import BESIDE, BY, FACTS, FLAGS, LANGUAGES, PARTS, REFERENCES, USES, WHICH

WIDTH, LONGEST = 384, 96
# Each head pools the tokens with weights of its own. The values of these stand together, those of the others do not.
SEVERAL = ("attributes", "flags")
# New heads stand behind the others, so that a reader can begin with the weights of a former one.
HEADS: dict[str, tuple[str, ...]] = {
    "intent": INTENTS,
    "kind": KINDS,
    "yes_means": ("flaw", "fine"),
    "joined": JOINED,
    "high_means": SCALES,
    "limit": ("visible", "acceptable", "any", "severe"),
    "option": OPTIONS,
    "attributes": ATTRIBUTES,
    "language": LANGUAGES,
    "fact": FACTS,
    "use": USES,
    "part": PARTS,
    "which": WHICH,
    "by": BY,
    "beside": BESIDE,
    "reference": REFERENCES,
    "flags": FLAGS,
}
# Per token whether an option that the question offers begins here, goes on, or neither.
OFFERED = ("-", "begins", "goes on")
CHOICES = {head: values for head, values in HEADS.items() if head not in SEVERAL}


class Block(nn.Module):
    """One layer of attention and its feed-forward part, normalised afterwards as in BERT."""

    def __init__(self, heads: int = 12, inner: int = 1536) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, inner), nn.Linear(inner, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.drop = nn.Dropout(0.1)

    def forward(self, states: Any, mask: Any) -> Any:
        """States of the next layer; `mask` is 0 for tokens and very negative for padding."""
        batch, tokens, _ = states.shape
        parts = (
            layer(states).view(batch, tokens, self.heads, -1).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        query, key, value = parts
        weights = (query @ key.transpose(2, 3) / math.sqrt(WIDTH // self.heads) + mask).softmax(-1)
        mixed = (weights @ value).transpose(1, 2).reshape(batch, tokens, WIDTH)
        states = self.norm1(states + self.drop(self.out(mixed)))
        return self.norm2(states + self.drop(self.down(functional.gelu(self.up(states)))))


class Reader(nn.Module):
    """Word pieces to the scores of every head; per token, whether it belongs to a thing's name or to an option."""

    def __init__(self, vocabulary: int, layers: int) -> None:
        super().__init__()
        self.word, self.place = nn.Embedding(vocabulary, WIDTH), nn.Embedding(LONGEST, WIDTH)
        nn.init.normal_(self.word.weight, std=0.03)
        self.norm, self.drop = nn.LayerNorm(WIDTH, eps=1e-12), nn.Dropout(0.1)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.weigh = nn.Linear(WIDTH, len(HEADS))
        self.heads = nn.ModuleDict({head: nn.Linear(2 * WIDTH, len(values)) for head, values in HEADS.items()})
        self.scope, self.offered = nn.Linear(WIDTH, 1), nn.Linear(WIDTH, len(OFFERED))

    def forward(self, pieces: Any, present: Any) -> dict[str, Any]:
        """Scores by head, and `scope` and `offered` per token."""
        states = self.drop(self.norm(self.word(pieces) + self.place(torch.arange(pieces.shape[1]))))
        mask = (1.0 - present[:, None, None, :]) * -1e4
        for block in self.blocks:
            states = block(states, mask)
        weights = (self.weigh(states) + mask[:, 0, 0, :, None]).softmax(1)
        pooled = torch.einsum("bth,btd->bhd", weights, states)
        first = states[:, :1].expand(-1, len(HEADS), -1)
        pooled = self.drop(torch.cat([pooled, first], -1))
        scores = {head: self.heads[head](pooled[:, place]) for place, head in enumerate(HEADS)}
        return {**scores, "scope": self.scope(states)[..., 0], "offered": self.offered(states)}


def from_pretrained(file: Path, vocabulary: int, layers: int, kept: list[int]) -> Reader:
    """A reader that begins with the published weights of MiniLM-L6: evenly chosen layers, and the pieces kept."""
    from safetensors.torch import load_file

    state = {name: tensor.float() for name, tensor in load_file(file).items()}
    reader = Reader(vocabulary, layers)
    names = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
             "out": "attention.output.dense", "norm1": "attention.output.LayerNorm", "up": "intermediate.dense",
             "down": "output.dense", "norm2": "output.LayerNorm"}  # fmt: skip
    with torch.no_grad():
        reader.word.weight[: len(kept)] = state["embeddings.word_embeddings.weight"][kept]
        type_of_text = state["embeddings.token_type_embeddings.weight"][0]
        reader.place.weight[:] = state["embeddings.position_embeddings.weight"][:LONGEST] + type_of_text
        reader.norm.weight[:] = state["embeddings.LayerNorm.weight"]
        reader.norm.bias[:] = state["embeddings.LayerNorm.bias"]
        for block, source in zip(reader.blocks, np.linspace(0, 5, layers).round().astype(int), strict=True):
            for own, theirs in names.items():
                getattr(block, own).weight[:] = state[f"encoder.layer.{source}.{theirs}.weight"]
                getattr(block, own).bias[:] = state[f"encoder.layer.{source}.{theirs}.bias"]
    return reader


def continued(former: dict[str, Any], vocabulary: int, layers: int) -> Reader:
    """A reader that begins with the weights of a former one that had some of its pieces, heads and values."""
    reader = Reader(vocabulary, layers)
    with torch.no_grad():
        for name, own in reader.state_dict().items():
            if name in former:
                own[: len(former[name])] = former[name]
    return reader
