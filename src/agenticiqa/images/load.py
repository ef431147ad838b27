"""One loader for every image the product looks at."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from agenticiqa.errors import (
    ImageDamagedError,
    ImageError,
    ImageFormatError,
    ImageShapeError,
    ImageTooLargeError,
    ImageTooSmallError,
    ImageTruncatedError,
    MissingExtraError,
)
from agenticiqa.images.colour import Pixels, is_transparent, scaled_to_bytes, to_srgb, value_scale
from agenticiqa.images.containers import MEDIA_TYPES, Container, inspect, is_complete, sniff
from agenticiqa.images.decode import decode_plain_webp, is_plain_webp, open_header, webp_size
from agenticiqa.images.decoder_process import decode_apart
from agenticiqa.images.files import check_byte_count, read_file
from agenticiqa.images.tiff import exif_orientation


@dataclass(frozen=True)
class NamedBytes:
    """An image's bytes, and what messages call them."""

    name: str
    data: bytes = field(repr=False)


ImageSource = str | Path | bytes | bytearray | memoryview | NamedBytes | BinaryIO | Image.Image | NDArray[Any]
_WEB_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|data:", re.ASCII)


@dataclass(frozen=True)
class ImageLimits:
    """How large and how small an image may be; 8 pixels are one JPEG block, the least a metric can look at.

    `max_pixels` holds for decoders that need 8 bytes per pixel in all; with the defaults that stays under 1 GB.
    Kinds whose decoders need more may have fewer pixels: TIFF 100 million, progressive JPEG, AVIF, HEIC and WebP
    75 million, WebP that moves or has transparent places 37 million. The long side may be `max_ratio` times the short
    one: a strip that is narrower shows nothing a person could judge, and has to be enlarged a thousandfold before a
    model can look at it.
    """

    max_pixels: int = 120_000_000
    max_bytes: int = 256 * 2**20
    min_side: int = 8
    max_ratio: int = 64

    def pixels_for(self, kind: str) -> int:
        """How many pixels an image of this kind may have: `max_pixels`, or what a gigabyte is enough to decode.

        Whoever raises `max_pixels` above its default raises that amount of memory with it.
        """
        memory = max(self.max_pixels, _DEFAULT_MAX_PIXELS)
        return min(self.max_pixels, int(memory / _MEMORY_WEIGHTS.get(kind, 1.0)))


_DEFAULT_MAX_PIXELS = 120_000_000
# Measured as peak memory per pixel, over 8 bytes.
_MEMORY_WEIGHTS = {"TIFF": 1.2, "progressive JPEG": 1.6, "AVIF": 1.6, "HEIC": 1.6, "WebP": 1.6,
                   "transparent WebP": 3.2}  # fmt: skip


def limits_by_format(max_pixels: int) -> dict[str, int]:
    """How many pixels an image may have, for every format that is read."""
    limits = ImageLimits(max_pixels)
    return {kind: limits.pixels_for(kind) for kind in (*MEDIA_TYPES, "progressive JPEG", "transparent WebP")}


_DEFAULT_LIMITS = ImageLimits()
# Encoders write 10 scans, those that search for the smallest file up to 16; the largest picture may have as many.
USUAL_PASSES, MOST_PASSES = 16, 100
# Kinds that may hold frames of any number and size which are never shown; more pixels passed over take seconds.
_HIDDEN_FRAMES, _SECONDS_OF_PIXELS = ("AVIF", "HEIC"), 500_000_000


@dataclass(frozen=True, eq=False)
class LoadedImage:
    """An upright sRGB image, with the hash of its source and every conversion that was made.

    `sha256` is that of the file's bytes; for an image given as pixels, that of "WIDTHxHEIGHT" in ASCII, a
    line feed and the sRGB bytes row by row. `original` still holds whatever metadata the file has. `frames` counts
    the pictures of the file, of which this is the first; `orientation` is the EXIF value that was applied;
    `transparent` says that something shows through, which is grey 119 here.
    """

    pixels: Pixels = field(repr=False)
    sha256: str
    original: bytes | None = field(repr=False)
    media_type: str | None
    notes: tuple[str, ...]
    path: Path | None
    frames: int = 1
    orientation: int = 1
    transparent: bool = False

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])

    @property
    def size(self) -> tuple[int, int]:
        return self.width, self.height

    def png(self) -> bytes:
        """The pixels as PNG, lossless and without any metadata."""
        # PNG, never JPEG: the assessor must not add artefacts of its own.
        target = io.BytesIO()
        Image.fromarray(self.pixels).save(target, "PNG")
        return target.getvalue()


