"""Runs the benchmarks one after the other, each in a process of its own, and writes what they print.

python -m benchmarks              speed, memory, start-up, calls, overhead: docs/benchmarks.md
python -m benchmarks --data DIR   accuracy too, on the rated pictures in DIR: docs/benchmarks-accuracy.md
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"


@dataclass(frozen=True)
class Job:
    """One benchmark: its module, what it measures, beside which peer, and its arguments."""

    module: str
    title: str
    peer: str
    arguments: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """What a reader types to run it alone."""
        return " ".join(["python -m", f"benchmarks.{self.module}", *self.arguments])


SPEED = (
    Job("startup", "Start-up and memory", "scikit-image; pyiqa where it is installed"),
    Job("graph", "What LangGraph costs", "a plain function that calls the same steps"),
    Job("agent_speed", "A whole assessment", "SSIM of scikit-image on the same pictures, and its own limits"),
    Job("peers", "The agent beside its peers", "cleanvision, scikit-image and pyiqa, where they are installed"),
    Job("profile", "Where the time goes", "the other stages of the same run"),
    Job("replanning", "What a new plan is worth", "no new plan"),
    Job("backends", "Hosted models as they behave", "what each service's own words ask for"),
    Job("calls", "Model calls and tokens", "the five-call flow of the paper"),
    Job("fr_speed", "Full-reference judgement", "VSI, FSIM and MS-SSIM of pyiqa, where it is installed"),
    Job("perception", "The no-reference score", "NIQE, BRISQUE and PIQE of pyiqa, where it is installed"),
    Job("tools", "Tools, values and speed", "scikit-image, OpenCV; pyiqa and piq where they are installed"),
    Job("evaluation", "An evaluation of known pictures", "its own limit"),
    Job(
        "batch",
        "Batches",
        "one process, no waiting, and its own limits",
        ("kills", "waiting", "processes", "ray", "sizes"),
    ),
    Job("service", "The service under load", "its own limits"),
    Job("page", "The page", "its own limits"),
)


def accuracy(data: str) -> tuple[Job, ...]:
    """The benchmarks that need rated pictures."""
    parts = Path(data) / "tid2013-part"
    return (
        Job("accuracy", "Accuracy without a reference", "the best no-reference tools", ("--data", data)),
        Job("accuracy_fr", "Accuracy with a reference", "each tool alone and their mean",
            ("--data", str(parts if parts.is_dir() else data))),
    )  # fmt: skip


def main() -> int:
    """The number of benchmarks that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a folder with rated pictures")
    parser.add_argument("--only", nargs="+", help="run these modules only and print, without writing the page")
    given = parser.parse_args()
    pages = {"benchmarks.md": SPEED} | ({"benchmarks-accuracy.md": accuracy(given.data)} if given.data else {})
    if given.only:
        return sum(run(job)[0] != 0 for jobs in pages.values() for job in jobs if job.module in given.only)
    made = "make bench DATA=DIR" if given.data else "make bench"
    return sum(write(DOCS / name, jobs, made) for name, jobs in pages.items())


def write(path: Path, jobs: Sequence[Job], made: str) -> int:
    """Runs the benchmarks of one page; the number of those that failed."""
    started = time.perf_counter()
    done: list[tuple[Job, int, str]] = []
    for job in jobs:
        done.append((job, *run(job)))
        # After each one: what was measured is kept when the rest is interrupted.
        path.write_text(page(done, len(jobs), time.perf_counter() - started, made), encoding="utf-8")
    return sum(code != 0 for _, code, _ in done)


def run(job: Job) -> tuple[int, str]:
    """Exit code and output of one benchmark, which is shown as it comes."""
    print(f"\n== {job.title}: {job.command}", flush=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", f"benchmarks.{job.module}", *job.arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, flush=True)
    return done.returncode, done.stdout


def page(done: Sequence[tuple[Job, int, str]], wanted: int, seconds: float, made: str) -> str:
    """The page: one section per benchmark, with the command that made it."""
    head = (
        "# Benchmarks\n\n"
        f"Written by `{made}` in {seconds / 60:.0f} minutes ({len(done)} of {wanted} benchmarks): "
        f"version {version('agenticiqa')}, "
        f"Python {platform.python_version()}, {os.cpu_count()} cores of {platform.machine()}, one thread per process. "
        "Each section names the command that made it and the peer it stands beside. CPU time is what to compare; time "
        "on the clock depends on what else the machine was doing. Speed is on [one page](benchmarks.md), accuracy, for "
        "which `make bench` needs `DATA=DIR`, on [another](benchmarks-accuracy.md).\n"
    )
    return head + "".join(section(job, code, output) for job, code, output in done)


def section(job: Job, code: int, output: str) -> str:
    """One benchmark's output under its heading: tables as they are, anything else as text."""
    # A sentence right below a table would become one of its rows.
    body = re.sub(r"(\|\n)(?=[^|\n])", r"\1\n", output.strip()) or "(no output)"
    shown = body if "|---" in body else f"```text\n{body}\n```"
    ended = "" if code == 0 else f"\nIt ended with exit code {code}: a limit was missed or it could not be run.\n"
    return f"\n## {job.title}\n\nMade by `{_without_folders(job)}`, beside {job.peer}.\n{ended}\n{shown}\n"


def _without_folders(job: Job) -> str:
    return " ".join("DIR" if os.sep in word else word for word in job.command.split())


if __name__ == "__main__":
    sys.exit(main())
