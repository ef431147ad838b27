"""CPU time per megapixel of each built-in metric beside the same metric elsewhere, one thread each.

    python -m benchmarks.tools

Libraries that are not installed are left out and named. CPU time, not wall-clock time, so that a busy
machine does not decide; the best of several runs, taken in turns.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import time
import warnings
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
os.environ.update(dict.fromkeys(THREAD_SETTINGS, "1"))

import cv2  # noqa: E402
import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

Pixels = NDArray[np.uint8]
Call = Callable[[], object]
SIDE = 1024
LIMIT = 1.1


def main() -> None:
    """Prints the table and, if asked, writes the figures as JSON."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=7)
    options.add_argument("--only", nargs="*", help="metrics to measure instead of all")
    options.add_argument("--without", nargs="*", default=(), choices=LIBRARIES, help="libraries to leave out")
    options.add_argument("--json", type=Path, help="also write the figures here")
    given = options.parse_args()
    cv2.setNumThreads(1)
    test, reference = picture_pair()
    ours = {name: call for name, call in built_in_calls(test, reference).items() if name in (given.only or [name])}
    others, missing = other_calls(test, reference, given.without)
    figures = {name: measure({"ours": call, **others.get(name, {})}, given.repeats) for name, call in ours.items()}
    print(table(figures))
    if missing:
        print("not installed:", ", ".join(missing))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n")


def picture_pair() -> tuple[Pixels, Pixels]:
    """A photograph of one megapixel and a noisy copy of it."""
    from tests.support.photos import photo

    reference = cv2.resize(photo("astronaut"), (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
    grain = np.random.default_rng(0).normal(0, 15, reference.shape)
    return np.clip(reference + grain, 0, 255).astype(np.uint8), np.asarray(reference, np.uint8)


def built_in_calls(test: Pixels, reference: Pixels) -> dict[str, Call]:
    """Each built-in metric and attribute, ready to run."""
    from tests.support.built_in_metrics import ATTRIBUTES, FULL_REFERENCE, NO_REFERENCE

    calls: dict[str, Call] = {}
    for name, function in FULL_REFERENCE.items():
        calls[name] = partial(function, test, reference)
    for name, single in {**NO_REFERENCE, **ATTRIBUTES}.items():
        calls[name] = partial(single, test)
    return calls


def other_calls(
    test: Pixels, reference: Pixels, without: Collection[str]
) -> tuple[dict[str, dict[str, Call]], list[str]]:
    """The same metrics in every library that is installed, by metric and library; and what is missing."""
    calls: dict[str, dict[str, Call]] = {}
    missing = []
    for library, offer in LIBRARIES.items():
        if library in without:
            continue
        try:
            offered = offer(test, reference)
        except (ImportError, AttributeError):
            missing.append(library)
            continue
        for metric, call in offered.items():
            calls.setdefault(metric, {})[library] = call
    return calls, missing


def measure(calls: dict[str, Call], repeats: int) -> dict[str, float]:
    """The best CPU milliseconds per megapixel of each call, the calls taking turns."""
    best: dict[str, float] = {}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            start = time.process_time()
            call()
            spent = (time.process_time() - start) * 1000 / (SIDE * SIDE / 1e6)
            # The first turn fills caches and loads code.
            if turn:
                best[name] = min(spent, best.get(name, spent))
    return best


def table(figures: dict[str, dict[str, float]]) -> str:
    """The figures as Markdown, with our time over the fastest other one."""
    columns = ["ours", *LIBRARIES]
    lines = ["| CPU ms per megapixel | " + " | ".join(columns) + " | ours / fastest other |", "|---" * 9 + "|"]
    for metric, row in figures.items():
        cells = [f"{row[column]:.1f}" if column in row else "" for column in columns]
        lines.append(f"| {metric} | " + " | ".join(cells) + f" | {_verdict(row)} |")
    return "\n".join(lines)


def _verdict(row: dict[str, float]) -> str:
    others = [value for library, value in row.items() if library not in ("ours", "pyiqa")]
    if not others:
        return ""
    ratio = row["ours"] / min(others)
    return f"{ratio:.2f}" + ("" if ratio <= LIMIT else " (too slow)")


def _skimage(test: Pixels, reference: Pixels) -> dict[str, Call]:
    from skimage.measure import blur_effect
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity

    luma = [cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) for image in (test, reference)]
    options = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False, "data_range": 255}
    return {
        "PSNR": lambda: peak_signal_noise_ratio(reference, test, data_range=255),
        "SSIM": lambda: structural_similarity(*luma, **options),
        "sharpness": lambda: blur_effect(luma[0]),
    }


