"""How differently the shared trunk sees a picture and its reference, stage by stage."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Maps = tuple[npt.NDArray[np.float32], ...]
TINY = np.float32(1e-6)


def stage_differences(test: Maps, reference: Maps) -> dict[str, float]:
    """Per stage: normalised squared difference and its place, similarity of means and structure, change of energy."""
    found: dict[str, float] = {}
    for number, (first, second) in enumerate(zip(test, reference, strict=True), start=1):
        name = f"stage{number}"
        channels = len(first)
        a, b = first.reshape(channels, -1), second.reshape(channels, -1)
        found |= {f"{name}.{key}": value for key, value in (_difference(a, b) | _similarity(a, b)).items()}
    return found


def _difference(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> dict[str, float]:
    first, second, cross = (np.einsum("cp,cp->p", x, y) for x, y in ((a, a), (b, b), (a, b)))
    # Squared distance of two unit vectors is twice one minus their cosine.
    apart = 2 - 2 * (cross + TINY) / np.sqrt((first + TINY) * (second + TINY))
    apart = np.maximum(apart, 0)
    return {
        "difference": float(np.log10(1e-4 + apart.mean())),
        "difference_spread": float(np.log10(1e-4 + apart.std())),
        "difference_worst": float(np.log10(1e-4 + np.percentile(apart, 95))),
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
        "structure_low": float(np.percentile(structure, 10)),
        "spread": float(np.log(spreads).mean()),
        "spread_high": float(np.percentile(np.log(spreads), 90)),
        "mean_shift": float(((mean_a - mean_b) / np.sqrt(np.maximum(var_b, 0) + TINY)).mean()),
    }
