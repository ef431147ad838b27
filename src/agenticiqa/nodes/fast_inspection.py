"""Detection, analysis and tool selection in one question to the model: what `mode: fast` asks."""

from __future__ import annotations

from dataclasses import dataclass

from agenticiqa.nodes.context import NodeContext
from agenticiqa.nodes.reply_normalisation import Distortions, detected_distortions, targets_of
from agenticiqa.nodes.tool_steps import offers
from agenticiqa.state import DISTORTION_CATEGORIES, OVERALL, Gap, PlannerOutput
from agenticiqa.values import Distortion
from agenticiqa.vlm_client.tasks import InspectInputs, InspectReply


@dataclass(frozen=True)
class FastLook:
    """A reply to the one question, read under the plan that asked it."""

    reply: InspectReply
    distortions: Distortions
    """Those the plan gives, else those that were seen."""
    tools: dict[str, dict[str, str]]
    """What the model chose, per object and distortion."""
    findings: tuple[Distortion, ...]
    """What the backend found, where it gives values."""


def inspect(context: NodeContext, prompt: str, plan: PlannerOutput, query: str, gap: Gap | None = None) -> FastLook:
    """What the model settles in one look under this plan; raises ModelReplyError."""
    steps = plan.model_steps()
    given = {} if "distortion_detection" in steps else detected_distortions(plan.distortions or {}, plan, [])
    # Without given distortions a tool may have to measure any category, or the quality as a whole.
    anything: Distortions = {name: [*DISTORTION_CATEGORIES, OVERALL] for name in plan.objects()}
    wanted = targets_of(given, plan) if given else anything
    selects = "tool_selection" in steps
    inputs = InspectInputs(
        query=query,
        objects=tuple(targets_of(given, plan)),
        categories=() if given else DISTORTION_CATEGORIES,
        distortions=given,
        reference_mode=plan.reference_mode,
        severity_wanted="distortion_analysis" in steps,
        tools=offers(context, wanted) if selects else (),
        gap=gap,
    )
    said = context.ask(prompt, inputs)
    seen, tools = dict[str, list[str]](), dict[str, dict[str, str]]()
    for name, tool in said.value.overall_tools.items():
        tools[name] = {OVERALL: tool} if tool else {}
    for name, entries in said.value.findings.items():
        seen[name] = [entry.type for entry in entries]
        tools.setdefault(name, {}).update({entry.type: entry.tool for entry in entries if entry.tool})
    return FastLook(said.value, given or detected_distortions(seen, plan, []), tools, said.reply.findings)
