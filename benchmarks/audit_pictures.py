"""Pictures with known faults for the audit: photographs with one made fault each, traps, and many small ones."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]
SEED = 20260101


def blurred(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Out of focus, by an amount that anybody sees."""
    side = min(pixels.shape[:2])
    return np.asarray(cv2.GaussianBlur(pixels, (0, 0), side * rng.uniform(0.010, 0.020)), np.uint8)


def darkened(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Under-exposed by two and a half to four stops."""
    return np.asarray(np.clip(pixels * rng.uniform(0.06, 0.2), 0, 255), np.uint8)


def overexposed(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Over-exposed until most of the light parts are white."""
    return np.asarray(np.clip(pixels.astype(np.float32) * rng.uniform(2.0, 3.0) + 90, 0, 255), np.uint8)


def noised(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Independent noise."""
    return np.asarray(np.clip(pixels + rng.normal(0, rng.uniform(22, 45), pixels.shape), 0, 255), np.uint8)


def flattened(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Hardly any contrast left."""
    mean = pixels.mean()
    return np.asarray(np.clip(mean + (pixels - mean) * rng.uniform(0.08, 0.18), 0, 255), np.uint8)


def tinted(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """A strong cast of a colour."""
    gains = np.array([[1.0, 0.75, 0.35], [0.4, 0.75, 1.0], [0.5, 1.0, 0.5], [1.0, 0.5, 0.9]])[rng.integers(4)]
    return np.asarray(np.clip(pixels * gains, 0, 255), np.uint8)


def emptied(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """One colour, or nearly."""
    flat = np.full_like(pixels, rng.integers(40, 220, 3))
    return np.asarray(np.clip(flat + rng.integers(-1, 2, pixels.shape), 0, 255), np.uint8)


def strip(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """A strip cut from it."""
    return np.ascontiguousarray(pixels[: max(16, pixels.shape[1] // 8)])


def resized(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """A twelfth of its size."""
    height, width = (max(24, side // 12) for side in pixels.shape[:2])
    return np.asarray(cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def greyed(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Without colour."""
    return np.asarray(cv2.cvtColor(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB), np.uint8)


def even_surface(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """A sharp photograph of which nine tenths are even sky: nothing in it is blurred."""
    height, width = pixels.shape[:2]
    top, bottom = rng.integers(120, 220, 3), rng.integers(180, 250, 3)
    ramp = np.linspace(0, 1, height)[:, None, None]
    sky = np.broadcast_to(top * (1 - ramp) + bottom * ramp, pixels.shape) + rng.normal(0, 1, pixels.shape)
    picture = np.clip(sky, 0, 255).astype(np.uint8)
    part = cv2.resize(pixels, (width // 3, height // 3), interpolation=cv2.INTER_AREA)
    picture[-part.shape[0] :, : part.shape[1]] = part
    return picture


def many_pixels(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Six times as wide, with grain: sharp at any size it is looked at, soft from pixel to pixel."""
    height, width = pixels.shape[:2]
    large = cv2.resize(pixels, (width * 6, height * 6), interpolation=cv2.INTER_LANCZOS4)
    return np.asarray(np.clip(large + rng.normal(0, 2, large.shape), 0, 255), np.uint8)


FAULTS: dict[str, Callable[[Pixels, np.random.Generator], Pixels]] = {
    "blurry": blurred, "dark": darkened, "light": overexposed, "noisy": noised, "low_contrast": flattened,
    "colour_cast": tinted, "low_information": emptied, "odd_aspect_ratio": strip, "odd_size": resized,
    "grayscale": greyed,
}  # fmt: skip
TRAPS = {"even": even_surface, "many": many_pixels}


def build_set(photographs: Path, folder: Path, count: int) -> dict[str, set[str]]:
    """Writes the pictures, and returns the names of those with each fault; traps are under `trap`."""
    rng = np.random.default_rng(SEED)
    files = sorted(p for p in photographs.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png"))
    chosen = [files[index] for index in rng.permutation(len(files))[:count]]
    kinds = [*FAULTS, "corrupt", "truncated", "exact_duplicates", "near_duplicates", *TRAPS]
    labels: dict[str, set[str]] = {kind: set() for kind in (*kinds, "trap")}
    written, number = 0, 0
    while written < count:
        pixels = _fitted(chosen[number % len(chosen)], rng, fresh=number < len(chosen))
        # Two fifths stay as they are.
        kind = kinds[number // 2 % len(kinds)] if number % 2 else None
        written += _write(folder, f"{number:06}", pixels, kind, rng, labels)
        number += 1
    return labels


def _cropped(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Up to 3 % cut away at each side."""
    height, width = pixels.shape[:2]
    top, bottom, left, right = rng.uniform(0, 0.03, 4)
    return pixels[int(height * top) : int(height * (1 - bottom)), int(width * left) : int(width * (1 - right))]


def _smaller(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    scale = rng.uniform(0.25, 0.7)
    return np.asarray(cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)


COPIES: dict[str, Callable[[Pixels, np.random.Generator], Pixels]] = {
    "mirrored": lambda pixels, rng: pixels[:, ::-1],
    "turned": lambda pixels, rng: np.rot90(pixels, int(rng.integers(1, 4))),
    "brightened": lambda pixels, rng: np.clip(pixels * rng.uniform(1.2, 1.6), 0, 255).astype(np.uint8),
    "darkened": lambda pixels, rng: np.clip(pixels * rng.uniform(0.4, 0.7), 0, 255).astype(np.uint8),
    "resized": _smaller,
    "cropped": _cropped,
    "JPEG quality 6": lambda pixels, rng: pixels,
    "WebP quality 40": lambda pixels, rng: pixels,
}  # fmt: skip


def build_duplicates(photographs: Path, folder: Path, count: int, each: int = 10) -> dict[str, tuple[str, str]]:
    """Writes `count` pictures: photographs, and for so many of them a copy of each kind; names the kind and original.

    Every copy has an original of its own.
    """
    rng = np.random.default_rng(SEED)
    files = sorted(p for p in photographs.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png"))
    kinds = [kind for kind in COPIES for _ in range(each)]
    chosen = [files[index] for index in rng.permutation(len(files))[: count - len(kinds)]]
    copies: dict[str, tuple[str, str]] = {}
    for number, file in enumerate(chosen):
        pixels, name = _fitted(file, rng, fresh=True), f"{number:05}.jpg"
        (folder / name).write_bytes(_jpeg(pixels))
        if number < len(kinds):
            kind = kinds[number]
            copy = f"{number:05} copy.{'webp' if 'WebP' in kind else 'jpg'}"
            (folder / copy).write_bytes(_copy(pixels, kind, rng))
            copies[copy] = kind, name
    return copies


def _copy(pixels: Pixels, kind: str, rng: np.random.Generator) -> bytes:
    changed = np.ascontiguousarray(COPIES[kind](pixels, rng))
    if "WebP" in kind:
        stream = io.BytesIO()
        Image.fromarray(changed).save(stream, "WEBP", quality=40)
        return stream.getvalue()
    return _jpeg(changed, 6 if "JPEG" in kind else 85)


def build_small(photographs: Path, folder: Path, count: int) -> None:
    """Pictures of 96 pixels, no two alike, cut from photographs."""
    rng = np.random.default_rng(SEED)
    files = sorted(p for p in photographs.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png"))[:200]
    sources = [_fitted(file, rng, fresh=True) for file in files]
    for number in range(count):
        pixels = sources[number % len(sources)]
        top, left = (int(rng.integers(max(1, side - 96))) for side in pixels.shape[:2])
        (folder / f"{number:06}.jpg").write_bytes(_jpeg(np.ascontiguousarray(pixels[top : top + 96, left : left + 96])))


def _fitted(path: Path, rng: np.random.Generator, fresh: bool) -> Pixels:
    with Image.open(path) as image:
        picture = image.convert("RGB")
    picture.thumbnail((512, 512))
    pixels = np.asarray(picture)
    if fresh:
        return pixels
    # A source used again is cropped and mirrored, so that it is another picture and no near duplicate.
    height, width = pixels.shape[:2]
    top, left = int(rng.integers(height // 3 + 1)), int(rng.integers(width // 3 + 1))
    return np.ascontiguousarray(pixels[top : top + height * 2 // 3, left : left + width * 2 // 3][:, ::-1])


def _write(
    folder: Path, name: str, pixels: Pixels, kind: str | None, rng: np.random.Generator, labels: dict[str, set[str]]
) -> int:
    """Writes one picture, or two where they are duplicates, and says how many."""
    data = _jpeg(pixels)
    if kind in ("exact_duplicates", "near_duplicates"):
        twin = data if kind == "exact_duplicates" else _jpeg(_slightly_changed(pixels, rng), 70)
        for suffix, content in (("a", data), ("b", twin)):
            (folder / f"{name}{suffix}.jpg").write_bytes(content)
            labels[kind].add(f"{name}{suffix}.jpg")
        return 2
    file = f"{name}.jpg"
    if kind == "corrupt":
        data = rng.bytes(len(data))
    elif kind == "truncated":
        data = data[: int(len(data) * rng.uniform(0.4, 0.8))] if rng.random() < 0.5 else _jpeg(_banded(pixels, rng))
    elif kind is not None:
        file = f"{name}.png" if kind == "low_information" else file
        changed = (FAULTS | TRAPS)[kind](pixels, rng)
        data = _png(changed) if kind == "low_information" else _jpeg(changed)
    (folder / file).write_bytes(data)
    if kind is not None:
        labels[kind].add(file)
        labels["trap"].update([file] if kind in TRAPS else [])
    return 1


def _banded(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """What a decoder makes of a file that ended early, saved again."""
    changed = pixels.copy()
    changed[int(pixels.shape[0] * rng.uniform(0.5, 0.9)) :] = 128
    return changed


def _slightly_changed(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Smaller, a little cropped and a little brighter, as copies on the web are."""
    cut = pixels[2:-2, 2:-2]
    small = cv2.resize(cut, None, fx=0.8, fy=0.8, interpolation=cv2.INTER_AREA)
    return np.asarray(np.clip(small.astype(np.float32) * rng.uniform(0.95, 1.05), 0, 255), np.uint8)


def _jpeg(pixels: Pixels, quality: int = 92) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=quality)
    return stream.getvalue()


def _png(pixels: Pixels) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()
