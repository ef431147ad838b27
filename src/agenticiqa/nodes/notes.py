"""What has to be said about the evidence beside the answer, whatever the model wrote."""

from __future__ import annotations

from agenticiqa.nodes.sufficiency import contradictions
from agenticiqa.state import GLOBAL, ExecutorOutput

NO_EVIDENCE = "No tool or distortion evidence is available; the answer rests on the image alone."
NO_TOOL_EVIDENCE = "No tool evidence is available."


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
    """The reasoning with the notes it does not already contain."""
    added = [note for note in notes if note not in reasoning]
    return f"{reasoning} [Notes: {' '.join(_sentence(note) for note in added)}]" if added else reasoning


def _missing(evidence: ExecutorOutput) -> list[str]:
    has_analysis = bool(evidence.distortion_analysis) or bool(evidence.distortion_set)
    if not evidence.quality_scores and not has_analysis:
        return [NO_EVIDENCE]
    return [] if evidence.quality_scores else [NO_TOOL_EVIDENCE]


def _not_located(name: str) -> str:
    return f"{name} could not be located; its tools saw the whole image."


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。")) else f"{text}."
