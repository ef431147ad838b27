"""Pictures that went through a camera: faults in the order in which nature, lens, sensor and file make them.

A `Shot` says how much of each fault there is. `take` makes the picture: haze and glare, blur of lens and movement,
exposure with clipping, white balance and sensor noise with the traces of demosaicking and denoising, all in linear
light; then the tone curve, colours, size and sharpening; at the end a JPEG, a WebP or no file at all, for clean
pictures as for spoilt ones, so that the traces of a file say nothing about damage. `severities` says how strong each
flaw of the guide is (0 none, 1 slight, 2 moderate, 3 severe, 4 beyond), by the amounts and by what they did.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Random = np.random.Generator
FLAWS = ("blur", "noise", "compression", "dark", "bright", "contrast", "colour", "oversharp")


@dataclass(frozen=True)
class Shot:
    """The amounts of one picture's faults; the defaults do nothing."""

    defocus: float = 0.0
    """Radius of the lens's disc in pixels."""
    motion: float = 0.0
    """Length of the path the camera moved along, in pixels."""
    soft: float = 0.0
    """Sigma of a soft lens or of an enlargement, in pixels."""
    stops: float = 0.0
    """Exposure against the right one."""
    cast: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Stops by which white balance errs per channel."""
    noise: float = 0.0
    """Sigma in mid grey, in grey levels."""
    blotches: float = 0.0
    """How far denoising joined the grain to blotches, sigma in pixels."""
    haze: float = 0.0
    """Share of the light that is air."""
    contrast: float = 1.0
    """Steepness of the tone curve about its middle."""
    saturation: float = 1.0
    sharpening: float = 0.0
    size: float = 1.0
    """Factor of the sides before sharpening."""
    codec: str = "none"
    quality: int = 95


@dataclass(frozen=True)
class Taken:
    """A picture, the same without its faults of light and colour, and the noise it got."""

    pixels: Pixels
    clean: Pixels
    grain: float


def take(scene: Pixels, shot: Shot, seed: int) -> Taken:
    """The picture a camera makes of a clean one."""
    random = np.random.default_rng((seed, 11))
    light = _to_light(scene)
    light = light * (1 - shot.haze) + np.float32(random.uniform(0.5, 0.85)) * shot.haze
    light = _blurred(light, shot, random)
    light = light * np.exp2(np.float32(shot.stops) + np.array(shot.cast, np.float32))
    quiet = _developed(np.clip(light, 0, 1), shot)
    grain = _grain(light, shot, random)
    picture = _developed(np.clip(light + grain, 0, 1), shot) if shot.noise else quiet
    finished = _finished(picture, shot)
    heard = float(np.std(picture[::2, ::2] - quiet[::2, ::2])) if shot.noise else 0.0
    return Taken(_filed(finished, shot), _finished(scene.astype(np.float32), Shot(size=shot.size)), heard)


def severities(shot: Shot, taken: Taken) -> dict[str, float]:
    """How strong each flaw of the guide is in the picture taken."""
    before, after = (_lightness(picture) for picture in (taken.clean, taken.pixels))
    drop, rise = (float(np.mean(np.maximum(d, 0))) for d in (before[0] - after[0], after[0] - before[0]))
    burnt = float(np.mean((taken.pixels.min(axis=2) >= 250) & (taken.clean.min(axis=2) < 250)))
    cast = float(np.hypot(*(after[n].mean() - before[n].mean() for n in (1, 2))))
    sigma = float(np.sqrt((shot.defocus / 2) ** 2 + (shot.motion / 3.5) ** 2 + shot.soft**2)) * shot.size
    dark = _scale(drop, 8, 16, 28, 42) if shot.stops < 0 else 0.0
    bright = max(_scale(burnt, 0.05, 0.12, 0.25, 0.5), _scale(rise, 12, 22, 34, 48)) if shot.stops > 0 else 0.0
    return {
        "blur": _scale(sigma, 0.7, 1.3, 2.5, 4.5),
        "noise": _scale(taken.grain, 4, 7.5, 14, 26),
        "compression": _visible_coding(shot),
        "dark": dark,
        "bright": bright,
        "contrast": max(_scale(shot.haze, 0.15, 0.3, 0.5, 0.75), _curve_fault(shot.contrast)),
        "colour": max(_scale(cast, 8, 15, 26, 42), _saturation_fault(shot.saturation)),
        "oversharp": _scale(shot.sharpening, 1.2, 2.4, 4.2, 7.0),
    }


def draw_shot(random: Random, faults: int) -> Shot:
    """A camera with some faults, other amounts being those of a good one; a file of unsuspicious quality."""
    shot = Shot(
        soft=float(random.uniform(0, 0.45)),
        stops=float(random.normal(0, 0.12)),
        noise=float(random.uniform(0, 2.0)),
        sharpening=float(random.choice([0, random.uniform(0, 0.8)])),
        size=float(random.choice([1, random.uniform(0.7, 1.0)])),
        **unsuspicious_file(random),
    )
    names = (
        "blur",
        "blur",
        "noise",
        "dark",
        "bright",
        "bright",
        "contrast",
        "colour",
        "colour",
        "coding",
        "coding",
        "oversharp",
    )
    for name in random.choice(list(dict.fromkeys(random.permutation(names))), faults, replace=False):
        shot = _with_fault(shot, str(name), random)
    return shot


def recode(pixels: Pixels, codec: str, quality: int) -> Pixels:
    """The picture after one round through a file; codec "none" leaves it as it is."""
    if codec == "none":
        return pixels
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, codec, quality=quality)
    return np.asarray(Image.open(stream).convert("RGB"))


def unsuspicious_file(random: Random) -> dict[str, Any]:
    """Codec and quality of a file nobody would complain about."""
    codec = str(random.choice(["jpeg", "jpeg", "webp", "none"]))
    return {"codec": codec, "quality": int(random.integers(72 if codec == "jpeg" else 70, 98))}


def _with_fault(shot: Shot, name: str, random: Random) -> Shot:
    """The shot with one fault of random strength."""
    strength = float(random.uniform(0.15, 1.0))
    if name == "blur":
        kind = str(random.choice(["defocus", "motion", "soft"]))
        return replace(shot, **{kind: {"defocus": 11.0, "motion": 34.0, "soft": 4.5}[kind] * strength**1.6})
    if name == "noise":
        return replace(shot, noise=36 * strength**1.5, blotches=float(random.choice([0, 0, 0.8, 1.4])))
    if name == "dark":
        return replace(shot, stops=-4.5 * strength, noise=shot.noise + float(random.uniform(0, 5)) * strength)
    if name == "bright":
        return replace(shot, stops=4.0 * strength)
    if name == "contrast":
        return _contrast_fault(shot, strength, random)
    if name == "colour":
        return _colour_fault(shot, strength, random)
    if name == "coding":
        codec = str(random.choice(["jpeg", "jpeg", "webp"]))
        return replace(shot, codec=codec, quality=max(3, int((60 if codec == "jpeg" else 45) * (1 - strength**0.6))))
    return replace(shot, sharpening=7.0 * strength)


def _contrast_fault(shot: Shot, strength: float, random: Random) -> Shot:
    if random.random() < 0.4:
        return replace(shot, haze=0.8 * strength)
    return replace(shot, contrast=1 - 0.85 * strength if random.random() < 0.65 else 1 + 2.2 * strength)


def _colour_fault(shot: Shot, strength: float, random: Random) -> Shot:
    if random.random() < 0.35:
        return replace(shot, saturation=1 + 2.6 * strength if random.random() < 0.7 else 1 - 0.85 * strength)
    # Wrong white balance is mostly too warm or too cold; a green or magenta tint is rarer.
    warm, tint = random.normal(0, 1), random.normal(0, 0.45)
    gains = np.array([warm + tint / 2, -tint, -warm + tint / 2])
    gains = 1.9 * strength * gains / np.abs(gains).max()
    return replace(shot, cast=tuple(float(gain) for gain in gains))  # type: ignore[arg-type]


def _blurred(light: Floats, shot: Shot, random: Random) -> Floats:
    if shot.defocus > 0.3:
        light = _filtered(light, _disc(shot.defocus))
    if shot.motion > 1:
        light = _filtered(light, _path(shot.motion, random))
    if shot.soft > 0.2:
        light = np.asarray(cv2.GaussianBlur(light, (0, 0), shot.soft, borderType=cv2.BORDER_REFLECT))
    return light


def _grain(light: Floats, shot: Shot, random: Random) -> Floats:
    """Sensor noise in linear light: shot noise and read noise, joined by demosaicking and denoising."""
    noise = random.standard_normal(light.shape).astype(np.float32)
    # Red and blue are sampled at a quarter of the sites: their noise is coarser than that of green.
    for channel, sigma in ((0, 0.75), (1, 0.5), (2, 0.75)):
        width = float(np.hypot(sigma, shot.blotches))
        noise[..., channel] = cv2.GaussianBlur(noise[..., channel], (0, 0), width)
    noise /= noise.std() + 1e-6
    if random.random() < 0.4:
        noise = 0.75 * noise.mean(axis=2, keepdims=True) * np.sqrt(3) + 0.45 * noise
    # The slope of the tone curve at mid grey turns grey levels into light.
    return noise * np.sqrt(np.maximum(light, 0) / 0.21 + 0.05).astype(np.float32) * np.float32(shot.noise / 255 * 0.42)


def _developed(light: Floats, shot: Shot) -> Floats:
    """Tone curve, contrast and saturation, in grey levels."""
    tones = 255 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 1e-8) ** (1 / 2.4) - 0.055)
    if shot.contrast != 1:
        middle = tones.mean() if shot.contrast > 1 else 0.5 * tones.mean() + 64
        tones = middle + (tones - tones.mean()) * shot.contrast
    if shot.saturation != 1:
        grey = (tones @ np.array([0.299, 0.587, 0.114], np.float32))[..., None]
        tones = grey + (tones - grey) * shot.saturation
    return np.asarray(np.clip(tones, 0, 255), np.float32)


def _finished(tones: Floats, shot: Shot) -> Pixels:
    """The picture at its size, sharpened, in whole values."""
    if shot.size != 1:
        size = (round(tones.shape[1] * shot.size), round(tones.shape[0] * shot.size))
        tones = np.asarray(cv2.resize(tones, size, interpolation=cv2.INTER_AREA), np.float32)
    if shot.sharpening:
        tones = tones + np.float32(shot.sharpening) * (tones - cv2.GaussianBlur(tones, (0, 0), 1.2))
    return np.clip(np.rint(tones), 0, 255).astype(np.uint8)


def _filed(pixels: Pixels, shot: Shot) -> Pixels:
    return recode(pixels, shot.codec, shot.quality)


def _to_light(pixels: Pixels) -> Floats:
    table = np.arange(256, dtype=np.float32) / 255
    table = np.where(table <= 0.04045, table / 12.92, ((table + 0.055) / 1.055) ** 2.4).astype(np.float32)
    return np.asarray(table[pixels])


def _lightness(pixels: Pixels) -> tuple[Floats, Floats, Floats]:
    lab = cv2.cvtColor(pixels[::2, ::2].astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    return lab[..., 0], lab[..., 1], lab[..., 2]


def _disc(radius: float) -> Floats:
    reach = int(np.ceil(radius))
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disc = np.clip(radius + 0.5 - np.hypot(rows, columns), 0, 1)
    return np.asarray(disc / disc.sum(), np.float32)


def _path(length: float, random: Random) -> Floats:
    """A bent path of the given length, each point of it exposed equally long."""
    side = int(np.ceil(length)) | 1
    kernel = np.zeros((side, side), np.float32)
    angle, bend = random.uniform(0, np.pi), random.normal(0, 0.35)
    along = np.linspace(-0.5, 0.5, 8 * side)
    turned = angle + bend * along
    rows, columns = (side // 2 + along * (length - 1) * part for part in (np.sin(turned), np.cos(turned)))
    np.add.at(kernel, (np.rint(rows).astype(int), np.rint(columns).astype(int)), 1)
    return np.asarray(kernel / kernel.sum(), np.float32)


def _filtered(light: Floats, kernel: Floats) -> Floats:
    return np.asarray(cv2.filter2D(light, -1, kernel, borderType=cv2.BORDER_REFLECT))


def _visible_coding(shot: Shot) -> float:
    """Coding is a flaw where it is seen, not where a file has a quantisation table."""
    if shot.codec == "none":
        return 0.0
    limits = (45, 28, 16, 8) if shot.codec == "jpeg" else (30, 15, 6, 1)
    return _scale(-shot.quality, *(-limit for limit in limits))


def _curve_fault(contrast: float) -> float:
    return _scale(1 - contrast, 0.25, 0.42, 0.58, 0.75) if contrast < 1 else _scale(contrast, 1.4, 1.8, 2.4, 3.2)


def _saturation_fault(saturation: float) -> float:
    if saturation < 1:
        return _scale(1 - saturation, 0.45, 0.7, 0.95, 1.2)
    return _scale(saturation, 1.5, 2.0, 2.8, 3.8)


def _scale(amount: float, slight: float, moderate: float, severe: float, beyond: float) -> float:
    """The severity of an amount, in between by straight lines; half of "slight" is where it begins."""
    begin = slight - (moderate - slight) * 0.8
    return float(np.interp(amount, (begin, slight, moderate, severe, beyond), (0, 1, 2, 3, 4)))
