"""Requests, clients and replies for the wire tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from agenticiqa.config import RoleSettings, Settings, load_settings
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.vlm_client import LabelledImage, Sampling, VLMRequest
from agenticiqa.vlm_client.tasks import AnswerInputs, AnswerReply, ScoreInputs

KEYS = {
    "OPENAI_API_KEY": "sk-test-openai-0123456789",
    "ANTHROPIC_API_KEY": "sk-ant-test-0123456789",
    "GOOGLE_API_KEY": "AIzaTest0123456789abcdefgh",
}
GOOD = '{"final_answer": "B", "quality_reasoning": "A little soft."}'
MODELS = {
    "openai": "openai.gpt-4o",
    "anthropic": "anthropic.claude-opus-4-1",
    "google": "google.gemini-2.5-flash",
}
WIRE_PATHS = {"openai": "openai", "anthropic": "anthropic", "google": "gemini"}
"""What llmock calls each provider."""


def settings(cache: Path | None = None, **overrides: Any) -> Settings:
    """Settings with a key for every provider, nothing from this machine, and no cache but the given folder's."""
    kept = {"enabled": cache is not None, "directory": str(cache) if cache else None}
    pipeline = {"cache": kept, **overrides.pop("pipeline", {})}
    return load_settings(environ=KEYS, directory=Path("/nonexistent"), overrides={"pipeline": pipeline, **overrides})


def role(backend: str, url: str | None = None, **fields: Any) -> RoleSettings:
    return RoleSettings(backend=backend, base_url=url, **{"timeout": 20.0, **fields})


def noise(seed: int = 0, side: int = 48) -> LoadedImage:
    return load_image(np.random.default_rng(seed).integers(0, 255, (side, side, 3), dtype=np.uint8))


def score_request(**changes: Any) -> VLMRequest:
    fields: dict[str, Any] = {
        "task": "score",
        "system": "You judge image quality.",
        "user": "Give the level: A Excellent, B Good, C Fair, D Poor, E Bad.",
        "images": (LabelledImage("image", noise()),),
        "inputs": ScoreInputs(query="How good is it?"),
        "reply_model": AnswerReply,
        "sampling": Sampling(max_tokens=32),
        **changes,
    }
    return VLMRequest(**fields)


def answer_request(**changes: Any) -> VLMRequest:
    return score_request(**{"task": "answer", "inputs": AnswerInputs(query="How good is it?"), **changes})


def pair() -> tuple[LabelledImage, LabelledImage]:
    return LabelledImage("image", noise(0)), LabelledImage("reference", noise(1))


def openai_body(text: str, **choice: Any) -> dict[str, Any]:
    """A chat completion as OpenAI writes it."""
    message = {"role": "assistant", "content": text, "refusal": choice.pop("refusal", None)}
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "finish_reason": "stop", "logprobs": None, "message": message, **choice}],
        "usage": {"prompt_tokens": 1200, "completion_tokens": 30, "total_tokens": 1230,
                  "prompt_tokens_details": {"cached_tokens": 1000}},
    }  # fmt: skip


def anthropic_body(text: str, **fields: Any) -> dict[str, Any]:
    """A message as Anthropic writes it."""
    return {
        "id": "m1", "type": "message", "role": "assistant", "model": "claude-opus-4-1", "stop_sequence": None,
        "stop_reason": "end_turn", "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 200, "output_tokens": 30, "cache_read_input_tokens": 1000,
                  "cache_creation_input_tokens": 0},
        **fields,
    }  # fmt: skip


def google_body(text: str, **candidate: Any) -> dict[str, Any]:
    """A generated content as Gemini writes it."""
    return {
        "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", **candidate}],
        "usageMetadata": {"promptTokenCount": 1200, "candidatesTokenCount": 20, "thoughtsTokenCount": 10,
                          "cachedContentTokenCount": 1000, "totalTokenCount": 1230},
    }  # fmt: skip


BODIES = {"openai": openai_body, "anthropic": anthropic_body, "google": google_body}
