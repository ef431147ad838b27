"""`agenticiqa doctor --live BACKEND`: one small call per capability, on the service itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from agenticiqa.config import ROLES, RoleSettings, Settings
from agenticiqa.errors import BackendError
from agenticiqa.images import load_image
from agenticiqa.vlm_client import LabelledImage, Sampling, VLMClient, VLMReply, VLMRequest
from agenticiqa.vlm_client.client import Usage
from agenticiqa.vlm_client.factory import Assembly
from agenticiqa.vlm_client.tasks import AnswerInputs, AnswerReply, ScoreInputs

MAX_TOKENS = 200
"""Enough for a model that thinks a little before it writes one line."""
RED, BLUE = (220, 20, 20), (20, 40, 220)
SYSTEM = 'Reply with JSON only: {"final_answer": "…", "quality_reasoning": "…"}, both as short as possible.'
COLOURS = "Which colour is the left half of the image, and which the right? Name the two colours in this order."
WORDS = "Describe this image in at most five words."
LEVEL = "Rate the technical quality: A Excellent, B Good, C Fair, D Poor, E Bad. final_answer is the letter."


Judged = tuple[bool, str]


@dataclass(frozen=True)
class LiveCheck:
    """One capability of a backend: whether it is there, what came back and what it cost."""

    capability: str
    ok: bool
    detail: str
    usage: Usage = field(default_factory=Usage)

    def line(self) -> str:
        usage = self.usage
        cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.6f}"
        tokens = f"{usage.input_tokens} tokens in, {usage.output_tokens} out"
        return f"{self.detail} ({tokens}, {cost}, {usage.seconds:.1f} s)"


def live_check(backend: str, settings: Settings, base_url: str | None = None) -> list[LiveCheck]:
    """What the backend makes of an image, of a schema and of the wish for log-probabilities.

    A failed call is a failed check; a backend that cannot be used as set raises the error that says so.
    """
    # A recording would answer for the service.
    transport = settings.pipeline.transport.model_copy(update={"replay": None})
    pipeline = settings.pipeline.model_copy(update={"transport": transport})
    # As the first role that uses the backend reaches it, or plainly.
    roles = [role for name in ROLES if (role := settings.role(name)).backend == backend]
    role = (roles or [RoleSettings(backend=backend)])[0]
    if base_url is not None:
        role = role.model_copy(update={"base_url": base_url})
    live = settings.model_copy(update={"pipeline": pipeline})
    with closing(Assembly(live).reach(role)) as client:
        return [
            _check("image", client, _request("answer", COLOURS, AnswerInputs(query=COLOURS)), _saw_the_colours),
            _check("schema", client, _request("answer", WORDS, AnswerInputs(query=WORDS)), _kept_the_schema),
            _check("log-probabilities", client, _request("score", LEVEL, ScoreInputs(query=LEVEL)), _gave_levels),
        ]


def _request(task: Literal["answer", "score"], words: str, inputs: AnswerInputs | ScoreInputs) -> VLMRequest:
    """A question about a two-coloured picture."""
    pixels = np.empty((64, 64, 3), dtype=np.uint8)
    pixels[:, :32], pixels[:, 32:] = RED, BLUE
    picture = (LabelledImage("image", load_image(pixels)),)
    return VLMRequest(task, SYSTEM, words, picture, inputs, AnswerReply, Sampling(max_tokens=MAX_TOKENS))


def _check(capability: str, client: VLMClient, request: VLMRequest, judge: Callable[[VLMReply], Judged]) -> LiveCheck:
    try:
        reply = client.ask(request)
    except BackendError as error:
        return LiveCheck(capability, False, str(error))
    return LiveCheck(capability, *judge(reply), reply.usage)


def _saw_the_colours(reply: VLMReply) -> Judged:
    if reply.value is not None:
        return True, "does not apply: it answers with values and describes no colours"
    said = reply.text.lower()
    ok = 0 <= said.find("red") < said.find("blue")
    return ok, "seen" if ok else f"not seen: {reply.text[:60]!r}"


def _kept_the_schema(reply: VLMReply) -> Judged:
    if reply.value is not None:
        return isinstance(reply.value, AnswerReply), "does not apply: it answers with values, which need no JSON"
    try:
        ok = set(json.loads(reply.text)) == set(AnswerReply.model_fields)
    except (json.JSONDecodeError, TypeError):
        ok = False
    return ok, "kept" if ok else f"not kept: {reply.text[:60]!r}"


def _gave_levels(reply: VLMReply) -> Judged:
    ok = reply.level_logprobs is not None
    return ok, "given" if ok else "none; the classification rule or `samples` take their place"
