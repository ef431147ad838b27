"""The summarizer: weighs the evidence and answers, or asks for a new plan."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Optional

from langchain_core.runnables import RunnableConfig

from agenticiqa.errors import ModelRefusedError, ModelReplyError, ModelUnreachableError, UnusableAnswerError
from agenticiqa.nodes.context import NodeContext, node_context, report
from agenticiqa.nodes.sufficiency import Decision, absent_from, contradictions, decide, should_replan
from agenticiqa.nodes.voting import mean_score, spread_of, unknown_tools, voting_scores, weigh
from agenticiqa.question.choices import match_choice
from agenticiqa.score_fusion import ScoreFusion
from agenticiqa.state import (
    GLOBAL,
    LEVEL_NAMES,
    LEVEL_SCORES,
    UNABLE,
    AgenticIQAState,
    ExecutorOutput,
    PlannerOutput,
    SummarizerOutput,
    UsedEvidence,
    remember_replan,
)
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.values import Language
from agenticiqa.vlm_client.structured import Structured
from agenticiqa.vlm_client.tasks import AnswerInputs, AnswerReply, ScoreInputs
from agenticiqa.wording import phrase, say
from agenticiqa.wording.findings import not_found

__all__ = ["should_replan", "summarizer_node"]

logger = logging.getLogger("agenticiqa.nodes.summarizer")

EXPLANATION_PROMPT_TEMPLATE = """\
System:
You are a visual quality assessment assistant. Your task is to select the most appropriate answer to the user's
question. You are given:
- Distortion analysis (severity and visual impact of listed distortions)
- Tool response (overall quality scores from IQA models)
- Image content
Decision process
1. First, understand what kind of visual information is needed to answer the user's question.
2. Check if the provided distortion analysis or tool response already contains the required information.
3. If the provided information is sufficient, use it to answer.
4. If the information is unclear or insufficient, analyze the image directly to determine the best answer.
Return a valid JSON object in the following format:
{
  "final_answer": "<one of the above letters>",
  "quality_reasoning": "<brief explanation, based on either distortion analysis, tool response, or direct visual observation>"
}
"""  # noqa: E501

SCORING_PROMPT_TEMPLATE = """\
System:
You are a visual quality assessment assistant. Given the question and the analysis (tool scores, distortion
analysis). Your task is to assess the image quality.
You must select one single answer from the following:
A. Excellent
B. Good
C. Fair
D. Poor
E. Bad
Return the JSON:
{
  "final_answer": "<one letter>",
  "quality_reasoning": "<concise justification referencing distortions or tool scores>"
}
"""

WITH_CHOICES = "final_answer is one of the letters of the answer choices."
NO_CHOICES = "There are no answer choices: write final_answer in your own words, as briefly as possible."
UNSURE = 'If neither the evidence nor the image settles it, final_answer is "Unable to determine".'

PARSING_FAILED = "VLM output parsing failed"
NO_REPLY: dict[type[ModelReplyError], str] = {
    ModelUnreachableError: "No model could be reached",
    ModelRefusedError: "The model declined to answer",
    UnusableAnswerError: "The service's answer could not be used",
}
NO_ANSWER = "The answer could not be worked out."
_LEVELS = {str(letter): name for letter, name in LEVEL_NAMES.items()}


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
        update = _summarized(context, state)
    return {**update, "ledger": context.booked()}


def _has_failed(result: SummarizerOutput | None) -> bool:
    return result is None or UsedEvidence.of(result).error is not None


def _summarized(context: NodeContext, state: AgenticIQAState) -> dict[str, Any]:
    """The update with the answer, also as a value with its reasons where the backend gives them, or with why not."""
    known, decision = UsedEvidence(), Decision()
    said: dict[str, Any] = {"answer": None, "reasons": []}
    try:
        request = AnswerRequest.of(state, context)
        known = request.tool_evidence()
        _log_invocation(request, state)
        answered = request.ask()
        decision = decide(request.evidence, request.plan, state, context.parts.deterministic, context.parts.tools)
        result = _result(request, answered, decision)
        said = {"answer": answered.reply.answer, "reasons": [*answered.reply.reasons]}
    except ModelReplyError as error:
        why = report("summarizer", error)
        reasoning = f"{NO_REPLY[type(error)]}: {why}" if type(error) in NO_REPLY else PARSING_FAILED
        result = _unable(reasoning, why, known)
    except Exception as error:
        result, decision = _unable(NO_ANSWER, report("summarizer", error), known), Decision()
    update = _update(result, state, decision)
    # Of a backend without values nothing is kept but the end of what an earlier pass left.
    kept = {name: value for name, value in said.items() if value or state.get(name)}
    return {**update, **(kept if "summarizer_result" in update else {})}


def _result(request: AnswerRequest, answered: Structured[AnswerReply], decision: Decision) -> SummarizerOutput:
    reply, weighed, context = answered.value, request.weigh(answered), request.context
    gap = decision.gap.reason if decision.gap else None
    # What the remaining gap says already need not be noted of the evidence too.
    about_evidence = [note for note in request.notes if note != gap]
    notes = [*about_evidence, *request.level_notes(reply.final_answer, weighed), *decision.notes()]
    model, first = answered.client.model, context.parts.vlm_clients["summarizer"].model
    stood_in = [f"{model} answered in place of {first}"] if model != first else []
    aside = [*request.score_notes(weighed), *stood_in, *context.ledger.stand_ins, *answered.reply.notes]
    used = weighed.model_copy(update={"gap": gap, "notes": [*notes, *aside]})
    return SummarizerOutput(
        final_answer=reply.final_answer,
        quality_reasoning=with_notes(reply.quality_reasoning, notes, request.language),
        need_replan=decision.needs_replan,
        replan_reason=gap if decision.needs_replan else None,
        used_evidence=used.model_dump(mode="json"),
    )


def _unable(reasoning: str, error: str, known: UsedEvidence) -> SummarizerOutput:
    # No new plan: asking again for what has just failed would loop.
    used = known.model_copy(update={"error": error}).model_dump(mode="json")
    return SummarizerOutput(final_answer=UNABLE, quality_reasoning=reasoning, used_evidence=used)


def _update(result: SummarizerOutput, state: AgenticIQAState, decision: Decision) -> dict[str, Any]:
    if _has_failed(result) and not _has_failed(state.get("summarizer_result")):
        # A further pass that fails does not cost the answer of the pass before.
        return {"error": f"summarizer: {UsedEvidence.of(result).error}"}
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
    found = (request.evidence.distortion_analysis or {}, request.evidence.quality_scores or {})
    logger.info("evidence: %d distortions, %d tool scores", *(sum(map(len, each.values())) for each in found))
    logger.info("image_path=%s, reference_path=%s", state["image_path"], state.get("reference_path"))


@dataclass(frozen=True)
class AnswerRequest:
    """The question, the evidence, what has to be noted about it, and the voting tools' scores.

    `tool_only` is the mean of the tools on their own; beside the model, those inside its beliefs do not vote.
    """

    context: NodeContext
    query: str
    plan: PlannerOutput | None
    evidence: ExecutorOutput
    notes: list[str]
    tool_only: float | None
    tool_scores: dict[str, float]
    spread: float | None
    fusion: ScoreFusion
    temperature: float

    @classmethod
    def of(cls, state: AgenticIQAState, context: NodeContext) -> AnswerRequest:
        evidence, plan, parts = state.get("executor_evidence") or ExecutorOutput(), state.get("plan"), context.parts
        voting = voting_scores(evidence, parts.tools, parts.vlm_clients["summarizer"].derived_from)
        spread = spread_of(voting, parts.tools)
        fusion, temperature = parts.fusion_for(plan.reference_mode if plan else "No-Reference", spread)
        notes = evidence_notes(evidence, context.question.reply.language, parts.tools)
        notes += state.get("plan_notes") or []
        notes += [
            f"{name} is not in the catalogue; its score is taken as it was handed over"
            for name in unknown_tools(evidence, parts.tools)
        ]
        tool_only = mean_score(voting_scores(evidence, parts.tools))
        return cls(context, state["query"], plan, evidence, notes, tool_only, voting, spread, fusion, temperature)

    @property
    def language(self) -> Language:
        return self.context.question.reply.language

    @property
    def scoring(self) -> bool:
        """Whether a quality level is asked for, rather than an answer."""
        return self.plan is not None and self.plan.query_type == "IQA"

    def tool_evidence(self) -> UsedEvidence:
        """The tools' side alone: it stands even when the model gives no answer."""
        return UsedEvidence(tool_score=self.tool_only, tools=self.tool_scores)

    def ask(self) -> Structured[AnswerReply]:
        """The model's answer or level; evidence that is missing is left out. Raises ModelReplyError."""
        known: dict[str, Any] = {
            "query": self.query,
            "notes": tuple(self.notes),
            "distortion_analysis": self.evidence.distortion_analysis or None,
            "quality_scores": self.evidence.quality_scores or None,
        }
        if self.scoring:
            rating = ScoreInputs(**known, **self._guidance())
            return self.context.ask(SCORING_PROMPT_TEMPLATE, rating, check=self.checked)
        choices = self.context.question.reply.choices
        asked = AnswerInputs(**known, choices=choices, tool_values=self._values() or None)
        advice = (WITH_CHOICES if choices else NO_CHOICES, UNSURE)
        return self.context.ask(EXPLANATION_PROMPT_TEMPLATE, asked, advice=advice, check=self.checked)

    def checked(self, reply: AnswerReply) -> AnswerReply:
        """The reply with its answer as a letter of the choices or levels; ValueError when it is none of them."""
        choices = _LEVELS if self.scoring else self.context.question.reply.choices
        if not choices:
            return reply
        return reply.model_copy(update={"final_answer": match_choice(reply.final_answer, choices)})

    def weigh(self, answered: Structured[AnswerReply]) -> UsedEvidence:
        letter = answered.value.final_answer if self.scoring else None
        weighed = weigh(self.tool_scores, letter, answered.reply, self.fusion, self.temperature, self.spread)
        return weighed.model_copy(update={"tool_score": self.tool_only, "tools": self.tool_scores})

    def score_notes(self, weighed: UsedEvidence) -> list[str]:
        """What has to be known to read the score."""
        notes = []
        if weighed.probability_source == "uniform":
            notes.append("The score is the tools' only: the model gave no level")
        as_printed = self.context.parts.settings.pipeline.fusion == "paper"
        if as_printed and weighed.level_probabilities and self.tool_scores:
            beliefs = {LEVEL_SCORES[letter]: weighed.level_probabilities[letter] for letter in LEVEL_SCORES}
            bare = self.fusion.fuse_scores(list(self.tool_scores.values()), beliefs, normalize=False)
            notes.append(
                f"Fusion as the paper prints it: η = 1, whatever the tools' error; the score is Σαpc / Σαp, "
                f"where the printed sum Σαpc alone gives {bare:.2f}"
            )
        return notes

    def level_notes(self, answer: str, weighed: UsedEvidence) -> list[str]:
        """A sentence when the fused level is not the one the model chose, or not that of what was to be rated."""
        if not self.scoring or weighed.fused_level is None or weighed.fused_level == answer:
            return []
        name = _LEVELS[weighed.fused_level]
        if answer == UNABLE and absent_from(self.evidence):
            values = {"score": f"{weighed.fused_score:.2f}", "letter": weighed.fused_level, "level": name}
            return [say("whole_score", self.language, **values)]
        said = "gave no level" if answer == UNABLE else f"chose {answer}"
        return [f"The fused score {weighed.fused_score:.2f} means {weighed.fused_level} ({name}); the model {said}"]

    def _values(self) -> dict[str, float]:
        """What the tool that the question names measured on its own scale."""
        named = self.plan.required_tool if self.plan else None
        logs = (log for log in self.evidence.tool_logs if log.tool_name == named)
        return {log.tool_name: log.raw_score for log in logs if log.raw_score is not None}

    def _guidance(self) -> dict[str, Any]:
        mean = mean_score(self.tool_scores)
        if mean is None:
            return {}
        weights = self.fusion.compute_perceptual_weights(list(self.tool_scores.values()))
        return {
            "tool_mean": round(mean, 4),
            "perceptual_weights": {name: round(weights.get(level, 0.0), 4) for name, level in LEVEL_SCORES.items()},
        }


