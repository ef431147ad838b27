"""Where the time goes: one warm run of the agent and one cold start, stage by stage, as CPU time on one core.

    python -m benchmarks.profile [--side 512 --side 1024] [--warm] [--cold]

A warm run's stages come from the profiler, which slows small calls down: they are scaled to the run without it. Lines
that are indented are part of the line above. A cold start's rows are what each package's modules took to be imported.
"""

from __future__ import annotations

import argparse
import compileall
import cProfile
import os
import pstats
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import cv2
import numpy as np

from agenticiqa import Assessor
from agenticiqa.config import load_settings
from agenticiqa.tools.synthetic.ladder import photographs
from benchmarks.startup import ROOT, measured, surroundings

RUNS = 5
# Words for the table, the end of the file's name and the function; two spaces for every step inwards.
STAGES = (
    ("the whole run", "assessor/assessing.py", "assess"),
    ("  loading the picture", "images/load.py", "load_image"),
    ("  planner", "nodes/planner.py", "planner_node"),
    ("    reading the question", "question/read.py", "read_question"),
    ("  executor", "nodes/executor.py", "executor_node"),
    ("    eyes: the whole look", "embedded/combined_models.py", "_look"),
    ("      network", "embedded/trunk.py", "run"),
    ("      quality model", "embedded/quality/quality_model.py", "judge_features"),
    ("      distortions", "embedded/distortions/distortion_detector.py", "find_distortions"),
    ("        traces", "embedded/distortions/feature_vector.py", "measure_traces"),
    ("        traces of tiles", "embedded/distortions/tile_features.py", "tile_traces"),
    ("        traces of light", "embedded/distortions/light_features.py", "light_traces"),
    ("        readings", "embedded/distortions/measurements.py", "measure_readings"),
    ("        parts", "embedded/distortions/parts.py", "part_features"),
    ("      judgement of the pair", "embedded/full_reference/judge.py", "judge_pixels"),
    ("    tools", "nodes/tool_steps.py", "run_tools"),
    ("  summarizer", "nodes/summarizer.py", "summarizer_node"),
    ("  the record", "assessor/assessment.py", "assessment_of"),
)
PACKAGES = 14
IMPORT = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")


def main() -> None:
    """Prints the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--side", type=int, action="append", help="side of the square picture (512 and 1024)")
    options.add_argument("--warm", action="store_true", help="warm runs only")
    options.add_argument("--cold", action="store_true", help="cold starts only")
    given = options.parse_args()
    cv2.setNumThreads(1)
    if not given.cold:
        assessor = Assessor(load_settings(overrides={"pipeline": {"cache": {"enabled": False}}}))
        for side in given.side or (512, 1024):
            show_warm(assessor, side, pair=False)
        show_warm(assessor, 1024, pair=True)
    if not given.warm:
        for words in ("--help", "measure photo.png --tools BLUR_RADIUS", "assess photo.png --quiet --offline"):
            show_cold(words.split())


def show_warm(assessor: Assessor, side: int, *, pair: bool) -> None:
    """The stages of a run on a square picture of this side, alone or with its reference."""
    picture = cv2.resize(photographs()["astronaut"].pixels, (side, side), interpolation=cv2.INTER_AREA)
    run(assessor, picture, 0, pair)
    seconds = min(run(assessor, picture, number, pair) for number in range(1, RUNS + 1))
    profiler = cProfile.Profile(time.process_time)
    profiler.enable()
    run(assessor, picture, RUNS + 1, pair)
    profiler.disable()
    found = cumulative(profiler)
    factor = seconds / found["the whole run"][1]
    print(f"\nWarm run, {side} × {side}{' with its reference' if pair else ''}: {seconds:.3f} s of CPU time\n")
    print("| stage | calls | ms | share |\n|---|---|---|---|")
    for words, (calls, taken) in found.items():
        shown = words.replace("  ", "&ensp;&ensp;")
        print(f"| {shown} | {calls} | {1000 * factor * taken:.0f} | {100 * taken * factor / seconds:.0f} % |")


def run(assessor: Assessor, picture: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], number: int, pair: bool) -> float:
    """CPU seconds of one run on a copy that differs in one pixel."""
    own = picture.copy()
    own[0, 0] = (number, 1, 2)
    reference = cv2.convertScaleAbs(picture, alpha=0.9) if pair else None
    started = time.process_time()
    assessor.assess(own, reference=reference)
    return time.process_time() - started


def cumulative(profiler: cProfile.Profile) -> dict[str, tuple[int, float]]:
    """Calls and cumulative seconds of each stage that was passed."""
    stats = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    found = {}
    for words, file, function in STAGES:
        rows = [
            row for (path, _, name), row in stats.items() if name == function and path.endswith(f"agenticiqa/{file}")
        ]
        if rows:
            found[words] = (sum(row[1] for row in rows), sum(row[3] for row in rows))
    return found


def show_cold(arguments: list[str]) -> None:
    """What a process of the command took, and which packages' imports took most of it."""
    command = [sys.executable, "-c", "from agenticiqa.cli import main; main()", *arguments]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compileall.compile_dir(ROOT / "src", quiet=1)
        cv2.imwrite(str(folder / "photo.png"), photographs()["coffee"].pixels[:, :, ::-1])
        measured(command, folder)
        cpu, wall, memory = min(measured(command, folder) for _ in range(3))
        traced = subprocess.run(
            [command[0], "-X", "importtime", *command[1:]],
            cwd=folder, env=surroundings(), capture_output=True, text=True, check=True,
        )  # fmt: skip
    own = Counter[str]()
    for taken, module in IMPORT.findall(traced.stderr):
        own[module.partition(".")[0]] += int(taken)
    print(f"\nCold `agenticiqa {' '.join(arguments)}`: {cpu:.2f} s of CPU time, {wall:.2f} s, {memory:.0f} MB\n")
    print("| imported package | ms |\n|---|---|")
    shown = own.most_common(PACKAGES)
    for package, taken in shown:
        print(f"| {package} | {taken / 1000:.0f} |")
    others = sum(own.values()) - sum(taken for _, taken in shown)
    print(f"| {len(own) - len(shown)} others | {others / 1000:.0f} |")


if __name__ == "__main__":
    main()
