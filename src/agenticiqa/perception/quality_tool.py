"""The quality model as a tool: `AIQA_NR`."""

from __future__ import annotations

from agenticiqa.backbone.tail import Terms
from agenticiqa.perception.quality import load_quality_model
from agenticiqa.tools.tool import Pixels, Tool, ToolCard


class QualityTool(Tool):
    """The learned no-reference score; its raw value is already on the common scale of 1 to 5."""

    def __init__(self, terms: Terms = "research") -> None:
        self._terms: Terms = terms
        self.card = ToolCard(
            name="AIQA_NR",
            reference="NR",
            higher_is_better=True,
            raw_range=(1, 5),
            implementation=f"perception:quality_{terms}",
            role="learned",
            licence="see backbone/weights/LICENCE.md",
            cost="medium",
            variant="RGB within 640 x 480 pixels, shrunk by area averaging above",
            max_pixels=1_000_000_000,
            research_only=terms == "research",
            never_votes="the embedded model's own score, on the scale already; it is the model's voice, not a tool's",
        )

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        """The score; a reference is not looked at."""
        return load_quality_model(self._terms).judge(test).score
