"""Answering an identical request with the reply that was kept, in memory or on disk."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

from agenticiqa.cache import Cache, Recent
from agenticiqa.vlm_client.client import Usage, VLMClient, VLMReply, VLMRequest, WrappingVLMClient
from agenticiqa.vlm_client.tasks import schema_text

NAMESPACE = "replies"
REMEMBERED = 256
"""Replies kept in memory where none go to disk."""


class CachingVLMClient(WrappingVLMClient):
    """A client that is asked once per distinct request.

    A reply enters the store when whoever asked has accepted it (`keep`): one that failed a check never does. Replies
    are kept only at temperature 0 unless `sampled` is set: a sampled reply is meant to vary.
    """

    def __init__(self, client: VLMClient, cache: Cache | None = None, *, sampled: bool = False) -> None:
        """Without a cache on disk the last replies are kept in memory."""
        super().__init__(client)
        self._cache = cache
        self._recent = Recent[VLMReply](REMEMBERED)
        self._sampled = sampled

    def ask(self, request: VLMRequest) -> VLMReply:
        kept = self._kept(self._key(request)) if self._keeps(request) else None
        return self.client.ask(request) if kept is None else replace(kept, usage=Usage(from_cache=True))

    def keep(self, request: VLMRequest, reply: VLMReply) -> None:
        """Keeps an accepted reply, also one that a stricter wording brought, so that asking again begins with it."""
        if self._keeps(request) and not reply.usage.from_cache:
            if self._cache is None:
                self._recent.put(self._key(request), reply)
            else:
                # In ASCII: half a surrogate pair, which a model may write, has no other encoding.
                self._cache.put(NAMESPACE, self._key(request), json.dumps(reply_to_dict(reply)))

    def _kept(self, key: str) -> VLMReply | None:
        """The reply kept under the key; one that another version wrote and this one cannot read is a miss."""
        if self._cache is None:
            return self._recent.get(key)
        kept = self._cache.get(NAMESPACE, key)
        try:
            return reply_from_dict(json.loads(kept)) if kept else None
        except (json.JSONDecodeError, KeyError, TypeError):
            return None

    def _keeps(self, request: VLMRequest) -> bool:
        return request.sampling.temperature == 0 or self._sampled

    def _key(self, request: VLMRequest) -> str:
        left_out = ", ".join(sorted(self.asked_without(request)))
        return request_key(f"{self.identity or self.model} without {left_out or 'nothing'}", request)


def request_key(backend: str, request: VLMRequest) -> str:
    """A hash of everything the reply depends on: backend, words, schema, sampling and the images' bytes."""
    content = {
        "backend": backend,
        "task": request.task,
        "system": request.system,
        "user": request.user,
        "schema": schema_text(request.reply_model),
        "sampling": vars(request.sampling),
        "images_first": request.images_first,
        "images": [(item.label, item.image.sha256) for item in request.images],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# What is computed goes with its JSON, which is read as text again.
_NOT_KEPT = ("value", "answer", "reasons", "findings", "regions")


def reply_to_dict(reply: VLMReply) -> dict[str, Any]:
    fields = {name: value for name, value in vars(reply).items() if name not in _NOT_KEPT}
    return {**fields, "text": reply.words(), "usage": vars(reply.usage)}


def reply_from_dict(data: dict[str, Any]) -> VLMReply:
    interval = data["interval"]
    return VLMReply(
        **{
            **data,
            "usage": Usage(**data["usage"]),
            "notes": tuple(data["notes"]),
            "interval": tuple(interval) if interval else None,
        }
    )
