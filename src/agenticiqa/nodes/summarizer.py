"""The summarizer: weighs the evidence and answers, or asks for a new plan."""

from __future__ import annotations

import logging
from typing import Any, Optional

from langchain_core.runnables import RunnableConfig

from agenticiqa.errors import ModelReplyError, ModelUnreachableError
from agenticiqa.nodes.answer_request import AnswerRequest, with_notes
from agenticiqa.nodes.context import NodeContext, node_context, report
from agenticiqa.nodes.sufficiency import Decision, decide, should_replan
from agenticiqa.state import UNABLE, AgenticIQAState, SummarizerOutput, UsedEvidence, remember_replan
from agenticiqa.vlm_client.structured import Structured
from agenticiqa.vlm_client.tasks import AnswerReply
from agenticiqa.vlm_client.tasks.answer import EXPLANATION_PROMPT_TEMPLATE, SCORING_PROMPT_TEMPLATE

__all__ = ["EXPLANATION_PROMPT_TEMPLATE", "SCORING_PROMPT_TEMPLATE", "should_replan", "summarizer_node"]

logger = logging.getLogger("agenticiqa.nodes.summarizer")

PARSING_FAILED = "VLM output parsing failed"
UNREACHABLE = "No model could be reached"
NO_ANSWER = "The answer could not be worked out."


def summarizer_node(state: AgenticIQAState, config: Optional[RunnableConfig] = None) -> dict[str, Any]:
    """The state update with the answer, and with the count and history of replanning if a new plan is needed."""
    if state.get("error"):
        return {}
    for key in ("plan", "executor_evidence"):
        if key not in state:
            return {"error": f"summarizer: the state has no {key}; run the nodes before it first"}
    try:
        context = node_context("summarizer", state, config)
    except Exception as error:  # a node reports, it does not raise
        return _update(_unable(NO_ANSWER, report("summarizer", error), UsedEvidence()), state, Decision())
    with context.reporting():
        result, decision = _summarize(context, state)
    return {**_update(result, state, decision), "ledger": context.booked()}


def _summarize(context: NodeContext, state: AgenticIQAState) -> tuple[SummarizerOutput, Decision]:
    known = UsedEvidence()
    try:
        request = AnswerRequest.of(state, context.parts)
        known = request.tool_evidence()
        _log_invocation(request, state)
        answered = context.ask(request.inputs(), request.checked)
        decision = decide(request.evidence, request.plan, state, context.parts.deterministic)
        return _result(request, answered, decision, _backend_notes(context, answered)), decision
    except ModelUnreachableError as error:
        said = report("summarizer", error)
        return _unable(f"{UNREACHABLE}: {said}", said, known), Decision()
    except ModelReplyError as error:
        return _unable(PARSING_FAILED, report("summarizer", error), known), Decision()
    except Exception as error:
        return _unable(NO_ANSWER, report("summarizer", error), known), Decision()


def _backend_notes(context: NodeContext, answered: Structured[AnswerReply]) -> list[str]:
    first = context.parts.vlm_clients["summarizer"].model
    stood_in = answered.client.model != first
    said = [f"{answered.client.model} answered in place of {first}"] if stood_in else []
    return [*said, *context.ledger.stand_ins, *answered.reply.notes]


def _result(
    request: AnswerRequest, answered: Structured[AnswerReply], decision: Decision, backend_notes: list[str]
) -> SummarizerOutput:
    reply, weighed = answered.value, request.weigh(answered)
    notes = [*request.notes_without(decision.gap), *request.level_notes(reply.final_answer, weighed), *decision.notes()]
    aside = [*request.score_notes(weighed), *backend_notes]
    used = weighed.model_copy(update={"gap": decision.gap.reason if decision.gap else None, "notes": [*notes, *aside]})
    return SummarizerOutput(
        final_answer=reply.final_answer,
        quality_reasoning=with_notes(reply.quality_reasoning, notes),
        need_replan=decision.needs_replan,
        replan_reason=used.gap if decision.needs_replan else None,
        used_evidence=used.model_dump(mode="json"),
    )


def _unable(reasoning: str, error: str, known: UsedEvidence) -> SummarizerOutput:
    # No new plan: asking again for what has just failed would loop.
    used = known.model_copy(update={"error": error}).model_dump(mode="json")
    return SummarizerOutput(final_answer=UNABLE, quality_reasoning=reasoning, used_evidence=used)


def _update(result: SummarizerOutput, state: AgenticIQAState, decision: Decision) -> dict[str, Any]:
    count = state.get("iteration_count", 0) + (1 if result.need_replan else 0)
    update: dict[str, Any] = {"summarizer_result": result, "iteration_count": count}
    if decision.gap != state.get("gap"):
        update["gap"] = decision.gap
    if result.need_replan and result.replan_reason:
        logger.info("need_replan=true, replan_reason=%s, iteration_count=%d", result.replan_reason, count)
        update["replan_history"] = remember_replan(state.get("replan_history") or [], count, result.replan_reason)
    return update


def _log_invocation(request: AnswerRequest, state: AgenticIQAState) -> None:
    query_type = request.plan.query_type if request.plan else None
    logger.info("query_type=%s, mode=%s", query_type, "scoring" if request.scoring else "explanation/QA")
    logger.info("evidence: %d distortions, %d tool scores", *request.evidence_size())
    logger.info("image_path=%s, reference_path=%s", state["image_path"], state.get("reference_path"))