def load_image(
    source: ImageSource, *, limits: ImageLimits = _DEFAULT_LIMITS, allowed_root: Path | None = None
) -> LoadedImage:
    """The image behind a path, bytes, open file, Pillow image or array; an ImageError says what is wrong with it.

    A web address is refused: nothing is downloaded.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        return _from_bytes(bytes(source), "the given bytes", None, limits)
    if isinstance(source, NamedBytes):
        return _from_bytes(source.data, source.name, None, limits)
    if isinstance(source, Image.Image):
        return _from_pillow(source, limits)
    if isinstance(source, np.ndarray):
        return _from_array(source, limits)
    if not isinstance(source, str | Path):
        return _from_bytes(_file_content(source, limits), "the given file", None, limits)
    if isinstance(source, str) and _WEB_ADDRESS.match(source):
        shown = source if len(source) < 200 else f"{source[:80]}…"
        raise ImageFormatError(f"{shown}: is a web address, and nothing is downloaded; save the image to a file first")
    path = Path(source)
    data = read_file(path, limits.max_bytes, allowed_root)
    return _from_bytes(data, str(path), path, limits)


def _file_content(source: BinaryIO, limits: ImageLimits) -> bytes:
    """What an open file holds, from its beginning where it can go back."""
    if not hasattr(source, "read"):
        raise ImageFormatError(
            f"{type(source).__name__} is no image; give a path, bytes, an open file, a Pillow image or an array"
        )
    try:
        if source.seekable():
            source.seek(0)
        data = source.read(limits.max_bytes + 1)
    except (OSError, ValueError) as error:
        raise ImageError(f"the given file cannot be read ({error}); open it again") from error
    if not isinstance(data, bytes):
        raise ImageFormatError("the given file holds text; open it in binary mode")
    return data


def _from_bytes(data: bytes, name: str, path: Path | None, limits: ImageLimits) -> LoadedImage:
    kind = _kind(data, name, limits)
    with _named(name, kind, data):
        container = inspect(kind, data)
        image = _opened_webp(container.data, limits) if kind == "WebP" else open_header(kind, container.data)
        _check_size(image.size, limits, f"progressive {kind}" if "progressive" in image.info else kind)
        _check_passes(container.passes, image.size, limits)
        shown = _decoded(image, kind, container)
        pixels, notes = to_srgb(shown)
        exif = b"" if kind == "HEIC" else image.info.get("exif", b"")
        orientation = exif_orientation(exif) if exif else container.orientation
        pixels, turned = upright(pixels, orientation)
        seen_through = is_transparent(shown)
    frames = _frames(container, image)
    notes = _frame_notes(container, image, frames) + notes + turned
    digest = hashlib.sha256(data).hexdigest()
    media_type = MEDIA_TYPES[kind]
    return LoadedImage(_frozen(pixels), digest, data, media_type, tuple(notes), path, frames, orientation, seen_through)


def _opened_webp(data: bytes, limits: ImageLimits) -> Image.Image:
    """A WebP, whose size is checked first: its decoders reserve the canvas before they tell it."""
    plain = is_plain_webp(data)
    _check_size(webp_size(data), limits, "WebP" if plain else "transparent WebP")
    return decode_plain_webp(data) if plain else open_header("WebP", data)


def _kind(data: bytes, name: str, limits: ImageLimits) -> str:
    if not data:
        raise ImageDamagedError(f"{name}: is empty (0 bytes); copy or download it again")
    check_byte_count(len(data), name, limits.max_bytes)
    kind = sniff(data)
    if kind is None:
        raise ImageFormatError(f"{name}: is not an image we can read; convert it to one of {', '.join(MEDIA_TYPES)}")
    return kind


@contextmanager
def _named(name: str, kind: str, data: bytes = b"") -> Iterator[None]:
    """Whatever a decoder raises, as an ImageError that names the file."""
    try:
        yield
    except ImageError as error:
        raise type(error)(f"{name}: {error}") from error
    except MissingExtraError as error:
        raise MissingExtraError(f"{name}: reading {error.what}", error.extra) from None
    except (MemoryError, Image.DecompressionBombError) as error:
        raise ImageTooLargeError(f"{name}: does not fit into memory; make it smaller") from error
    except Exception as error:  # decoders of damaged files raise nearly anything
        if is_complete(kind, data):
            raise ImageDamagedError(
                f"{name}: this {kind} is damaged or of an unknown variant ({error}); copy it again or convert it to PNG"
            ) from error
        raise ImageTruncatedError(
            f"{name}: this {kind} ends early or is damaged ({error}); copy it again or convert it to PNG"
        ) from error


def _check_size(size: tuple[int, int], limits: ImageLimits, kind: str = "image") -> None:
    width, height = size
    if width * height > limits.pixels_for(kind):
        raise ImageTooLargeError(
            f"has {width}×{height} pixels, more than the {limits.pixels_for(kind)} allowed for this kind ({kind}); "
            "make it smaller or raise pipeline.limits.max_pixels"
        )
    if min(size) < limits.min_side:
        raise ImageTooSmallError(
            f"has {width}×{height} pixels, and each side needs at least {limits.min_side}; use a larger image"
        )
    if max(size) > limits.max_ratio * min(size):
        raise ImageShapeError(
            f"has {width}×{height} pixels: a strip more than {limits.max_ratio} times as long as wide "
            "cannot be judged; crop it or cut it into pieces"
        )


def _check_passes(passes: int, size: tuple[int, int], limits: ImageLimits) -> None:
    """Raises ImageTooLargeError where decoding would go over the picture far more often than any camera asks for."""
    work = passes * size[0] * size[1]
    if passes > MOST_PASSES or work > USUAL_PASSES * limits.pixels_for("progressive JPEG"):
        raise ImageTooLargeError(
            f"is stored in {passes} passes over {size[0]}×{size[1]} pixels, which would take too long to decode; "
            "save it again with the usual settings"
        )


def _decoded(image: Image.Image, kind: str, container: Container) -> Image.Image:
    """The image with its pixels; where they may take long to decode, by a process that is ended when they do."""
    if kind not in _HIDDEN_FRAMES and container.passes * image.width * image.height < _SECONDS_OF_PIXELS:
        image.load()
        return image
    shown = decode_apart(kind, container.data)
    shown.info = image.info
    return shown


def _frames(container: Container, image: Image.Image) -> int:
    decoded = getattr(image, "n_frames", 1) if image.format in ("WEBP", "AVIF", "HEIF") else 1
    return max(container.frames, decoded)


def _frame_notes(container: Container, image: Image.Image, frames: int) -> list[str]:
    shown = "primary image" if image.format == "HEIF" else "first frame"
    notes = [f"{shown} of {frames}"] if frames > 1 else []
    if container.sixteen_bit and not image.mode.startswith("I"):
        notes.append("16-bit colour reduced to 8 bits (value // 256)")
    return notes


def upright(pixels: Pixels, orientation: int) -> tuple[Pixels, list[str]]:
    """The pixels as EXIF orientation 1 to 8 wants them shown."""
    if orientation == 1:
        return pixels, []
    if orientation >= 5:
        pixels = pixels.transpose(1, 0, 2)
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    return pixels, [f"orientation {orientation} applied"]


def _frozen(pixels: Pixels) -> Pixels:
    pixels = np.ascontiguousarray(pixels)
    pixels.flags.writeable = False
    return pixels


def _from_pillow(image: Image.Image, limits: ImageLimits, given: str = "the given image") -> LoadedImage:
    name = str(getattr(image, "filename", "") or given)
    with _named(name, image.format or "image"):
        _check_size(image.size, limits)
        image.load()
        pixels, notes = to_srgb(image)
        orientation = exif_orientation(image.info.get("exif", b""))
        pixels, turned = upright(pixels, orientation)
        seen_through = is_transparent(image)
    frozen = _frozen(pixels)
    digest = hashlib.sha256(b"%dx%d\n" % (frozen.shape[1], frozen.shape[0]))
    digest.update(frozen.data)
    frames, notes = getattr(image, "n_frames", 1), notes + turned
    return LoadedImage(frozen, digest.hexdigest(), None, None, tuple(notes), None, frames, orientation, seen_through)


def _from_array(array: NDArray[Any], limits: ImageLimits) -> LoadedImage:
    with _named("the given array", "array"):
        shape = array.shape
        if array.ndim not in (2, 3) or (array.ndim == 3 and shape[2] not in (1, 3, 4)):
            raise ImageFormatError(f"has the shape {shape}; give height × width, or that × 1, 3 or 4")
        _check_size((shape[1], shape[0]), limits)
        values, reduced = array_bytes(array)
        image = Image.fromarray(values[:, :, 0] if values.shape[2:] == (1,) else values)
    loaded = _from_pillow(image, limits, "the given array")
    return replace(loaded, notes=(*reduced, *loaded.notes))


def array_bytes(array: NDArray[Any]) -> tuple[Pixels, list[str]]:
    """The values as bytes, and a note on how they became so."""
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array), []
    if array.dtype == np.uint16:
        return (array >> 8).astype(np.uint8), ["16-bit values reduced to 8 bits (value // 256)"]
    if array.dtype.kind not in "iuf":
        raise ImageFormatError(f"has the type {array.dtype}; give uint8, uint16, integers or floats")
    scale, note = value_scale(iter([array]))
    return scaled_to_bytes(array, scale), [note]
