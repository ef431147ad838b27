"""VIFp (Sheikh and Bovik, 2006), in the pixel domain: the share of the reference's information still in the image."""

from __future__ import annotations

from typing import cast

import cv2
import numpy as np

from agenticiqa.tools.metrics.planes import Image, Plane, luma, mean, require_pair, to_float, total

SMALLEST_SIDE = 41
WINDOWS = (17, 9, 5, 3)
VISUAL_NOISE = np.float32(2.0)
TINY = np.float32(1e-8)


def vifp(test: Image, reference: Image) -> float:
    """The information ratio over four scales; 1 is identical, more than 1 means raised contrast."""
    require_pair(test, reference, SMALLEST_SIDE)
    test_luma, reference_luma = luma(to_float(test)), luma(to_float(reference))
    # Variances ignore a common shift, and near zero they lose fewer digits.
    level = np.float32(mean(reference_luma))
    planes = test_luma - level, reference_luma - level
    kept = there = 0.0
    for scale, size in enumerate(WINDOWS):
        if scale:
            planes = _shrunk(planes[0], size), _shrunk(planes[1], size)
        kept_here, there_here = _information(*planes, size)
        kept, there = kept + kept_here, there + there_here
    return float((kept + TINY) / (there + TINY))


def _shrunk(plane: Plane, size: int) -> Plane:
    return np.ascontiguousarray(_window(plane, size)[::2, ::2])


def _information(test: Plane, reference: Plane, size: int) -> tuple[float, float]:
    """Bits that reach the eye from the test image and from the reference at one scale."""
    variance, variance_reference, shared = _moments(test, reference, size)
    usable = (variance >= TINY) & (variance_reference >= TINY) & (shared > 0)
    gain = np.where(usable, shared / (variance_reference + TINY), np.float32(0))
    noise = np.maximum(variance - gain * shared, TINY)
    kept = np.log1p(gain * gain * variance_reference / (noise + VISUAL_NOISE))
    there = np.log1p(variance_reference / VISUAL_NOISE)
    return total(kept), total(there)


def _moments(test: Plane, reference: Plane, size: int) -> tuple[Plane, Plane, Plane]:
    """Both variances and the covariance under the window."""
    mean_test, mean_reference = _window(test, size), _window(reference, size)
    variance = _window(test * test, size) - mean_test * mean_test
    variance_reference = _window(reference * reference, size) - mean_reference * mean_reference
    shared = _window(test * reference, size) - mean_test * mean_reference
    return np.maximum(variance, 0), np.maximum(variance_reference, 0), shared


def _window(plane: Plane, size: int) -> Plane:
    """The Gaussian mean at the positions where the window fits."""
    margin = size // 2
    blurred = cv2.GaussianBlur(plane, (size, size), size / 5)
    return cast(Plane, np.ascontiguousarray(blurred[margin:-margin, margin:-margin]))
