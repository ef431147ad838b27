"""Encoding to a score: bisection beside exhaustive search, and the score of each encoder quality beside ssimulacra2.

    python -m benchmarks.encode PHOTOGRAPHS [--count 20] [--step 5] [--score 4]
    python -m benchmarks.encode PHOTOGRAPHS --table --peer PYTHON

The table is the one in docs/how-to/gate-images.md; PEER is the Python of an environment with ssimulacra2.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image

from agenticiqa.encode.judges import Judge, shipped_judge
from agenticiqa.encode.originals import Format, Pixels, read_original
from agenticiqa.encode.searching import (
    HIGHEST,
    LOWEST,
    encode,
    encoded_bytes,
)
from agenticiqa.errors import EncodingError
from agenticiqa.images import NamedBytes, load_image

FORMATS: tuple[Format, ...] = ("jpeg", "webp", "avif")
TABLE_QUALITIES = (10, 30, 50, 70, 80, 90, 95)
SIDE = 640
PEER_SCRIPT = """
import json, sys
from ssimulacra2 import compute_ssimulacra2
for line in sys.stdin:
    reference, copy = json.loads(line)
    print(compute_ssimulacra2(reference, copy), flush=True)
"""


def photographs(folder: Path, count: int) -> Iterator[tuple[str, Pixels]]:
    """So many photographs, spread over the folder, none longer than 640 pixels."""
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png"))
    for index in np.linspace(0, len(files) - 1, min(count, len(files))).astype(int):
        with Image.open(files[index]) as image:
            picture = image.convert("RGB")
        picture.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
        yield files[index].name, np.asarray(picture)


def decoded(pixels: Pixels, format: Format, quality: int) -> Pixels:
    """The picture after encoding."""
    return load_image(NamedBytes(format, encoded_bytes(read_original(pixels, format), format, quality))).pixels


def exhaustive(pixels: Pixels, format: Format, judge: Judge, step: int) -> dict[int, float]:
    """The score of every quality on the grid."""
    grid = range(HIGHEST, LOWEST - 1, -step)
    return {quality: judge(decoded(pixels, format, quality), pixels) for quality in sorted(grid)}


def compare_search(folder: Path, count: int, step: int, wanted: float, format: Format) -> None:
    """Prints how far bisection lies from exhaustive search, and how long it takes."""
    judge, apart, seconds, dips, pictures = shipped_judge(), [], [], 0, 0
    for name, pixels in photographs(folder, count):
        scores = exhaustive(pixels, format, judge, step)
        best = next((quality for quality, score in scores.items() if score >= wanted), None)
        started = time.perf_counter()
        try:
            found: int | None = encode(pixels, format, wanted, judge=judge, step=step).quality
        except EncodingError:
            found = None
        seconds.append(time.perf_counter() - started)
        values = list(scores.values())
        dips += any(later < earlier - 0.02 for earlier, later in pairwise(values))
        apart.append(0.0 if best == found else abs((best or HIGHEST + step) - (found or HIGHEST + step)) / step)
        pictures += 1
        print(f"{name}: exhaustive {best}, bisection {found}")
    within = sum(distance <= 1 for distance in apart)
    print(f"{format}, step {step}, score {wanted:g}: {within} of {pictures} within one step, largest {max(apart):g}")
    print(f"seconds per picture: median {statistics.median(seconds):.2f}; scores dip by over .02 on {dips} pictures")


def print_table(folder: Path, count: int, peer: str | None, formats: Sequence[Format]) -> None:
    """Prints mean scores of encoder qualities, with ssimulacra2 beside them where it is at hand."""
    judge, pictures = shipped_judge(), list(photographs(folder, count))
    print(f"| format | quality | our score: mean (lowest) | {'ssimulacra2: mean |' if peer else ''}")
    print(f"|---|---|---|{'---|' if peer else ''}")
    for format in formats:
        for quality in TABLE_QUALITIES:
            copies = [(pixels, decoded(pixels, format, quality)) for _, pixels in pictures]
            scores = [judge(copy, pixels) for pixels, copy in copies]
            anchor = f" {statistics.mean(peer_scores(peer, copies)):.0f} |" if peer else ""
            print(f"| {format} | {quality} | {statistics.mean(scores):.2f} ({min(scores):.2f}) |{anchor}", flush=True)


def peer_scores(python: str, copies: list[tuple[Pixels, Pixels]]) -> list[float]:
    """ssimulacra2 of each pair."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, pair in enumerate(copies):
            files = [f"{folder}/{number}{part}.png" for part in "ab"]
            for file, pixels in zip(files, pair, strict=True):
                Image.fromarray(pixels).save(file)
            names.append(json.dumps(files))
        command = [python, "-c", PEER_SCRIPT]
        shown = subprocess.run(command, input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return [float(line) for line in shown.split()]


def main() -> None:
    """The search, or the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("photographs", type=Path)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--step", type=int, default=5)
    parser.add_argument("--score", type=float, default=4.0)
    parser.add_argument("--format", choices=FORMATS, help="default: webp; of the table, all")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--peer")
    given = parser.parse_args()
    if given.table:
        print_table(given.photographs, given.count, given.peer, [given.format] if given.format else FORMATS)
    else:
        compare_search(given.photographs, given.count, given.step, given.score, given.format or "webp")


if __name__ == "__main__":
    main()