def _opencv(test: Pixels, reference: Pixels) -> dict[str, Call]:
    # Only the contrib build of OpenCV has it.
    quality: Any = getattr(cv2, "quality")  # noqa: B009

    def on_grey(function: Callable[[Pixels, Pixels], object]) -> object:
        # Timed from RGB, as ours is.
        return function(cv2.cvtColor(test, cv2.COLOR_RGB2GRAY), cv2.cvtColor(reference, cv2.COLOR_RGB2GRAY))

    return {
        "PSNR": lambda: quality.QualityPSNR_compute(test, reference),
        "SSIM": lambda: on_grey(quality.QualitySSIM_compute),
        "GMSD": lambda: on_grey(quality.QualityGMSD_compute),
    }


def _piq(test: Pixels, reference: Pixels) -> dict[str, Call]:
    torch = _torch()
    import piq

    pair = _tensors(torch, test, reference)
    luma = [
        (image @ torch.tensor([0.299, 0.587, 0.114]))[None, None] for image in (p[0].permute(1, 2, 0) for p in pair)
    ]
    return {
        "PSNR": lambda: piq.psnr(*pair),
        "SSIM": lambda: piq.ssim(*luma, downsample=False),
        "MS_SSIM": lambda: piq.multi_scale_ssim(*luma),
        "GMSD": lambda: piq.gmsd(*pair),
        "MS_GMSDc": lambda: piq.multi_scale_gmsd(*pair, chromatic=True),
        "FSIM": lambda: piq.fsim(*pair),
        "VSI": lambda: piq.vsi(*pair),
        "MDSI": lambda: piq.mdsi(*pair),
        "HaarPSI": lambda: piq.haarpsi(*pair),
        "VIF": lambda: piq.vif_p(*pair),
    }


def _pytorch_msssim(test: Pixels, reference: Pixels) -> dict[str, Call]:
    torch = _torch()
    from pytorch_msssim import ms_ssim, ssim

    luma = [
        torch.from_numpy(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32))[None, None]
        for image in (test, reference)
    ]
    return {"SSIM": lambda: ssim(*luma, data_range=255), "MS_SSIM": lambda: ms_ssim(*luma, data_range=255)}


def _pypiqe(test: Pixels, reference: Pixels) -> dict[str, Call]:
    piqe = importlib.import_module("pypiqe").piqe
    return {"PIQE": lambda: piqe(test)}


def _pyiqa(test: Pixels, reference: Pixels) -> dict[str, Call]:
    torch = _torch()
    import pyiqa

    pair = _tensors(torch, test, reference)
    names = {
        "PSNR": "psnr",
        "SSIM": "ssim",
        "MS_SSIM": "ms_ssim",
        "GMSD": "gmsd",
        "FSIM": "fsim",
        "VSI": "vsi",
        "VIF": "vif",
    }
    made = {ours: pyiqa.create_metric(theirs, device="cpu") for ours, theirs in names.items()}
    calls: dict[str, Call] = {ours: partial(metric, *pair) for ours, metric in made.items()}
    piqe = pyiqa.create_metric("piqe", device="cpu")
    return {**calls, "PIQE": lambda: piqe(pair[0])}


def _torch() -> Any:
    from training.reference_values import complete_torchvision

    complete_torchvision()
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    return torch


def _tensors(torch: Any, *images: Pixels) -> list[Any]:
    return [torch.from_numpy(image.astype(np.float32) / 255).permute(2, 0, 1)[None].contiguous() for image in images]


LIBRARIES: dict[str, Callable[[Pixels, Pixels], dict[str, Call]]] = {
    "scikit-image": _skimage,
    "cv2.quality": _opencv,
    "piq": _piq,
    "pytorch-msssim": _pytorch_msssim,
    "pypiqe": _pypiqe,
    "pyiqa": _pyiqa,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
