"""From a question understood to a plan."""

from __future__ import annotations

from agenticiqa.perception.language import DECLINED, Question
from agenticiqa.perception.lexicon import lexicon
from agenticiqa.state import GLOBAL, DistortionCategory, PlanControlFlags, PlannerOutput

_NOTHING_TO_DO = PlanControlFlags(
    distortion_detection=False, distortion_analysis=False, tool_selection=False, tool_execution=False
)


def plan_for(question: Question, *, has_reference: bool, replan_history: tuple[str, ...] = ()) -> PlannerOutput:
    """The plan that finds out what the question needs, widened by what earlier plans failed to provide."""
    named = list[DistortionCategory]() if _must_look_again(replan_history) else question.categories
    scope = list(question.scope) or GLOBAL
    places = [GLOBAL] if scope == GLOBAL else list(question.scope)
    return PlannerOutput(
        query_type="IQA" if question.is_scoring else "Other",
        query_scope=scope,
        distortion_source="Explicit" if named else "Inferred",
        distortions=dict.fromkeys(places, named) if named else None,
        reference_mode="Full-Reference" if has_reference and not question.refuses_reference else "No-Reference",
        required_tool=question.tool,
        plan=_NOTHING_TO_DO if question.shape in DECLINED else _flags(question, explicit=bool(named)),
    )


def _flags(question: Question, *, explicit: bool) -> PlanControlFlags:
    return PlanControlFlags(
        distortion_detection=not explicit,
        distortion_analysis=True,
        tool_selection=question.tool is None,
        tool_execution=True,
    )


def _must_look_again(history: tuple[str, ...]) -> bool:
    """Whether the last complaint asks for more than the distortions the question names."""
    return bool(history) and lexicon()["look_again"].found_in(history[-1].lower())
