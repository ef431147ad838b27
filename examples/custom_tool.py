"""A tool of your own: measured, put on the 1–5 scale, and used by the agent.

python examples/custom_tool.py
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from agenticiqa import Assessor
from agenticiqa.parts import build_parts
from agenticiqa.tools import Pixels, Tool, ToolCard, ToolRegistry
from agenticiqa.tools.calibration import Calibration, Curve
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs


class EdgeEnergy(Tool):
    """The mean step between neighbouring pixels: low in a blurred image."""

    card = ToolCard(
        name="EDGE_ENERGY",
        reference="NR",
        higher_is_better=True,
        raw_range=(0, 255),
        implementation="example:edge_energy",
        strengths=("Blurs",),
        licence="Apache-2.0",
        cost="cheap",
        variant="mean absolute difference of neighbouring columns, green channel",
        unit="grey levels",
        min_side=2,
    )
    # Two knots by eye; `agenticiqa calibrate` fits such a curve on ratings or on known damage.
    calibration = Calibration(
        method="own", data="none", overall=Curve(knots=((0.0, 1.0), (12.0, 5.0)), spread=0.8, srcc=None)
    )

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        """Grey levels per pixel."""
        return float(np.abs(np.diff(test[..., 1].astype(float), axis=1)).mean())


def main() -> None:
    """Prints what the new tool says of a sharp and a blurred photograph."""
    parts = build_parts()
    assessor = Assessor(parts=replace(parts, tools=ToolRegistry([EdgeEnergy()])))
    sharp = photographs()["astronaut"].pixels
    for name, image in (("sharp", sharp), ("blurred", distort(sharp, "gaussian_blur", 4))):
        found = assessor.assess(image, "Use EDGE_ENERGY: how sharp is this image?")
        reading = found.tools[0]
        sys.stdout.write(f"{name}: {reading.tool} {reading.raw:.2f} raw, {reading.calibrated:.2f} of 5\n")


if __name__ == "__main__":
    main()
