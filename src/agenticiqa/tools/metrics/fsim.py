"""FSIM with colour (FSIMc; Zhang et al., 2011) with its constants; higher is better, 1 is identical.

Phase congruency is where the frequencies of an image are in step, as log-Gabor filters see it.
"""

from __future__ import annotations

import functools
import math
from typing import cast

import numpy as np
from numpy.typing import NDArray

from agenticiqa.tools.metrics import planes
from agenticiqa.tools.metrics.planes import Image, Plane

ORIENTATIONS = 4
WAVELENGTHS = (6, 12, 24, 48)
BANDWIDTH = 0.55
ANGULAR_SPREAD = math.pi / (ORIENTATIONS * 1.2)
NOISE_DEVIATIONS = 2.0
# The published correction of the noise threshold for this measure.
NOISE_OVERESTIMATE = 1.7
TINY = np.float32(np.finfo(np.float32).eps)


def phase_congruency(plane: Plane) -> Plane:
    """The congruency at every pixel, from 0 to 1."""
    bank, gains = filter_bank(*plane.shape)
    spectrum = np.fft.fft2(plane)
    energy, amplitude = np.full_like(plane, TINY), np.full_like(plane, TINY)
    for filters, gain in zip(bank, gains, strict=True):
        _add_orientation(spectrum * filters, gain, energy, amplitude)
    return energy / amplitude


def _add_orientation(spectra: NDArray[np.complex64], gain: float, energy: Plane, amplitude: Plane) -> None:
    """Adds one orientation's energy above noise, and its amplitude, to the two maps."""
    responses = np.fft.ifft2(spectra)
    even, odd = np.ascontiguousarray(responses.real), np.ascontiguousarray(responses.imag)
    sum_even, sum_odd = even.sum(axis=0), odd.sum(axis=0)
    length = np.sqrt(planes.sum_of_squares(sum_even, sum_odd))
    threshold = 0.0
    disorder = np.zeros_like(length)
    for scale in range(len(WAVELENGTHS)):
        magnitude = np.sqrt(planes.sum_of_squares(even[scale], odd[scale]))
        amplitude += magnitude
        disorder += np.abs(even[scale] * sum_odd - odd[scale] * sum_even)
        if scale == 0:
            threshold = gain * _lower_median(magnitude)
    orderly = (length * length - disorder) / (length + TINY)
    energy += np.maximum(orderly - np.float32(threshold), np.float32(0))


def _lower_median(plane: Plane) -> float:
    middle = (plane.size - 1) // 2
    return float(np.partition(plane.reshape(-1), middle)[middle])


@functools.lru_cache(maxsize=4)
def filter_bank(rows: int, columns: int) -> tuple[Plane, list[float]]:
    """The log-Gabor filters of this image size, by orientation and scale, and their noise thresholds per median."""
    down, across = np.meshgrid(frequencies(rows), frequencies(columns), indexing="ij")
    radius, angle = np.hypot(down, across), np.arctan2(-across, down)
    radial = _radial_filters(radius)
    angular = [_angular_filter(angle, step * math.pi / ORIENTATIONS) for step in range(ORIENTATIONS)]
    filters = np.stack([radial * spread for spread in angular])
    return filters.astype(np.float32), [_threshold_gain(of_orientation) for of_orientation in filters]


def frequencies(length: int) -> NDArray[np.float64]:
    """Cycles per pixel along one side, zero first; odd sides reach exactly ±0.5."""
    span = length - length % 2
    return np.fft.ifftshift((np.arange(length) - length // 2) / span)


def _radial_filters(radius: NDArray[np.float64]) -> NDArray[np.float64]:
    low_pass = 1 / (1 + (radius / 0.45) ** 30)
    safe = np.where(radius == 0, 1, radius)
    octaves = (np.log(safe * wavelength) / math.log(BANDWIDTH) for wavelength in WAVELENGTHS)
    filters = np.stack([np.exp(-(distance**2) / 2) * low_pass for distance in octaves])
    filters[:, radius == 0] = 0
    return cast(NDArray[np.float64], filters)


def _angular_filter(angle: NDArray[np.float64], centre: float) -> NDArray[np.float64]:
    distance = np.abs(np.angle(np.exp(1j * (angle - centre))))
    return cast(NDArray[np.float64], np.exp(-(distance**2) / (2 * ANGULAR_SPREAD**2)))


def _threshold_gain(filters: NDArray[np.float64]) -> float:
    """Noise threshold over median magnitude of the finest scale, if that median were noise alone."""
    kernels = np.fft.ifft2(filters).real * math.sqrt(filters[0].size)
    # Squares and cross products of all scales together are the square of their sum.
    energy = (kernels.sum(axis=0) ** 2).sum()
    power_per_median = 1 / (math.log(2) * (filters[0] ** 2).sum())
    tau = math.sqrt(power_per_median * energy)
    return tau * (math.sqrt(math.pi / 2) + NOISE_DEVIATIONS * math.sqrt(2 - math.pi / 2)) / NOISE_OVERESTIMATE


SMALLEST_SIDE = 16
CHROMA_POWER = np.float32(0.03)


def fsim(test: Image, reference: Image) -> float:
    """The feature similarity weighted by the stronger phase congruency, at viewing size."""
    planes.require_pair(test, reference, SMALLEST_SIDE)
    factor = planes.viewing_factor(test)
    first, second = (
        planes.change_colours(planes.pool(planes.to_float(image), factor), planes.YIQ) for image in (test, reference)
    )
    congruency = phase_congruency(first[0]), phase_congruency(second[0])
    weight = np.maximum(*congruency)
    likeness = planes.similarity(*congruency, 0.85)
    likeness *= planes.energy_similarity(
        planes.gradient_energy(first[0], planes.SCHARR), planes.gradient_energy(second[0], planes.SCHARR), 160
    )
    chroma = planes.similarity(first[1], second[1], 200) * planes.similarity(first[2], second[2], 200)
    likeness *= np.abs(chroma) ** CHROMA_POWER
    return planes.total(likeness * weight) / planes.total(weight)
