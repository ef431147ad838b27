"""A plain guess at the kind of distortion, from what the tools measure: linear discriminants on differences."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float64]


def describe_change(test: Pixels, reference: Pixels) -> list[float]:
    """How the picture changed: brightness, contrast, colour, detail and grain, each as a signed number."""
    after, before = (cv2.cvtColor(image, cv2.COLOR_RGB2YCrCb).astype(np.float32) for image in (test, reference))
    difference = after - before
    change = [float(difference[..., plane].mean()) for plane in range(3)]
    change += [_log_ratio(after[..., plane].std(), before[..., plane].std()) for plane in range(3)]
    for plane in range(3):
        for sigma in (0.8, 2.0):
            change.append(_log_ratio(_detail(after[..., plane], sigma), _detail(before[..., plane], sigma)))
    change += [_log_ratio(_grid(after[..., 0]), _grid(before[..., 0]))]
    # Where damage sits: everywhere alike, on edges, or in patches.
    energy = cv2.GaussianBlur(np.abs(difference[..., 0]), (0, 0), 6)
    edges = np.abs(cv2.Laplacian(before[..., 0], cv2.CV_32F, ksize=3))
    change += [
        float(np.log(energy.std() + 0.1) - np.log(energy.mean() + 0.1)),
        float(np.corrcoef(energy.ravel(), cv2.GaussianBlur(edges, (0, 0), 6).ravel())[0, 1]) if energy.std() else 0.0,
        float(np.log((np.abs(difference[..., 0]) > 40).mean() + 1e-5)),
        float(np.log(np.abs(difference).mean() + 0.1)),
        float(len(np.unique(test[..., 1]))) / 256,
        _autocorrelation(difference[..., 0], 1),
        _autocorrelation(difference[..., 0], 3),
    ]
    return change


def guess_kinds(known: Floats, kinds: NDArray[np.str_], unknown: Floats, names: list[str]) -> Floats:
    """Probabilities (rows sum to 1) of each named kind for the unknown rows."""
    centre, scale = known.mean(0), known.std(0) + 1e-9
    known, unknown = (known - centre) / scale, (unknown - centre) / scale
    means = np.stack([known[kinds == name].mean(0) for name in names])
    residuals = known - means[[names.index(kind) for kind in kinds]]
    covariance = residuals.T @ residuals / len(known)
    covariance = 0.9 * covariance + 0.1 * np.diag(np.diag(covariance)) + 1e-6 * np.eye(len(covariance))
    inverse = np.linalg.inv(covariance)
    logits = unknown @ inverse @ means.T - 0.5 * np.einsum("ki,ij,kj->k", means, inverse, means)
    logits -= logits.max(1, keepdims=True)
    likely = np.exp(logits)
    return np.asarray(likely / likely.sum(1, keepdims=True), np.float64)


def _log_ratio(after: float | np.floating, before: float | np.floating) -> float:
    return float(np.log(float(after) + 0.5) - np.log(float(before) + 0.5))


def _detail(plane: NDArray[np.float32], sigma: float) -> float:
    return float((plane - cv2.GaussianBlur(plane, (0, 0), sigma)).std())


def _grid(plane: NDArray[np.float32]) -> float:
    steps = np.abs(np.diff(plane, axis=1)).mean(0)
    return float(steps[7::8].mean() / (steps.mean() + 0.1))


def _autocorrelation(plane: NDArray[np.float32], lag: int) -> float:
    centred = plane - plane.mean()
    return float((centred[:, lag:] * centred[:, :-lag]).mean() / (centred.var() + 1e-3))
