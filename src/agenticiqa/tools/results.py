"""Raw values already measured: the recent ones in memory, the rest on disk."""

from __future__ import annotations

import json
import logging
import math
import threading
from collections import OrderedDict

from agenticiqa.cache import Cache

logger = logging.getLogger("agenticiqa.tools")

NAMESPACE = "tools"
RawResult = tuple[float, tuple[str, ...]]
"""A raw value and the notes on how it came about."""


class ResultStore:
    """Raw results by key: a small memory in front of the shared cache on disk; safe for threads."""

    def __init__(self, cache: Cache | None = None, remembered: int = 4096) -> None:
        self._cache = cache
        self._remembered = remembered
        self._recent: OrderedDict[str, RawResult] = OrderedDict()
        self._lock = threading.Lock()

    def recall(self, key: str) -> RawResult | None:
        """The result stored under this key, or None."""
        with self._lock:
            if key in self._recent:
                self._recent.move_to_end(key)
                return self._recent[key]
        text = self._cache.get(NAMESPACE, key) if self._cache else None
        found = _parse(text) if text is not None else None
        if found is not None:
            self._keep(key, found)
        return found

    def store(self, key: str, result: RawResult) -> None:
        """Keeps a result for the next time."""
        self._keep(key, result)
        if self._cache:
            self._cache.put(NAMESPACE, key, json.dumps({"raw": result[0], "notes": result[1]}))

    def _keep(self, key: str, result: RawResult) -> None:
        with self._lock:
            self._recent[key] = result
            self._recent.move_to_end(key)
            if len(self._recent) > self._remembered:
                self._recent.popitem(last=False)


def _parse(text: str) -> RawResult | None:
    try:
        stored = json.loads(text)
        raw, notes = float(stored["raw"]), tuple(str(note) for note in stored["notes"])
    except (ValueError, KeyError, TypeError):
        logger.warning("a cached tool result cannot be read; measuring again")
        return None
    return (raw, notes) if math.isfinite(raw) else None
