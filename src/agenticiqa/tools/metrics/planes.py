"""What the metrics share: checked inputs, planes and colours, pooling, gradients, similarity, fitted parameters."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from agenticiqa.errors import ImageSizeMismatchError, ImageTooSmallError, ToolError
from agenticiqa.weights import read_arrays

Image: TypeAlias = NDArray[np.uint8]
Plane: TypeAlias = NDArray[np.float32]

YIQ = np.array([[0.299, 0.587, 0.114], [0.5959, -0.2746, -0.3213], [0.2115, -0.5227, 0.3112]], np.float32)
PREWITT = np.array([[-1 / 3, 0, 1 / 3], [1, 1, 1]], np.float32)
COSINES = np.cos(np.pi * np.outer(np.arange(8), 2 * np.arange(8) + 1) / 16)
DCT_BASIS = (COSINES * np.sqrt(np.where(np.arange(8) == 0, 0.125, 0.25))[:, None]).astype(np.float32)
DCT_OF_BLOCK = np.ascontiguousarray(np.kron(DCT_BASIS, DCT_BASIS).T)
SCHARR = np.array([[-1 / 16, 0, 1 / 16], [3, 10, 3]], np.float32)
COLOUR_STRIP = 64
# Y, Cb and Cr without offsets, so that a grey pixel has no chroma.
OPPONENT = np.array([[0.299, 0.587, 0.114], [-0.1687, -0.3313, 0.5], [0.5, -0.4187, -0.0813]], np.float32)


def require_image(image: Image, smallest_side: int = 1) -> None:
    """Raises unless the array is 8-bit RGB and no side is shorter than the metric needs."""
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ToolError(f"expected a height × width × 3 array of uint8, got {image.shape} of {image.dtype}")
    if min(image.shape[:2]) < smallest_side:
        height, width = image.shape[:2]
        raise ImageTooSmallError(
            f"the image is {width}×{height} pixels; this metric needs {smallest_side} on each side"
        )


def require_pair(test: Image, reference: Image, smallest_side: int = 1) -> None:
    """Raises unless both arrays are usable images of one size."""
    require_image(test, smallest_side)
    require_image(reference, smallest_side)
    if test.shape != reference.shape:
        (height, width), (rows, columns) = test.shape[:2], reference.shape[:2]
        raise ImageSizeMismatchError(
            f"the test image is {width}×{height} and the reference {columns}×{rows}; resize one of them first"
        )


def rounded_luma(image: Image) -> Plane:
    """The Y of YIQ rounded to whole grey levels, 0–255."""
    return to_float(cast(Image, cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)))


def to_float(image: Image) -> Plane:
    return image.astype(np.float32, order="C")


def luma(pixels: Plane) -> Plane:
    """The exact Y of float RGB pixels."""
    return cast(Plane, cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY))


def change_colours(pixels: Plane, matrix: Plane) -> tuple[Plane, Plane, Plane]:
    """The three planes of float RGB pixels under a 3×3 colour matrix."""
    first, second, third = cv2.split(cv2.transform(pixels, matrix))
    return cast(Plane, first), cast(Plane, second), cast(Plane, third)


def colour_planes(image: Image, matrix: Plane) -> tuple[Plane, Plane, Plane]:
    """The three planes of an 8-bit RGB picture under a 3×3 colour matrix."""
    planes = np.empty((3, *image.shape[:2]), np.float32)
    # A few rows at a time: what is made of them stays in the processor's cache. One more than is kept, since OpenCV
    # rounds the last pixels of an array otherwise, and of grey ones that decides the sign.
    for top in range(0, len(image), COLOUR_STRIP):
        strip = change_colours(to_float(image[top : top + COLOUR_STRIP + 1]), matrix)
        for plane, part in zip(planes, strip, strict=True):
            plane[top : top + COLOUR_STRIP] = part[:COLOUR_STRIP]
    first, second, third = planes
    return first, second, third


def viewing_factor(image: Image) -> int:
    """How far FSIM, VSI and MDSI shrink an image so that its short side is about 256 pixels."""
    return max(1, round(int(min(image.shape[:2])) / 256))


def pool(pixels: Plane, factor: int) -> Plane:
    """Means over factor × factor cells; what is left over at the right and bottom is dropped."""
    if factor == 1:
        return pixels
    rows, columns = pixels.shape[0] // factor, pixels.shape[1] // factor
    whole = pixels[: rows * factor, : columns * factor]
    return cast(Plane, cv2.resize(whole, (columns, rows), interpolation=cv2.INTER_AREA))


def halve(pixels: Plane) -> Plane:
    """Means over 2 × 2 cells, with zeros added to odd sides."""
    odd_rows, odd_columns = pixels.shape[0] % 2, pixels.shape[1] % 2
    if odd_rows or odd_columns:
        pixels = cv2.copyMakeBorder(pixels, 0, odd_rows, 0, odd_columns, cv2.BORDER_CONSTANT, value=0)
    return pool(pixels, 2)


def gradient_energy(plane: Plane, operator: Plane) -> Plane:
    """The squared gradient magnitude under (slope, smoothing) kernels, with zeros outside the image."""
    slope, smooth = operator
    across = cv2.sepFilter2D(plane, cv2.CV_32F, slope, smooth, borderType=cv2.BORDER_CONSTANT)
    down = cv2.sepFilter2D(plane, cv2.CV_32F, smooth, slope, borderType=cv2.BORDER_CONSTANT)
    return sum_of_squares(across, down)


def sum_of_squares(first: Plane, second: Plane) -> Plane:
    """a² + b² for every pixel."""
    # Not cv2.magnitude or cv2.accumulateSquare: their last digit depends on where the array lies in memory.
    squares = first * first
    squares += second * second
    return squares


def energy_similarity(first: Plane, second: Plane, constant: float, masking: float = 0.0) -> Plane:
    """The similarity, 1 where equal, of two gradient magnitudes given as squares."""
    # The product of the magnitudes needs one square root instead of two.
    product = cv2.sqrt(first * second)
    numerator = product * np.float32(2.0 - masking)
    numerator += np.float32(constant)
    denominator = first + second
    if masking:
        denominator -= product * np.float32(masking)
    denominator += np.float32(constant)
    return cast(Plane, np.divide(numerator, denominator, out=numerator))


def similarity(first: Plane, second: Plane, constant: float) -> Plane:
    """The similarity, 1 where equal, of two maps: (2ab + c) / (a² + b² + c)."""
    # Written as 1 − (a − b)² / (a² + b² + c), which is exactly 1 where a = b.
    difference = first - second
    difference *= difference
    spread = sum_of_squares(first, second)
    spread += np.float32(constant)
    difference /= spread
    return cast(Plane, np.subtract(np.float32(1), difference, out=difference))


def block_dct(blocks: Plane) -> Plane:
    """The orthonormal cosine transform of a stack of 8 × 8 blocks."""
    # One product for both directions is twice as fast as two small ones per block.
    return cast(Plane, (blocks.reshape(-1, DCT_BASIS.size) @ DCT_OF_BLOCK).reshape(blocks.shape))


def histogram(image: Image, channel: int = 0) -> NDArray[np.float64]:
    """How often each of the 256 values occurs in one channel of a picture."""
    counts = cv2.calcHist([image], [channel], None, [256], [0, 256])
    return np.asarray(counts.ravel(), np.float64)


def product_sum(first: Plane, second: Plane) -> float:
    """The sum of the products of two planes that lie in memory row by row."""
    return float(np.dot(first.ravel(), second.ravel()))


def lagged_product_mean(plane: Plane, down: int, right: int) -> float:
    """The mean product of pixels so far apart, where both lie in the plane."""
    height, width = plane.shape
    flat, lag = plane.ravel(), down * width + right
    found = float(np.dot(flat[: flat.size - lag], flat[lag:]))
    if right:
        # Row follows row in memory: products of a row's last pixels with the first of a later row do not count.
        found -= float(np.vdot(plane[: height - down - 1, width - right :], plane[down + 1 :, :right]))
    return found / float((height - down) * (width - right))


def profile(values: NDArray[Any], axis: int) -> NDArray[np.float64]:
    """The means along one axis of a plane."""
    kind = cv2.CV_32S if values.dtype == np.uint8 else cv2.CV_64F
    sums = cv2.reduce(values, axis, cv2.REDUCE_SUM, dtype=kind)
    return np.asarray(sums.ravel() / values.shape[axis], np.float64)


def phase_means(values: NDArray[np.float64], period: int) -> NDArray[np.float64]:
    """The mean of a row's values at each phase of a period."""
    phases = np.arange(len(values)) % period
    return np.bincount(phases, values, period) / np.bincount(phases, minlength=period)


