"""What has to be said about the evidence beside the answer, whatever the model wrote."""

from __future__ import annotations

from agenticiqa.nodes.sufficiency import contradictions
from agenticiqa.perception.lexicon import language_of
from agenticiqa.state import GLOBAL, ExecutorOutput

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
        *contradictions(evidence),
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
