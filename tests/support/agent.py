"""The agent's parts for tests: fixed tools, plans and configurations, all passed in openly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.runnables import RunnableConfig

from agenticiqa.config import Settings, load_settings
from agenticiqa.score_fusion import UNKNOWN_SPREAD
from agenticiqa.state import AgenticIQAState, PlannerOutput
from agenticiqa.tools import Pixels, Tool, ToolCard, ToolRegistry, same_scale
from agenticiqa.vlm_client import ScriptedVLMClient, VLMClient
from tests.support.photos import save

QUERY = "Rate the perceptual quality of this image."
ALL_FLAGS = {
    "distortion_detection": True,
    "distortion_analysis": True,
    "tool_selection": True,
    "tool_execution": True,
}
BLURRED = {"distortion_set": {"Global": ["Blurs"]}}
MODERATE_BLUR = {
    "distortion_analysis": {
        "Global": [{"type": "Blurs", "severity": "moderate", "explanation": "Edges appear soft."}],
    }
}
USE_GAUGE = {"selected_tools": {"Global": {"Blurs": "GAUGE"}}}
FAIR = {"final_answer": "C", "quality_reasoning": "Moderate blur, tool score 2.6."}


class FixedTool(Tool):
    """Says one number, or what a function makes of the pixels; already on the 1–5 scale unless told otherwise."""

    def __init__(
        self,
        name: str = "GAUGE",
        value: float | Callable[[Pixels], float] = 2.6,
        *,
        reference: str = "NR",
        calibrated: bool = True,
        missing: str | None = None,
        spread: float = UNKNOWN_SPREAD,
        **card: Any,
    ) -> None:
        fields = {
            "name": name,
            "reference": reference,
            "higher_is_better": True,
            "raw_range": (None, None),
            "implementation": f"builtin:{name}",
            "licence": "Apache-2.0",
            "cost": "cheap",
            "variant": "a fixed number",
            "min_side": 1,
            **card,
        }
        self.card = ToolCard.model_validate(fields)
        self.calibration = same_scale("none", spread) if calibrated else None
        self.runs: list[tuple[int, int]] = []
        self._value = value
        self._missing = missing

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        self.runs.append((test.shape[1], test.shape[0]))
        return self._value(test) if callable(self._value) else self._value

    def unavailable(self) -> str | None:
        return self._missing


def registry(*tools: Tool) -> ToolRegistry:
    return ToolRegistry(tools=tools or (FixedTool(),))


def settings(**overrides: Any) -> Settings:
    return load_settings(environ={}, directory=Path("/nonexistent"), overrides=overrides)


def plan_reply(**changes: Any) -> dict[str, Any]:
    flags = {**ALL_FLAGS, **changes.pop("flags", {})}
    return {
        "query_type": "IQA",
        "query_scope": "Global",
        "distortion_source": "Inferred",
        "distortions": None,
        "reference_mode": "No-Reference",
        "required_tool": None,
        "plan": flags,
        **changes,
    }


def plan(**changes: Any) -> PlannerOutput:
    return PlannerOutput.model_validate(plan_reply(**changes))


def script(**changes: Any) -> dict[str, Any]:
    return {
        "plan": plan_reply(),
        "detect": BLURRED,
        "analyze": MODERATE_BLUR,
        "select_tools": USE_GAUGE,
        "locate": {"regions": {}},
        "answer": {"final_answer": "It is blurred.", "quality_reasoning": "Edges appear soft."},
        "score": FAIR,
        **changes,
    }


def scripted(**changes: Any) -> ScriptedVLMClient:
    return ScriptedVLMClient(script(**changes))


def config(client: VLMClient | None = None, tools: Iterable[Tool] = (), **more: Any) -> RunnableConfig:
    chosen = client or scripted()
    configurable: dict[str, Any] = {
        "vlm_clients": dict.fromkeys(("planner", "executor", "summarizer"), chosen),
        "tools": registry(*tools),
        "settings": settings(),
        **more,
    }
    return {"configurable": configurable}


def picture(folder: Path, name: str = "picture.png", size: tuple[int, int] = (48, 32), seed: int = 0) -> str:
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8)
    return str(save(folder / name, pixels))


def state(folder: Path, query: str = QUERY, **more: Any) -> AgenticIQAState:
    fields: Any = {"query": query, "image_path": picture(folder), **more}
    result: AgenticIQAState = fields
    return result
