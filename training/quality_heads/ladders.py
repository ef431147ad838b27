"""Photographs spoilt further, in the order a camera does it: lens, light, sensor, tone, size, file.

`spoil(pixels, kind, level, seed)` is the same for the same arguments; one seed keeps grain, direction and colour
along a ladder. `share_left(kind, level)` says which share of its quality a photograph keeps, by the eye of the project:
damage takes its share of whatever quality there was, so one people find poor has little left to lose.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Random = np.random.Generator
Five = tuple[float, float, float, float, float]
LUMA = np.array([0.299, 0.587, 0.114], np.float32)


@dataclass(frozen=True)
class Kind:
    """One way a photograph is spoilt: the operation, its amount and the share of quality left at levels 1 to 5."""

    operation: Callable[[Pixels, float, Random], Floats]
    amounts: Five
    left: Five


def spoil(pixels: Pixels, kind: str, level: int, seed: int) -> Pixels:
    """The picture with one kind of damage at a level from 1 to 5."""
    chosen = KINDS[kind]
    random = np.random.default_rng((seed, sum(map(ord, kind))))
    damaged = chosen.operation(pixels, chosen.amounts[level - 1], random)
    return np.clip(np.rint(damaged), 0, 255).astype(np.uint8)


def share_left(kind: str, level: int) -> float:
    """The share of a photograph's quality this damage leaves."""
    return KINDS[kind].left[level - 1]


