"""Draws what the commands print, as the SVG pictures of their pages.

    PYTHONPATH=src python scripts/command_pictures.py [NAME ...]

Runs each command in a folder with the photographs of the demonstration and writes docs/images/commands/NAME.svg.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs/images/commands"
COLUMNS = 100
MOST_LINES = 40
# What must have been run before a command has something to show.
BEFORE = {
    "report": ["batch photos -o results.jsonl"],
    "sort": ["audit photos -o audit --keep"],
}
COMMANDS = {
    "assess": 'assess clock-moved.jpg "What is wrong with this photo?"',
    "compare": 'compare coffee-fine.jpg coffee-too-dark.jpg --query "Which one is darker?"',
    "measure": "measure compressed.jpg original.png --tools SSIM,PSNR,BLUR_RADIUS",
    "batch": 'batch photos -o gated.jsonl --fail-if "blur >= severe"',
    "report": "report results.jsonl -o report.html",
    "audit": "audit photos -o audit --keep",
    "sort": "sort audit -o sorted",
    "encode": "encode original.png -o small --format best --min-score 4 --step 5",
    "calibrate": "calibrate --from-accepted good --rejected bad",
    "evaluate": "evaluate --manifest ratings.csv --root . -o evaluation",
    "tools": "tools PSNR AIQA_NR",
    "doctor": "doctor",
}
# rich's own template loads a font from elsewhere; a document loads nothing.
TEMPLATE = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>{lines}</defs>
<rect fill="#1d1f21" width="{width}" height="{height}" rx="8" />
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g></svg>
"""


def lay_out(folder: Path) -> None:
    """The photographs the commands are shown with."""
    photographs = sorted((ROOT / "examples/photographs").glob("*.jpg"))
    for place in ("photos", "good", "bad"):
        (folder / place).mkdir()
    for path in photographs:
        shutil.copy(path, folder)
        shutil.copy(path, folder / "photos")
    with Image.open(ROOT / "examples/photographs/coffee-fine.jpg") as coffee:
        coffee.save(folder / "original.png")
        coffee.save(folder / "compressed.jpg", quality=12)
        # Cuts of one good and one noisy photograph stand for a collection somebody has looked through.
        _cut(coffee, folder / "good")
    with Image.open(ROOT / "examples/photographs/motorcycle-noisy.jpg") as noisy:
        _cut(noisy, folder / "bad")
    ratings = {"coffee-fine": 4.6, "astronaut-burnt-out": 2.4, "motorcycle-noisy": 1.9, "coffee-too-dark": 2.0,
               "cat-out-of-focus": 1.6, "clock-moved": 1.3}  # fmt: skip
    rows = "".join(f"photos/{name}.jpg,{rating}\n" for name, rating in ratings.items())
    (folder / "ratings.csv").write_text(f"image,rating\n{rows}", encoding="utf-8")


def _cut(image: Image.Image, folder: Path) -> None:
    side = min(image.size) * 3 // 4
    for number in range(12):
        left = (image.width - side) * (number % 4) // 3
        top = (image.height - side) * (number // 4) // 2
        image.crop((left, top, left + side, top + side)).save(folder / f"{number:02}.jpg", quality=95)


def printed(command: str, folder: Path) -> str:
    """What the command prints, its results and its errors, without progress."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": str(COLUMNS), "NO_COLOR": "1"}
    run = [sys.executable, "-m", "agenticiqa", *shlex.split(command)]
    done = subprocess.run(run, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).rstrip()


def drawn(command: str, text: str) -> str:
    """The command and what it printed as an SVG."""
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], "…"]
    console = Console(record=True, width=COLUMNS, file=StringIO(), color_system="truecolor", force_terminal=True)
    console.print(Text(f"$ agenticiqa {command}", style="bold green"), soft_wrap=False)
    console.print(Text("\n".join(lines)))
    return console.export_svg(theme=MONOKAI, code_format=TEMPLATE, unique_id="shown")


def main() -> None:
    """Draws the commands named, or all."""
    names = sys.argv[1:] or list(COMMANDS)
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        lay_out(folder)
        for name in names:
            for before in BEFORE.get(name, []):
                printed(before, folder)
            text = printed(COMMANDS[name], folder)
            (PICTURES / f"{name}.svg").write_text(drawn(COMMANDS[name], text), encoding="utf-8")
            sys.stdout.write(f"--- {name}\n{text}\n\n")


if __name__ == "__main__":
    main()
