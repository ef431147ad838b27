"""CPU time of the full-reference judgement of one pair, beside pyiqa's VSI, FSIM and MS-SSIM in the same run.

    python -m benchmarks.fr_speed [--megapixels 1] [--repeats 5]

One thread; CPU time, not wall-clock time, so that a busy machine does not decide; the best of several runs taken in
turns. pyiqa is left out and named when it is not installed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import resource
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
os.environ.update(dict.fromkeys(THREAD_SETTINGS, "1"))

import cv2  # noqa: E402
import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

Pixels = NDArray[np.uint8]
Call = Callable[[], object]
LIMIT = 0.8
PEERS = ("vsi", "fsim", "ms_ssim")


def main() -> None:
    """Prints milliseconds per pair; exits with 1 when the judgement is slower than its limit."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megapixels", type=float, default=1.0)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--sizes", action="store_true", help="1, 8 and 24 megapixels, and memory, instead")
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    cv2.setNumThreads(1)
    if given.sizes:
        print_sizes_and_memory()
        return
    test, reference = pair(given.megapixels)
    calls = {"AIQA_FR": judgement(test, reference), **peers(test, reference)}
    best = dict.fromkeys(calls, math.inf)
    for _ in range(given.repeats):
        for name, call in calls.items():
            best[name] = min(best[name], cpu_seconds(call))
    together = sum(seconds for name, seconds in best.items() if name != "AIQA_FR")
    for name, seconds in best.items():
        print(f"{name:16s} {1000 * seconds:8.0f} ms")
    if len(best) > 1:
        print(f"{'pyiqa, all three':16s} {1000 * together:8.0f} ms")
    if given.json:
        given.json.write_text(json.dumps(best, indent=2) + "\n")
    raise SystemExit(0 if best["AIQA_FR"] < LIMIT * given.megapixels or given.megapixels < 1 else 1)


def print_sizes_and_memory() -> None:
    """CPU seconds of one judgement at 1, 8 and 24 megapixels and the peak of memory, printed with their limits."""
    for megapixels, limit, repeats in ((1, 0.30, 5), (8, 2.0, 2), (24, 6.0, 1)):
        call = judgement(*pair(megapixels))
        seconds = min(cpu_seconds(call) for _ in range(repeats))
        print(f"{megapixels} MP: {seconds:.2f} s CPU (limit {limit:.2f})")
    print(f"peak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB (limit 1.2)")


def pair(megapixels: float) -> tuple[Pixels, Pixels]:
    """A textured picture of this size and the same after JPEG; large ones repeat one megapixel, to need no memory."""
    side, unit = round(math.sqrt(megapixels * 1e6)), 1000
    random = np.random.default_rng(0)
    noise = random.random((unit // 8 + 1, unit // 8 + 1, 3)).astype(np.float32)
    smooth = cv2.resize(noise, (unit, unit), interpolation=cv2.INTER_CUBIC)
    texture = np.clip(smooth * 200 + random.normal(0, 8, smooth.shape), 0, 255).astype(np.uint8)
    times = -(-side // unit)
    reference = np.ascontiguousarray(np.tile(texture, (times, times, 1))[:side, :side])
    coded = cv2.imencode(".jpg", reference, [cv2.IMWRITE_JPEG_QUALITY, 25])[1]
    return np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), np.uint8), reference


def judgement(test: Pixels, reference: Pixels) -> Call:
    """The shipped judge, loaded before it is timed."""
    from agenticiqa.embedded.full_reference.judge import shipped_judge

    judge = shipped_judge()
    judge.judge_pixels(test[:256, :256].copy(), reference[:256, :256].copy())
    return lambda: judge.judge_pixels(test, reference)


def peers(test: Pixels, reference: Pixels) -> dict[str, Call]:
    """pyiqa's metrics on the same pair, if it is installed."""
    try:
        from training.reference_values import complete_torchvision

        complete_torchvision()
        torch, pyiqa = importlib.import_module("torch"), importlib.import_module("pyiqa")
    except ImportError as error:
        print(f"pyiqa is not installed and left out ({error})")
        return {}
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    tensors = [torch.from_numpy(image.transpose(2, 0, 1)[None].copy()).float() / 255 for image in (test, reference)]
    return {f"pyiqa {name}": partial(pyiqa.create_metric(name, device="cpu"), *tensors) for name in PEERS}


def cpu_seconds(call: Call) -> float:
    """Processor time of one call in this process."""
    started = time.process_time()
    call()
    return time.process_time() - started


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
