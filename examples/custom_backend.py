"""A model of your own in all three roles: it plans, looks, locates and answers.

python examples/custom_backend.py

In a package, the entry point `mine = "your_module:BrightnessModel"` of the group `agenticiqa.backends` makes
`agenticiqa assess photo.jpg --backend mine.brightness` use it.
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
from agenticiqa.vlm_client import VLMReply, VLMRequest

KIND = "Brightness change"
ALL_STEPS = dict.fromkeys(("distortion_detection", "distortion_analysis", "tool_selection", "tool_execution"), True)


class BrightnessModel(VLMClient):
    """Judges by brightness alone: a stand-in for a model you call yourself."""

    model = "mine.brightness"
    deterministic = True

    @classmethod
    def from_settings(cls, model: str, role: Any, settings: Any) -> BrightnessModel:
        """The client for a role of the settings."""
        return cls()

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        """The reply to a bare prompt: a level and a reason."""
        return json.dumps(judged(np.asarray(image), "A", "D"))

    def ask(self, request: VLMRequest) -> VLMReply:
        """The reply to any of the agent's tasks, in the form each asks for."""
        return VLMReply(text=json.dumps(self._reply(request)), model=self.model)

    def _reply(self, request: VLMRequest) -> dict[str, Any]:
        inputs, picture = request.inputs, request.image("image")
        pixels = picture.pixels if picture is not None else np.zeros((1, 1, 3))
        found = [{"type": KIND, "severity": "severe", "explanation": "It is dark."}] if is_dark(pixels) else []
        match request.task:
            case "plan":
                return plan("Other" if inputs.choices else "IQA")
            case "detect":
                return {"distortion_set": {name: [one["type"] for one in found] for name in inputs.objects}}
            case "analyze":
                return {"distortion_analysis": dict.fromkeys(inputs.distortions, found)}
            case "inspect":
                return {"findings": dict.fromkeys(inputs.objects, found)}
            case "select_tools":
                return {"selected_tools": {}}  # suitable ones are then taken from the catalogue
            case "locate":
                return {"regions": dict.fromkeys(inputs.objects)}  # not found here; the embedded detector is asked
            case "rank":
                shares = [1 - float(np.mean(one.image.pixels)) / 255 for one in request.images]
                return {"attribute": "darkness", "first": "most", "images": [{"amount": share} for share in shares]}
            case "answer" if inputs.choices:
                return judged(pixels, min(inputs.choices), max(inputs.choices))
            case "answer":
                return judged(pixels, "It is bright enough.", "It is dark.")
            case _:
                return judged(pixels, "A", "D")


def is_dark(pixels: Any) -> bool:
    """Whether the mean of all samples is low."""
    return bool(np.mean(pixels) <= 90)


def judged(pixels: Any, bright: str, dark: str) -> dict[str, Any]:
    """One of two answers, with the measurement as its reason."""
    answer = dark if is_dark(pixels) else bright
    return {"final_answer": answer, "quality_reasoning": f"The mean brightness is {np.mean(pixels):.0f}."}


def plan(query_type: str) -> dict[str, Any]:
    """A plan that leaves no step out."""
    return {
        "query_type": query_type,
        "query_scope": "Global",
        "distortion_source": "Inferred",
        "distortions": None,
        "reference_mode": "No-Reference",
        "required_tool": None,
        "plan": ALL_STEPS,
    }


def main() -> None:
    """Prints what the agent says when every role asks the new model."""
    parts = build_parts()
    clients = dict.fromkeys(parts.vlm_clients, BrightnessModel())
    assessor = Assessor(parts=replace(parts, vlm_clients=clients))
    clean = photographs()["coffee"].pixels
    for name, image in (("as it is", clean), ("darkened", distort(clean, "darken", 5))):
        found = assessor.assess(image)
        seen = ", ".join(f"{one.type} ({one.severity})" for one in found.distortions) or "nothing wrong"
        sys.stdout.write(f"{name}: {seen}; {found.score:.2f} of 5 with the tools: {found.reasoning}\n")


if __name__ == "__main__":
    main()
