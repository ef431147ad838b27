"""A stranger's tool and a stranger's backend, built as wheels, installed with pip and used."""

from __future__ import annotations

import json
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
                    implementation="my_iqa:brightness", licence="Apache-2.0", cost="cheap", variant="mean")
    calibration = same_scale("none", spread=0.5)

    def measure(self, test, reference=None):
        return 1 + 4 * float(np.mean(test)) / 255
"""
BROKEN = "import a_module_nobody_has\n"
EXAMPLE = Path(__file__).parents[2] / "examples" / "custom_backend.py"
USE = """
import sys
from agenticiqa.config import load_settings
from agenticiqa.images import load_image
from agenticiqa.parts import tools_for

tools = tools_for(load_settings(overrides={"pipeline": {"cache": {"enabled": False}}}))
print(tools.votes("BRIGHTNESS"), round(tools.execute("BRIGHTNESS", load_image(sys.argv[1])).calibrated, 1))
"""
ASSESS = ["-m", "agenticiqa", "assess"]


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


def run(target: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(target), *filter(None, [os.environ.get("PYTHONPATH")])])
    variables = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run([sys.executable, *arguments], env=variables, check=False, capture_output=True, text=True)


@pytest.fixture
def image(tmp_path: Path) -> str:
    return str(save(tmp_path / "image.png", photo("coffee")[:64, :64]))


@pytest.mark.slow
def test_a_strangers_tool_works_once_installed(tmp_path: Path, image: str) -> None:
    target = tmp_path / "site"
    install(tmp_path, target, "my_iqa", "agenticiqa.tools", "BRIGHTNESS", "Brightness", TOOL)

    done = run(target, "-c", USE, image)

    assert done.stdout.startswith("True ")


@pytest.mark.slow
def test_the_example_backend_answers_every_task_once_installed(tmp_path: Path, image: str) -> None:
    target = tmp_path / "site"
    code = EXAMPLE.read_text(encoding="utf-8")
    install(tmp_path, target, "their_backend", "agenticiqa.backends", "mine", "BrightnessModel", code)

    for question in ([], ["Is it dark? A. Yes B. No"], ["Is the cup blurred?"]):
        for mode in ("full", "fast"):
            done = run(target, *ASSESS, image, *question, "--backend", "mine.brightness", "--mode", mode, "--json")
            record = json.loads(done.stdout)

            assert (done.returncode, record["error"], record["evidence_errors"]) == (0, None, {})
            assert set(record["provenance"]["models"].values()) == {"mine.brightness"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("group", "options"), [("agenticiqa.tools", []), ("agenticiqa.backends", ["--backend", "broken.x"])]
)
def test_a_package_that_cannot_be_imported_is_named_in_one_line_once(
    group: str, options: list[str], tmp_path: Path, image: str
) -> None:
    target = tmp_path / "site"
    install(tmp_path, target, "broken_iqa", group, "broken", "Thing", BROKEN)

    done = run(target, *ASSESS, image, *options)

    assert done.returncode == (2 if options else 0)
    (line,) = [line for line in done.stderr.splitlines() if "broken" in line]
    assert "broken of the package broken_iqa cannot be loaded (ModuleNotFoundError: " in line
    assert "Traceback" not in done.stderr
