"""The executor: gathers the evidence a plan asks for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Optional, TypeVar

from langchain_core.runnables import RunnableConfig

from agenticiqa.errors import ToolError
from agenticiqa.images import LabelledImage
from agenticiqa.nodes import reply_normalisation as replies
from agenticiqa.nodes import tool_steps
from agenticiqa.nodes.closing_gaps import Focus, close_up, joined_findings
from agenticiqa.nodes.context import NodeContext, node_context, report
from agenticiqa.nodes.fast_inspection import inspect
from agenticiqa.nodes.reply_normalisation import Analysis, Distortions
from agenticiqa.nodes.tool_steps import Pick, ToolScores
from agenticiqa.question.object_words import names_a_thing
from agenticiqa.state import (
    DISTORTION_CATEGORIES,
    GLOBAL,
    MAX_REPLAN_HISTORY,
    AgenticIQAState,
    ExecutorOutput,
    Gap,
    LocatedRegion,
    PlannerOutput,
    Region,
    ToolExecutionLog,
)
from agenticiqa.values import Distortion
from agenticiqa.vlm_client.tasks import AnalyzeInputs, DetectInputs, LocateInputs, SelectToolsInputs

logger = logging.getLogger("agenticiqa.nodes.executor")

DETECTION_PROMPT_TEMPLATE = """\
You are an expert in distortion detection. Look at the test image, and at the reference image if one is given, and
name the distortions visible in each listed object ("Global" is the whole image). Use only the listed categories.
A style the photographer chose (bokeh, night, fog, black and white) is not a distortion. An object without a
distortion gets an empty list. What you cannot judge goes to uncertainties.
Return a valid JSON object:
{
  "distortion_set": {"<object or Global>": ["<category>", ...]},
  "uncertainties": ["<what could not be judged>", ...]
}
"""

ANALYSIS_PROMPT_TEMPLATE = """\
You are a distortion analysis expert. For each listed distortion of each object, judge how severe it is in the test
image and describe what it looks like, compared with the reference image if one is given.
The severities are: none, slight, moderate, severe, extreme.
Return a valid JSON object:
{
  "distortion_analysis": {
    "<object or Global>": [
      {"type": "<distortion>", "severity": "<severity>", "explanation": "<what is seen, in one sentence>"}
    ]
  },
  "uncertainties": ["<what could not be judged>", ...]
}
"""

SELECTION_PROMPT_TEMPLATE = """\
You are a tool executor. For each listed distortion of each object, choose the one listed tool that measures it best;
"Overall" stands for the quality as a whole. Prefer full-reference (FR) tools when the reference mode is
Full-Reference; without a reference only no-reference (NR) tools can run. Use the tools' names exactly as listed.
Return a valid JSON object:
{
  "selected_tools": {"<object or Global>": {"<distortion>": "<tool name>"}}
}
"""

INSPECTION_PROMPT_TEMPLATE = """\
You are an expert in the distortions of images and in the tools that measure them. Look at the test image, and at the
reference image if one is given, and settle in one reply what is listed below for each object ("Global" is the whole
image).
1. findings: the distortions visible in the object. If distortions are listed per object, take exactly those; otherwise
   use only the listed categories. A style the photographer chose (bokeh, night, fog, black and white) is not a
   distortion. An object without a distortion gets an empty list.
2. If severities are wanted: severity is one of none, slight, moderate, severe, extreme, and explanation says in one
   sentence what is seen, compared with the reference image if one is given.
3. If tools are listed: tool is the one that measures this distortion best, and overall_tools names per object the one
   for the quality as a whole. Prefer full-reference (FR) tools when the reference mode is Full-Reference; without a
   reference only no-reference (NR) tools can run. Use the tools' names exactly as listed.
What you cannot judge goes to uncertainties.
Return a valid JSON object, without the fields nobody asked for:
{
  "findings": {
    "<object or Global>": [
      {"type": "<category>", "severity": "<severity>", "explanation": "<what is seen>", "tool": "<tool name>"}
    ]
  },
  "overall_tools": {"<object or Global>": "<tool name>"},
  "uncertainties": ["<what could not be judged>", ...]
}
"""

LOCATION_PROMPT_TEMPLATE = """\
You locate objects in images. For each listed object give the smallest box that holds it in the test image, as left,
top, right, bottom in fractions of the image's width and height (0 to 1, origin at the top left).
An object you cannot find gets null; never guess.
Return a valid JSON object:
{
  "regions": {"<object>": [<left>, <top>, <right>, <bottom>] | null}
}
"""

Result = TypeVar("Result")


def executor_node(state: AgenticIQAState, config: Optional[RunnableConfig] = None) -> dict[str, Any]:
    """The state update with the evidence; what failed is named in it."""
    if state.get("error"):
        return {}
    plan = state.get("plan")
    if plan is None:
        return {"executor_evidence": ExecutorOutput(errors={"executor": "there is no plan to carry out"})}
    focus = Focus(plan, state.get("gap"), state.get("executor_evidence"), state.get("tried_tools") or {})
    earlier = state.get("pass_keys") or []
    try:
        context = node_context("executor", state, config)
    except Exception as error:  # a node reports, it does not raise
        return {"executor_evidence": focus.added_to(ExecutorOutput(errors={"executor": report("executor", error)}))}
    # What failed may work when it is tried again; what was answered would be answered the same.
    if focus.key() in earlier and not (focus.before and focus.before.errors):
        logger.info("the plan and what it is about are those of an earlier pass: nothing is asked again")
        return {"repeated": True}
    try:
        with context.reporting():
            gathering = Gathering(context, plan, state["query"], focus)
            evidence, findings = gathering.gather(), gathering.findings
    except Exception as error:
        evidence, findings = ExecutorOutput(errors={"executor": report("executor", error)}), []
    if focus.is_narrow:
        findings = joined_findings(state.get("findings") or [], findings)
    keys = [*(key for key in earlier if key != focus.key()), focus.key()]
    return {
        "executor_evidence": focus.added_to(evidence),
        "findings": findings,
        "ledger": context.booked(),
        "pass_keys": keys[-MAX_REPLAN_HISTORY:],
        "tried_tools": focus.tried_with(evidence.tool_logs),
    }


@dataclass(frozen=True)
class Seen:
    """What the model's subtasks gave: None for one that failed or was not asked for; `targets` are to be measured."""

    found: Distortions | None
    analysis: Analysis | None
    targets: Distortions
    picks: list[Pick] | None = None


