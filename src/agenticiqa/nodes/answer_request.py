"""A question with its evidence, as the summarizer puts it to the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agenticiqa.nodes.sufficiency import contradictions
from agenticiqa.nodes.voting import mean_score, spread_of, unknown_tools, voting_scores, weigh
from agenticiqa.parts import Parts
from agenticiqa.question.choices import choices_of, match_choice
from agenticiqa.question.text import language_of
from agenticiqa.score_fusion import ScoreFusion
from agenticiqa.state import (
    GLOBAL,
    LEVEL_NAMES,
    LEVEL_SCORES,
    UNABLE,
    AgenticIQAState,
    ExecutorOutput,
    Gap,
    PlannerOutput,
    UsedEvidence,
)
from agenticiqa.vlm_client.structured import Structured
from agenticiqa.vlm_client.tasks import AnswerInputs, AnswerReply, ScoreInputs

_LEVELS = {str(letter): name for letter, name in LEVEL_NAMES.items()}


@dataclass(frozen=True)
class AnswerRequest:
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
    spread: float | None
    fusion: ScoreFusion
    temperature: float
    as_printed: bool = False

    @classmethod
    def of(cls, state: AgenticIQAState, parts: Parts) -> AnswerRequest:
        """The request the state describes."""
        evidence, plan = state.get("executor_evidence"), state.get("plan")
        voting = voting_scores(evidence, parts.tools, parts.vlm_clients["summarizer"].derived_from)
        spread = spread_of(voting, parts.tools)
        fusion, temperature = parts.fusion_for(plan.reference_mode if plan else "No-Reference", spread)
        unknown = [
            f"{name} is not in the catalogue; its score is taken as it was handed over"
            for name in unknown_tools(evidence, parts.tools)
        ]
        return cls(
            query=state["query"],
            choices=choices_of(state),
            plan=plan,
            evidence=evidence,
            notes=[*evidence_notes(evidence), *(state.get("plan_notes") or []), *unknown],
            tool_only=mean_score(voting_scores(evidence, parts.tools)),
            tool_scores=voting,
            spread=spread,
            fusion=fusion,
            temperature=temperature,
            as_printed=parts.settings.pipeline.fusion == "paper",
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

    def tool_evidence(self) -> UsedEvidence:
        """The tools' side alone: it stands even when the model gives no answer."""
        return UsedEvidence(tool_score=self.tool_only, tools=self.tool_scores)

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

    def weigh(self, answered: Structured[AnswerReply]) -> UsedEvidence:
        """Tools, model and their fusion."""
        letter = answered.value.final_answer if self.scoring else None
        weighed = weigh(self.tool_scores, letter, answered.reply, self.fusion, self.temperature, self.spread)
        return weighed.model_copy(update={"tool_score": self.tool_only, "tools": self.tool_scores})

    def notes_without(self, gap: Gap | None) -> list[str]:
        """The notes on the evidence, without what the remaining gap says already."""
        return [note for note in self.notes if gap is None or note != gap.reason]

    def score_notes(self, weighed: UsedEvidence) -> list[str]:
        """What has to be known to read the score."""
        notes = []
        if weighed.probability_source == "uniform":
            notes.append("The score is the tools' only: the model gave no level")
        if self.as_printed and weighed.level_probabilities and self.tool_scores:
            beliefs = {LEVEL_SCORES[letter]: weighed.level_probabilities[letter] for letter in LEVEL_SCORES}
            bare = self.fusion.fuse_scores(list(self.tool_scores.values()), beliefs, normalize=False)
            notes.append(
                f"Fusion as the paper prints it: η = 1, whatever the tools' error; the score is Σαpc / Σαp, "
                f"where the printed sum Σαpc alone gives {bare:.2f}"
            )
        return notes

    def level_notes(self, answer: str, weighed: UsedEvidence) -> list[str]:
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


NO_EVIDENCE = "No tool or distortion evidence is available; the answer rests on the image alone."
NO_TOOL_EVIDENCE = "No tool evidence is available."
NOT_LOCATED = " could not be located; its tools saw the whole image."
# The notes that a reader without any English has to understand; the others quote tools and their errors.
_IN_CHINESE = {
    NO_EVIDENCE: "没有工具或失真证据，回答仅依据图像本身。",
    NO_TOOL_EVIDENCE: "没有可用的工具证据。",
    NOT_LOCATED: "无法定位，其工具评价的是整幅图像。",
}


def evidence_notes(evidence: ExecutorOutput | None) -> list[str]:
    """Missing, failed, contradictory and uncertain evidence, one sentence each."""
    if evidence is None:
        return [NO_EVIDENCE]
    return [
        *_missing(evidence),
        *(f"{name} failed: {error}" for name, error in evidence.errors.items()),
        *(gap.reason for gap in contradictions(evidence)),
        *evidence.notes,
        *(f"Uncertain: {doubt}" for doubt in evidence.uncertainties),
        *(_not_located(name) for name, region in evidence.regions.items() if region is None and name != GLOBAL),
    ]


def with_notes(reasoning: str, notes: list[str]) -> str:
    """The reasoning with the notes it does not already contain, in its language as far as they are known in it."""
    added = [_sentence(note) for note in notes if note not in reasoning]
    if not added:
        return reasoning
    if language_of(reasoning) == "zh":
        return f"{reasoning}[说明：{''.join(map(_in_chinese, added))}]"
    return f"{reasoning} [Notes: {' '.join(added)}]"


def _in_chinese(note: str) -> str:
    for english, chinese in _IN_CHINESE.items():
        note = note.replace(english, chinese)
    return note


def _missing(evidence: ExecutorOutput) -> list[str]:
    has_analysis = bool(evidence.distortion_analysis) or bool(evidence.distortion_set)
    if not evidence.quality_scores and not has_analysis:
        return [NO_EVIDENCE]
    return [] if evidence.quality_scores else [NO_TOOL_EVIDENCE]


def _not_located(name: str) -> str:
    return f"{name}{NOT_LOCATED}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。")) else f"{text}."
