"""Runs the benchmarks one after the other, each in a process of its own.

python -m benchmarks              speed, memory, overhead
python -m benchmarks --data DIR   accuracy too, on a folder with scores.csv, reference/ and distorted/
"""

from __future__ import annotations

import argparse
import subprocess
import sys

SPEED = ("graph", "tools", "perception", "agent_speed")
ACCURACY = ("accuracy", "accuracy_fr")


def main() -> int:
    """The number of benchmarks that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a folder with human scores")
    data = parser.parse_args().data
    jobs = [(name, []) for name in SPEED] + [(name, ["--data", data]) for name in ACCURACY if data]
    return sum(run(name, arguments) != 0 for name, arguments in jobs)


def run(name: str, arguments: list[str]) -> int:
    """The exit code of one benchmark."""
    print(f"\n== {name}", flush=True)
    return subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
