"""Small tools for tests of the registry: they do what their names say."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from agenticiqa.errors import ToolError
from agenticiqa.tools import Pixels, Tool, ToolCard


def card(name: str, **fields: Any) -> ToolCard:
    """A card with plain values where the test does not care."""
    plain: dict[str, Any] = {
        "reference": "NR",
        "higher_is_better": True,
        "raw_range": (None, None),
        "implementation": "fake:tool",
        "licence": "CC0-1.0",
        "cost": "cheap",
        "variant": "for tests",
        "min_side": 1,
    }
    return ToolCard(name=name, **{**plain, **fields})


class MeanBrightness(Tool):
    """The mean of all samples; counts how often it was asked."""

    def __init__(self, name: str = "MEAN", **fields: Any) -> None:
        self.card = card(name, **fields)
        self.calls = 0

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        self.calls += 1
        return float(test.mean())


class MeanDifference(MeanBrightness):
    """The mean absolute difference from the reference."""

    def __init__(self, name: str = "DIFFERENCE", **fields: Any) -> None:
        super().__init__(name, **{"reference": "FR", "higher_is_better": False, **fields})

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        self.calls += 1
        assert reference is not None
        return float(np.abs(test.astype(float) - reference).mean())


class Broken(MeanBrightness):
    """A tool that fails as library code does."""

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        raise ZeroDivisionError("nothing to divide")


class Declining(MeanBrightness):
    """A tool that fails as our own code does."""

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        raise ToolError("not today")


class NotANumber(MeanBrightness):
    """A tool that returns NaN."""

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        return float("nan")


class Slow(MeanBrightness):
    """A tool that takes its time."""

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        time.sleep(5)
        return 0.0


class Missing(MeanBrightness):
    """A tool that is not installed."""

    def unavailable(self) -> str:
        return "not installed; install it with: pip install something"
