"""Scores the test pictures with other libraries and writes their values with the versions that made them.

Needs torch, piq, pytorch-msssim, scikit-image and pypiqe; run from the repository's root:
    python -m training.reference_values
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.metric_pictures import NAMES, fingerprint, pair

DESTINATION = Path("tests/reference_values/metrics.json")
LIBRARIES = ("torch", "piq", "pytorch-msssim", "scikit-image", "pypiqe", "numpy", "scipy")
Pixels = NDArray[np.uint8]
Peer = Callable[[Pixels, Pixels], float]


def complete_torchvision() -> None:
    """Declares the operators that torchvision's wheel expects of a CUDA build, so that it imports."""
    import torch

    if hasattr(torch.ops.torchvision, "nms"):
        return
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    # The declarations vanish with the object that made them.
    torch.ops.torchvision.declared_by = library


def peers() -> dict[str, tuple[str, Peer]]:
    """The metric of each name in another library, with that library's own name for it."""
    complete_torchvision()
    import piq
    from pytorch_msssim import ms_ssim
    from skimage.metrics import peak_signal_noise_ratio

    piqe = importlib.import_module("pypiqe").piqe

    def with_piq(function: Any, **options: Any) -> Peer:
        return lambda test, reference: float(function(_tensor(test), _tensor(reference), **options))

    return {
        "PSNR": ("skimage", lambda test, reference: peak_signal_noise_ratio(reference, test, data_range=255)),
        "SSIM": ("skimage, Gaussian window on rounded Y", _skimage_ssim),
        "MS_SSIM": (
            "pytorch_msssim on rounded Y",
            lambda test, reference: float(ms_ssim(_luma_tensor(test), _luma_tensor(reference), data_range=255)),
        ),
        "GMSD": ("piq.gmsd", with_piq(piq.gmsd)),
        "MS_GMSDc": ("piq.multi_scale_gmsd, chromatic", with_piq(piq.multi_scale_gmsd, chromatic=True)),
        "FSIM": ("piq.fsim, chromatic", with_piq(piq.fsim)),
        "VSI": ("piq.vsi", with_piq(piq.vsi)),
        "MDSI": ("piq.mdsi", with_piq(piq.mdsi)),
        "HaarPSI": ("piq.haarpsi", with_piq(piq.haarpsi)),
        "VIF": ("piq.vif_p", with_piq(piq.vif_p)),
        "PIQE": ("pypiqe", lambda test, reference: float(piqe(np.ascontiguousarray(test[..., ::-1]))[0])),
    }


def _skimage_ssim(test: Pixels, reference: Pixels) -> float:
    from skimage.metrics import structural_similarity

    return float(
        structural_similarity(
            _rounded_luma(test),
            _rounded_luma(reference),
            gaussian_weights=True,
            sigma=1.5,
            use_sample_covariance=False,
            data_range=255,
        )
    )


def _rounded_luma(image: Pixels) -> NDArray[np.float64]:
    return np.asarray(np.rint(image @ np.array([0.299, 0.587, 0.114])))


def _tensor(image: Pixels) -> Any:
    import torch

    return torch.from_numpy(image.astype(np.float32) / 255).permute(2, 0, 1)[None]


def _luma_tensor(image: Pixels) -> Any:
    import torch

    return torch.from_numpy(_rounded_luma(image).astype(np.float32))[None, None]


def main() -> None:
    """Writes tests/reference_values/metrics.json."""
    functions = peers()
    pictures = {}
    for name in NAMES:
        test, reference = pair(name)
        values = {metric: round(function(test, reference), 8) for metric, (_, function) in functions.items()}
        pictures[name] = {"pixels": fingerprint(test), "values": values}
    document = {
        "versions": {library: importlib.metadata.version(library) for library in LIBRARIES},
        "peers": {metric: label for metric, (label, _) in functions.items()},
        "pictures": pictures,
    }
    DESTINATION.write_text(json.dumps(document, indent=1) + "\n")
    print(f"{DESTINATION}: {len(pictures)} pictures, {len(functions)} metrics")


if __name__ == "__main__":
    main()
