"""Everything measured on a pair before it is judged; training and the running product share this one implementation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.full_reference.difference_statistics import grid_statistics, residual_statistics
from agenticiqa.embedded.full_reference.frequency_transfer import transfer_statistics
from agenticiqa.embedded.full_reference.pair_preparation import PairView, Viewing, view_pair
from agenticiqa.embedded.full_reference.visible_error import visible_error
from agenticiqa.embedded.tools import METRICS
from agenticiqa.embedded.trunk import Backbone, Pixels
from agenticiqa.tools.metrics.fsim import fsim
from agenticiqa.tools.metrics.gmsd import gmsd, gmsd_map, ms_gmsdc
from agenticiqa.tools.metrics.haarpsi import haarpsi
from agenticiqa.tools.metrics.mdsi import mdsi, mdsi_map
from agenticiqa.tools.metrics.planes import opponent_planes, percentile, require_pair
from agenticiqa.tools.metrics.psnr import psnr
from agenticiqa.tools.metrics.ssim import ms_ssim, ssim
from agenticiqa.tools.metrics.vif import vifp
from agenticiqa.tools.metrics.vsi import vsi

SMALLEST_SIDE = 32

# In the order of `METRICS`.
_FUNCTIONS = (psnr, ssim, ms_ssim, gmsd, ms_gmsdc, fsim, vsi, mdsi, haarpsi, vifp)
HIGHER_IS_BETTER = {name: name not in ("GMSD", "MS_GMSDc", "MDSI") for name in METRICS}


@dataclass(frozen=True)
class PairFeatures:
    """The measurements of one pair by name, the raw metrics among them, and what of the pair was compared."""

    values: dict[str, float]
    metrics: dict[str, float]
    view: PairView

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the order they were measured, which is the same for every pair."""
        return tuple(self.values)


def measure_pair(test: Pixels, reference: Pixels, backbone: Backbone, viewing: Viewing = "native") -> PairFeatures:
    """All features of a pair of one size, of the part of it that this way of viewing compares."""
    require_pair(test, reference, SMALLEST_SIDE)
    view = view_pair(test, reference, viewing)
    first, second = view.test, view.reference
    metrics = {name: float(metric(first, second)) for name, metric in zip(METRICS, _FUNCTIONS, strict=True)}
    values = {
        **{f"metric.{name}": _stretched(name, value) for name, value in metrics.items()},
        **_map_statistics(first, second),
        **residual_statistics(first, second),
        **grid_statistics(test, reference),
        **visible_error(opponent_planes(first), opponent_planes(second)),
        **stage_differences(backbone.run(first)[0], backbone.run(second)[0]),
        **transfer_statistics(first, second),
    }
    return PairFeatures(values, metrics, view)


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
        found[f"map.{name}_worst"] = float(np.log1p(1000 * max(float(percentile(loss, 95)), 0.0)))
        found[f"map.{name}_median"] = float(np.log1p(1000 * max(float(percentile(loss, 50)), 0.0)))
    return found


Maps = tuple[npt.NDArray[np.float32], ...]
TINY = np.float32(1e-6)


def stage_differences(test: Maps, reference: Maps) -> dict[str, float]:
    """Per stage: normalised squared difference and its place, similarity of means and structure, change of energy."""
    found: dict[str, float] = {}
    for number, (first, second) in enumerate(zip(test, reference, strict=True), start=1):
        a, b = (stage.reshape(len(stage), -1) for stage in (first, second))
        found |= {f"stage{number}.{key}": value for key, value in (_difference(a, b) | _similarity(a, b)).items()}
    return found


def _difference(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> dict[str, float]:
    first, second, cross = (np.einsum("cp,cp->p", x, y) for x, y in ((a, a), (b, b), (a, b)))
    # Squared distance of two unit vectors is twice one minus their cosine.
    apart = 2 - 2 * (cross + TINY) / np.sqrt((first + TINY) * (second + TINY))
    apart = np.maximum(apart, 0)
    return {
        "difference": float(np.log10(1e-4 + apart.mean())),
        "difference_spread": float(np.log10(1e-4 + apart.std())),
        "difference_worst": float(np.log10(1e-4 + percentile(apart, 95))),
        "energy": float(np.log((first.mean() + TINY) / (second.mean() + TINY))),
    }


def _similarity(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> dict[str, float]:
    count = a.shape[1]
    mean_a, mean_b = a.mean(axis=1), b.mean(axis=1)
    var_a = np.einsum("cp,cp->c", a, a) / count - mean_a**2
    var_b = np.einsum("cp,cp->c", b, b) / count - mean_b**2
    shared = np.einsum("cp,cp->c", a, b) / count - mean_a * mean_b
    means = (2 * mean_a * mean_b + TINY) / (mean_a**2 + mean_b**2 + TINY)
    structure = (2 * shared + TINY) / (var_a + var_b + TINY)
    spreads = np.sqrt(np.maximum(var_a, 0) + TINY) / np.sqrt(np.maximum(var_b, 0) + TINY)
    return {
        "mean_similarity": float(means.mean()),
        "structure": float(np.log10(1e-4 + max(0.0, 1 - float(structure.mean())))),
        "structure_low": float(percentile(structure, 10)),
        "spread": float(np.log(spreads).mean()),
        "spread_high": float(percentile(np.log(spreads), 90)),
        "mean_shift": float(((mean_a - mean_b) / np.sqrt(np.maximum(var_b, 0) + TINY)).mean()),
    }
