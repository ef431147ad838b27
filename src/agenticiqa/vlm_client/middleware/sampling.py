"""Level probabilities from repeated sampling, for models that give none."""

from __future__ import annotations

import logging
import math
from collections import Counter
from dataclasses import replace
from functools import reduce

from pydantic import BaseModel

from agenticiqa.errors import BackendError
from agenticiqa.state import LEVEL_LETTERS
from agenticiqa.vlm_client.client import Sampling, Usage, VLMClient, VLMReply, VLMRequest, WrappingVLMClient, usage_of
from agenticiqa.vlm_client.structured import RejectedReplyError, value_of

logger = logging.getLogger("agenticiqa.vlm_client.middleware.sampling")

TEMPERATURE = 1.0
"""At any other temperature the shares of the samples are not the model's probabilities."""
# Half a vote for every level (Jeffreys' prior): a level nobody drew is unlikely, not impossible.
_PRIOR = 0.5


class SamplingVLMClient(WrappingVLMClient):
    """A client that is asked several times for a level and reports how often each one was drawn."""

    def __init__(self, client: VLMClient, samples: int) -> None:
        super().__init__(client)
        self._samples = samples

    def ask(self, request: VLMRequest) -> VLMReply:
        """The client's reply; for the task `score`, with shares of the samples if it has no probabilities itself."""
        reply = self.client.ask(request)
        if request.task != "score" or reply.level_logprobs is not None:
            return reply
        drawn = [self._draw(request, seed) for seed in range(1, self._samples + 1)]
        letters = [letter for sample in drawn if (letter := _letter(sample, request.reply_model))]
        usage = reduce(Usage.plus, (sample.usage for sample in drawn), reply.usage)
        if not letters:
            return replace(reply, usage=usage, notes=(*reply.notes, "no sample named a level"))
        note = f"level probabilities from {len(letters)} of {self._samples} samples, half a vote added to each level"
        return replace(
            reply,
            usage=usage,
            level_logprobs=shares(letters),
            probability_source="samples",
            notes=(*reply.notes, note),
        )

    def _draw(self, request: VLMRequest, seed: int) -> VLMReply:
        """One sample; a failed one is an empty reply with what it consumed."""
        sampling = Sampling(TEMPERATURE, None, request.sampling.max_tokens, seed)
        try:
            return self.client.ask(replace(request, sampling=sampling))
        except BackendError as error:
            logger.warning("%s: sample %d failed: %s", self.model, seed, error)
            return VLMReply(text="", model=self.model, usage=usage_of(error))


def shares(letters: list[str]) -> dict[str, float]:
    """Log-probabilities of the levels from the letters drawn."""
    counts, total = Counter(letters), len(letters) + _PRIOR * len(LEVEL_LETTERS)
    return {letter: math.log((counts[letter] + _PRIOR) / total) for letter in LEVEL_LETTERS}


def _letter(reply: VLMReply, model: type[BaseModel]) -> str | None:
    try:
        answer = getattr(value_of(reply, model), "final_answer", "")
    except RejectedReplyError:
        return None
    letter = str(answer).strip()[:1].upper()
    return letter if letter in LEVEL_LETTERS else None
