"""A stranger's tool and a stranger's backend, built as wheels, installed with pip and used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.photos import photo, save

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "{name}"
version = "1.0"
[project.entry-points."{group}"]
{entry} = "{name}:{object}"
"""
TOOL = """
import numpy as np
from agenticiqa.tools import Tool, ToolCard, same_scale

class Brightness(Tool):
    card = ToolCard(name="BRIGHTNESS", reference="NR", higher_is_better=True, raw_range=(1, 5),
                    implementation="theirs:brightness", licence="Apache-2.0", cost="cheap", variant="mean")
    calibration = same_scale("none", spread=0.5)

    def measure(self, test, reference=None):
        return 1 + 4 * float(np.mean(test)) / 255
"""
BACKEND = """
import json
from agenticiqa.vlm_client import VLMClient

class Parrot(VLMClient):
    def __init__(self, model):
        self.model = f"parrot.{model}"

    @classmethod
    def from_settings(cls, model, role, settings):
        return cls(model)

    def generate(self, prompt, image, **kwargs):
        return json.dumps({"final_answer": "B", "quality_reasoning": f"Seen at {image.size}."})
"""
USE = """
import sys
from agenticiqa.config import load_settings
from agenticiqa.images import load_image
from agenticiqa.parts import tools_for
from agenticiqa.vlm_client import create_vlm_client
from PIL import Image

settings = load_settings(overrides={"pipeline": {"cache": {"enabled": False}}})
tools = tools_for(settings)
print(tools.votes("BRIGHTNESS"), round(tools.execute("BRIGHTNESS", load_image(sys.argv[1])).calibrated, 1))
client = create_vlm_client("parrot.polly", settings)
print(client.model, client.generate("How is it?", Image.open(sys.argv[1])))
"""


def install(folder: Path, target: Path, name: str, group: str, entry: str, thing: str, code: str) -> None:
    source = folder / name
    source.mkdir()
    (source / "pyproject.toml").write_text(PROJECT.format(name=name, group=group, entry=entry, object=thing))
    (source / f"{name}.py").write_text(code)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheels = ["wheel", "--no-deps", "--no-build-isolation", "-w", str(folder / "wheels"), str(source)]
    subprocess.run([*pip, *wheels], check=True, capture_output=True)
    (wheel,) = (folder / "wheels").glob(f"{name}-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(target), str(wheel)], check=True, capture_output=True)


@pytest.mark.slow
def test_a_strangers_tool_and_backend_work_once_installed(tmp_path: Path) -> None:
    target = tmp_path / "site"
    install(tmp_path, target, "their_tool", "agenticiqa.tools", "BRIGHTNESS", "Brightness", TOOL)
    install(tmp_path, target, "their_backend", "agenticiqa.backends", "parrot", "Parrot", BACKEND)
    image = save(tmp_path / "image.png", photo("coffee")[:64, :64])
    paths = os.pathsep.join([str(target), *filter(None, [os.environ.get("PYTHONPATH")])])

    done = subprocess.run(
        [sys.executable, "-c", USE, str(image)],
        env={**os.environ, "PYTHONPATH": paths},
        check=True,
        capture_output=True,
        text=True,
    )

    tool, backend = done.stdout.splitlines()
    assert tool.startswith("True ")
    assert backend.startswith("parrot.polly {")
