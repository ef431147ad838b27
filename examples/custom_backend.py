"""A model of your own behind the agent: one method, `generate(prompt, image) -> str`.

python examples/custom_backend.py

Installed packages add a backend without code here, through the entry point `agenticiqa.backends`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

import numpy as np
from PIL import Image

from agenticiqa import Assessor, VLMClient
from agenticiqa.parts import build_parts
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs


class BrightnessModel(VLMClient):
    """Judges by brightness alone: a stand-in for a model you call yourself."""

    model = "mine.brightness"
    deterministic = True

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        """The reply as the prompt asks for it: JSON with a level and a reason."""
        brightness = float(np.asarray(image.convert("L")).mean())
        level = "A" if brightness > 90 else "D"
        return json.dumps({"final_answer": level, "quality_reasoning": f"The mean brightness is {brightness:.0f}."})


def main() -> None:
    """Prints what the agent says when the summarizer asks the new model and the others stay embedded."""
    parts = build_parts()
    clients = {**parts.vlm_clients, "summarizer": BrightnessModel()}
    assessor = Assessor(parts=replace(parts, vlm_clients=clients))
    clean = photographs()["coffee"].pixels
    for name, image in (("as it is", clean), ("darkened", distort(clean, "darken", 5))):
        found = assessor.assess(image)
        sys.stdout.write(f"{name}: {found.answer} ({found.score:.2f} of 5 with the tools): {found.reasoning}\n")


if __name__ == "__main__":
    main()
