"""Everything measured on a pair before it is judged; training and the running product share this one implementation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from agenticiqa.backbone.features import PIXEL_BUDGET, Backbone, resize
from agenticiqa.errors import ImageTooSmallError
from agenticiqa.perception.full_reference_contrast import visible_error
from agenticiqa.perception.full_reference_residual import grid_statistics, residual_statistics
from agenticiqa.perception.full_reference_stages import stage_differences
from agenticiqa.perception.opponent import opponent_planes
from agenticiqa.tools.metrics.fsim import fsim
from agenticiqa.tools.metrics.gmsd import gmsd, gmsd_map, ms_gmsdc
from agenticiqa.tools.metrics.haarpsi import haarpsi
from agenticiqa.tools.metrics.mdsi import mdsi, mdsi_map
from agenticiqa.tools.metrics.planes import require_pair
from agenticiqa.tools.metrics.psnr import psnr
from agenticiqa.tools.metrics.ssim import ms_ssim, ssim
from agenticiqa.tools.metrics.vif import vifp
from agenticiqa.tools.metrics.vsi import vsi

Pixels = npt.NDArray[np.uint8]
SMALLEST_SIDE = 32
# The five scales of MS_SSIM need 161 pixels.
WORKING_SIDE = 176

METRICS = {
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
HIGHER_IS_BETTER = {name: name not in ("GMSD", "MS_GMSDc", "MDSI") for name in METRICS}


@dataclass(frozen=True)
class PairFeatures:
    """The measurements of one pair by name, the raw metrics among them, and the factor both were resized by."""

    values: dict[str, float]
    metrics: dict[str, float]
    scale: float

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names in the order they were measured, which is the same for every pair."""
        return tuple(self.values)


def measure_pair(test: Pixels, reference: Pixels, backbone: Backbone) -> PairFeatures:
    """All features of a pair of one size; larger pairs are brought to the trunk's pixel budget first."""
    require_pair(test, reference, SMALLEST_SIDE)
    small, small_reference, scale = to_one_size(test, reference)
    metrics = {name: float(metric(small, small_reference)) for name, metric in METRICS.items()}
    values = {f"metric.{name}": _stretched(name, value) for name, value in metrics.items()}
    values |= _map_statistics(small, small_reference)
    values |= residual_statistics(small, small_reference)
    values |= grid_statistics(test, reference)
    values |= visible_error(opponent_planes(small), opponent_planes(small_reference))
    values |= stage_differences(backbone.maps(small), backbone.maps(small_reference))
    return PairFeatures(values, metrics, scale)


def to_one_size(test: Pixels, reference: Pixels) -> tuple[Pixels, Pixels, float]:
    """Both pictures at the size the judgement works at, and the factor."""
    height, width = test.shape[:2]
    if max(height, width) > 64 * min(height, width):
        raise ImageTooSmallError(f"a strip of {width}×{height} pixels is too narrow to be judged; crop it first")
    scale = min(1.0, float(np.sqrt(PIXEL_BUDGET / (height * width))))
    scale = max(scale, WORKING_SIDE / min(height, width))
    return resize(test, scale), resize(reference, scale), scale


def _stretched(name: str, value: float) -> float:
    """The metric on a scale where small damage is not squeezed into the last digits."""
    if name == "PSNR":
        return min(value, 60.0)
    loss = 1 - value if HIGHER_IS_BETTER[name] else value
    return float(np.sign(loss) * np.log1p(abs(loss) * 1000))


def _map_statistics(test: Pixels, reference: Pixels) -> dict[str, float]:
    found = {}
    for name, likeness in (("GMSD", gmsd_map(test, reference)), ("MDSI", mdsi_map(test, reference))):
        loss = 1 - likeness
        found[f"map.{name}_mean"] = float(np.log1p(1000 * abs(loss.mean())))
        found[f"map.{name}_worst"] = float(np.log1p(1000 * np.percentile(loss, 95).clip(0)))
        found[f"map.{name}_median"] = float(np.log1p(1000 * np.percentile(loss, 50).clip(0)))
    return found
