"""Answering an identical request with the reply that was kept, in memory or on disk."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from typing import Any, Protocol

from agenticiqa.cache import Cache, Recent
from agenticiqa.vlm_client.client import Usage, VLMClient, VLMReply, VLMRequest, WrappingVLMClient
from agenticiqa.vlm_client.tasks import schema_text

NAMESPACE = "replies"
REMEMBERED = 256
"""Replies kept in memory where none go to disk."""


class ReplyStore(Protocol):
    """Where replies are kept by key."""

    def get(self, key: str) -> VLMReply | None:
        """The reply kept under the key."""

    def put(self, key: str, reply: VLMReply) -> None:
        """Keeps the reply."""


class DiskReplyStore:
    """Keeps replies in the SQLite cache, shared by threads and processes."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def get(self, key: str) -> VLMReply | None:
        """The reply kept under the key; one that another version wrote and this one cannot read is a miss."""
        kept = self._cache.get(NAMESPACE, key)
        if kept is None:
            return None
        try:
            return reply_from_dict(json.loads(kept))
        except (json.JSONDecodeError, KeyError, TypeError):
            return None

    def put(self, key: str, reply: VLMReply) -> None:
        """Keeps the reply."""
        # In ASCII: half a surrogate pair, which a model may write, has no other encoding.
        self._cache.put(NAMESPACE, key, json.dumps(reply_to_dict(reply)))


class CachingVLMClient(WrappingVLMClient):
    """A client that is asked once per distinct request.

    A reply enters the store when whoever asked has accepted it (`keep`): one that failed a check never does. Replies
    are kept only at temperature 0 unless `sampled` is set: a sampled reply is meant to vary.
    """

    def __init__(self, client: VLMClient, store: ReplyStore | None = None, *, sampled: bool = False) -> None:
        super().__init__(client)
        self._store = store or Recent(REMEMBERED)
        self._sampled = sampled

    def ask(self, request: VLMRequest) -> VLMReply:
        """The kept reply, or the client's."""
        kept = self._store.get(self._key(request)) if self._keeps(request) else None
        return self.client.ask(request) if kept is None else replace(kept, usage=Usage(from_cache=True))

    def keep(self, request: VLMRequest, reply: VLMReply) -> None:
        """Keeps an accepted reply, also one that a stricter wording brought, so that asking again begins with it."""
        if self._keeps(request) and not reply.usage.from_cache:
            self._store.put(self._key(request), reply)

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


def reply_to_dict(reply: VLMReply) -> dict[str, Any]:
    """The reply as JSON values; what a backend computed is kept as its JSON, which is read as text again."""
    fields = asdict(replace(reply, text=reply.words(), value=None, answer=None, reasons=()))
    return {name: value for name, value in fields.items() if name not in ("value", "answer", "reasons")}


def reply_from_dict(data: dict[str, Any]) -> VLMReply:
    """The reply these JSON values stand for."""
    interval = data["interval"]
    return VLMReply(
        **{
            **data,
            "usage": Usage(**data["usage"]),
            "notes": tuple(data["notes"]),
            "interval": tuple(interval) if interval else None,
        }
    )
