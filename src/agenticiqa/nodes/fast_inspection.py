"""Detection, analysis and tool selection in one question to the model: what `mode: fast` asks."""

from __future__ import annotations

from dataclasses import dataclass

from agenticiqa.nodes.context import NodeContext
from agenticiqa.nodes.reply_normalisation import (
    Analysis,
    Distortions,
    analyzed_distortions,
    detected_distortions,
    targets_of,
)
from agenticiqa.nodes.tool_steps import offers
from agenticiqa.state import DISTORTION_CATEGORIES, OVERALL, Gap, PlannerOutput
from agenticiqa.values import Distortion
from agenticiqa.vlm_client.tasks import AnalyzedDistortion, InspectInputs, InspectReply


def inspect(context: NodeContext, prompt: str, plan: PlannerOutput, query: str, gap: Gap | None = None) -> Inspection:
    """What the model settles in one look under this plan; raises ModelReplyError."""
    steps = plan.model_steps()
    given = {} if "distortion_detection" in steps else detected_distortions(plan.distortions or {}, plan)
    selects = "tool_selection" in steps
    inputs = InspectInputs(
        query=query,
        objects=tuple(targets_of(given, plan)),
        categories=() if given else DISTORTION_CATEGORIES,
        distortions=given,
        reference_mode=plan.reference_mode,
        severity_wanted="distortion_analysis" in steps,
        tools=offers(_candidates(given, plan), context.parts.tools, context.reference is not None) if selects else (),
        gap=gap,
    )
    said = context.ask(prompt, inputs)
    return Inspection(said.value, given, plan, said.reply.findings)


@dataclass(frozen=True)
class Inspection:
    """A reply to the one question, read under the plan that asked it."""

    reply: InspectReply
    given: Distortions
    plan: PlannerOutput
    findings: tuple[Distortion, ...] = ()
    """What the backend found, where it gives values."""

    @property
    def distortions(self) -> Distortions:
        """The distortions per object: those the plan gives, else those that were seen."""
        seen = {name: [entry.type for entry in entries] for name, entries in self.reply.findings.items()}
        return self.given or detected_distortions(seen, self.plan)

    def analysis(self) -> tuple[Analysis, list[str]]:
        """Severity and look of each distortion, and a sentence for each that was not judged."""
        entries = {
            name: [AnalyzedDistortion(**entry.model_dump(exclude={"tool"})) for entry in found]
            for name, found in self.reply.findings.items()
        }
        return analyzed_distortions(entries, self.distortions, self.plan)

    def tools(self) -> dict[str, dict[str, str]]:
        """The tools the model chose, per object and distortion."""
        overall = self.reply.overall_tools.items()
        chosen: dict[str, dict[str, str]] = {name: {OVERALL: tool} for name, tool in overall if tool}
        for name, entries in self.reply.findings.items():
            chosen.setdefault(name, {}).update({entry.type: entry.tool for entry in entries if entry.tool})
        return chosen


def _candidates(given: Distortions, plan: PlannerOutput) -> Distortions:
    """What a tool may have to measure: the given distortions, else any category and the quality as a whole."""
    if given:
        return targets_of(given, plan)
    return {name: [*DISTORTION_CATEGORIES, OVERALL] for name in plan.objects()}
