"""A question with its evidence, as the summarizer puts it to the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agenticiqa.nodes.choices import choices_of, match_choice
from agenticiqa.nodes.notes import evidence_notes
from agenticiqa.nodes.weighing import Weighed, mean_score, voting_scores, weigh
from agenticiqa.parts import Parts
from agenticiqa.score_fusion import ScoreFusion
from agenticiqa.state import (
    LEVEL_NAMES,
    LEVEL_SCORES,
    UNABLE,
    AgenticIQAState,
    ExecutorOutput,
    PlannerOutput,
)
from agenticiqa.vlm_client.replies import AnswerReply
from agenticiqa.vlm_client.structured import Structured
from agenticiqa.vlm_client.tasks import AnswerInputs, ScoreInputs

_LEVELS = {str(letter): name for letter, name in LEVEL_NAMES.items()}


@dataclass(frozen=True)
class Case:
    """The question, its choices, the evidence, what has to be noted about it, and the voting tools' scores.

    `tool_only` is the mean of the tools on their own; beside the model, those inside its beliefs do not vote.
    """

    query: str
    choices: dict[str, str]
    plan: PlannerOutput | None
    evidence: ExecutorOutput | None
    notes: list[str]
    tool_only: float | None
    tool_scores: dict[str, float]
    fusion: ScoreFusion
    temperature: float

    @classmethod
    def of(cls, state: AgenticIQAState, parts: Parts) -> Case:
        """The case the state describes."""
        evidence, plan = state.get("executor_evidence"), state.get("plan")
        fusion, temperature = parts.fusion_for(plan.reference_mode if plan else "No-Reference")
        return cls(
            query=state["query"],
            choices=choices_of(state),
            plan=plan,
            evidence=evidence,
            notes=evidence_notes(evidence),
            tool_only=mean_score(voting_scores(evidence, parts.tools)),
            tool_scores=voting_scores(evidence, parts.tools, parts.vlm_clients["summarizer"].derived_from),
            fusion=fusion,
            temperature=temperature,
        )

    @property
    def scoring(self) -> bool:
        """Whether a quality level is asked for, rather than an answer."""
        return self.plan is not None and self.plan.query_type == "IQA"

    def evidence_size(self) -> tuple[int, int]:
        """How many distortions were analysed and how many scores were measured."""
        analysis = (self.evidence and self.evidence.distortion_analysis) or {}
        scores = (self.evidence and self.evidence.quality_scores) or {}
        return sum(map(len, analysis.values())), sum(map(len, scores.values()))

    def tool_evidence(self) -> dict[str, Any]:
        """The tools' side alone: it stands even when the model gives no answer."""
        return {"tool_score": self.tool_only, "tools": self.tool_scores}

    def inputs(self) -> AnswerInputs | ScoreInputs:
        """What the model is told; evidence that is missing is left out."""
        told: dict[str, Any] = {"query": self.query, "notes": tuple(self.notes)}
        if self.evidence is not None:
            told["distortion_analysis"] = self.evidence.distortion_analysis or None
            told["quality_scores"] = self.evidence.quality_scores or None
        if not self.scoring:
            return AnswerInputs(**told, choices=self.choices)
        return ScoreInputs(**told, **self._guidance())

    def checked(self, reply: AnswerReply) -> AnswerReply:
        """The reply with its answer as a letter of the choices or levels; ValueError when it is none of them."""
        choices = _LEVELS if self.scoring else self.choices
        if not choices:
            return reply
        return reply.model_copy(update={"final_answer": match_choice(reply.final_answer, choices)})

    def weigh(self, answered: Structured[AnswerReply]) -> Weighed:
        """Tools, model and their fusion."""
        letter = answered.value.final_answer if self.scoring else None
        return weigh(self.tool_scores, letter, answered.reply, self.fusion, self.temperature)

    def notes_beside(self, gap: str) -> list[str]:
        """The notes on the evidence, without what the remaining gap says already."""
        return [note for note in self.notes if note != gap]

    def level_notes(self, answer: str, weighed: Weighed) -> list[str]:
        """A sentence when the fused level is not the one the model chose."""
        if not self.scoring or weighed.fused_level is None or weighed.fused_level == answer:
            return []
        name = _LEVELS[weighed.fused_level]
        said = "gave no level" if answer == UNABLE else f"chose {answer}"
        return [f"The fused score {weighed.fused_score:.2f} means {weighed.fused_level} ({name}); the model {said}"]

    def _guidance(self) -> dict[str, Any]:
        mean = mean_score(self.tool_scores)
        if mean is None:
            return {}
        weights = self.fusion.compute_perceptual_weights(list(self.tool_scores.values()))
        return {
            "tool_mean": round(mean, 4),
            "perceptual_weights": {name: round(weights.get(level, 0.0), 4) for name, level in LEVEL_SCORES.items()},
        }
