"""The command line's frame: version, settings, doctor, exit codes, and a quick start."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenticiqa.cli import app

runner = CliRunner()


def test_version_is_printed() -> None:
    result = runner.invoke(app, ["--version"])

    assert result.exit_code == 0
    assert result.output.startswith("agenticiqa 0.")


def test_the_package_runs_where_the_console_script_is_not_at_hand() -> None:
    done = subprocess.run([sys.executable, "-m", "agenticiqa", "--version"], capture_output=True, text=True, check=True)

    assert done.stdout.startswith("agenticiqa 0.")


def test_an_unknown_command_is_a_usage_error() -> None:
    assert runner.invoke(app, ["paint"]).exit_code == 2


def test_config_show_prints_the_settings_and_their_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-key-value")

    text = runner.invoke(app, ["config", "show"])
    data = runner.invoke(app, ["config", "show", "--json"])

    assert text.output.startswith("# from: packaged defaults")
    assert json.loads(data.output)["planner"]["backend"] == "builtin.perception"
    assert "sk-secret" not in text.output + data.output


def test_a_wrong_settings_file_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("planner:\n  speed: 9\n")

    result = runner.invoke(app, ["config", "check", str(path)])

    assert result.exit_code == 2
    assert f"Error: {path}: planner.speed: unknown key" in result.stderr
    assert "Traceback" not in result.stderr


def test_debug_shows_the_error_itself(tmp_path: Path) -> None:
    result = runner.invoke(app, ["--debug", "config", "check", str(tmp_path / "none.yaml")])

    assert type(result.exception).__name__ == "SettingsError"


def test_doctor_lists_every_extra_a_user_may_install() -> None:
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for_users = set(declared["optional-dependencies"]) - {"all", "dev", "fuzz"}

    listed = {check["name"]: check for check in json.loads(runner.invoke(app, ["doctor", "--json"]).output)}

    assert {name.removeprefix("extra ") for name in listed if name.startswith("extra ")} - {"all"} == for_users
    for extra in for_users:
        check = listed[f"extra {extra}"]
        assert check["ok"] or check["remedy"] == f"pip install 'agenticiqa[{extra}]'"


def test_doctor_shows_an_address_that_the_environment_names_without_its_password() -> None:
    variables = {"OPENAI_BASE_URL": "http://me:secret-word@proxy.example/v1"}

    checks = json.loads(runner.invoke(app, ["doctor", "--json"], env=variables).output)

    (found,) = [check["detail"] for check in checks if check["name"] == "address openai"]
    assert found == "http://[redacted]@proxy.example/v1 (OPENAI_BASE_URL)"


def test_doctor_names_the_command_for_every_missing_extra_and_key() -> None:
    checks = json.loads(runner.invoke(app, ["doctor", "--json"]).output)

    for check in checks:
        assert check["ok"] or check["remedy"], check
    assert any(check["name"] == "extra pyiqa" and "agenticiqa[pyiqa]" in check["remedy"] for check in checks)


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = ("langgraph", "onnxruntime", "torch", "cv2", "scipy", "numpy")
    code = f"import sys, agenticiqa; print([m for m in {heavy!r} if m in sys.modules])"

    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert output.strip() == "[]"


def test_help_loads_nothing_heavy() -> None:
    heavy = ("langgraph", "onnxruntime", "torch", "cv2", "scipy", "numpy", "pydantic")
    code = (
        "import sys; from typer.testing import CliRunner; from agenticiqa.cli import app; "
        f"assert CliRunner().invoke(app, ['--help']).exit_code == 0; print([m for m in {heavy!r} if m in sys.modules])"
    )

    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert output.strip() == "[]"
