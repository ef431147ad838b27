"""The faults of a model service, each as the answer a server gives in its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.wire.asking import BODIES
from tests.wire.serving import Answer

SILENCE = 30.0
"""Seconds."""
HTML = b"<!doctype html><html><body><h1>Welcome</h1>Sign in to the guest network.</body></html>"


@dataclass(frozen=True)
class Healthy:
    """The answer the service would give if nothing were wrong."""

    provider: str
    task: str
    text: str

    def body(self, text: str | None = None, **changes: Any) -> dict[str, Any]:
        """The provider's own JSON around the model's words."""
        return BODIES[self.provider](self.text if text is None else text, **changes)

    def answer(self) -> Answer:
        """The answer itself, with log-probabilities where the task and the provider have them."""
        return Answer(self.body(**logprobs(self.provider, self.text) if self.task == "score" else {}))


@dataclass(frozen=True)
class Fault:
    """One way to go wrong; `passing` faults are gone when the service is asked again."""

    name: str
    make: Callable[[Healthy], Answer]
    passing: bool = True
    tasks: tuple[str, ...] = ()
    """The tasks it makes sense for; none means all."""
    harmless: bool = False
    """The answer can still be used."""


def status(code: int, message: str = "try later", **headers: str) -> Callable[[Healthy], Answer]:
    """An answer with this HTTP status."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda healthy: Answer({"error": {"message": message, "code": code}}, code, named)


def truncated(healthy: Healthy) -> Answer:
    content = healthy.answer().content()
    return Answer(content[: len(content) // 2])


def cut(healthy: Healthy) -> Answer:
    return replace(truncated(healthy), cut=True)


def said(text: str) -> Callable[[Healthy], Answer]:
    """An answer in perfect form with these words of the model."""
    return lambda healthy: Answer(healthy.body(text))


def refusal(healthy: Healthy) -> Answer:
    changes: dict[str, dict[str, Any]] = {
        "openai": {"refusal": "I cannot help with that."},
        "anthropic": {"stop_reason": "refusal", "content": []},
        "google": {"finishReason": "PROHIBITED_CONTENT"},
    }
    return Answer(healthy.body("", **changes[healthy.provider]))


def content_filter(healthy: Healthy) -> Answer:
    if healthy.provider == "openai":
        return Answer(healthy.body("", finish_reason="content_filter"))
    if healthy.provider == "google":
        blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 1200}}
        return Answer(blocked)
    return Answer(healthy.body("", stop_reason="refusal", content=[{"type": "text", "text": "Content filtered."}]))


def wrong_body(healthy: Healthy) -> Answer:
    """JSON whose types are not those of the protocol, with a usage that is no number either."""
    bodies = {
        "openai": {"choices": [{"message": {"content": {"a": 1}}, "finish_reason": 7}], "usage": {"total": "x"}},
        "anthropic": {"content": [{"type": "text", "text": ["a"]}], "stop_reason": {}, "usage": "none"},
        "google": {"candidates": [{"content": {"parts": [{"text": {"a": 1}}]}}], "usageMetadata": []},
    }  # fmt: skip
    return Answer(bodies[healthy.provider])


def html(healthy: Healthy) -> Answer:
    return Answer(HTML, headers={"content-type": "text/html"})


def wrong_type(healthy: Healthy) -> Answer:
    return replace(healthy.answer(), headers={"content-type": "text/plain"})


def expired_key(healthy: Healthy) -> Answer:
    # Some services repeat the key they were given.
    return Answer({"error": {"message": f"Incorrect API key provided: {ECHO}", "code": "invalid_api_key"}}, 401)


ECHO = "@key@"
"""Where the server puts the key it was given, as it arrived."""


def minus_infinity(healthy: Healthy) -> Answer:
    return Answer(json.dumps(healthy.body(**logprobs(healthy.provider, healthy.text, -1e9))).replace(
        "-1000000000.0", "-Infinity" if healthy.provider != "google" else "-1e308").encode())  # fmt: skip


def logprobs(provider: str, text: str, value: float = -0.2) -> dict[str, Any]:
    """The log-probabilities of a reply's tokens, the answer's letter a token of its own."""
    at = text.find('"final_answer": "') + len('"final_answer": "')
    pieces = [(text[:at], 0.0), (text[at : at + 1], value), (text[at + 1 :], 0.0)]
    others = [("A", -3.0), ("B", -4.0), ("D", -2.0), ("E", value * 20)]
    if provider == "openai":
        listed = [{"token": token, "logprob": log, "bytes": None, "top_logprobs": _tops(token, log, others)}
                  for token, log in pieces]  # fmt: skip
        return {"logprobs": {"content": listed, "refusal": None}}
    if provider == "google":
        chosen = [{"token": token, "logProbability": log} for token, log in pieces]
        tops = [{"candidates": [{"token": t, "logProbability": v} for t, v in [piece, *others]]} for piece in pieces]
        return {"logprobsResult": {"chosenCandidates": chosen, "topCandidates": tops}}
    return {}


def _tops(token: str, log: float, others: list[tuple[str, float]]) -> list[dict[str, Any]]:
    return [{"token": name, "logprob": value, "bytes": None} for name, value in [(token, log), *others]]


def without_logprobs(healthy: Healthy) -> Answer:
    return Answer(healthy.body())


WORDS = ("answer", "score")
FAULTS = (
    Fault("429 with Retry-After", status(429, retry_after="0")),
    Fault("429", status(429)),
    Fault("500", status(500)),
    Fault("502", status(502)),
    Fault("503", status(503)),
    Fault("529", status(529)),
    Fault("reset before the body", lambda healthy: Answer({}, reset=True)),
    Fault("reset in the body", cut),
    Fault("silence", lambda healthy: replace(healthy.answer(), silence=SILENCE)),
    Fault("slow drip", lambda healthy: replace(healthy.answer(), drip=0.03)),
    Fault("truncated JSON", truncated),
    Fault("protocol of the wrong shape", wrong_body),
    Fault("reply of the wrong shape", said('{"colour": "blue", "n": [1, 2]}')),
    Fault("empty content", said("")),
    Fault("refusal", refusal, passing=False),
    Fault("content filter", content_filter, passing=False),
    Fault("wrong letter", said('{"final_answer": "Q", "quality_reasoning": "Because."}'), tasks=WORDS),
    Fault("200 with an HTML page", html),
    Fault("log-probabilities missing", without_logprobs, tasks=("score",), harmless=True),
    Fault("log-probabilities of -inf", minus_infinity, tasks=("score",), harmless=True),
    Fault("wrong content type", wrong_type, harmless=True),
    Fault("expired key", expired_key, passing=False),
)
