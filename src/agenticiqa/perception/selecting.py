"""Which tool measures a distortion best, among those offered."""

from __future__ import annotations

from agenticiqa.state import OVERALL
from agenticiqa.vlm_client.tasks import SelectToolsInputs, ToolOffer


def best_tool(category: str, inputs: SelectToolsInputs) -> str | None:
    """The offer of the right reference mode with this strength; the order of the offers breaks ties."""
    wanted = "FR" if inputs.reference_mode == "Full-Reference" else "NR"
    usable = [offer for offer in inputs.tools if wanted == "FR" or offer.reference == "NR"]
    return min(usable, key=lambda offer: _rank(offer, category, wanted)).name if usable else None


def _rank(offer: ToolOffer, category: str, wanted: str) -> tuple[bool, bool]:
    is_strong = category in offer.strengths or (category == OVERALL and bool(offer.strengths))
    return offer.reference != wanted, not is_strong
