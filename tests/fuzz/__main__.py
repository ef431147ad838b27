"""Runs one target under atheris; a case that breaks a promise ends it with its traceback and is kept as a file."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

SEEDS = Path(__file__).parent / "seeds"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("target", choices=("loader", "metrics"))
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--corpus", type=Path, required=True, help="a folder for what the run finds")
    chosen = parser.parse_args()
    try:
        import atheris
    except ImportError:
        sys.exit("fuzzing needs atheris; install it with: pip install 'agenticiqa[fuzz]'")
    with atheris.instrument_imports(include=["agenticiqa", "PIL"]):
        from tests.fuzz.targets import TARGETS
    chosen.corpus.mkdir(parents=True, exist_ok=True)
    for seed in sorted((SEEDS / chosen.target).iterdir()):
        shutil.copy(seed, chosen.corpus)
    arguments = [f"-max_total_time={chosen.seconds}", "-max_len=8192", "-timeout=30", "-rss_limit_mb=2048",
                 "-print_final_stats=1", f"-artifact_prefix={chosen.corpus}/broken-"]  # fmt: skip
    atheris.Setup([sys.argv[0], str(chosen.corpus), *arguments], TARGETS[chosen.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
