"""Which tool measures a distortion best, among those offered."""

from __future__ import annotations

from agenticiqa.vlm_client.tasks import InspectInputs, SelectToolsInputs, ToolOffer


def best_tool(category: str, inputs: SelectToolsInputs | InspectInputs) -> str | None:
    """The offer of the right reference mode with this strength; the order of the offers breaks ties."""
    wanted = "FR" if inputs.reference_mode == "Full-Reference" else "NR"
    usable = [offer for offer in inputs.tools if wanted == "FR" or offer.reference == "NR"]
    return min(usable, key=lambda offer: _rank(offer, category, wanted)).name if usable else None


def _rank(offer: ToolOffer, category: str, wanted: str) -> tuple[bool, bool, bool]:
    # The backend's own judgement, run as a tool, would add nothing: another opinion comes first.
    is_own = offer.name.startswith("AIQA_")
    return offer.reference != wanted, is_own, category not in offer.strengths
