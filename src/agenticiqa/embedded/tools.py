"""The learned tools: `AIQA_NR`, the quality model, and `AIQA_FR`, the judgement against a reference.

Their curves and spreads are in the packaged calibrations, so that nothing is loaded before they are run;
`python -m training.fit_learned_tools` writes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agenticiqa.errors import ToolUnavailableError
from agenticiqa.state import DISTORTION_CATEGORIES
from agenticiqa.tools.calibration import Terms
from agenticiqa.tools.tool import Pixels, Tool, ToolCard
from agenticiqa.weights import WeightSet, weight_set

if TYPE_CHECKING:
    from agenticiqa.embedded.full_reference.pair_preparation import Viewing


class QualityTool(Tool):
    """The learned no-reference score; its raw value is already on the common scale of 1 to 5."""

    def __init__(self, terms: WeightSet = "research") -> None:
        self._terms: WeightSet = terms
        self.card = ToolCard(
            name="AIQA_NR",
            reference="NR",
            higher_is_better=True,
            raw_range=(1, 5),
            implementation=f"embedded:quality_{terms}",
            role="learned",
            contradicts=("Blurs", "Compression", "Noise", "Sharpness", "Contrast"),
            licence="see weights/LICENCE.md",
            cost="medium",
            variant="RGB at 512 x 512 pixels in area, averaged by area or enlarged by cubic interpolation",
            max_pixels=1_000_000_000,
            research_only=terms == "research",
        )

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        """The score; a reference is not looked at."""
        from agenticiqa.embedded.quality.quality_model import load_quality_model

        return load_quality_model(self._terms).judge(test).score


_VARIANTS: dict[Viewing, str] = {
    "native": "sRGB, viewing native: every pixel counts; 16 parts of 96 pixels stand for more than 640 × 480",
    "screen": "sRGB, viewing screen: shrunk by area averaging to 640 × 480 pixels in area",
}
METRICS = ("PSNR", "SSIM", "MS_SSIM", "GMSD", "MS_GMSDc", "FSIM", "VSI", "MDSI", "HaarPSI", "VIF")


class FullReferenceTool(Tool):
    """The learned full-reference score; its raw value is already on the common scale of 1 to 5."""

    def __init__(self, weights: WeightSet = "research", viewing: Viewing = "native") -> None:
        self._weights: WeightSet = weights
        self._viewing: Viewing = viewing
        self.card = ToolCard(
            name="AIQA_FR",
            reference="FR",
            higher_is_better=True,
            raw_range=(1, 5),
            implementation=f"embedded:full_reference_{weights}",
            role="learned",
            strengths=DISTORTION_CATEGORIES,
            licence="research use only, see docs/model-card-fr.md" if weights == "research" else "Apache-2.0",
            cost="medium",
            variant=_VARIANTS[viewing],
            min_side=32,
            max_pixels=1_000_000_000,
            version="2",
            derived_from=METRICS,
            research_only=weights == "research",
        )

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        """The score of the test image against its reference."""
        from agenticiqa.embedded.full_reference.judge import shipped_judge

        if reference is None:
            raise ToolUnavailableError("AIQA_FR compares with a reference; give one, or use AIQA_NR")
        return shipped_judge(self._weights, self._viewing).judge_pixels(test, reference).score


def learned_tools(terms: Terms = "research", viewing: Viewing = "native") -> list[Tool]:
    """The learned tools that these terms of use allow, comparing pairs this way."""
    weights = weight_set(terms)
    return [QualityTool(weights), FullReferenceTool(weights, viewing)]
