"""The documentation builds without a warning and asks nobody for anything."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LOADED = re.compile(
    r"<(?:script[^>]+src|link[^>]+(?:stylesheet|preload|preconnect)[^>]+href|img[^>]+src)=\"?(https?:)?//"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.mark.slow
def test_the_site_builds_and_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))

    assert len(pages) > 25
    assert [str(page) for page in pages if LOADED.search(page.read_text(encoding="utf-8"))] == []


@pytest.mark.slow
def test_the_reference_is_written_from_the_code(site: Path) -> None:
    commands = (site / "reference" / "cli.html").read_text(encoding="utf-8")
    settings = (site / "reference" / "settings.html").read_text(encoding="utf-8")

    assert "agenticiqa compare" in commands
    assert "pipeline.mode" in settings
