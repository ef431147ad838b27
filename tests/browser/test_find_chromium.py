"""Which browser the page's tests use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.browser.conftest import SCRIPT


def find(**variables: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, **variables}
    return subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, env=environ, check=False)


def test_the_browser_that_is_named_is_used(tmp_path: Path) -> None:
    mine = tmp_path / "my-browser"
    mine.touch(mode=0o755)

    assert find(CHROMIUM=str(mine)).stdout == f"{mine}\n"


def test_an_installed_browser_is_found_on_the_path(tmp_path: Path) -> None:
    installed = tmp_path / "chromium"
    installed.touch(mode=0o755)

    assert find(CHROMIUM="", PATH=str(tmp_path)).stdout == f"{installed}\n"


def test_a_named_browser_that_is_not_there_is_a_failure_with_the_remedy(tmp_path: Path) -> None:
    result = find(CHROMIUM=str(tmp_path / "nothing"))

    assert (result.returncode, result.stdout) == (1, "")
    assert "apt-get install chromium" in result.stderr
