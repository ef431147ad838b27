"""The probabilities of the levels A to E, read where the model wrote its answer's letter."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from agenticiqa.state import LEVEL_LETTERS
from agenticiqa.vlm_client.client import VLMReply

ANSWER_PREFIX = '{"final_answer": "'
"""How a reply begins whose next token is the answer's letter."""
TOP_ALTERNATIVES = 20
"""How many alternatives per token are asked for: the most that OpenAI and Gemini give."""

# A key, not the same words quoted inside some other text: it follows a brace or a comma.
_ANSWER = re.compile(r'[{,]\s*"final_answer"\s*:\s*"\s*(?=[A-E]\b)')
# A letter as tokenizers cut it: "A", " A", '"A', ':"A', 'A"', 'A",'.
_LETTER_TOKEN = re.compile(r'[\s":]*([A-E])[\s".,)}]*')


@dataclass(frozen=True)
class TokenLogprobs:
    """One token of the reply, and the tokens that might have stood there, with their log-probabilities."""

    token: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()

    def reported(self) -> dict[str, float]:
        """Every distinct token reported here; services list the chosen one apart or among the others."""
        pairs = ((self.token, self.logprob), *self.alternatives)
        return {token: value for token, value in pairs if not math.isnan(value)}


@dataclass(frozen=True)
class LevelLogprobs:
    """Log-probabilities of A to E that sum to 1, with notes on how they were found."""

    values: dict[str, float]
    notes: tuple[str, ...]


def with_levels(reply: VLMReply, tokens: Sequence[TokenLogprobs]) -> VLMReply:
    """The reply with the levels' log-probabilities, where its tokens have them."""
    found = level_logprobs(tokens)
    if found is None:
        return reply
    return replace(reply, level_logprobs=found.values, probability_source="logprobs", notes=found.notes)


def level_logprobs(tokens: Sequence[TokenLogprobs]) -> LevelLogprobs | None:
    """The levels' log-probabilities at the answer's letter; None if there is no such letter.

    The tokens are searched, not the reply's text: servers cut code fences from the text but not from the tokens.
    """
    at = answer_position("".join(token.token for token in tokens))
    end = 0
    for token in tokens:
        end += len(token.token)
        if at is not None and end > at:
            return from_reported(token.reported())
    return None


def answer_position(text: str) -> int | None:
    """Where the answer's letter stands in a JSON reply."""
    # A draft in what the model thought aloud is not its answer.
    start = max((match.end() for match in re.finditer(r"</think(?:ing)?>", text)), default=0)
    match = _ANSWER.search(text, start)
    return match.end() if match else None


def from_reported(reported: Mapping[str, float]) -> LevelLogprobs | None:
    """The levels' log-probabilities from those of tokens: variants added up, missing letters bounded, renormalised."""
    spellings: dict[str, list[float]] = {}
    for token, value in reported.items():
        if match := _LETTER_TOKEN.fullmatch(token):
            spellings.setdefault(match.group(1), []).append(value)
    sums = {letter: log_sum(values) for letter, values in spellings.items()}
    if not sums or max(sums.values()) == -math.inf:
        return None
    # A token that is not reported is at most as likely as the least likely one that is.
    bound = min(reported.values())
    missing = [letter for letter in LEVEL_LETTERS if letter not in sums]
    values = normalised({letter: sums.get(letter, bound) for letter in LEVEL_LETTERS})
    return LevelLogprobs(values, _notes(missing, math.exp(log_sum(sums.values()))))


def normalised(values: Mapping[str, float]) -> dict[str, float]:
    """The log-values shifted so that their probabilities sum to 1."""
    total = log_sum(values.values())
    return {key: value - total for key, value in values.items()}


def log_sum(values: Iterable[float]) -> float:
    """The logarithm of the sum of the numbers whose logarithms these are."""
    return float(np.logaddexp.reduce(list(values), initial=-np.inf))


def _notes(missing: Sequence[str], share: float) -> tuple[str, ...]:
    notes = []
    if missing:
        notes.append(f"log-probability of {', '.join(missing)} not reported; bounded by the smallest reported one")
    if share < 0.5:
        notes.append(f"the level letters hold only {share:.3f} of the probability at the answer")
    return tuple(notes)
