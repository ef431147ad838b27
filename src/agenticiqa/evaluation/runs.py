"""What is found out about one picture: the agent's answer, whole and with parts taken out, and every tool's value.

A part is taken out by a model client that stands where the part stood.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agenticiqa.assessor import DEFAULT_QUERY, Assessment, Assessor
from agenticiqa.errors import AgenticIQAError
from agenticiqa.images import ImageSource, LoadedImage
from agenticiqa.nodes.summarizer import summarizer_node
from agenticiqa.parts import Parts
from agenticiqa.state import AgenticIQAState, CallCount, Ledger, PlannerOutput, UsedEvidence
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.vlm_client.client import Usage, VLMClient, VLMReply, VLMRequest, WrappingVLMClient
from agenticiqa.vlm_client.middleware.caching import request_key
from agenticiqa.vlm_client.middleware.retrying import FallbackVLMClient
from agenticiqa.vlm_client.tasks import DetectInputs, DetectReply, InspectInputs, InspectReply, PlanInputs


class SharedReplies(WrappingVLMClient):
    """Asks once what several ablations ask alike; a reply given again keeps the usage it had the first time."""

    def __init__(self, client: VLMClient) -> None:
        super().__init__(client)
        self._replies: dict[str, VLMReply] = {}

    def ask(self, request: VLMRequest) -> VLMReply:
        key = request_key(self.identity or self.model, request)
        if key not in self._replies:
            self._replies[key] = self.client.ask(request)
        return self._replies[key]


class FixedPlan(WrappingVLMClient):
    """A planner that reads no question: the whole image, every subtask, distortions inferred."""

    def ask(self, request: VLMRequest) -> VLMReply:
        if not isinstance(request.inputs, PlanInputs):
            return self.client.ask(request)
        return _given(fixed_plan(request.inputs.has_reference), self.model)


class NoDetection(WrappingVLMClient):
    """An executor's model that finds no distortion, so that tools run under "Overall"."""

    def ask(self, request: VLMRequest) -> VLMReply:
        if isinstance(request.inputs, DetectInputs):
            return _given(DetectReply(distortion_set={name: [] for name in request.inputs.objects}), self.model)
        if isinstance(request.inputs, InspectInputs):
            return _given(InspectReply(findings={name: [] for name in request.inputs.objects}), self.model)
        return self.client.ask(request)


def fixed_plan(has_reference: bool) -> PlannerOutput:
    """The plan of an agent without a planner."""
    flags = ("distortion_detection", "distortion_analysis", "tool_selection", "tool_execution")
    return PlannerOutput.model_validate(
        {
            "query_type": "IQA",
            "query_scope": "Global",
            "distortion_source": "Inferred",
            "distortions": None,
            "reference_mode": "Full-Reference" if has_reference else "No-Reference",
            "required_tool": None,
            "plan": dict.fromkeys(flags, True),
        }
    )


def with_wrapped(parts: Parts, wrap: Callable[[VLMClient], VLMClient], *roles: str) -> Parts:
    """The parts with the clients of these roles inside a wrapper."""
    clients = {role: _around(parts.vlm_clients[role], wrap) for role in roles}
    return replace(parts, vlm_clients={**parts.vlm_clients, **clients})


def _around(client: VLMClient, wrap: Callable[[VLMClient], VLMClient]) -> VLMClient:
    # Each backend by itself: around both, the second would no longer be seen to stand behind the first.
    if isinstance(client, FallbackVLMClient):
        return FallbackVLMClient(_around(client.first, wrap), _around(client.second, wrap))
    return wrap(client)


def _given(value: BaseModel, model: str) -> VLMReply:
    # Counted like a reply from a cache: nobody was asked.
    return VLMReply(text="", model=model, usage=Usage(from_cache=True), value=value)


logger = logging.getLogger("agenticiqa.evaluation")

Found = dict[str, Any]
"""What one run gave, as JSON values."""
Run = Callable[[Parts, ImageSource, ImageSource | None], Found]

FULL, TOOLS, MODEL_ALONE, EMBEDDED = "full", "tools", "model-alone", "embedded"


def run_full(
    parts: Parts, image: ImageSource, reference: ImageSource | None, max_replan_iterations: int | None = None
) -> Found:
    """The agent as it is."""
    agent = Assessor(parts=parts)
    return _summary(agent.assess(image, reference=reference, max_replan_iterations=max_replan_iterations))


def run_without_planner(parts: Parts, image: ImageSource, reference: ImageSource | None) -> Found:
    """The agent with a fixed plan."""
    return run_full(with_wrapped(parts, FixedPlan, "planner"), image, reference)


def run_without_detection(parts: Parts, image: ImageSource, reference: ImageSource | None) -> Found:
    """The agent that is told of no distortion."""
    return run_full(with_wrapped(parts, NoDetection, "executor"), image, reference)