def rewrite(pixels: Pixels, quality: int, form: str = "JPEG") -> Pixels:
    """The picture written to a file of this quality and read again."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, form, quality=quality)
    stream.seek(0)
    return np.asarray(Image.open(stream).convert("RGB"))


def to_linear(codes: npt.ArrayLike) -> Floats:
    """sRGB code values as light between 0 and 1."""
    share = np.asarray(codes, np.float32) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4).astype(np.float32)


def to_codes(light: Floats) -> Floats:
    """Light as sRGB code values, clipped as a sensor clips."""
    light = np.clip(light, 0, 1)
    curved = 1.055 * np.power(np.maximum(light, 1e-8), 1 / 2.4) - 0.055
    return np.asarray(np.where(light <= 0.0031308, 12.92 * light, curved) * 255, np.float32)


_LIGHT = to_linear(np.arange(256))


def _defocus(pixels: Pixels, radius: float, random: Random) -> Floats:
    side = int(np.ceil(radius)) * 2 + 1
    down, across = np.mgrid[:side, :side] - side // 2
    disc = np.clip(radius + 0.5 - np.hypot(down, across), 0, 1).astype(np.float32)
    return to_codes(_filtered(_LIGHT[pixels], disc / disc.sum()))


def _soften(pixels: Pixels, sigma: float, random: Random) -> Floats:
    return to_codes(np.asarray(cv2.GaussianBlur(_LIGHT[pixels], (0, 0), sigma, borderType=cv2.BORDER_REFLECT)))


def _shake(pixels: Pixels, length: float, random: Random) -> Floats:
    return to_codes(_filtered(_LIGHT[pixels], _path(length, random)))


def _path(length: float, random: Random) -> Floats:
    """A slightly bent path of a camera in motion, as a filter."""
    side = int(np.ceil(length)) | 1
    path = np.zeros((side, side), np.float32)
    angle, bend = random.uniform(0, np.pi), random.normal(0, 0.35)
    for time in np.linspace(-0.5, 0.5, 6 * side):
        turned, way = angle + bend * time, time * (length - 1)
        row, column = (side / 2 - 0.5 + part * way for part in (np.sin(turned), np.cos(turned)))
        path[int(np.clip(row, 0, side - 1)), int(np.clip(column, 0, side - 1))] += 1
    return np.asarray(path / path.sum(), np.float32)


def _darken(pixels: Pixels, factor: float, random: Random) -> Floats:
    if random.random() < 0.5:
        return pixels.astype(np.float32) * factor
    light = _LIGHT[pixels] * factor**2.2
    if random.random() < 0.6:
        light = light + _grain(light.shape, random) * np.sqrt(np.maximum(light, 0) * 4e-4 + 4e-6)
    return to_codes(np.asarray(light, np.float32))


def _brighten(pixels: Pixels, factor: float, random: Random) -> Floats:
    return to_codes(_LIGHT[pixels] * np.float32(factor))


def _flatten(pixels: Pixels, factor: float, random: Random) -> Floats:
    values = pixels.astype(np.float32)
    middle = values.mean()
    towards = middle if random.random() < 0.5 else random.uniform(90, 190)
    return np.asarray(towards + (values - middle) * factor, np.float32)


def _haze(pixels: Pixels, share: float, random: Random) -> Floats:
    return to_codes(np.asarray(_LIGHT[pixels] * (1 - share) + random.uniform(0.55, 0.9) * share, np.float32))


def _harden(pixels: Pixels, factor: float, random: Random) -> Floats:
    values = pixels.astype(np.float32)
    return np.asarray(values.mean() + (values - values.mean()) * factor, np.float32)


def _tint(pixels: Pixels, strength: float, random: Random) -> Floats:
    gains = random.normal(0, 1, 3)
    gains -= gains.mean()
    light = _LIGHT[pixels]
    tinted = light * np.exp(strength * gains / np.abs(gains).max()).astype(np.float32)
    return to_codes(np.asarray(tinted * (light.mean() / max(tinted.mean(), 1e-6)), np.float32))


def _grain(shape: tuple[int, ...], random: Random) -> Floats:
    """Noise of unit strength: white or blotched, of all channels, of one, or without colour."""
    grain = random.standard_normal(shape).astype(np.float32)
    blotch = float(random.choice([0.0, 0.5, 0.8, 1.3]))
    if blotch:
        grain = np.asarray(cv2.GaussianBlur(grain, (0, 0), blotch), np.float32)
        grain /= grain.std()
    coloured = random.random()
    if coloured < 0.25:
        return np.repeat(grain[..., :1], 3, 2)
    if coloured < 0.4:
        one = np.zeros(3, np.float32)
        one[random.integers(3)] = 1.5
        return grain * one
    return grain


def _noise(pixels: Pixels, sigma: float, random: Random) -> Floats:
    light, grain = _LIGHT[pixels], _grain(pixels.shape, random)
    if random.random() < 0.5:
        return pixels.astype(np.float32) + grain * sigma
    return to_codes(light + grain * np.sqrt(np.maximum(light, 0) + 0.02) * np.float32(sigma / 255 * 1.3))


def _smear(pixels: Pixels, sigma: float, random: Random) -> Floats:
    noisy = np.clip(pixels + _grain(pixels.shape, random) * sigma, 0, 255).astype(np.uint8)
    return np.asarray(cv2.bilateralFilter(noisy, 7, 3 * sigma + 12, 4), np.float32)


def _enlarge(pixels: Pixels, factor: float, random: Random) -> Floats:
    methods = (cv2.INTER_LINEAR, cv2.INTER_CUBIC, cv2.INTER_LANCZOS4, cv2.INTER_CUBIC)
    return _shrunk_and_grown(pixels, factor, methods[random.integers(4)])


def _pixelate(pixels: Pixels, factor: float, random: Random) -> Floats:
    return _shrunk_and_grown(pixels, factor, cv2.INTER_NEAREST)


def _shrunk_and_grown(pixels: Pixels, factor: float, method: int) -> Floats:
    height, width = pixels.shape[:2]
    small = cv2.resize(pixels, (max(8, int(width / factor)), max(8, int(height / factor))), None, 0, 0, cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, (width, height), interpolation=method), np.float32)


def _saturate(pixels: Pixels, factor: float, random: Random) -> Floats:
    values = pixels.astype(np.float32)
    grey = (values @ LUMA)[..., None]
    return np.asarray(grey + (values - grey) * factor, np.float32)


def _sharpen(pixels: Pixels, amount: float, random: Random) -> Floats:
    values = pixels.astype(np.float32)
    return np.asarray(values + amount * (values - cv2.GaussianBlur(values, (0, 0), float(random.uniform(0.8, 2)))))


def _jpeg(pixels: Pixels, quality: float, random: Random) -> Floats:
    return rewrite(pixels, int(quality)).astype(np.float32)


def _webp(pixels: Pixels, quality: float, random: Random) -> Floats:
    return rewrite(pixels, int(quality), "WEBP").astype(np.float32)


def _small_jpeg(pixels: Pixels, quality: float, random: Random) -> Floats:
    """A small JPEG file shown large."""
    height, width = pixels.shape[:2]
    small = cv2.resize(pixels, (int(width / 1.6), int(height / 1.6)), interpolation=cv2.INTER_AREA)
    again = rewrite(np.asarray(small, np.uint8), int(quality))
    return np.asarray(cv2.resize(again, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)


def _filtered(light: Floats, kernel: Floats) -> Floats:
    return np.asarray(cv2.filter2D(light, -1, kernel, borderType=cv2.BORDER_REFLECT), np.float32)


KINDS = {
    "defocus": Kind(_defocus, (1.0, 1.8, 3.0, 5.0, 8.0), (0.88, 0.68, 0.48, 0.30, 0.15)),
    "soft": Kind(_soften, (0.6, 1.0, 1.7, 2.8, 4.5), (0.93, 0.80, 0.55, 0.32, 0.17)),
    "motion": Kind(_shake, (3, 6, 11, 19, 31), (0.88, 0.68, 0.47, 0.28, 0.14)),
    "dark": Kind(_darken, (0.78, 0.58, 0.4, 0.26, 0.15), (0.92, 0.76, 0.56, 0.38, 0.20)),
    "bright": Kind(_brighten, (1.5, 2.2, 3.2, 5.0, 9.0), (0.92, 0.76, 0.56, 0.38, 0.20)),
    "flat": Kind(_flatten, (0.78, 0.6, 0.43, 0.29, 0.17), (0.93, 0.80, 0.62, 0.44, 0.26)),
    "haze": Kind(_haze, (0.12, 0.28, 0.45, 0.64, 0.82), (0.94, 0.82, 0.65, 0.46, 0.26)),
    "hard": Kind(_harden, (1.25, 1.6, 2.1, 2.9, 4.2), (0.94, 0.83, 0.66, 0.47, 0.28)),
    "cast": Kind(_tint, (0.15, 0.3, 0.5, 0.8, 1.3), (0.93, 0.80, 0.62, 0.45, 0.30)),
    "noise": Kind(_noise, (4, 8, 14, 24, 40), (0.92, 0.77, 0.58, 0.38, 0.18)),
    "smear": Kind(_smear, (5, 9, 14, 22, 34), (0.90, 0.76, 0.60, 0.44, 0.28)),
    "enlarged": Kind(_enlarge, (1.5, 2.1, 2.9, 4.0, 6.5), (0.92, 0.74, 0.55, 0.37, 0.17)),
    "nearest": Kind(_pixelate, (1.4, 2, 3, 4.5, 7), (0.90, 0.70, 0.48, 0.28, 0.12)),
    "colourful": Kind(_saturate, (1.4, 1.9, 2.6, 3.6, 5.0), (0.94, 0.82, 0.64, 0.46, 0.30)),
    "sharpened": Kind(_sharpen, (0.7, 1.5, 2.8, 4.6, 7.5), (0.95, 0.84, 0.66, 0.48, 0.30)),
    "jpeg": Kind(_jpeg, (62, 38, 22, 12, 6), (0.95, 0.84, 0.64, 0.40, 0.18)),
    "webp": Kind(_webp, (65, 38, 20, 9, 1), (0.94, 0.82, 0.64, 0.46, 0.28)),
    "twice": Kind(_small_jpeg, (75, 45, 25, 14, 7), (0.78, 0.68, 0.52, 0.33, 0.16)),
}
