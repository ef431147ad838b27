"""Pixel operations that damage a picture by a stated amount.

Each takes an 8-bit RGB picture, one amount in the unit its table entry names, and a random
generator, and returns floats on the 0–255 scale; `kinds.distort` rounds them.
Random places and grains are drawn before the amount is used, so that with one seed a larger
amount is the same damage, stronger.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

from agenticiqa.images.colour import Pixels

Floats = npt.NDArray[np.float32]
if TYPE_CHECKING:
    # Whoever only asks what kinds there are does not wait for NumPy's random numbers to be loaded.
    Random = np.random.Generator


def gaussian_blur(image: Pixels, sigma: float, random: Random) -> Floats:
    """The picture convolved with a Gaussian."""
    return _floats(cv2.GaussianBlur(_floats(image), (0, 0), sigma, borderType=cv2.BORDER_REFLECT))


def defocus_blur(image: Pixels, radius: float, random: Random) -> Floats:
    """The picture convolved with a disc, as a lens out of focus does."""
    reach = int(np.ceil(radius))
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disc = np.clip(radius + 0.5 - np.hypot(rows, columns), 0, 1)
    return _filter(image, disc)


def motion_blur(image: Pixels, length: float, random: Random) -> Floats:
    """The picture smeared along a straight line of random direction."""
    angle = random.uniform(0, np.pi)
    reach = int(np.ceil(length / 2)) + 1
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    along = columns * np.cos(angle) + rows * np.sin(angle)
    across = -columns * np.sin(angle) + rows * np.cos(angle)
    line = np.clip(1 - np.abs(across), 0, 1) * np.clip(length / 2 + 0.5 - np.abs(along), 0, 1)
    return _filter(image, line)


def denoise(image: Pixels, sigma: float, random: Random) -> Floats:
    """The picture after noise was added and an edge-keeping filter removed it, detail included."""
    noisy = _rounded(white_noise(image, sigma, random))
    return _floats(cv2.bilateralFilter(noisy, 7, 4.0 * sigma, 3.0))


def white_noise(image: Pixels, sigma: float, random: Random) -> Floats:
    """The picture with independent Gaussian noise in every channel."""
    return _floats(image) + np.float32(sigma) * _grain(image.shape, random)


def chroma_noise(image: Pixels, sigma: float, random: Random) -> Floats:
    """The picture with noise in its colour-difference channels."""
    opponent = _floats(cv2.cvtColor(image, cv2.COLOR_RGB2YCrCb))
    opponent[..., 1:] += np.float32(sigma) * _grain((*image.shape[:2], 2), random)
    return _floats(cv2.cvtColor(_rounded(opponent), cv2.COLOR_YCrCb2RGB))


def correlated_noise(image: Pixels, sigma: float, random: Random) -> Floats:
    """The picture with coarse-grained noise."""
    coarse = cv2.GaussianBlur(_grain(image.shape, random), (0, 0), 1.4)
    return _floats(image) + np.float32(sigma) * _unit(coarse)


def high_frequency_noise(image: Pixels, sigma: float, random: Random) -> Floats:
    """The picture with noise of fine grain only."""
    grain = _grain(image.shape, random)
    return _floats(image) + np.float32(sigma) * _unit(grain - cv2.GaussianBlur(grain, (0, 0), 1.0))


def masked_noise(image: Pixels, sigma: float, random: Random) -> Floats:
    """The picture with noise that grows with local texture, which hides it."""
    grain = _grain(image.shape, random)
    grey = _floats(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))
    activity = cv2.GaussianBlur(np.abs(grey - cv2.GaussianBlur(grey, (0, 0), 2.0)), (0, 0), 4.0)
    weight = activity / max(float(np.sqrt((activity**2).mean())), 1.0)
    return _floats(image) + np.float32(sigma) * grain * _floats(weight)[..., None]


def impulse_noise(image: Pixels, share: float, random: Random) -> Floats:
    """The picture with this percentage of its samples turned black or white."""
    chance, salt = random.random(image.shape), random.random(image.shape) < 0.5
    return _floats(np.where(chance < share / 100, np.where(salt, 255, 0), image))


def multiplicative_noise(image: Pixels, sigma: float, random: Random) -> Floats:
    """The picture with noise in proportion to its brightness."""
    return _floats(image) * (1 + np.float32(sigma) * _grain(image.shape, random))


def comfort_noise(image: Pixels, quality: float, random: Random) -> Floats:
    """The picture strongly compressed, its lost grain replaced by noise of the same strength."""
    grain = _grain(image.shape, random)
    decoded = jpeg(image, quality, random)
    lost = np.abs(_floats(image) - decoded)
    strength = cv2.GaussianBlur(lost, (0, 0), 4.0)
    return decoded + grain * _floats(strength)


def pattern_noise(image: Pixels, share: float, random: Random) -> Floats:
    """The picture with this percentage of its area covered by patches taken from close by."""
    height, width = image.shape[:2]
    side = max(4, min(height, width) // 26)
    damaged = image.copy()
    for top, left in _places(image, side, share, random):
        down, right = random.integers(-side, side + 1, 2)
        from_top = int(np.clip(top + down, 0, height - side))
        from_left = int(np.clip(left + right, 0, width - side))
        damaged[top : top + side, left : left + side] = image[from_top : from_top + side, from_left : from_left + side]
    return _floats(damaged)


def local_blocks(image: Pixels, share: float, random: Random) -> Floats:
    """The picture with this percentage of its area hidden by blocks of flat colour."""
    side = max(4, min(image.shape[:2]) // 14)
    damaged = _floats(image)
    for top, left in _places(image, side, share, random):
        block = damaged[top : top + side, left : left + side]
        block[:] = block.mean((0, 1)) + random.uniform(-50, 50, 3)
    return damaged


def jpeg(image: Pixels, quality: float, random: Random) -> Floats:
    """The picture after JPEG at this quality."""
    return _recoded(image, "JPEG", quality=int(quality), subsampling=2)


def webp(image: Pixels, quality: float, random: Random) -> Floats:
    """The picture after lossy WebP at this quality."""
    return _recoded(image, "WEBP", quality=int(quality), method=2)


def jpeg2000(image: Pixels, ratio: float, random: Random) -> Floats:
    """The picture after JPEG 2000 at this compression ratio."""
    return _recoded(image, "JPEG2000", quality_mode="rates", quality_layers=[ratio], irreversible=True)


def noisy_jpeg(image: Pixels, quality: float, random: Random) -> Floats:
    """A grainy picture after JPEG at this quality."""
    return jpeg(_rounded(white_noise(image, 10.0, random)), quality, random)


def jpeg_transmission(image: Pixels, share: float, random: Random) -> Floats:
    """The picture from a damaged JPEG stream: strips displaced and tinted up to the right edge."""
    height, width = image.shape[:2]
    damaged = jpeg(image, 50, random)
    strips = [(top, int(random.integers(0, width // 2 + 1))) for top in random.permutation(np.arange(0, height, 16))]
    for top, start in strips[: max(1, round(len(strips) * share / 100))]:
        start -= start % 16
        strip = np.roll(damaged[top : top + 16, start:], int(random.integers(1, 4)) * 16, axis=1)
        damaged[top : top + 16, start:] = strip + random.uniform(-28, 28, 3)
    return damaged


def jpeg2000_transmission(image: Pixels, share: float, random: Random) -> Floats:
    """The picture decoded from a damaged JPEG 2000 stream: areas without detail and with false ripples."""
    side = max(8, min(image.shape[:2]) // 8)
    damaged = _floats(image)
    soft = cv2.GaussianBlur(damaged, (0, 0), 3.0)
    rows, columns = np.mgrid[0:side, 0:side]
    window = np.outer(np.hanning(side + 2)[1:-1], np.hanning(side + 2)[1:-1])[..., None] ** 0.3
    for top, left in _places(image, side, share, random):
        wave = np.cos(0.9 * (rows if random.random() < 0.5 else columns) + random.uniform(0, 6))
        ripple = random.uniform(15, 40) * wave[..., None]
        block = damaged[top : top + side, left : left + side]
        block += window * (soft[top : top + side, left : left + side] + ripple - block)
    return damaged


def quantisation(image: Pixels, steps: float, random: Random) -> Floats:
    """The picture with this many values left per channel."""
    return _floats(np.round(_floats(image) / 255 * (steps - 1)) * 255 / (steps - 1))


def color_quantisation(image: Pixels, colors: float, random: Random) -> Floats:
    """The picture dithered to a palette of this many colours."""
    picture = Image.fromarray(image)
    palette = picture.quantize(int(colors), method=Image.Quantize.MEDIANCUT)
    return _floats(picture.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).convert("RGB"))


def banding(image: Pixels, steps: float, random: Random) -> Floats:
    """The picture smoothed and cut into this many bands of brightness, as skies are by coarse coding."""
    opponent = _floats(cv2.cvtColor(image, cv2.COLOR_RGB2YCrCb))
    smooth = cv2.bilateralFilter(opponent, 5, 20.0, 2.0)
    smooth[..., 0] = np.round(smooth[..., 0] / 255 * (steps - 1)) * 255 / (steps - 1)
    return _floats(cv2.cvtColor(_rounded(smooth), cv2.COLOR_YCrCb2RGB))


def scale_brightness(image: Pixels, exposure: float, random: Random) -> Floats:
    """The picture exposed differently by this many stops of encoded light."""
    return _floats(255 * (_floats(image) / 255) ** np.float32(2.0**-exposure))


def mean_shift(image: Pixels, shift: float, random: Random) -> Floats:
    """The picture with one amount added to or taken from all samples."""
    return _floats(image) + np.float32(shift if random.random() < 0.5 else -shift)


def scale_saturation(image: Pixels, factor: float, random: Random) -> Floats:
    """The picture with its colour differences multiplied."""
    grey = _floats(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))[..., None]
    return grey + np.float32(factor) * (_floats(image) - grey)


def color_cast(image: Pixels, strength: float, random: Random) -> Floats:
    """The picture tinted along a random hue without a change of mean brightness."""
    angle = random.uniform(0, 2 * np.pi)
    tint = np.cos(angle + np.array([0, 2, 4]) * np.pi / 3)
    return _floats(image) + np.float32(strength) * _floats(tint)


def scale_contrast(image: Pixels, factor: float, random: Random) -> Floats:
    """The picture stretched about its mean."""
    mean = _floats(image).mean()
    return _floats(mean + np.float32(factor) * (_floats(image) - mean))


def over_sharpen(image: Pixels, amount: float, random: Random) -> Floats:
    """The picture with its edges exaggerated until they ring."""
    original = _floats(image)
    return _floats(original + amount * (original - cv2.GaussianBlur(original, (0, 0), 1.6)))


def pixelate(image: Pixels, side: float, random: Random) -> Floats:
    """The picture as square cells of this side."""
    return _floats(_shrunk_and_grown(image, side, cv2.INTER_NEAREST))


def upscale(image: Pixels, factor: float, random: Random) -> Floats:
    """The picture enlarged from one this many times smaller."""
    return _floats(_shrunk_and_grown(image, factor, cv2.INTER_CUBIC))


def chromatic_aberration(image: Pixels, shift: float, random: Random) -> Floats:
    """The picture with red and blue displaced in opposite directions and slightly blurred."""
    damaged = _floats(image)
    for channel, sign in ((0, 1.0), (2, -1.0)):
        move = np.array([[1, 0, sign * shift], [0, 1, sign * shift / 2]], np.float32)
        plane = cv2.GaussianBlur(damaged[..., channel], (0, 0), 0.3 + shift / 6)
        damaged[..., channel] = cv2.warpAffine(plane, move, plane.shape[::-1], borderMode=cv2.BORDER_REFLECT)
    return damaged


def sparse_sampling(image: Pixels, share: float, random: Random) -> Floats:
    """The picture rebuilt from this percentage of its pixels."""
    kept = _floats(random.random(image.shape[:2]) < share / 100)
    sigma = 0.45 * (100 / share) ** 0.5
    weight = cv2.GaussianBlur(kept, (0, 0), sigma)[..., None]
    wide_weight = cv2.GaussianBlur(kept, (0, 0), 3 * sigma)[..., None]
    samples = _floats(image) * kept[..., None]
    near, wide = cv2.GaussianBlur(samples, (0, 0), sigma), cv2.GaussianBlur(samples, (0, 0), 3 * sigma)
    # Far from every sample the narrow window is empty; the wide one fills the hole.
    return _floats((near + 0.02 * wide) / (weight + 0.02 * wide_weight + 1e-6))


def _floats(values: object) -> Floats:
    return np.array(values, dtype=np.float32)


def _rounded(values: Floats) -> Pixels:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def _grain(shape: tuple[int, ...], random: Random) -> Floats:
    return random.standard_normal(shape, dtype=np.float32)


def _unit(grain: object) -> Floats:
    values = _floats(grain)
    return _floats(values / values.std())


def _filter(image: Pixels, kernel: npt.NDArray[np.float64]) -> Floats:
    return _floats(cv2.filter2D(_floats(image), -1, kernel / kernel.sum(), borderType=cv2.BORDER_REFLECT))


def _recoded(image: Pixels, form: str, **settings: object) -> Floats:
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, form, **settings)
    return _floats(Image.open(stream).convert("RGB"))


def _shrunk_and_grown(image: Pixels, factor: float, interpolation: int) -> object:
    height, width = image.shape[:2]
    small = (max(1, round(width / factor)), max(1, round(height / factor)))
    return cv2.resize(
        cv2.resize(image, small, interpolation=cv2.INTER_AREA), (width, height), interpolation=interpolation
    )


def _places(image: Pixels, side: int, share: float, random: Random) -> list[tuple[int, int]]:
    height, width = image.shape[:2]
    count = max(1, round(height * width * share / 100 / side**2))
    # As many for every amount, so that a larger one keeps the places of a smaller; none needs more than these.
    corners = random.random((4096, 2)) * (max(1, height - side + 1), max(1, width - side + 1))
    return [(int(top), int(left)) for top, left in corners[:count]]
