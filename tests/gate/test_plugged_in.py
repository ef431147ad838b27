"""The GitHub Action and the pre-commit hooks: their own steps, run here in a repository made for it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from tests.support.photos import photo, save

ROOT = Path(__file__).parents[2]
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A commit with one large picture, and another commit that adds a small and a large one."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    save(folder / "before.png", np.ascontiguousarray(photo("coffee")[:200, :300]))
    commit(folder)
    save(folder / "small one.png", np.ascontiguousarray(photo("chelsea")[:64, :64]))
    save(folder / "große.png", np.ascontiguousarray(photo("chelsea")[:200, :300]))
    (folder / "notes.txt").write_text("no image")
    commit(folder)
    return folder


def git(folder: Path, *arguments: str) -> None:
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *person, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "pictures")


def run_step(step: dict[str, Any], values: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """The step's script, with the expressions in its variables filled in as the service would."""
    given = {
        name: re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda found: values[found[1]], text)
        for name, text in step.get("env", {}).items()
    }
    environment = {**os.environ, **given, "PATH": PATH, "GITHUB_OUTPUT": str(folder.parent / "output")}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_action_judges_the_images_a_pull_request_changed_and_annotates_them(repository: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    defaults = {f"inputs.{name}": str(each["default"]) for name, each in action["inputs"].items()}
    own = {"inputs.base": "HEAD~1", "inputs.fail-if": "megapixels > 0.05", "inputs.junit": "gate.xml"}
    values = {**defaults, **own, "runner.temp": str(repository.parent), "github.action_path": str(ROOT)}
    values |= {"github.event.repository.default_branch": "main", "github.ref_name": "new"}
    listing, _, judging = action["runs"]["steps"]

    listed, judged = run_step(listing, values, repository), run_step(judging, values, repository)

    assert listed.returncode == 0, listed.stderr
    assert (repository.parent / "output").read_text() == "images=2\n"
    assert judged.returncode == 3, judged.stderr
    assert "::error" in judged.stdout + judged.stderr
    cases = ElementTree.parse(repository / "gate.xml").findall(".//testcase")
    failed = [case.get("name") for case in cases if case.find("failure") is not None]
    assert (len(cases), [Path(str(name)).name for name in failed]) == (2, ["große.png"])


@pytest.mark.parametrize(("branch", "is_fetched", "images"), [("new", True, 1), ("new", False, 3), ("main", True, 4)])
def test_a_new_branch_is_compared_with_the_default_branch_or_all_its_images_are_judged(
    repository: Path, branch: str, is_fetched: bool, images: int
) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    values = {"inputs.base": "0" * 40, "inputs.patterns": str(action["inputs"]["patterns"]["default"])}
    values |= {
        "runner.temp": str(repository.parent),
        "github.ref_name": branch,
        "github.event.repository.default_branch": "main",
    }
    if is_fetched:
        git(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
        save(repository / "third.png", np.ascontiguousarray(photo("chelsea")[:64, :64]))
        commit(repository)

    listed = run_step(action["runs"]["steps"][0], values, repository)

    assert listed.returncode == 0, listed.stderr
    assert (repository.parent / "output").read_text() == f"images={images}\n"


def test_no_input_of_the_action_is_written_into_a_script() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

    assert [step["name"] for step in action["runs"]["steps"] if "${{" in step["run"]] == []


def test_the_hooks_fail_on_the_images_they_are_for(repository: Path) -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    size = [*shlex.split(hooks["agenticiqa-size"]["entry"]), "--fail-if", "megapixels > 0.05"]
    score = shlex.split(hooks["agenticiqa-score"]["entry"]) + hooks["agenticiqa-score"]["args"]
    environment = {**os.environ, "PATH": PATH}

    large = subprocess.run([*size, "small one.png", "große.png"], cwd=repository, env=environment, check=False)
    fine = subprocess.run([*score, "before.png"], cwd=repository, env=environment, check=False)

    assert (large.returncode, fine.returncode) == (3, 0)
