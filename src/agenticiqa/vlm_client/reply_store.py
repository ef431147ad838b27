"""Model replies kept on disk."""

from __future__ import annotations

import json

from agenticiqa.cache import Cache
from agenticiqa.vlm_client.client import VLMReply
from agenticiqa.vlm_client.recording import reply_from_dict, reply_to_dict

NAMESPACE = "replies"


class CachedReplyStore:
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
