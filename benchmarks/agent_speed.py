"""CPU time of a whole run of the agent without a reference, warm, one core: planner, executor, tools, summarizer.

    python -m benchmarks.agent_speed

Every run sees a picture it has not seen, so that nothing is answered from memory.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import cv2
import numpy as np

from agenticiqa import Assessor
from agenticiqa.config import load_settings
from agenticiqa.tools.synthetic.ladder import photographs

LIMIT = 0.6
QUERIES = ("Rate the perceptual quality of this image.", "What's wrong with this photo?", "Is the image blurry?")


def main() -> None:
    """Prints the CPU seconds per question, best and median of several runs."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=7)
    given = options.parse_args()
    cv2.setNumThreads(1)
    assessor = Assessor(load_settings(overrides={"pipeline": {"cache": {"enabled": False}}}))
    picture = cv2.resize(photographs()["astronaut"].pixels, (1024, 1024), interpolation=cv2.INTER_AREA)
    assessor.assess(picture)
    for query in QUERIES:
        seconds = [run(assessor, query, picture, number) for number in range(given.repeats)]
        print(f"{query:45} best {min(seconds):.3f} s, median {np.median(seconds):.3f} s of CPU time (limit {LIMIT} s)")


def run(assessor: Assessor, query: str, picture: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], number: int) -> float:
    """CPU seconds of one run on a copy of the picture that differs in one pixel."""
    own = picture.copy()
    own[0, 0] = (number, len(query), 0)
    start = time.process_time()
    assessor.assess(own, query)
    return time.process_time() - start


if __name__ == "__main__":
    main()
