"""A real Chromium for the pages; without one these tests fail and say how to get one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

SCRIPT = Path(__file__).parents[2] / "scripts/find_chromium.py"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser of `scripts/find_chromium.py`, running."""
    found = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, env=os.environ, check=False)
    if found.returncode != 0:
        pytest.fail(found.stderr.strip().splitlines()[-1], pytrace=False)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found.stdout.strip(), args=list(FLAGS))
        yield running
        running.close()
