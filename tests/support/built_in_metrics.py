"""The built-in metrics by the names the catalogue gives them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agenticiqa.tools.metrics.attributes import (
    banding,
    colour_cast,
    contrast,
    overexposed_share,
    saturation,
    underexposed_share,
)
from agenticiqa.tools.metrics.blur_radius import blur_radius, sharpness
from agenticiqa.tools.metrics.fsim import fsim
from agenticiqa.tools.metrics.gmsd import gmsd, gmsd_map, ms_gmsdc
from agenticiqa.tools.metrics.haarpsi import haarpsi
from agenticiqa.tools.metrics.jpeg import blockiness, jpeg_quality
from agenticiqa.tools.metrics.mdsi import mdsi, mdsi_map
from agenticiqa.tools.metrics.noise import noise_sigma
from agenticiqa.tools.metrics.nss import nss_distance, nss_regression
from agenticiqa.tools.metrics.piqe import piqe
from agenticiqa.tools.metrics.psnr import psnr
from agenticiqa.tools.metrics.ssim import ms_ssim, ssim
from agenticiqa.tools.metrics.vif import vifp
from agenticiqa.tools.metrics.vsi import vsi

Pixels = NDArray[np.uint8]

FULL_REFERENCE: dict[str, Callable[[Pixels, Pixels], float]] = {
    "PSNR": psnr,
    "SSIM": ssim,
    "MS_SSIM": ms_ssim,
    "GMSD": gmsd,
    "MS_GMSDc": ms_gmsdc,
    "FSIM": fsim,
    "VSI": vsi,
    "MDSI": mdsi,
    "HaarPSI": haarpsi,
    "VIF": vifp,
}
NO_REFERENCE: dict[str, Callable[[Pixels], float]] = {
    "NSS_DISTANCE": nss_distance,
    "NSS_REGRESSION": nss_regression,
    "PIQE": piqe,
}
ATTRIBUTES: dict[str, Callable[[Pixels], float]] = {
    "sharpness": sharpness,
    "blur_radius": blur_radius,
    "noise_sigma": noise_sigma,
    "jpeg_quality": jpeg_quality,
    "blockiness": blockiness,
    "banding": banding,
    "overexposed_share": overexposed_share,
    "underexposed_share": underexposed_share,
    "contrast": contrast,
    "colour_cast": colour_cast,
    "saturation": saturation,
}
MAPS: dict[str, Callable[[Pixels, Pixels], NDArray[np.float32]]] = {
    "GMSD": gmsd_map,
    "MDSI": mdsi_map,
}
LOWER_IS_BETTER = {"GMSD", "MS_GMSDc", "MDSI", "NSS_DISTANCE", "PIQE"}
TOP = {"PSNR": 100.0, "GMSD": 0.0, "MS_GMSDc": 0.0, "MDSI": 0.0}


def score(name: str, test: Pixels, reference: Pixels) -> float:
    """The raw value of a metric, whichever kind it is."""
    if name in FULL_REFERENCE:
        return FULL_REFERENCE[name](test, reference)
    return NO_REFERENCE[name](test)