def evidence_notes(evidence: ExecutorOutput, language: Language = "en", tools: ToolRegistry | None = None) -> list[str]:
    """Missing, failed, contradictory and uncertain evidence, one sentence each, as far as they are known in a language.

    Those that quote tools and their errors stay in English.
    """
    absent = absent_from(evidence)
    unlocated = [name for name, region in evidence.regions.items() if region is None and name not in (GLOBAL, *absent)]
    has_analysis = bool(evidence.distortion_analysis) or bool(evidence.distortion_set)
    missing = "nothing_measured" if has_analysis else "nothing_gathered"
    return [
        *([] if evidence.quality_scores else [say(missing, language)]),
        *(f"{name} failed: {error}" for name, error in evidence.errors.items()),
        *(gap.reason for gap in contradictions(evidence, tools)),
        *evidence.notes,
        *(f"Uncertain: {doubt}" for doubt in evidence.uncertainties),
        *(_sentence(say("unlocated", language, name=name, seen=""), language) for name in unlocated),
        *(not_found(name, language, is_all=GLOBAL in (evidence.distortion_analysis or {})) for name in absent),
    ]


def with_notes(reasoning: str, notes: list[str], language: Language = "en") -> str:
    """The reasoning with the notes it does not already contain."""
    added = [_sentence(note, language) for note in notes if note not in reasoning]
    if not added:
        return reasoning
    return reasoning + say("notes", language, notes=phrase("marks", "gap", language).join(added))


def _sentence(text: str, language: Language) -> str:
    return text if text.endswith((".", "!", "?", "。")) else f"{text}{phrase('marks', 'stop', language)}"
