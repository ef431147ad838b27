"""Counting what model calls cost, while they are made."""

from __future__ import annotations

from agenticiqa.errors import BackendError
from agenticiqa.state import CallCount
from agenticiqa.vlm_client.client import Usage, usage_of


class CallCounter:
    """Adds up one node's model calls, the failed ones included.

    A call is one reply asked of a model, an attempt one try on the wire; a reply from a cache is neither.
    """

    def __init__(self) -> None:
        self.count = CallCount()
        self.stand_ins: list[str] = []

    def add(self, usage: Usage) -> None:
        """Books a reply."""
        self.count = self.count.plus(count_of(usage))

    def add_failure(self, error: BackendError) -> None:
        """Books a call that brought no reply."""
        self.count = self.count.plus(count_of(usage_of(error)))


def count_of(usage: Usage) -> CallCount:
    """One reply's usage as a count."""
    if usage.from_cache:
        return CallCount(cache_hits=1, seconds=usage.seconds)
    return CallCount(
        calls=1,
        attempts=usage.transport_attempts,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        cost_usd=usage.cost_usd,
        seconds=usage.seconds,
    )
