"""`agenticiqa doctor --live BACKEND`: one small call per capability, on the service itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from agenticiqa.config import ROLES, RoleSettings, Settings
from agenticiqa.errors import BackendError
from agenticiqa.images import load_image
from agenticiqa.vlm_client import LabelledImage, Sampling, VLMClient, VLMReply, VLMRequest
from agenticiqa.vlm_client.factory import Assembly
from agenticiqa.vlm_client.tasks import AnswerInputs, AnswerReply, ScoreInputs

MAX_TOKENS = 200
"""Enough for a model that thinks a little before it writes one line."""
RED, BLUE = (220, 20, 20), (20, 40, 220)
SYSTEM = 'Reply with JSON only: {"final_answer": "…", "quality_reasoning": "…"}, both as short as possible.'
COLOURS = "Which colour is the left half of the image, and which the right? Name the two colours in this order."
WORDS = "Describe this image in at most five words."
LEVEL = "Rate the technical quality: A Excellent, B Good, C Fair, D Poor, E Bad. final_answer is the letter."


@dataclass(frozen=True)
class LiveCheck:
    """One capability of a backend: whether it is there, what came back and what it cost (None: unknown)."""

    capability: str
    ok: bool
    detail: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    seconds: float = 0.0

    def line(self) -> str:
        """The check in one line."""
        cost = "cost unknown" if self.cost_usd is None else f"${self.cost_usd:.6f}"
        tokens = f"{self.input_tokens} tokens in, {self.output_tokens} out"
        return f"{self.detail} ({tokens}, {cost}, {self.seconds:.1f} s)"


def live_check(backend: str, settings: Settings, base_url: str | None = None) -> list[LiveCheck]:
    """What the backend makes of an image, of a schema and of the wish for log-probabilities.

    A failed call is a failed check; a backend that cannot be used as set raises the error that says so.
    """
    client = Assembly(_without_replay(settings)).reach(role_for(backend, settings, base_url))
    with closing(client):
        return [
            _check("image", client, answer_request(COLOURS), _saw_the_colours),
            _check("schema", client, answer_request(WORDS), _kept_the_schema),
            _check("log-probabilities", client, score_request(), _gave_levels),
        ]


def role_for(backend: str, settings: Settings, base_url: str | None = None) -> RoleSettings:
    """How the settings reach this backend: as the first role that uses it does, or plainly."""
    roles = (settings.role(name) for name in ROLES)
    found = next((role for role in roles if role.backend == backend), RoleSettings(backend=backend))
    return found if base_url is None else found.model_copy(update={"base_url": base_url})


def answer_request(words: str) -> VLMRequest:
    """A question about the two-coloured picture."""
    sampling = Sampling(max_tokens=MAX_TOKENS)
    return VLMRequest("answer", SYSTEM, words, _picture(), AnswerInputs(query=words), AnswerReply, sampling)


def score_request() -> VLMRequest:
    """The wish for the picture's level."""
    sampling = Sampling(max_tokens=MAX_TOKENS)
    return VLMRequest("score", SYSTEM, LEVEL, _picture(), ScoreInputs(query=LEVEL), AnswerReply, sampling)


def _picture() -> tuple[LabelledImage]:
    pixels = np.empty((64, 64, 3), dtype=np.uint8)
    pixels[:, :32], pixels[:, 32:] = RED, BLUE
    return (LabelledImage("image", load_image(pixels)),)


def _check(
    capability: str, client: VLMClient, request: VLMRequest, judge: Callable[[VLMReply], tuple[bool, str]]
) -> LiveCheck:
    try:
        reply = client.ask(request)
    except BackendError as error:
        return LiveCheck(capability, False, str(error))
    ok, detail = judge(reply)
    usage = reply.usage
    return LiveCheck(capability, ok, detail, usage.input_tokens, usage.output_tokens, usage.cost_usd, usage.seconds)


def _saw_the_colours(reply: VLMReply) -> tuple[bool, str]:
    said = reply.text.lower()
    ok = 0 <= said.find("red") < said.find("blue")
    return ok, "seen" if ok else f"not seen: {reply.text[:60]!r}"


def _kept_the_schema(reply: VLMReply) -> tuple[bool, str]:
    try:
        ok = set(json.loads(reply.text)) == set(AnswerReply.model_fields)
    except (json.JSONDecodeError, TypeError):
        ok = False
    return ok, "kept" if ok else f"not kept: {reply.text[:60]!r}"


def _gave_levels(reply: VLMReply) -> tuple[bool, str]:
    ok = reply.level_logprobs is not None
    return ok, "given" if ok else "none; the classification rule or `samples` take their place"


def _without_replay(settings: Settings) -> Settings:
    """The settings without a recording that would answer for the service."""
    transport = settings.pipeline.transport.model_copy(update={"replay": None})
    pipeline = settings.pipeline.model_copy(update={"transport": transport})
    return settings.model_copy(update={"pipeline": pipeline})
