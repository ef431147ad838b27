"""`agenticiqa serve` and `agenticiqa mcp` as commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agenticiqa.server.running import sole_service


def run_command(*arguments: str, without: str | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as if the module were not installed."""
    code = f"import sys; sys.modules.update(dict.fromkeys({[without] if without else []})); "
    code += "from agenticiqa.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(("command", "module", "extra"), [("serve", "fastapi", "server"), ("mcp", "mcp", "mcp")])
def test_without_its_extra_a_command_says_what_to_install(command: str, module: str, extra: str) -> None:
    done = run_command(command, without=module)

    assert done.returncode == 1
    assert f"pip install 'agenticiqa[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_opening_the_service_to_others_without_a_token_is_refused(tmp_path: Path) -> None:
    done = run_command("serve", "--host", "0.0.0.0", "--folder", str(tmp_path))

    assert done.returncode == 2
    assert "--allow-anonymous" in done.stderr


def test_a_second_service_on_one_folder_is_refused(tmp_path: Path) -> None:
    with sole_service(tmp_path):
        done = run_command("serve", "--port", "0", "--folder", str(tmp_path))

    assert done.returncode == 2
    assert "another service keeps its runs there" in done.stderr
    assert "a --folder and a --port of its own" in done.stderr


def test_a_folder_that_does_not_exist_and_an_empty_token_are_refused(tmp_path: Path) -> None:
    (tmp_path / "token").touch()
    folder = run_command("serve", "--allow-folder", str(tmp_path / "nowhere"), "--folder", str(tmp_path))
    token = run_command("serve", "--token-file", str(tmp_path / "token"), "--folder", str(tmp_path))

    assert (folder.returncode, token.returncode) == (2, 2)
    assert "no such folder" in folder.stderr
    assert "is empty" in token.stderr
