"""`pipeline.allowed_root` holds in every command that looks at pictures."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from agenticiqa.cli import COMMANDS, app
from agenticiqa.cli.gating import judging_flaws, locating, measuring
from agenticiqa.config import load_settings
from agenticiqa.errors import ImageOutsideRootError
from tests.support.agent import picture
from tests.support.results import record

REFUSED = "outside the allowed folder"
# The folders of these are named on their own command lines; tests/server and tests/mcp try them.
SERVING = ("serve", "mcp")
# `sort` copies and moves files as they are.
WITHOUT_PICTURES = ("tools", "graph", "doctor", "sort")
LOOKING = [
    ["assess", "outside/a.png"],
    ["assess", "inside/a.png", "--reference", "outside/a.png"],
    ["compare", "inside/a.png", "outside/a.png"],
    ["compare", "inside/a.png", "outside/a.png", "--query", "Which one is the noisiest?"],
    ["measure", "outside/a.png"],
    ["measure", "inside/a.png", "outside/a.png", "--tools", "PSNR"],
    ["batch", "outside", "-o", "out.jsonl"],
    ["audit", "outside/a.png", "-o", "audit", "--quick", "--to", "json"],
    ["audit", "outside/a.zip", "-o", "audit", "--quick"],
    ["encode", "outside/a.png", "-o", "a.webp", "--min-score", "3"],
    ["encode", "outside", "-o", "copies", "--format", "webp", "--min-score", "3"],
    ["report", "results.jsonl", "-o", "page.html", "--no-maps"],
    ["evaluate", "--manifest", "ratings.csv", "--range", "1", "5", "--repetitions", "100", "--json", "-o", "out"],
    ["calibrate", "--from-accepted", "outside"],
]

runner = CliRunner()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for seed, name in enumerate(("inside", "outside")):
        (tmp_path / name).mkdir()
        picture(tmp_path / name, "a.png", (96, 96), seed)
    (tmp_path / "settings.yaml").write_text(yaml.safe_dump({"pipeline": {"allowed_root": str(tmp_path / "inside")}}))
    rows = "".join(f"{place}/a.png,{rating}\n" for place, rating in (("inside", 2), ("outside", 4)))
    (tmp_path / "ratings.csv").write_text(f"image,rating\n{rows}")
    result = {"sample_id": "a", "image_path": str(tmp_path / "outside/a.png"), "assessment": record(), "error": None}
    (tmp_path / "results.jsonl").write_text(json.dumps(result) + "\n")
    with zipfile.ZipFile(tmp_path / "outside/a.zip", "w") as archive:
        archive.write(tmp_path / "outside/a.png", "a.png")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTICIQA_CONFIG", str(tmp_path / "settings.yaml"))
    return tmp_path


@pytest.mark.parametrize("arguments", LOOKING, ids=" ".join)
def test_no_command_opens_a_picture_outside_the_allowed_folder(
    folder: Path, arguments: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    before = {path for path in folder.rglob("*") if path.is_file()}

    found = runner.invoke(app, arguments)

    written = "".join(
        path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file() and path not in before
    )
    assert REFUSED in found.output + written + caplog.text
    assert not list(folder.rglob("*.webp"))


def test_the_walk_knows_every_command() -> None:
    walked = {arguments[0] for arguments in LOOKING}

    assert walked | set(SERVING) | set(WITHOUT_PICTURES) == set(COMMANDS)


@pytest.mark.parametrize("role", ["image_path", "reference_path"])
def test_a_gate_reads_no_picture_of_a_record_outside_the_allowed_folder(folder: Path, role: str) -> None:
    settings = load_settings(folder / "settings.yaml", environ={})
    files = {name: str(folder / "inside/a.png") for name in ("image_path", "reference_path")}
    files[role] = str(folder / "outside/a.png")

    with pytest.raises(ImageOutsideRootError):
        measuring(settings)(files, "psnr")
    with pytest.raises(ImageOutsideRootError):
        judging_flaws(settings)(files)


def test_a_gate_locates_nothing_in_a_picture_outside_the_allowed_folder(folder: Path) -> None:
    with pytest.raises(ImageOutsideRootError):
        locating(load_settings(folder / "settings.yaml", environ={}))({"image_path": "outside/a.png"}, ["face"])
