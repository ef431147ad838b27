"""CPU time of whole assessments, warm, on one core, beside SSIM of scikit-image on the same pictures.

    python -m benchmarks.agent_speed [--repeats 7]

Every run sees a picture it has not seen, so that nothing is answered from memory. The last row is a process of its own:
`agenticiqa assess` of a file of 50 megapixels, its start included, and its peak memory.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import cv2
import numpy as np
import numpy.typing as npt
from skimage.metrics import structural_similarity

from agenticiqa import Assessor
from agenticiqa.config import load_settings
from agenticiqa.tools.synthetic.ladder import photographs
from benchmarks.startup import measured

Pixels = npt.NDArray[np.uint8]
QUERIES = ("Rate the perceptual quality of this image.", "What's wrong with this photo?", "Is the image blurry?")
LIMIT_SMALL, LIMIT_MEGAPIXEL, LIMIT_PAIR, LIMIT_LARGE, LIMIT_MEMORY = 0.18, 0.28, 0.30, 3.0, 800


def main() -> None:
    """Prints one row per size and question."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeats", type=int, default=7)
    repeats = options.parse_args().repeats
    cv2.setNumThreads(1)
    assessor = Assessor(load_settings(overrides={"pipeline": {"cache": {"enabled": False}}}))
    small, large = square(512), square(1024)
    assessor.assess(small)
    print("| what | CPU time, best and median | of SSIM's | limit | |\n|---|---|---|---|---|")
    show("512 × 512: rate it", small, assessor.assess, repeats, LIMIT_SMALL)
    for query in QUERIES:
        show(f"1 MP: {query}", large, partial(assessor.assess, query=query), repeats, LIMIT_MEGAPIXEL)
    reference = cv2.convertScaleAbs(large, alpha=0.9)
    show("1 MP with its reference", large, partial(assessor.assess, reference=reference), repeats, LIMIT_PAIR)
    show_large_file()


def square(side: int) -> Pixels:
    """A photograph at this side."""
    return np.asarray(
        cv2.resize(photographs()["astronaut"].pixels, (side, side), interpolation=cv2.INTER_AREA), np.uint8
    )


def show(words: str, picture: Pixels, assess: Callable[[Pixels], object], repeats: int, limit: float) -> None:
    """One row: the assessment's CPU time, and how many times that of SSIM, measured in turns with it."""
    other = cv2.GaussianBlur(picture, (0, 0), 2)
    agent, peer = [], []
    for number in range(repeats):
        own = picture.copy()
        own[0, 0] = (number, len(words), 0)
        agent.append(cpu_seconds(partial(assess, own)))
        peer.append(cpu_seconds(lambda: structural_similarity(picture, other, channel_axis=2)))
    verdict = "met" if min(agent) <= limit else "missed"
    print(
        f"| {words} | {min(agent):.3f} s, {np.median(agent):.3f} s | {min(agent) / min(peer):.2f} × {min(peer):.3f} s "
        f"| {limit:.2f} s | {verdict} |"
    )


def cpu_seconds(work: Callable[[], object]) -> float:
    """What one call took."""
    started = time.process_time()
    work()
    return time.process_time() - started


def show_large_file() -> None:
    """The row of the file of 50 megapixels."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: what this one holds in memory would count as its children's.
        make = (
            "import cv2; from agenticiqa.tools.synthetic.ladder import photographs; "
            "cv2.imwrite('large.jpg', cv2.resize(photographs()['astronaut'].pixels[:, :, ::-1], (8160, 6120)))"
        )
        measured([sys.executable, "-c", make], folder)
        command = [sys.executable, "-c", "from agenticiqa.cli import main; main()", "assess", "large.jpg", "--quiet"]
        cpu, wall, memory = min(measured(command, folder) for _ in range(2))
    verdict = "met" if cpu <= LIMIT_LARGE and memory <= LIMIT_MEMORY else "missed"
    print(
        f"| 50 MP from a file, cold | {cpu:.2f} s ({wall:.2f} s on the clock), {memory:.0f} MB | "
        f"| {LIMIT_LARGE:.0f} s, {LIMIT_MEMORY} MB | {verdict} |"
    )


if __name__ == "__main__":
    main()
