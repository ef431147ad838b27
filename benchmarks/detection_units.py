"""Measured units against the truth of made damage, on held-out photographs, and the CPU time of a look.

python -m benchmarks.detection_units --bsds DIR --imagenet DIR
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.distortion_detector import find_distortions
from agenticiqa.embedded.trunk import load_backbone
from agenticiqa.tools.metrics.blur_radius import blur_radius
from agenticiqa.tools.metrics.jpeg import jpeg_quality
from agenticiqa.tools.metrics.noise import noise_sigma
from agenticiqa.tools.synthetic.degradations import gaussian_blur, jpeg, white_noise
from training.sources import SIDE, list_scenes, view

Pixels = npt.NDArray[np.uint8]
Judge = Callable[[float, float], bool]
# The amounts of the five levels of `tools.distort`, and more between them.
SIGMAS = (4.0, 8.0, 14.0, 24.0, 40.0)
QUALITIES = (4, 10, 18, 34, 60, 75, 90)
RADII = (0.6, 1.1, 1.9, 3.2, 5.5)


def report(
    name: str,
    clean: list[Pixels],
    damage: Callable[..., object],
    amounts: tuple[float, ...],
    measure: Callable[[Pixels], float],
    close: Judge,
) -> None:
    """The share of cases within the tolerance, for each amount and over all."""
    shares = []
    for amount in amounts:
        damaged = [_rounded(damage(pixels, amount, np.random.default_rng(n))) for n, pixels in enumerate(clean)]
        found = [measure(pixels) for pixels in damaged]
        shares.append(float(np.mean([close(value, amount) for value in found])))
        print(f"  {name} {amount:g}: {shares[-1]:.3f} close, median {np.median(found):.3g}")
    print(f"{name}: {np.mean(shares):.3f} of {len(clean) * len(amounts)}")


def report_time(clean: list[Pixels]) -> None:
    """CPU time for one megapixel on top of the trunk's features, which the quality model needs anyway."""
    picture = np.tile(clean[0], (4, 4, 1))[:1000, :1000]
    features = load_backbone().features(picture)
    find_distortions(picture, features)
    spent = []
    for _ in range(9):
        before = time.process_time()
        find_distortions(picture, features)
        spent.append(time.process_time() - before)
    usual, least = 1000 * float(np.median(spent)), 1000 * min(spent)
    print(f"CPU per megapixel on top of the quality model: {usual:.0f} ms (least {least:.0f})")


def _rounded(values: object) -> Pixels:
    return np.asarray(np.clip(np.rint(np.asarray(values)), 0, 255), np.uint8)


def main() -> None:
    """All figures, printed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bsds", type=Path, required=True)
    parser.add_argument("--imagenet", type=Path, required=True)
    parser.add_argument("--count", type=int, default=60)
    given = parser.parse_args()
    cv2.setNumThreads(1)
    views = (view(scene) for scene in list_scenes(given.bsds, given.imagenet, 6) if scene.split == "held")
    usable = (pixels for pixels in views if pixels is not None and pixels.shape == (SIDE, SIDE, 3))
    clean = [pixels for pixels, _ in zip(usable, range(given.count), strict=False)]
    report_time(clean)
    report("noise sigma", clean, white_noise, SIGMAS, noise_sigma, lambda found, true: abs(found / true - 1) <= 0.2)
    report("JPEG quality", clean, jpeg, QUALITIES, jpeg_quality, lambda found, true: abs(found - true) <= 10)
    report("blur radius", clean, gaussian_blur, RADII, blur_radius, lambda found, true: abs(found / true - 1) <= 0.25)


if __name__ == "__main__":
    main()
