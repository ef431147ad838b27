"""What a new plan is worth: a scripted model that errs in 30 % of its looks, with 0, 1 and 2 replans.

    python -m benchmarks.replanning [--pictures 200] [--errors 0.3] [--seed 7]

Half of the pictures are severely blurred. The model's look at a picture is wrong with the given probability, drawn anew
whenever the words of the request are new: it misses the blur, or sees one that is not there. The tools are right. The
model answers "is it blurred?" by what it saw last. Printed are the share of right answers, the calls to the model per
picture, and how many passes repeated the requests of the one before, which must be none.
"""

from __future__ import annotations

import argparse
import logging
import random
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image

from agenticiqa.config import load_settings
from agenticiqa.graph import run_pipeline
from agenticiqa.tools import Pixels, Tool, ToolCard, ToolRegistry, same_scale
from agenticiqa.vlm_client import ScriptedVLMClient, VLMRequest

QUESTION = "Is this image blurred? A. Yes B. No"
PLAN = {
    "query_type": "Other", "query_scope": "Global", "distortion_source": "Inferred", "distortions": None,
    "reference_mode": "No-Reference", "required_tool": None,
    "plan": {"distortion_detection": True, "distortion_analysis": True, "tool_selection": True,
             "tool_execution": True},
}  # fmt: skip


class Gauge(Tool):
    """A tool that is right: flat pictures, which stand for blurred ones, are bad."""

    def __init__(self, name: str) -> None:
        self.card = ToolCard(
            name=name, reference="NR", higher_is_better=True, raw_range=(1, 5), implementation=f"bench:{name}",
            licence="Apache-2.0", cost="cheap", variant="deviation of the pixels", min_side=1,
        )  # fmt: skip
        self.calibration = same_scale("made for this benchmark", 0.4)

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        """4.6 for a picture with detail, 1.6 for one without."""
        return 4.6 if float(test.std()) > 20 else 1.6


class ErringModel(ScriptedVLMClient):
    """Looks at one picture and errs by chance, anew for every new request."""

    def __init__(self, blurred: bool, errors: float, seed: int) -> None:
        super().__init__(
            {task: getattr(self, f"_{task}") for task in ("plan", "detect", "analyze", "select_tools", "answer")}
        )
        self._truth, self._errors, self._seed = blurred, errors, seed
        self._sees = False

    def _plan(self, request: VLMRequest) -> dict[str, Any]:
        return PLAN

    def _detect(self, request: VLMRequest) -> dict[str, Any]:
        self._look(request)
        return {"distortion_set": {"Global": ["Blurs"] if self._sees else []}}

    def _analyze(self, request: VLMRequest) -> dict[str, Any]:
        if getattr(request.inputs, "gap", None) is not None:
            self._look(request)
        severity = "severe" if self._sees else "none"
        entry = {"type": "Blurs", "severity": severity, "explanation": "Edges."}
        return {"distortion_analysis": {"Global": [entry]}}

    def _select_tools(self, request: VLMRequest) -> dict[str, Any]:
        offers: Any = request.inputs
        return {
            "selected_tools": {
                name: dict.fromkeys(kinds, offers.tools[0].name) for name, kinds in offers.distortions.items()
            }
        }

    def _answer(self, request: VLMRequest) -> dict[str, Any]:
        return {"final_answer": "A" if self._sees else "B", "quality_reasoning": "By what was seen."}

    def _look(self, request: VLMRequest) -> None:
        chance = random.Random(zlib.crc32(request.user.encode()) ^ self._seed).random()
        self._sees = self._truth if chance >= self._errors else not self._truth


def main() -> None:
    """Prints one line per number of replans."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pictures", type=int, default=200)
    options.add_argument("--errors", type=float, default=0.3)
    options.add_argument("--seed", type=int, default=7)
    # What every run at its limit says would bury the table.
    logging.getLogger("agenticiqa").setLevel(logging.ERROR)
    given = options.parse_args()
    print(f"{given.pictures} pictures, a model that errs in {given.errors:.0%} of its looks")
    print(f"{'replans':>8}{'right':>8}{'calls':>8}{'identical passes':>18}")
    for replans in (0, 1, 2):
        right, calls, repeated = run(given.pictures, given.errors, given.seed, replans)
        print(f"{replans:8}{right:8.1%}{calls:8.2f}{repeated:18}")


def run(pictures: int, errors: float, seed: int, replans: int) -> tuple[float, float, int]:
    """The share of right answers, the calls per picture, and the passes that repeated the one before."""
    right = calls = repeated = 0
    settings = load_settings(environ={}, directory=Path("/nonexistent"))
    with TemporaryDirectory() as folder:
        images = {blurred: _picture(Path(folder), blurred) for blurred in (False, True)}
        for number in range(pictures):
            blurred = number % 2 == 0
            model = ErringModel(blurred, errors, seed * 100_003 + number)
            parts = {"tools": ToolRegistry([Gauge("FIRST"), Gauge("SECOND"), Gauge("THIRD")]), "settings": settings,
                     "vlm_clients": dict.fromkeys(("planner", "executor", "summarizer"), model)}  # fmt: skip
            # One pass more than replans: the last pass only answers.
            final = run_pipeline(QUESTION, images[blurred], None, replans + 1, config={"configurable": parts})
            right += final["summarizer_result"].final_answer == ("A" if blurred else "B")
            calls += len(model.requests)
            asked = [
                (request.task, request.user) for request in model.requests if request.task in ("detect", "analyze")
            ]
            repeated += len(asked) - len(set(asked))
    return right / pictures, calls / pictures, repeated


def _picture(folder: Path, blurred: bool) -> str:
    pixels = np.full((64, 64, 3), 128, np.uint8)
    if not blurred:
        pixels = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    path = folder / f"{'blurred' if blurred else 'sharp'}.png"
    Image.fromarray(pixels).save(path)
    return str(path)


if __name__ == "__main__":
    main()
