"""The agent with one of its parts taken out, for ablations: model clients that stand where the part stood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pydantic import BaseModel

from agenticiqa.parts import Parts
from agenticiqa.state import PlannerOutput
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
        """The reply given before to the same request, or the client's."""
        key = request_key(self.identity or self.model, request)
        if key not in self._replies:
            self._replies[key] = self.client.ask(request)
        return self._replies[key]


class FixedPlan(WrappingVLMClient):
    """A planner that reads no question: the whole image, every subtask, distortions inferred."""

    def ask(self, request: VLMRequest) -> VLMReply:
        """The fixed plan for a planning task, whatever is asked; other tasks go to the client."""
        if not isinstance(request.inputs, PlanInputs):
            return self.client.ask(request)
        return _given(fixed_plan(request.inputs.has_reference), self.model)


class NoDetection(WrappingVLMClient):
    """An executor's model that finds no distortion, so that tools run under "Overall"."""

    def ask(self, request: VLMRequest) -> VLMReply:
        """An empty finding for a detection task; other tasks go to the client."""
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


def sharing(parts: Parts) -> Parts:
    """The parts with clients that remember their replies, for all runs on one picture."""
    # Each role has its own memory: two roles may use one backend with different settings.
    return _wrapped(parts, SharedReplies, *parts.vlm_clients)


def without_planner(parts: Parts) -> Parts:
    """The parts with a fixed plan in place of the planner."""
    return _wrapped(parts, FixedPlan, "planner")


def without_detection(parts: Parts) -> Parts:
    """The parts with an executor that detects nothing."""
    return _wrapped(parts, NoDetection, "executor")


def _wrapped(parts: Parts, wrap: Callable[[VLMClient], VLMClient], *roles: str) -> Parts:
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
