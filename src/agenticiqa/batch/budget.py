"""Limits on what one run may spend, kept before they are passed rather than noticed afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agenticiqa.batch.records import Spent, is_done, spent_on


@dataclass(frozen=True)
class Limits:
    """The most one run may cost, call and fail; None sets no limit."""

    max_cost: float | None = None
    max_calls: int | None = None
    max_failures: int | None = None


class Budget:
    """What a run has spent, and whether there is room for another sample.

    Room is kept for the samples under way, each taken to be as dear as the dearest one so far, or as `expected` before
    there is one.
    """

    def __init__(self, limits: Limits, expected: Spent) -> None:
        self._limits = limits
        self._dearest: Spent | None = None
        self._expected = expected
        self.spent = Spent()
        self.finished = self.failures = 0

    def book(self, record: Mapping[str, Any]) -> None:
        """Counts a finished sample."""
        spent = spent_on(record)
        self.spent = self.spent.plus(spent)
        self.finished += 1
        self.failures += not is_done(record)
        known = self._dearest or Spent()
        cost = max(known.cost_usd or 0.0, spent.cost_usd or 0.0)
        self._dearest = Spent(max(known.calls, spent.calls), cost)

    def exhausted(self, under_way: int = 0) -> str | None:
        """Which limit leaves no room for another sample beside those under way, in words."""
        limits, each = self._limits, self._dearest or self._expected
        if limits.max_failures is not None and self.failures >= limits.max_failures:
            return f"{self.failures} samples failed and --max-failures is {limits.max_failures}"
        if limits.max_calls is not None and self.spent.calls + (under_way + 1) * each.calls > limits.max_calls:
            return f"{self.spent.calls} calls were made and --max-calls is {limits.max_calls}"
        if limits.max_cost is None:
            return None
        if self.spent.cost_usd is None:
            return "a reply had no known price and --max-cost cannot be kept"
        if self.spent.cost_usd + (under_way + 1) * (each.cost_usd or 0.0) > limits.max_cost:
            return f"{self.spent.cost_usd:.4f} USD were spent and --max-cost is {limits.max_cost:g}"
        return None
