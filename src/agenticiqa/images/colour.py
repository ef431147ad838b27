"""From any Pillow mode to 8-bit sRGB, by stated rules, strip by strip so that a big image needs little memory."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms

from agenticiqa.errors import ImageFormatError

Pixels = NDArray[np.uint8]
"""An upright image, height × width × 3, sRGB."""
Step = Callable[[Image.Image], Image.Image]

# So many pixels of four bytes stay in the cache of a processor while they go from one form to the next.
_STRIP_PIXELS = 200_000
# What shows through transparent places: the middle of what the eye sees, neither burnt out nor black, and not the 128
# that decoders put where a file ended early.
FILLING = 119


def to_srgb(image: Image.Image) -> tuple[Pixels, list[str]]:
    """The image as H×W×3 sRGB bytes, and a note for every conversion; leaves the image as it was."""
    reduce, notes = _reduction(image)
    transform, colour_notes = _colour_transform(image, reduce)
    pixels = np.empty((image.height, image.width, 3), np.uint8)
    for top, strip in strips(image):
        pixels[top : top + strip.height] = np.asarray(_finish(reduce(strip), transform))
    return pixels, notes + colour_notes


def is_transparent(image: Image.Image) -> bool:
    """Whether something shows through the image; an alpha channel that is opaque everywhere lets nothing through."""
    no_palette = image.mode == "P" and image.palette is None
    if no_palette or not image.has_transparency_data or image.mode.startswith("I"):
        return False
    # A strip at a time: a large picture is not held twice.
    parts = (part if part.mode in ("RGBA", "LA") else part.convert("RGBA") for _, part in strips(image))
    return any(part.getchannel("A").getextrema()[0] != 255 for part in parts)


def strips(image: Image.Image) -> Iterator[tuple[int, Image.Image]]:
    """The image in full-width strips of about 200,000 pixels, each with its first row."""
    rows = max(1, _STRIP_PIXELS // image.width)
    for top in range(0, image.height, rows):
        yield top, image.crop((0, top, image.width, min(top + rows, image.height)))


def _reduction(image: Image.Image) -> tuple[Step, list[str]]:
    """How to bring the image's mode to L, RGB, RGBA, CMYK or LAB, and the notes on it."""
    mode, transparent = image.mode, "transparency" in image.info or image.mode == "PA"
    grey, alpha = ["grey repeated in R, G and B"], [f"alpha composited on grey {FILLING}"]
    if mode.startswith("I;16"):
        ignored = ["transparent colour of a 16-bit image ignored"] if transparent else []
        return _from_sixteen_bit, ["16-bit grey reduced to 8 bits (value // 256)", *ignored, *grey]
    if mode in ("I", "F"):
        return _numeric_reduction(image)
    if mode in ("P", "PA"):
        palette = ["palette expanded to RGB"]
        return (_converted("RGBA"), palette + alpha) if transparent else (_converted("RGB"), palette)
    if mode in ("1", "L", "LA", "La"):
        if mode == "La":
            return lambda strip: strip.convert("LA").convert("RGBA"), grey + alpha
        return (_converted("RGBA"), grey + alpha) if transparent or mode == "LA" else (_converted("L"), grey)
    if mode in ("RGBA", "RGBa") or (mode == "RGB" and transparent):
        return _converted("RGBA"), alpha
    if mode in ("RGB", "CMYK", "LAB"):
        return _converted(mode), []
    if mode in ("RGBX", "YCbCr", "HSV"):
        return _converted("RGB"), [f"{mode} converted to RGB"]
    raise ImageFormatError(f"has the pixel mode {mode}, which has no stated meaning; save it as RGB first")


def _converted(mode: str) -> Step:
    return lambda strip: strip if strip.mode == mode else strip.convert(mode)


# Pillow would copy what has the mode already.
_in_rgb = _converted("RGB")


def _from_sixteen_bit(strip: Image.Image) -> Image.Image:
    return Image.fromarray((np.asarray(strip) >> 8).astype(np.uint8))


def _numeric_reduction(image: Image.Image) -> tuple[Step, list[str]]:
    scale, note = value_scale(np.asarray(strip) for _, strip in strips(image))
    return (
        lambda strip: Image.fromarray(scaled_to_bytes(np.asarray(strip), scale)),
        [note, "grey repeated in R, G and B"],
    )


