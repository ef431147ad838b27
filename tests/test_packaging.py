"""What is shipped: the wheel is complete, and the files around it name only what exists."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "agenticiqa"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True)
    return folder


def test_the_wheel_holds_every_file_of_the_package(built: Path) -> None:
    wheel = next(built.glob("*.whl"))
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]

    held = set(zipfile.ZipFile(wheel).namelist())

    assert {str(path.relative_to(PACKAGE.parent)) for path in files} - held == set()
    assert "agenticiqa/py.typed" in held
    assert not [name for name in held if "__pycache__" in name or name.startswith("tests")]


def test_the_wheel_installs_the_command_and_says_its_terms(built: Path) -> None:
    wheel = zipfile.ZipFile(next(built.glob("*.whl")))
    described = {Path(name).name: wheel.read(name).decode() for name in wheel.namelist() if ".dist-info/" in name}

    assert "agenticiqa = agenticiqa.cli:main" in described["entry_points.txt"]
    assert "License-Expression: Apache-2.0" in described["METADATA"]
    assert "LICENSE" in described


def test_the_source_distribution_can_build_the_wheel_again(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = archive.getnames()

    inside = {name.partition("/")[2] for name in names}
    assert {"pyproject.toml", "README.md", "LICENSE", "src/agenticiqa/py.typed", "mkdocs.yml"} <= inside


def test_the_dockerfile_copies_only_what_exists_and_is_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [
        source
        for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
        if line.startswith("COPY ")
        for source in shlex.split(line)[1:-1]
    ]

    assert copied
    for source in copied:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in ignored, source


def test_the_dockerfile_installs_the_wheel_and_runs_without_rights() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    steps = [line for line in text.splitlines() if line and not line.startswith("#")]
    first, last = ("\n".join(stage) for stage in _stages(steps))

    assert "pip wheel" in first
    assert "COPY src" in first
    assert "COPY" not in last
    assert re.search(r"from=build,source=/wheel.*pip install .*/wheel/agenticiqa-\*\.whl", last)
    assert "source=constraints.txt" in last
    assert re.search(r"^USER (?!root)\w+$", last, re.MULTILINE)
    assert text.count("pip ") == text.count("--no-cache-dir")


def _stages(steps: list[str]) -> list[list[str]]:
    """The steps of each stage; each begins with FROM and an image of a fixed version."""
    starts = [number for number, step in enumerate(steps) if step.startswith("FROM ")]
    assert all(re.match(r"FROM \S+:\d\S*", steps[start]) for start in starts)
    return [steps[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


def test_the_workflow_runs_what_ci_runs() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    steps = [step.get("run") for step in workflow["jobs"]["check"]["steps"]]

    assert ".ci/run" in steps
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert re.findall(r"^make \S+", script, re.MULTILINE) == ["make lint", "make test", "make test-torch"]
