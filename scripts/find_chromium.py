"""Prints the path of a Chromium: $CHROMIUM, an installed one, or one it installs with apt or playwright.

    CHROMIUM=$(python scripts/find_chromium.py)

Exit code 1 with a sentence when there is none and none can be installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REMEDY = "no Chromium found: install one (apt-get install chromium, or playwright install chromium) or set $CHROMIUM"


def find_chromium(environ: Mapping[str, str]) -> str | None:
    """The browser $CHROMIUM names, one on the path, or the one playwright has downloaded."""
    named = environ.get("CHROMIUM")
    if named:
        return shutil.which(named, path=environ.get("PATH"))
    installed = (shutil.which(name, path=environ.get("PATH")) for name in NAMES)
    return next((path for path in installed if path), None) or downloaded_chromium()


def downloaded_chromium() -> str | None:
    """The browser that `playwright install` has put into its own folder."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


def install_chromium() -> None:
    """Installs a browser: with apt for root, with playwright for others; what fails is said on stderr."""
    commands = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        commands.insert(0, ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"])
    for command in commands:
        # Its output is for people: standard output holds the path and nothing else.
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode == 0:
            return


def main() -> int:
    """Prints the path, installing the browser first where there is none."""
    found = find_chromium(os.environ)
    if found is None and not os.environ.get("CHROMIUM"):
        install_chromium()
        found = find_chromium(os.environ)
    if found is None:
        sys.stderr.write(REMEDY + "\n")
        return 1
    sys.stdout.write(found + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
