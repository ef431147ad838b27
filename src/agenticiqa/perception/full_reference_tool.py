"""The full-reference judgement as a tool: `AIQA_FR`."""

from __future__ import annotations

from typing import Literal

from agenticiqa.errors import ToolUnavailableError
from agenticiqa.state import DISTORTION_CATEGORIES
from agenticiqa.tools.calibration import Calibration, same_scale
from agenticiqa.tools.tool import Pixels, Tool, ToolCard

Weights = Literal["research", "open"]
METRICS = ("PSNR", "SSIM", "MS_SSIM", "GMSD", "MS_GMSDc", "FSIM", "VSI", "MDSI", "HaarPSI", "VIF")


class FullReferenceTool(Tool):
    """The learned full-reference score; its raw value is already on the common scale of 1 to 5."""

    def __init__(self, weights: Weights = "research") -> None:
        self._weights: Weights = weights
        self.card = ToolCard(
            name="AIQA_FR",
            reference="FR",
            higher_is_better=True,
            raw_range=(1, 5),
            implementation=f"perception:full_reference_{weights}",
            role="learned",
            strengths=DISTORTION_CATEGORIES,
            licence="research use only, see docs/model-card-fr.md" if weights == "research" else "Apache-2.0",
            cost="medium",
            variant="sRGB within 640 × 480 pixels, shrunk by area averaging above",
            min_side=32,
            derived_from=METRICS,
            research_only=weights == "research",
        )
        self.calibration = self._own_scale()

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        """The score of the test image against its reference."""
        from agenticiqa.perception.full_reference import shipped_judge

        if reference is None:
            raise ToolUnavailableError("AIQA_FR compares with a reference; give one, or use AIQA_NR")
        return shipped_judge(self._weights).judge_pixels(test, reference).score

    def _own_scale(self) -> Calibration:
        from agenticiqa.perception.full_reference_weights import load_model

        model = load_model(self._weights)
        if model.rated is None:
            return same_scale("synthetic damage of free photographs, no opinions", model.opened.spread)
        spread = float(model.rated.spreads.mean())
        return same_scale("a part of TID2013 (6 photographs, 720 pairs)", spread, model.rated.srcc)