def mean(plane: Plane) -> float:
    return total(plane) / plane.size


def total(plane: Plane) -> float:
    """The sum in double precision."""
    return float(plane.sum(dtype=np.float64))


@functools.lru_cache(maxsize=8)
def load_parameters(name: str) -> dict[str, NDArray[np.float64]]:
    """The arrays a metric was fitted with, in double precision."""
    return {key: np.asarray(array, np.float64) for key, array in read_arrays(f"{name}.npz").items()}


def opponent_planes(pixels: Image) -> tuple[Plane, Plane, Plane]:
    """Luma, blue difference and red difference of an RGB picture, on the scale of 255."""
    return colour_planes(pixels, OPPONENT)


def percentile(values: NDArray[Any], percents: float | Sequence[float], *, by_row: bool = False) -> NDArray[Any]:
    """What `numpy.percentile` gives of all values, or along the last axis.

    NumPy parts an array at one place by vector instructions, but not at several as its own function does: on the 20,000
    values of a small plane this takes a tenth of the time.
    """
    values = values if by_row else values.ravel()
    count = values.shape[-1]
    # As there, the place of a single percentile is worked out in the precision of the values.
    share = np.true_divide(percents, values.dtype.type(100) if values.dtype.kind == "f" else 100)
    place = np.asarray((count - 1) * share)
    floor = np.floor(place)
    below, part = floor.astype(np.intp), place - floor
    above = np.minimum(below + 1, count - 1)
    ordered = _sorted_at(values, {*below.ravel().tolist(), *above.ravel().tolist()})
    low, high = ordered[..., below], ordered[..., above]
    return np.asarray(np.where(part < 0.5, low + (high - low) * part, high - (high - low) * (1 - part)))[()]


def median(values: NDArray[Any]) -> float:
    """What `numpy.median` gives of all values; quicker over small arrays."""
    flat = values.ravel()
    places = {(flat.size - 1) // 2, flat.size // 2}
    return float(_sorted_at(flat, places)[sorted(places)].mean())


def _sorted_at(values: NDArray[Any], places: set[int]) -> NDArray[Any]:
    """A copy that holds at these places of the last axis what sorting would put there."""
    if values.dtype == np.uint8:
        # Bytes are sorted by counting, a tenth of the time of parting them.
        return np.sort(values, kind="stable")
    ordered, done = values.copy(), 0
    for place in sorted(places):
        ordered[..., done:].partition(place - done)
        done = place + 1
    return ordered