def value_scale(parts: Iterator[NDArray[np.generic]]) -> tuple[float, str]:
    """The factor that brings these numbers to 0–255, and the note that states the rule.

    Floats within 0–1 are multiplied by 255; floats or integers within 0–255 are kept; integers within 0–65535
    are divided by 257. Anything else, NaN and infinity included, is an error: guessing would change quality.
    """
    low, high, floating = np.inf, -np.inf, False
    for part in parts:
        floating = np.issubdtype(part.dtype, np.floating)
        low, high = min(low, float(part.min())), max(high, float(part.max()))
        if not np.isfinite([low, high]).all():
            raise ImageFormatError("holds NaN or infinite pixels; replace them before assessing the image")
    name = "floating-point" if floating else "integer"
    if floating and low >= 0 and high <= 1:
        return 255.0, "floating-point values in 0–1 multiplied by 255"
    if low >= 0 and high <= 255:
        return 1.0, f"{name} values in 0–255 rounded to 8 bits"
    if not floating and low >= 0 and high <= 65535:
        return 1 / 257, "integer values in 0–65535 divided by 257"
    raise ImageFormatError(
        f"holds {name} values from {low:g} to {high:g}, which have no stated meaning; rescale them to 0–255"
    )


def scaled_to_bytes(values: NDArray[np.generic], scale: float) -> Pixels:
    """The values times the scale, rounded half to even, as bytes."""
    return np.rint(values.astype(np.float64) * scale).astype(np.uint8)


def _finish(strip: Image.Image, transform: ImageCms.ImageCmsTransform | None) -> Image.Image:
    colour = strip.convert("RGB") if strip.mode == "RGBA" else strip
    colour = transform.apply(colour) if transform else _in_rgb(colour)
    if strip.mode != "RGBA":
        return colour
    canvas = Image.new("RGB", strip.size, (FILLING, FILLING, FILLING))
    canvas.paste(colour, mask=strip.getchannel("A"))
    return canvas


def _colour_transform(image: Image.Image, reduce: Step) -> tuple[ImageCms.ImageCmsTransform | None, list[str]]:
    mode = reduce(image.crop((0, 0, 1, 1))).mode.replace("RGBA", "RGB")
    if mode == "LAB":
        return _transform(ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")), "LAB"), ["CIELAB converted to sRGB"]
    plain = ["CMYK converted to RGB without a profile"] if mode == "CMYK" else []
    profile = image.info.get("icc_profile")
    if not profile:
        return None, plain
    try:
        transform = _transform(ImageCms.ImageCmsProfile(io.BytesIO(profile)), mode)
        unchanged = mode != "CMYK" and _changes_nothing(transform, mode)
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return None, [*plain, "embedded ICC profile unusable and ignored"]
    if unchanged:
        return None, ["embedded ICC profile is sRGB; pixels kept"]
    name = "grey" if mode == "L" else mode
    return transform, [f"{name} converted to sRGB by the embedded ICC profile"]


def _transform(profile: ImageCms.ImageCmsProfile, mode: str) -> ImageCms.ImageCmsTransform:
    # By the default short cut, saturated CIELAB colours come out up to five levels wrong.
    flags = ImageCms.Flags.NOOPTIMIZE if mode == "LAB" else ImageCms.Flags.NONE
    target, intent = ImageCms.createProfile("sRGB"), ImageCms.Intent.RELATIVE_COLORIMETRIC
    return ImageCms.buildTransform(profile, target, mode, "RGB", intent, flags)


def _changes_nothing(transform: ImageCms.ImageCmsTransform, mode: str) -> bool:
    """Whether the transform moves no colour of a 16-step cube by more than one level: then it is sRGB itself."""
    levels = np.arange(0, 256, 17, dtype=np.uint8)
    cube = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(16, 256, 3)
    probe = Image.fromarray(levels[np.newaxis] if mode == "L" else cube)
    before = np.asarray(probe.convert("RGB"), np.int16)
    return bool(np.abs(np.asarray(transform.apply(probe), np.int16) - before).max() <= 1)
