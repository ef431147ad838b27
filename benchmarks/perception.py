"""Time and memory of the no-reference score beside NIQE, BRISQUE and PIQE of pyiqa, in one run on one core.

    python -m benchmarks.perception

Without pyiqa its rows are left out and named, and so is a metric whose files lie elsewhere. CPU time, the best of
several runs.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import io
import resource
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from typing import TYPE_CHECKING

import cv2
import numpy as np
import numpy.typing as npt
from skimage import data

from training.reference_values import complete_torchvision

if TYPE_CHECKING:
    from agenticiqa.embedded.quality.quality_model import QualityModel

Pixels = npt.NDArray[np.uint8]


def main() -> None:
    """Print load time, time per size and peak memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--skip-large", action="store_true", help="leave out the 50-megapixel picture")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    photograph = picture(1024, 1024)
    load, model = timed_load()
    seconds = best(lambda: model.judge(photograph), given.repeats)
    print(f"AIQA_NR   load {load:.2f} s   1 MP {1000 * seconds:.0f} ms   peak {peak():.0f} MB")
    if not given.skip_large:
        large = picture(7072, 7072)
        seconds = best(lambda: model.judge(large), 1)
        print(
            f"AIQA_NR   50 MP {seconds:.2f} s   peak {peak():.0f} MB, of which the picture {large.nbytes / 1e6:.0f} MB"
        )
    report_pyiqa(photograph, given.repeats)


def picture(height: int, width: int) -> Pixels:
    """A photograph at the size asked for."""
    return np.asarray(cv2.resize(data.astronaut(), (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)


def timed_load() -> tuple[float, QualityModel]:
    """CPU seconds to import, verify and load the model, and the model."""
    start = time.process_time()
    from agenticiqa.embedded.quality.quality_model import load_quality_model

    model = load_quality_model("research")
    return time.process_time() - start, model


def best(call: Callable[[], object], repeats: int) -> float:
    """The least CPU time of several calls, after one that does not count."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def peak() -> float:
    """Megabytes this process has needed at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def report_pyiqa(photograph: Pixels, repeats: int) -> None:
    """NIQE, BRISQUE and PIQE on the same picture, or why they are missing."""
    try:
        import torch

        complete_torchvision()
        import pyiqa
    except (ImportError, RuntimeError) as error:
        print(f"pyiqa     not measured: {error}; pip install 'agenticiqa[pyiqa]'")
        return
    torch.set_num_threads(1)
    planes = torch.from_numpy(photograph.transpose(2, 0, 1)[None] / 255).float()
    for name in ("niqe", "brisque", "piqe"):
        try:
            # What it says while it looks for its files is no figure.
            with redirect_stdout(io.StringIO()):
                metric = pyiqa.create_metric(name, device="cpu")
            seconds = best(partial(metric, planes), repeats)
            print(f"pyiqa     {name} 1 MP {1000 * seconds:.0f} ms   peak {peak():.0f} MB")
        except (RuntimeError, OSError, ValueError) as error:
            print(f"pyiqa     {name} not measured, its files are on a model hub: {error}")


if __name__ == "__main__":
    main()
