"""A real Chromium for the pages; without one these tests fail and say how to get one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.visits import PATIENCE, Visit, write_pictures
from tests.server.running import RunningService, running_service

SCRIPT = Path(__file__).parents[2] / "scripts/find_chromium.py"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip
# Models are at work behind these pages, and machines differ in speed.
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The browser of `scripts/find_chromium.py`, running."""
    found = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, env=os.environ, check=False)
    if found.returncode != 0:
        pytest.fail(found.stderr.strip().splitlines()[-1], pytrace=False)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found.stdout.strip(), args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture(scope="package")
def allowed(tmp_path_factory: pytest.TempPathFactory, pictures: dict[str, Path]) -> Path:
    """A folder the service may read, with two pictures and a text."""
    folder = tmp_path_factory.mktemp("allowed")
    for name, kind in (("first.png", "clean"), ("second.png", "white_noise")):
        (folder / name).write_bytes(pictures[kind].read_bytes())
    (folder / "notes.txt").write_text("no picture", encoding="utf-8")
    return folder


@pytest.fixture(scope="package")
def page_service(tmp_path_factory: pytest.TempPathFactory, allowed: Path) -> Iterator[RunningService]:
    """A service with the embedded backend for all tests that leave it alone."""
    options = ("--workers", "1", "--allow-folder", str(allowed))
    with running_service(tmp_path_factory.mktemp("page"), *options) as running:
        yield running


@pytest.fixture(scope="package")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A clean photograph and damaged copies, by kind of damage."""
    return write_pictures(tmp_path_factory.mktemp("pictures"))


@pytest.fixture
def visitor(browser: Browser, page_service: RunningService) -> Iterator[Visit]:
    """The page, open in a browser that has never been there."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    found = Visit(context.new_page(), page_service.address)
    found.listen()
    found.open()
    yield found
    context.close()