def run_model_alone(parts: Parts, image: ImageSource, reference: ImageSource | None) -> Found:
    """The summarizer's model asked for a level with no evidence at all."""
    store = parts.settings.image_store()
    state: AgenticIQAState = {
        "query": DEFAULT_QUERY,
        "image_path": store.place(image),
        "reference_path": None if reference is None else store.place(reference, "reference"),
        "plan": fixed_plan(reference is not None),
        "executor_evidence": None,
        "iteration_count": 0,
        "max_replan_iterations": 1,
        "ledger": Ledger(),
    }
    update = summarizer_node(state, {"configurable": {**vars(parts), "images": store}})
    used = UsedEvidence.of(update["summarizer_result"])
    return {"score": used.vlm_score, "error": used.error, **_cost(update.get("ledger", Ledger()).total, 0.0)}


def run_tools(parts: Parts, image: ImageSource, reference: ImageSource | None) -> Found:
    """The raw value of every metric that fits: full-reference ones with a reference, the others without."""
    test = _opened(image, parts)
    original = None if reference is None else _opened(reference, parts)
    raw, seconds, errors = dict[str, float](), dict[str, float](), dict[str, str]()
    for name in fitting_tools(parts.tools, original is not None):
        started = time.perf_counter()
        try:
            raw[name] = parts.tools.raw(name, test, original)
            seconds[name] = time.perf_counter() - started
        except AgenticIQAError as error:
            errors[name] = str(error)
    return {"raw": raw, "tool_seconds": seconds, "tool_errors": errors, "error": None}


def run_embedded(parts: Parts, image: ImageSource, reference: ImageSource | None) -> Found:
    """The embedded model's own judgement, as shipped: no user's scale is applied."""
    from agenticiqa.embedded.combined_models import shipped_perception

    original = None if reference is None else _opened(reference, parts)
    pipeline = parts.settings.pipeline
    look = shipped_perception(pipeline.terms, pipeline.viewing).look(_opened(image, parts), original)
    return {"score": look.quality.score, "interval": look.quality.interval, "error": None}


RUNS: dict[str, Run] = {
    # First: a tool that the agent ran before would be answered from memory, and its seconds would be none.
    TOOLS: run_tools,
    FULL: run_full,
    MODEL_ALONE: run_model_alone,
    "no-planner": run_without_planner,
    "no-detection": run_without_detection,
    "no-replanning": partial(run_full, max_replan_iterations=1),
    EMBEDDED: run_embedded,
}


def fitting_tools(tools: ToolRegistry, has_reference: bool) -> list[str]:
    """Metrics that run here and fit: the learned judgements are the model itself, attributes judge nothing."""
    mode = "FR" if has_reference else "NR"
    return [
        name
        for name in tools.names()
        if tools.card(name).reference == mode and tools.card(name).role == "metric" and tools.available(name) is None
    ]


def carry_out(names: list[str], parts: Parts, image: Path, reference: Path | None) -> dict[str, Found]:
    """These runs on one picture; replies that several of them need are asked for once.

    A run that fails says so in its `error`. Without any new plan in the full run, the one without replanning is it.
    """
    # Each role has its own memory: two roles may use one backend with different settings.
    shared = with_wrapped(parts, SharedReplies, *parts.vlm_clients)
    found: dict[str, Found] = {}
    for name in sorted(names, key=list(RUNS).index):
        full = found.get(FULL)
        if name == "no-replanning" and full is not None and full["error"] is None and not full["replans"]:
            found[name] = full
            continue
        found[name] = guarded(RUNS[name], shared, image, reference)
    return found


def guarded(run: Run, parts: Parts, image: ImageSource, reference: ImageSource | None) -> Found:
    """The run's result, or its failure as a result."""
    try:
        return run(parts, image, reference)
    except AgenticIQAError as error:
        logger.warning("%s: %s", image, error)
        return {"score": None, "error": str(error)}


def seconds_alone(name: str, parts: Parts, image: Path, reference: Path | None) -> float:
    """How long a run takes when nothing of it is remembered from another one."""

    def unseen(path: Path) -> Any:
        """The picture with one value changed by one: as much work, but found in no memory."""
        pixels = _opened(path, parts).pixels.copy()
        pixels.flat[sum(name.encode()) % pixels.size] ^= 1
        return pixels

    changed = unseen(image), None if reference is None else unseen(reference)
    started = time.perf_counter()
    guarded(RUNS[name], parts, *changed)
    return time.perf_counter() - started


def _opened(source: ImageSource, parts: Parts) -> LoadedImage:
    return parts.settings.image_store().open(source)


def _summary(said: Assessment) -> Found:
    logs = [reading for reading in said.tools if reading.error is None]
    return {
        "score": said.score,
        "model_score": said.model_score,
        "tool_score": said.tool_score,
        "interval": said.interval,
        "answer": said.answer,
        "reasoning": said.reasoning,
        "distortions": [finding.model_dump() for finding in said.distortions],
        "tools": {reading.tool: reading.calibrated for reading in logs},
        "reasons": [
            {"name": reason.name, "number": reason.number, "others": [vars(other) for other in reason.others]}
            for reason in said.reasons
        ],
        "replans": len(said.replan_history),
        "error": said.error,
        **_cost(said.ledger.total, sum(reading.seconds for reading in said.tools)),
    }


def _cost(count: CallCount, tool_seconds: float) -> Mapping[str, Any]:
    return {
        "calls": count.calls,
        "tokens": count.input_tokens + count.output_tokens,
        "seconds": count.seconds + tool_seconds,
        "cost": count.cost_usd,
    }
