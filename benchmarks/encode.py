"""Encoding to a score: bisection beside exhaustive search, and the score of each encoder quality beside ssimulacra2.

    python -m benchmarks.encode PHOTOGRAPHS [--count 20] [--step 5] [--score 4]
    python -m benchmarks.encode PHOTOGRAPHS --table --peer PYTHON
    python -m benchmarks.encode PHOTOGRAPHS --coders [--score 4]   four coders at equal score, with witnesses

The table is the one in docs/how-to/gate-images.md; PEER is the Python of an environment with ssimulacra2.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
from PIL import Image

from agenticiqa.encode.originals import Format, Original, Pixels, read_original
from agenticiqa.encode.searching import (
    HIGHEST,
    LOWEST,
    Judge,
    Metric,
    encode,
    encoded_bytes,
    find_quality,
    judge_by,
    shipped_judge,
)
from agenticiqa.errors import EncodingError
from agenticiqa.images import NamedBytes, load_image
from agenticiqa.tools.metrics.mdsi import mdsi

FORMATS: tuple[Format, ...] = ("jpeg", "webp", "avif")
TABLE_QUALITIES = (10, 30, 50, 70, 80, 90, 95)
SIDE = 640
CODERS = ("jpeg", "webp", "avif", "jpeg2000")
WITNESSES: tuple[Metric, ...] = ("ssim", "ms_ssim", "ssimulacra2")
PEER_SCRIPT = """
import json, sys
from ssimulacra2 import compute_ssimulacra2
for line in sys.stdin:
    reference, copy = json.loads(line)
    print(compute_ssimulacra2(reference, copy), flush=True)
"""


def photographs(folder: Path, count: int, side: int = SIDE) -> Iterator[tuple[str, Pixels]]:
    """So many photographs, spread over the folder, none longer than so many pixels."""
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png"))
    for index in np.linspace(0, len(files) - 1, min(count, len(files))).astype(int):
        with Image.open(files[index]) as image:
            picture = image.convert("RGB")
        picture.thumbnail((side, side), Image.Resampling.LANCZOS)
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


def compare_coders(folder: Path, count: int, step: int, wanted: float, side: int) -> None:
    """Prints size and witnesses of four coders at the score wanted, and where the choice of the smallest was wrong.

    The smallest is wrongly chosen where another coder is smaller by as good as nothing (equal score is within .05) and
    better by every witness; a fair judge gives coders of equal score equal witnesses in the mean.
    """
    judge, witnesses = shipped_judge(), {name: judge_by(name) for name in WITNESSES}
    found: dict[str, list[dict[str, float]]] = {coder: [] for coder in CODERS}
    for name, pixels in photographs(folder, count, side):
        for coder in CODERS:
            copy = smallest(pixels, coder, judge, step, wanted)
            if copy is None:
                found[coder].append({})
                continue
            data, shown, score = copy
            values: dict[str, float] = {witness: ask(shown, pixels) for witness, ask in witnesses.items()}
            found[coder].append({"bytes": len(data), "score": score, "mdsi": -mdsi(shown, pixels), **values})
            told = ", ".join(f"{key} {value:.4g}" for key, value in found[coder][-1].items())
            print(f"{name} {coder}: {told}", flush=True)
    print_coders(found)


def smallest(pixels: Pixels, coder: str, judge: Judge, step: int, wanted: float) -> tuple[bytes, Pixels, float] | None:
    """The smallest copy of a coder that reaches the score, its pixels and its score."""
    original, tried = read_original(pixels, "webp"), dict[int, tuple[bytes, Pixels, float]]()

    def score_of(quality: int) -> float:
        if quality not in tried:
            data = coded(original, coder, quality)
            shown = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
            tried[quality] = data, shown, judge(shown, pixels)
        return tried[quality][2]

    quality = find_quality(score_of, wanted, step)
    return None if quality is None else tried[quality]


def coded(original: Original, coder: str, quality: int) -> bytes:
    """The picture by a coder of ours, or by JPEG 2000, whose quality is a signal-to-noise ratio of 20 to 50 dB."""
    if coder != "jpeg2000":
        return encoded_bytes(original, cast(Format, coder), quality)
    stream = io.BytesIO()
    layers = [20 + 0.3 * quality]
    original.picture.save(stream, "JPEG2000", quality_mode="dB", quality_layers=layers, irreversible=True)
    return stream.getvalue()


def print_coders(found: dict[str, list[dict[str, float]]]) -> None:
    """The coders beside JPEG: sizes and witnesses at equal score, and the photographs on which the choice was wrong."""
    columns = ["mdsi", *WITNESSES]
    print(f"| coder | photographs | bytes beside JPEG | {' | '.join(f'{name}: mean less JPEG' for name in columns)} |")
    print("|---" * (3 + len(columns)) + "|")
    for coder, rows in found.items():
        pairs = [(row, first) for row, first in zip(rows, found["jpeg"], strict=True) if row and first]
        size = statistics.geometric_mean([row["bytes"] / first["bytes"] for row, first in pairs])
        less = [statistics.mean(row[name] - first[name] for row, first in pairs) for name in columns]
        print(f"| {coder} | {len(pairs)} | {size:.2f} | {' | '.join(f'{value:+.4f}' for value in less)} |")
    ours = [coder for coder in CODERS if coder in FORMATS]
    wrong = 0
    for beside in zip(*(found[coder] for coder in ours), strict=True):
        there = [row for row in beside if row]
        chosen = min(there, key=lambda row: row["bytes"], default=None)
        wrong += chosen is not None and any(
            row["bytes"] <= chosen["bytes"] and all(row[name] > chosen[name] for name in columns) for row in there
        )
    print(f"photographs on which another coder is no larger and better by every witness: {wrong}")


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
    parser.add_argument("--coders", action="store_true")
    parser.add_argument("--side", type=int, default=SIDE, help="the longest side, with --coders")
    given = parser.parse_args()
    if given.coders:
        compare_coders(given.photographs, given.count, given.step, given.score, given.side)
    elif given.table:
        print_table(given.photographs, given.count, given.peer, [given.format] if given.format else FORMATS)
    else:
        compare_search(given.photographs, given.count, given.step, given.score, given.format or "webp")


if __name__ == "__main__":
    main()
