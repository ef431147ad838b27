"""CPU time of an evaluation whose pictures are all known: tables, intervals and leads of every ablation.

    python -m benchmarks.evaluation [--pictures N]

Nothing is assessed or measured; what is left is looking up and statistics.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

from agenticiqa.evaluation.evaluating import evaluate_ratings
from agenticiqa.evaluation.methods import ABLATIONS
from agenticiqa.evaluation.statistics import USUAL
from tests.evaluation.sets import agent_parts, known_set, store_in

LIMIT = 60.0


def main() -> int:
    """0 when the evaluation keeps within its limit."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pictures", type=int, default=3000)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        parts = agent_parts()
        store = store_in(Path(folder), parts)
        rated = known_set(Path(folder), given.pictures, parts, store)
        started = time.process_time()
        found = evaluate_ratings(rated, parts, ablations=ABLATIONS, store=store)
        seconds = time.process_time() - started
    print(
        f"{given.pictures} known pictures, {len(found.rows)} methods, {len(found.tools)} tools, "
        f"{USUAL.repetitions} resamples: {seconds:.1f} s of CPU time (limit {LIMIT:.0f} s)"
    )
    return int(seconds >= LIMIT)


if __name__ == "__main__":
    sys.exit(main())
