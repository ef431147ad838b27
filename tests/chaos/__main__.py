"""Runs everything that tries to break the agent, at length: `python -m tests.chaos`, or with `--short`.

Prints the fault matrix and the figures, and ends with 1 if any of them is wrong. One attack on the service alone, for
so long: `python -m tests.chaos --only kills --minutes 10`.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.chaos.batch import Siege, besiege
from tests.chaos.fuzzing import fuzz_loader, fuzz_reader
from tests.chaos.matrix import MODES, Outcome, cells, run_matrix, table
from tests.chaos.pictures import hostile_pictures, try_pictures
from tests.chaos.service import (
    Trouble,
    fill_the_disk,
    hold_half_open,
    kill_at_random,
    press_retention,
    upload_at_once,
)
from tests.chaos.sharing import soak_the_agent

MEGABYTE = 1024
SOAK_LIMIT = 50 * MEGABYTE
"""Kilobytes that a thousand runs may grow by; caches fill up, nothing else may."""


@dataclass(frozen=True)
class Scale:
    """How much of everything."""

    every: int
    samples: int
    kills: int
    runs: int
    minutes: float
    pictures: int


FULL = Scale(every=1, samples=500, kills=12, runs=1000, minutes=10, pictures=2000)
SHORT = Scale(every=23, samples=20, kills=1, runs=30, minutes=0.5, pictures=150)

Attack = Callable[[Path, Scale], Trouble]
ATTACKS: dict[str, Attack] = {
    "pictures": lambda folder, scale: try_pictures(
        folder / "pictures", hostile_pictures(scale.pictures, seed=7), 6 * scale.minutes
    ),
    "kills": lambda folder, scale: kill_at_random(folder / "kills", scale.minutes),
    "half-open": lambda folder, scale: hold_half_open(folder / "half-open"),
    "uploads": lambda folder, scale: upload_at_once(folder / "uploads"),
    "retention": lambda folder, scale: press_retention(folder / "retention"),
    "full-disk": lambda folder, scale: fill_the_disk(folder),
    "fuzz-loader": lambda folder, scale: fuzz_loader(scale.minutes, seed=int(time.time())),
    "fuzz-reader": lambda folder, scale: fuzz_reader(scale.minutes, seed=int(time.time())),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("--short", action="store_true", help="a sample of everything, in a minute or two")
    parser.add_argument("--only", choices=ATTACKS, help="one attack on the service, the loader or the reader")
    parser.add_argument("--minutes", type=float, help="how long kills and fuzzing go on")
    parser.add_argument("--pictures", type=int, help="how many hostile pictures")
    given = parser.parse_args()
    scale = SHORT if given.short else FULL
    scale = replace(scale, minutes=given.minutes or scale.minutes, pictures=given.pictures or scale.pictures)
    # What goes wrong is counted; a warning per fault would bury the figures.
    logging.getLogger("agenticiqa").addHandler(logging.NullHandler())
    logging.lastResort = None
    warnings.simplefilter("ignore")
    started = time.perf_counter()
    if given.only:
        return 1 if attack([given.only], scale) else 0
    with tempfile.TemporaryDirectory() as folder:
        outcomes = try_faults(Path(folder), scale)
        siege = try_batch(Path(folder), scale)
        grown = try_soak(Path(folder), scale)
    problems = [*matrix_problems(outcomes), *siege.problems(), *soak_problems(grown), *attack(list(ATTACKS), scale)]
    say(figures(outcomes, siege, grown, problems, time.perf_counter() - started))
    return 1 if problems else 0


def attack(names: list[str], scale: Scale) -> list[str]:
    """Everything that was broken by these attacks; their figures are printed."""
    broken = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            found = ATTACKS[name](Path(folder), scale)
        say("\n".join([f"{name}:", *(f"  {label}: {value}" for label, value in found.figures.items())]))
        broken += [f"{name}: {problem}" for problem in found.broken]
    for problem in broken:
        say(f"BROKEN: {problem}")
    return broken


def try_faults(folder: Path, scale: Scale) -> list[Outcome]:
    """The fault matrix, printed."""
    room = folder / "matrix"
    room.mkdir()
    outcomes = run_matrix(cells()[:: scale.every], room)
    for mode in MODES:
        say(table(outcomes, mode) + "\n")
    say("A right answer, F stand-in that is named, U unable with the reason, . not tried, ! broken promise\n")
    return outcomes


def try_batch(folder: Path, scale: Scale) -> Siege:
    """The batch under fire."""
    room = folder / "batch"
    room.mkdir()
    return besiege(room, scale.samples, scale.kills, (1.0, 4.0))


def try_soak(folder: Path, scale: Scale) -> dict[str, int]:
    """Many runs in this one process."""
    room = folder / "soak"
    room.mkdir()
    return soak_the_agent(room, scale.runs)


def matrix_problems(outcomes: list[Outcome]) -> Iterator[str]:
    """Every broken promise of the matrix, with its place."""
    for outcome in outcomes:
        cell = outcome.cell
        for problem in outcome.problems:
            yield f"{cell.provider}, {cell.fault.name}, {cell.task}, {cell.mode}: {problem}"


def soak_problems(grown: dict[str, int]) -> Iterator[str]:
    """What a thousand runs left behind."""
    if grown["kilobytes_grown"] > SOAK_LIMIT:
        yield f"memory grew by {grown['kilobytes_grown']} kB in {grown['runs']} runs"
    if grown["files_grown"] > 0:
        yield f"{grown['files_grown']} file descriptors were left open in {grown['runs']} runs"


def figures(outcomes: list[Outcome], siege: Siege, grown: dict[str, int], problems: list[str], seconds: float) -> str:
    """The account, one figure per line."""
    lines = {
        "faults tried": len(outcomes) + siege.faults,
        "runs finished": sum(not outcome.crashed for outcome in outcomes) + siege.samples - siege.lost,
        "batch runs, of which killed": f"{siege.runs}, {siege.kills}",
        "records lost": siege.lost,
        "records doubled": siege.doubled,
        "records wrong": siege.wrong,
        "calls repeated after their record": siege.repeated_after_recorded,
        "calls lost under way": siege.repeated,
        "keys leaked": sum(outcome.leaked for outcome in outcomes),
        "crashes": sum(outcome.crashed for outcome in outcomes) + len(siege.crashes),
        "soak runs, kB grown, files grown": f"{grown['runs']}, {grown['kilobytes_grown']}, {grown['files_grown']}",
        "slowest faulty run (s)": f"{max(outcome.seconds for outcome in outcomes):.1f}",
        "seconds": f"{seconds:.0f}",
    }
    width = max(map(len, lines))
    shown = [f"{name:<{width}}  {value}" for name, value in lines.items()]
    return "\n".join([*shown, *(f"BROKEN: {problem}" for problem in problems)]) + "\n"


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