@dataclass
class Gathering:
    """The four subtasks on one image under one plan; each runs although another failed."""

    context: NodeContext
    plan: PlannerOutput
    query: str
    focus: Focus
    errors: dict[str, str] = field(default_factory=dict)
    uncertainties: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    findings: list[Distortion] = field(default_factory=list)
    """What was analysed, as values: the backend's own, or read from its words."""
    _absent: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        before = self.focus.before.regions if self.focus.before else {}
        shown = close_up(self.context.test, self.focus.objects(), before) if self.focus.wants_close_up else None
        if shown is not None:
            self.context = replace(self.context, images=(*self.context.images, LabelledImage("closeup", shown)))

    def gather(self) -> ExecutorOutput:
        measures = self.plan.plan.tool_execution
        names_objects = any(name != GLOBAL for name in self.plan.objects())
        regions = self._try("location", measures and names_objects, self.locate) or {}
        if self._absent:
            # What is not there has no evidence: the whole image is looked at, under its own name.
            self.plan = replies.without(self.plan, self._absent)
            self.focus = replace(self.focus, plan=self.plan)
        is_fast = self.context.parts.settings.pipeline.mode == "fast"
        seen = self.look_once() if is_fast and len(self.plan.model_steps()) > 1 else self.look_in_steps()
        logs = self._try("tool_execution", measures, lambda: self.measure(seen.picks, seen.targets, regions))
        return ExecutorOutput.model_validate(
            {
                "distortion_set": seen.found,
                "distortion_analysis": seen.analysis,
                "selected_tools": None if seen.picks is None else tool_steps.as_mapping(seen.picks),
                "quality_scores": None if logs is None else self._scores(logs),
                "tool_logs": logs or [],
                "errors": self.errors,
                "uncertainties": self.uncertainties,
                "regions": regions,
                "notes": list(dict.fromkeys(self.notes)),
            }
        )

    def look_in_steps(self) -> Seen:
        """Detection, analysis and selection, each asked for on its own."""
        steps, doubted = self.plan.model_steps(), self.focus.distortions()
        looks = "distortion_detection" in steps and doubted is None
        found = self._try("distortion_detection", looks, self.detect)
        distortions = found if found is not None else self._known(doubted or self.plan.distortions or {})
        analysis = self._try("distortion_analysis", "distortion_analysis" in steps, lambda: self.analyze(distortions))
        targets = self._in_focus(replies.targets_of(distortions, self.plan))
        picks = self._try("tool_selection", "tool_selection" in steps, lambda: self.select(targets))
        return Seen(found, analysis, targets, picks)

    def _known(self, distortions: Mapping[str, Sequence[str]]) -> Distortions:
        return self._in_focus(replies.detected_distortions(distortions, self.plan, self.notes))

    def _in_focus(self, distortions: Distortions) -> Distortions:
        looked_at = self.focus.objects() if self.focus.is_narrow else distortions
        return {name: kinds for name, kinds in distortions.items() if name in looked_at}

    def look_once(self) -> Seen:
        """Detection, analysis and selection from one reply; without it none of them has a result."""
        steps, plan = self.plan.model_steps(), self.plan
        look = self._try(
            "inspection", True, lambda: inspect(self.context, INSPECTION_PROMPT_TEMPLATE, plan, self.query, self._doubt)
        )
        if look is None:
            self.errors |= dict.fromkeys(steps, self.errors.pop("inspection"))
            given = replies.detected_distortions(plan.distortions or {}, plan, [])
            return Seen(None, None, replies.targets_of(given, plan))
        self.uncertainties += look.reply.uncertainties
        analysis = None
        if "distortion_analysis" in steps:
            analysis = self._analysis(look.reply.findings, look.distortions, look.findings)
        targets = replies.targets_of(look.distortions, plan)
        picks = self._try("tool_selection", "tool_selection" in steps, lambda: self._picked(look.tools, targets))
        return Seen(look.distortions if "distortion_detection" in steps else None, analysis, targets, picks)

    def detect(self) -> Distortions:
        """The distortions seen in each object of the scope."""
        inputs = DetectInputs(
            query=self.query,
            objects=tuple(self.focus.objects()),
            categories=DISTORTION_CATEGORIES,
            reference_mode=self.plan.reference_mode,
            gap=self._doubt,
        )
        reply = self.context.ask(DETECTION_PROMPT_TEMPLATE, inputs).value
        self.uncertainties += reply.uncertainties
        return self._known(reply.distortion_set)

    def analyze(self, distortions: Distortions) -> Analysis:
        """Severity and look of each distortion; nothing is asked when there is none."""
        asked = {name: found for name, found in distortions.items() if found}
        if not asked and "distortion_detection" in self.errors:
            raise ToolError("detection failed, so there is nothing to analyse")
        if not asked:
            return {name: [] for name in distortions}
        mode = self.plan.reference_mode
        inputs = AnalyzeInputs(query=self.query, distortions=asked, reference_mode=mode, gap=self._doubt)
        said = self.context.ask(ANALYSIS_PROMPT_TEMPLATE, inputs)
        self.uncertainties += said.value.uncertainties
        return self._analysis(said.value.distortion_analysis, distortions, said.reply.findings)

    def _analysis(
        self, said: Mapping[str, Sequence[replies.Described]], asked: Distortions, own: Sequence[Distortion]
    ) -> Analysis:
        """What was said of the distortions asked about; the backend's `own` findings are those behind it."""
        analysis, unjudged = replies.analyzed_distortions(said, asked, self.plan)
        self.uncertainties += unjudged
        self.findings = replies.findings_of(analysis, own)
        return analysis

    def select(self, targets: Distortions) -> list[Pick]:
        """A tool that can run for every target; nothing is asked when every tool has been tried."""
        found = tool_steps.offers(self.context, targets)
        untried = tuple(offer for offer in found if offer.name not in self.focus.avoided_tools())
        if not untried and self.focus.is_contradicted:
            return []
        inputs = SelectToolsInputs(
            query=self.query, distortions=targets, reference_mode=self.plan.reference_mode, tools=untried or found
        )
        reply = self.context.ask(SELECTION_PROMPT_TEMPLATE, inputs).value
        return self._picked(reply.selected_tools, targets)

    def locate(self) -> dict[str, Region | None]:
        """The box of each named object, by the model or else by the embedded detector; None for one not found.

        Tools see the whole image for what has no box. What the model says is not there and the detector does not find
        either is absent, and so is a thing to be rated whose place is a guess.
        """
        names = tuple(name for name in self.focus.objects() if name != GLOBAL)
        said, test = self.context.ask(LOCATION_PROMPT_TEMPLATE, LocateInputs(objects=names)), self.context.test
        boxes = {name.strip().casefold(): box for name, box in said.value.regions.items()}
        rates = self.context.question.topic.flaw.category is None
        regions: dict[str, Region | None] = {}
        for name in names:
            box = boxes.get(name.casefold())
            said_region = replies.region_of(box, test.width, test.height) if box else None
            region = said.reply.regions.get(name) or said_region or self.context.parts.locate(test, name)
            is_guess = rates and isinstance(region, LocatedRegion) and region.is_doubtful
            denied = region is None and name.casefold() in boxes and names_a_thing(name)
            regions[name] = None if is_guess else region
            if is_guess or denied:
                self._absent.append(name)
        return regions

    def measure(
        self, chosen: list[Pick] | None, targets: Distortions, regions: Mapping[str, Region | None]
    ) -> list[ToolExecutionLog]:
        """One log per run of a tool: the required one, the chosen ones, or suitable ones if none were chosen."""
        required = self.plan.required_tool
        picks = (
            chosen or self._picked({}, targets) if required is None else tool_steps.required_picks(required, targets)
        )
        return tool_steps.run_tools(self.context, picks, regions, substitute=required is None)

    def _picked(self, chosen: Mapping[str, Mapping[str, str]], targets: Distortions) -> list[Pick]:
        avoided, again = self.focus.avoided_tools(), not self.focus.is_contradicted
        return tool_steps.complete_picks(self.context, self.plan, chosen, targets, avoided, again=again)

    @property
    def _doubt(self) -> Gap | None:
        """The gap, where hearing of it may change what the model sees."""
        return self.focus.gap if self.focus.wants_close_up else None

    def _scores(self, logs: list[ToolExecutionLog]) -> ToolScores | None:
        scores, failed = tool_steps.scores_of(logs), tool_steps.failures_of(logs)
        if failed:
            self.errors["tool_execution"] = failed
        return scores if scores or not failed else None

    def _try(self, name: str, wanted: bool, work: Callable[[], Result]) -> Result | None:
        if not wanted:
            return None
        try:
            with self.context.reporting(name):
                return work()
        except Exception as error:  # one subtask's failure must not cost the others' results
            self.errors[name] = report(name, error)
            return None
