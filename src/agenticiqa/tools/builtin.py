"""The built-in metrics as tools: functions in `tools.metrics`, imported when first measured."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cached_property
from typing import cast

from agenticiqa.errors import ToolError
from agenticiqa.tools.tool import Pixels, Tool, ToolCard

SCHEME = "builtin"
_ROOM = "agenticiqa.tools.metrics"


class BuiltinTool(Tool):
    """A pure function from pixels to a number; `builtin:psnr.psnr` names module and function."""

    def __init__(self, card: ToolCard) -> None:
        self.card = card

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        """The raw value; raises ToolError when there is none."""
        if self.card.reference == "NR":
            return float(self._function(test))
        if reference is None:
            raise ToolError(f"{self.name} compares with a reference image; give one")
        return float(self._function(test, reference))

    @cached_property
    def _function(self) -> Callable[..., float]:
        module, _, function = self.card.implementation.removeprefix(f"{SCHEME}:").rpartition(".")
        return cast(Callable[..., float], getattr(importlib.import_module(f"{_ROOM}.{module}"), function))
