"""`agenticiqa tools` and `agenticiqa calibrate`."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
import typer
import yaml
from typer.testing import CliRunner

from agenticiqa.cli.calibrate import calibrate
from agenticiqa.cli.command_frame import FriendlyGroup
from agenticiqa.cli.tools import tools

runner = CliRunner()
without_pyiqa = pytest.mark.skipif(importlib.util.find_spec("pyiqa") is not None, reason="pyiqa is installed here")


def make_app() -> typer.Typer:
    app = typer.Typer(cls=FriendlyGroup)
    app.command()(tools)
    app.command()(calibrate)
    return app


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A settings file whose caches and overlay stay in the test's folder."""
    path = tmp_path / "settings.yaml"
    pipeline = {"cache": {"directory": str(tmp_path / "cache")}, "tools_overlay": str(tmp_path / "tools.yaml")}
    path.write_text(yaml.safe_dump({"pipeline": pipeline}))
    return path


def test_every_tool_is_listed_with_what_its_reader_needs(config: Path) -> None:
    rows = json.loads(runner.invoke(make_app(), ["tools", "--json", "--config", str(config)]).output)

    by_name = {row["name"]: row for row in rows}
    assert len(rows) >= 45
    assert by_name["PSNR"] == by_name["PSNR"] | {
        "reference": "FR", "available": True, "votes": True, "higher_is_better": True, "range": [0, 100], "unit": "dB",
        "licence": "Apache-2.0", "calibration": "ratings",
    }  # fmt: skip
    assert (by_name["SHARPNESS"]["votes"], by_name["SHARPNESS"]["why_not"]) == (False, "a measured attribute")
    assert "Noncommercial" in by_name["TOPIQ_FR"]["licence"]
    assert by_name["TOPIQ_FR"]["why_not"] == "no calibration; agenticiqa calibrate --ladder TOPIQ_FR"


@without_pyiqa
def test_the_table_shows_the_command_that_makes_the_papers_tools_available(config: Path) -> None:
    output = runner.invoke(make_app(), ["tools", "--config", str(config)]).output

    last = next(line for line in output.splitlines() if line.startswith("TOPIQ_FR, "))
    assert "pip install 'agenticiqa[pyiqa]'" in last
    assert "QAlign" in last
    assert "LIQE" in last


def test_the_table_has_all_columns(config: Path) -> None:
    output = runner.invoke(make_app(), ["tools", "--config", str(config)]).output

    for word in (
        "Tool",
        "Ref",
        "Runs here",
        "Votes",
        "Better",
        "Range",
        "Licence",
        "Strengths",
        "0 to 100 dB",
        "lower",
    ):
        assert word in output


def test_an_unknown_tool_is_a_usage_error_with_the_closest_name(config: Path) -> None:
    result = runner.invoke(make_app(), ["calibrate", "--ladder", "HaarSPI", "--config", str(config)])

    assert result.exit_code == 2
    assert "did you mean: HaarPSI" in result.stderr


@without_pyiqa
def test_a_tool_that_is_not_installed_cannot_be_calibrated(config: Path) -> None:
    result = runner.invoke(make_app(), ["calibrate", "--ladder", "MUSIQ", "--config", str(config)])

    assert result.exit_code != 0
    assert "pip install 'agenticiqa[pyiqa]'" in result.stderr


@pytest.mark.slow
def test_calibrating_stores_a_curve_that_is_used_from_then_on(config: Path, tmp_path: Path) -> None:
    entry = {
        "reference": "FR", "higher_is_better": True, "raw_range": [0, 1], "implementation": "builtin:haarpsi.haarpsi",
        "licence": "mine", "cost": "cheap", "variant": "HaarPSI under another name, as if nobody had rated it",
    }  # fmt: skip
    (tmp_path / "tools.yaml").write_text(yaml.safe_dump({"tools": {"UNRATED": entry}}))
    app = make_app()

    result = runner.invoke(app, ["calibrate", "--ladder", "UNRATED", "--photographs", "1", "--config", str(config)])

    assert result.exit_code == 0, result.output
    assert "UNRATED votes from now on" in result.output
    rows = json.loads(runner.invoke(app, ["tools", "--json", "--config", str(config)]).output)
    row = next(row for row in rows if row["name"] == "UNRATED")
    assert (row["votes"], row["calibration"]) == (True, "ladder")
    assert row["spread"] > 0
