"""What a question means and how sure that is: two readers that learnt from how people ask, and one that composes.

A small recurrent network reads the order of words, a linear model the groups of letters; their probabilities are
averaged. Whether "yes" means a flaw is the hard part: there the network is weighed against the polarity composed
from head words and negations, with weights fitted per language on phrasings that neither had seen.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from agenticiqa.question.composition import asking_part, composed_polarity, topic_of, with_other_side
from agenticiqa.question.text import Language, number_of, parts, plain_text, tokens
from agenticiqa.weights import open_session, read_arrays

NETWORK, TABLES = "reader.onnx", "reader_words.npz"
Array = NDArray[np.float32]
HEADS: dict[str, tuple[str, ...]] = {
    "intent": (
        "yesno", "degree", "open", "score", "advice", "where", "decline", "choose", "compare", "measure",
    ),
    "attribute": (
        "blur", "noise", "compression", "dark", "bright", "exposure", "contrast", "colour", "oversharp", "overall",
        "none",
    ),
    "yes_means": ("flaw", "fine"),
    "degree": ("any", "visible", "acceptable", "severe"),
    "form": ("yesno", "letter", "word", "number", "sentence", "json"),
}  # fmt: skip
LANGUAGES: tuple[Language, ...] = ("en", "zh", "de", "es", "fr", "ja", "pt")
# How much likelier a text with this topic is not about quality than the two models alone believe: the ratio of the
# topic's shares among training phrasings, tempered because the models have seen part of it.
_STRAY = {"flaw": 0.05, "quality": 0.4, "picture": 5.0, "other": 15.0}
# Numbers of the linear model's letter groups.
BUCKETS = 16_384


@dataclass(frozen=True)
class Reading:
    """For each part of the meaning the probability of every value it may have, and the language."""

    probabilities: dict[str, dict[str, float]]
    language: Language

    def best(self, part: str) -> str:
        """The likeliest value of a part."""
        values = self.probabilities[part]
        return max(values, key=lambda value: values[value])

    def sure(self, part: str) -> float:
        """How likely the likeliest value is."""
        return max(self.probabilities[part].values())


class Reader:
    """The network, the linear model and the weights that join them.

    `tables` holds numbers for word parts (one table per network), vectors of common English words, the linear model
    and the weights of the polarity; `network` is a session that turns embedded tokens, networks × tokens × 1 × width,
    into one distribution per head.
    """

    def __init__(self, tables: dict[str, NDArray[Any]], network: Any) -> None:
        self._embedding = _widened(tables, "embedding")  # networks × parts × width
        self._vectors = _widened(tables, "vectors")
        words = bytes(tables["words"]).decode().split("\n")
        self._vector_of = {word: place for place, word in enumerate(words)}
        self._linear, self._linear_bias = _widened(tables, "linear"), tables["linear.bias"].astype(np.float32)
        self._polarity = tables["polarity"].astype(np.float32)  # language groups × (network, linear, composed, bias)
        self._network = network

    def read(self, text: str) -> Reading:
        """What the text means."""
        by_letters = self._read_letters(text)
        language = cast(Language, max(by_letters["language"], key=lambda name: by_letters["language"][name]))
        by_order = self._read_order(text)
        mixed = {head: _mean(by_order[head], by_letters[head]) for head in HEADS if head != "yes_means"}
        mixed["intent"] = _in_view_of(topic_of(text, language), mixed["intent"])
        asking = with_other_side(asking_part(text, language))
        if asking != text:  # neither a negation beside the question nor the name of a side turns anything
            by_order, by_letters = self._read_order(asking), self._read_letters(asking)
        composed = composed_polarity(asking, language)
        flaw = self._flaw(by_order["yes_means"], by_letters["yes_means"], composed, language)
        return Reading({**mixed, "yes_means": {"flaw": flaw, "fine": 1 - flaw}}, language)

    def _flaw(self, order: dict[str, float], letters: dict[str, float], composed: float, language: Language) -> float:
        """How likely "yes" means a flaw."""
        weights = self._polarity[{"en": 0, "zh": 1}.get(language, 2)]
        evidence = (_log_odds(order["flaw"]), _log_odds(letters["flaw"]), composed, composed * (abs(composed) == 1), 1)
        return 1 / (1 + math.exp(-float(np.dot(weights, np.array(evidence, dtype=np.float32)))))

    def _read_order(self, text: str) -> dict[str, dict[str, float]]:
        found = self._network.run(list(HEADS), {"tokens": self._embedded(tokens(text))[:, :, None]})
        return {
            head: {value: float(p) for value, p in zip(values, likely[0], strict=True)}
            for (head, values), likely in zip(HEADS.items(), found, strict=True)
        }

    def _embedded(self, words: list[str]) -> Array:
        """For each network and token the mean of its parts' numbers, beside the word's vector."""
        numbers = parts(words)
        counts = np.array([len(each) for each in numbers])
        starts = np.cumsum(counts) - counts
        flat = np.concatenate([np.asarray(each) for each in numbers])
        means = np.add.reduceat(self._embedding[:, flat], starts, axis=1) / counts[None, :, None]
        known = np.array([self._vector_of.get(word, -1) for word in words] or [-1])
        vectors = np.where(known[:, None] >= 0, self._vectors[known], 0)
        spread = np.broadcast_to(vectors, (len(means), *vectors.shape))
        return np.concatenate([means, spread], axis=2).astype(np.float32)

    def _read_letters(self, text: str) -> dict[str, dict[str, float]]:
        counts = Counter(number_of(gram, BUCKETS) for gram in letter_groups(text))
        places, amounts = np.array(list(counts)), np.sqrt(np.array(list(counts.values()), dtype=np.float32))
        scores = self._linear[:, places] @ (amounts / np.linalg.norm(amounts)) + self._linear_bias
        heads = {**HEADS, "language": LANGUAGES}
        found, start = {}, 0
        for head, values in heads.items():
            likely = np.exp(scores[start : start + len(values)] - scores[start : start + len(values)].max())
            found[head] = dict(zip(values, (likely / likely.sum()).tolist(), strict=True))
            start += len(values)
        return found


def letter_groups(text: str) -> Iterator[str]:
    """What the linear model counts: groups of one to four letters, words and pairs of words."""
    marked = f"^{plain_text(text)}$"
    for size in (1, 2, 3, 4):
        yield from (marked[start : start + size] for start in range(len(marked) - size + 1))
    words = tokens(text)
    yield from (f"={word}" for word in words)
    yield from (f"={first} {second}" for first, second in pairwise(words))


@lru_cache(maxsize=1)
def shipped_reader() -> Reader:
    """The reader with the shipped weights, loaded once."""
    return Reader(read_arrays(TABLES), open_session(NETWORK))


@lru_cache(maxsize=2048)
def read(text: str) -> Reading:
    """What a text means; the same text is read once."""
    return shipped_reader().read(text)


def _mean(first: dict[str, float], second: dict[str, float]) -> dict[str, float]:
    return {value: (first[value] + second[value]) / 2 for value in first}


def _in_view_of(topic: str, intents: dict[str, float]) -> dict[str, float]:
    """The intents, with "not about quality" the likelier the less a text names of quality."""
    weighed = {intent: p * (_STRAY[topic] if intent == "decline" else 1.0) for intent, p in intents.items()}
    total = sum(weighed.values())
    return {intent: p / total for intent, p in weighed.items()}


def _log_odds(likely: float) -> float:
    bounded = min(0.999, max(0.001, likely))
    return math.log(bounded / (1 - bounded))


def _widened(arrays: dict[str, NDArray[Any]], name: str) -> Array:
    """The array as 32-bit numbers; bytes are multiplied by their scale."""
    array = arrays[name]
    if array.dtype == np.int8:
        return array.astype(np.float32) * arrays[f"{name}.scale"].astype(np.float32)
    return array.astype(np.float32)
