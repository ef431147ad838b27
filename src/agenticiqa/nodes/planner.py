"""The planner: from a question to a plan of what to find out."""

from __future__ import annotations

import logging
from typing import Any, Optional

from langchain_core.runnables import RunnableConfig

from agenticiqa.nodes.choices import choices_of
from agenticiqa.nodes.consistency import make_consistent
from agenticiqa.nodes.desk import Desk, set_up_desk
from agenticiqa.nodes.failures import report
from agenticiqa.state import AgenticIQAState, PlannerOutput
from agenticiqa.vlm_client.tasks import PlanInputs

logger = logging.getLogger("agenticiqa.nodes.planner")

PLANNER_PROMPT_TEMPLATE = """\
You are a planner in an image quality assessment (IQA) system. You are given a user's question about a test image,
sometimes a reference image, the names of the IQA tools at hand and, after a failed attempt, what its evidence lacked.
Decide what has to be found out to answer the question. You do not answer it yourself.

Return a valid JSON object with exactly these seven fields:
{
  "query_type": "IQA" | "Other",
  "query_scope": ["<object>", ...] | "Global",
  "distortion_source": "Explicit" | "Inferred",
  "distortions": {"<object or Global>": ["<category>", ...]} | null,
  "reference_mode": "Full-Reference" | "No-Reference",
  "required_tool": "<tool name>" | null,
  "plan": {
    "distortion_detection": true | false,
    "distortion_analysis": true | false,
    "tool_selection": true | false,
    "tool_execution": true | false
  }
}

Rules
1. query_type is "IQA" when a quality score or level of the image is asked for, "Other" for every other question.
2. query_scope lists the objects or places the question names, in its own words; "Global" for the whole image.
3. distortion_source is "Explicit" when the question names distortions, and distortions then lists them;
   otherwise it is "Inferred" and distortions is null.
4. The categories are: Blurs, Color distortions, Compression, Noise, Brightness change, Sharpness, Contrast.
5. reference_mode is "Full-Reference" when a reference image is given, "No-Reference" otherwise.
6. required_tool is set only when the question names a tool; tool_selection is then false.
7. distortion_detection is false for Explicit and true for Inferred distortions.
8. Ask for tool_execution whenever a measurement would make the answer more certain.
9. When evidence was missing before, the new plan must gather it: add the object, ask for the tools.
Return the JSON object and nothing else.
"""


def planner_node(state: AgenticIQAState, config: Optional[RunnableConfig] = None) -> dict[str, Any]:
    """The state update with the plan, or with the error that prevented one."""
    if state.get("error"):
        return {}
    try:
        desk = set_up_desk("planner", state, config)
    except Exception as error:  # a node reports, it does not raise
        return {"error": f"planner: {report('planner', error)}"}
    try:
        with desk.reporting():
            return {"plan": make_plan(desk, state), "ledger": desk.booked()}
    except Exception as error:
        return {"error": f"planner: {report('planner', error)}", "ledger": desk.booked()}


def make_plan(desk: Desk, state: AgenticIQAState) -> PlannerOutput:
    """A plan that keeps all rules; raises ModelReplyError, UnknownToolError or ToolUnavailableError."""
    tools = desk.parts.tools
    inputs = PlanInputs(
        query=state["query"],
        has_reference=desk.reference is not None,
        choices=choices_of(state),
        tools=tuple(tools.names()),
        replan_history=tuple(state.get("replan_history") or ()),
    )
    written = desk.ask(PlannerOutput, PLANNER_PROMPT_TEMPLATE, inputs).value
    plan = make_consistent(written, inputs, tools)
    logger.info("plan: %s", plan.model_dump_json())
    return plan
