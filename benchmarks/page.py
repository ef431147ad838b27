"""The page of the service: how soon it is painted in a browser that has never been there, and how much it weighs.

Run: python -m benchmarks.page [--runs N] [--pictures FOLDER]. With a folder, pictures of the page are written there.
"""

from __future__ import annotations

import argparse
import io
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import agenticiqa.server
from tests.server.running import running_service

FILES = Path(agenticiqa.server.__file__).parent / "page"
CHROMIUM = Path(__file__).parents[1] / "scripts/find_chromium.py"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
DESKTOP, PHONE = (1280, 900), (390, 844)
PATIENCE = 120_000
HEAVIEST = 250_000


def main() -> int:
    """0 when the page keeps its two promises: painted within a second, lighter than 300 KB."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=9)
    options.add_argument("--pictures", type=Path)
    chosen = options.parse_args()
    weight = sum(file.stat().st_size for file in FILES.iterdir())
    with tempfile.TemporaryDirectory() as folder, running_service(Path(folder)) as service, chromium() as browser:
        paints = [first_paint(browser, service.address) for _ in range(chosen.runs)]
        if chosen.pictures:
            take_pictures(browser, service.address, chosen.pictures)
    print(f"files of the page        {weight / 1000:.1f} KB (limit 300)")
    print(
        f"first contentful paint   median {statistics.median(paints):.0f} ms, slowest {max(paints):.0f} ms (limit 1000)"
    )
    return int(weight >= 300_000 or statistics.median(paints) >= 1000)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser."""
    path = subprocess.run([sys.executable, str(CHROMIUM)], capture_output=True, text=True, check=True).stdout.strip()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--headless", "--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


def first_paint(browser: Browser, address: str) -> float:
    """Milliseconds from the request to the first words, with nothing in the cache."""
    context = browser.new_context(viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
    page = context.new_page()
    page.goto(address)
    page.wait_for_function(f"{PAINT} !== null")
    found = float(page.evaluate(PAINT))
    context.close()
    return found


def take_pictures(browser: Browser, address: str, folder: Path) -> None:
    """Results in light and dark, on a desk and in a hand."""
    views: list[tuple[str, tuple[int, int], Any, str]] = [
        ("result-light", DESKTOP, "light", "A blurred cat"),
        ("result-dark", DESKTOP, "dark", "A compressed portrait"),
        ("pair-light", DESKTOP, "light", "Blurred, with its original"),
        ("phone-light", PHONE, "light", "A noisy cup"),
        ("phone-dark", PHONE, "dark", "A blurred cat"),
    ]
    for name, (width, height), scheme, example in views:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        page = context.new_page()
        page.goto(address)
        page.locator(".example").first.wait_for(timeout=PATIENCE)
        show_example(page, example)
        write(page, folder / f"page-{name}.png")
        context.close()


def show_example(page: Page, title: str) -> None:
    """The result of an example, with its map, at the top of the window."""
    page.locator(".example", has_text=title).click()
    page.locator("canvas.map").wait_for(state="attached", timeout=PATIENCE)
    if page.get_by_role("button", name="Before / after").count():
        page.get_by_role("button", name="Before / after").click()
        page.locator(".viewer").evaluate("element => element.scrollIntoView()")
    page.wait_for_timeout(500)


def write(page: Page, path: Path) -> None:
    """A PNG of what is in the window, with fewer shades where the documentation could not carry it otherwise."""
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    for step in (1, 4, 6, 8):
        shades = [min(255, round(value / step) * step) for value in range(256)]
        shot.point(shades * 3).save(path, optimize=True)
        if path.stat().st_size < HEAVIEST:
            return


if __name__ == "__main__":
    sys.exit(main())
