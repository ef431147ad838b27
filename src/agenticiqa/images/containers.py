"""What a file's bytes say before a decoder runs: its kind, its frames, its orientation.

Pillow reports damaged metadata with `warnings.warn`, and a warning filter is shared by all threads, so it
cannot be set for one image. Here the metadata that would warn is taken out of the decoder's copy instead.
"""

from __future__ import annotations

import io
import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PIL.JpegImagePlugin import JpegImageFile

from agenticiqa.images import tiff

_NAMES = ("JPEG", "PNG", "WebP", "BMP", "TIFF", "GIF", "AVIF", "HEIC")
MEDIA_TYPES = {name: f"image/{name.lower()}" for name in _NAMES}
_SIGNATURES = {
    "JPEG": (b"\xff\xd8\xff",),
    "PNG": (b"\x89PNG\r\n\x1a\n",),
    "GIF": (b"GIF87a", b"GIF89a"),
    "BMP": (b"BM",),
    "TIFF": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
}


@dataclass(frozen=True)
class Container:
    """The bytes a decoder may see, and what was read from the bytes it may not."""

    data: bytes
    frames: int = 1
    orientation: int = 1
    sixteen_bit: bool = False
    passes: int = 1
    """How often a decoder goes over the whole picture, at most."""


def sniff(data: bytes) -> str | None:
    """The kind of image these bytes begin like, whatever the file is called; None if it is none of ours."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WebP"
    if data[4:8] == b"ftyp":
        return _sniff_brand(data)
    return next((kind for kind, starts in _SIGNATURES.items() if data.startswith(starts)), None)


def _sniff_brand(data: bytes) -> str | None:
    size = min(int.from_bytes(data[:4], "big"), 256)
    brands = {data[at : at + 4] for at in (8, *range(16, size - 3, 4))}
    if brands & {b"avif", b"avis"}:
        return "AVIF"
    if brands & {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1"}:
        return "HEIC"
    return None


# How a whole file ends; a few bytes may follow that belong to nobody.
_ENDINGS = {"JPEG": b"\xff\xd9", "PNG": b"IEND"}
_AFTER_THE_END = 64


def is_complete(kind: str, data: bytes) -> bool:
    """Whether the data goes on to its end, by the mark or the length its format has; False where none is known."""
    if kind in _ENDINGS:
        return _ENDINGS[kind] in data[-_AFTER_THE_END:]
    if kind == "WebP":
        return len(data) >= 8 + int.from_bytes(data[4:8], "little")
    if kind == "GIF":
        return data.endswith(b";")
    return kind == "BMP" and len(data) >= int.from_bytes(data[2:6], "little") > 0


def inspect(kind: str, data: bytes) -> Container:
    """The decoder's copy of a file of this kind; damaged bytes are passed on for the decoder to refuse."""
    if kind == "PNG":
        return _inspect_png(data)
    if kind == "GIF":
        return _inspect_gif(data)
    if kind == "TIFF":
        return Container(*tiff.inspect(data))
    if kind == "AVIF":
        return Container(_without_exif_items(data))
    if kind == "JPEG":
        return Container(data, passes=_scans(data))
    if kind == "HEIC":
        return Container(data, passes=_overlays(data))
    return Container(data)


# A marker of JPEG: neither a byte FF of the picture's data nor a restart.
_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])")
JPEG_SCAN, JPEG_END = 0xDA, 0xD9
_WITHOUT_LENGTH = (0x01, 0xD8, JPEG_END)


def jpeg_segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Marker, start and end of each segment up to the end marker; what lies between them is the data of scans."""
    marker, end = 0, 2
    while marker != JPEG_END and (found := _MARKER.search(data, end)):
        marker, end = found[1][0], found.end()
        if marker not in _WITHOUT_LENGTH:
            end += int.from_bytes(data[end : end + 2], "big")
        yield marker, found.start(), end


def _scans(data: bytes) -> int:
    """How many scans a JPEG has: each of them is a pass over every block of the picture."""
    most = data.count(b"\xff\xda")
    if most <= 16:
        # So few need not be told from those of a thumbnail.
        return max(most, 1)
    return max(sum(marker == JPEG_SCAN for marker, _, _ in jpeg_segments(data)), 1)


def _overlays(data: bytes) -> int:
    """How many pictures a HEIC lays over each other: every use of one is decoded anew, and overlays may nest."""
    meta = next((box for name, box in _boxes(data) if name == b"meta"), b"")[4:]
    parts = dict(_boxes(meta))
    kinds = dict(_item_kinds(parts.get(b"iinf", b"")))
    drawn = [count for item, count in _derivations(parts.get(b"iref", b"")) if kinds.get(item) == b"iovl"]
    # Of several overlays one may use another, and the uses multiply.
    return max(1, math.prod(drawn))


def _boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while at + 8 <= len(data):
        size, head = int.from_bytes(data[at : at + 4], "big"), 8
        if size == 1:
            size, head = int.from_bytes(data[at + 8 : at + 16], "big"), 16
        end = at + size if size else len(data)
        if end < at + head:
            return
        yield data[at + 4 : at + 8], data[at + head : end]
        at = end


def _item_kinds(listed: bytes) -> Iterator[tuple[int, bytes]]:
    """The number and the kind of every item that an `iinf` box lists."""
    for name, entry in _boxes(listed[6 if listed[:1] == b"\0" else 8 :]):
        if name == b"infe" and entry[:1] in (b"\2", b"\3"):
            wide = 4 if entry[0] == 3 else 2
            yield int.from_bytes(entry[4 : 4 + wide], "big"), entry[6 + wide : 10 + wide]


def _derivations(references: bytes) -> Iterator[tuple[int, int]]:
    """The number of every item that is made of others, and of how many, by an `iref` box."""
    wide = 4 if references[:1] == b"\1" else 2
    for name, entry in _boxes(references[4:]):
        if name == b"dimg":
            yield int.from_bytes(entry[:wide], "big"), int.from_bytes(entry[wide : wide + 2], "big")


# Text and animation chunks: no pixel of the first frame depends on them.
_PNG_DROPPED = (b"acTL", b"fcTL", b"fdAT", b"tEXt", b"zTXt", b"iTXt")


def _inspect_png(data: bytes) -> Container:
    kept, frames, at = [data[:8]], 1, 8
    while at + 12 <= len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        chunk = data[at : at + 12 + size]
        if name == b"acTL" and size >= 4:
            frames = int.from_bytes(chunk[8:12], "big")
        if name not in _PNG_DROPPED:
            kept.append(chunk)
        at += 12 + size
    kept.append(data[at:])
    return Container(b"".join(kept), frames=max(frames, 1), sixteen_bit=data[24:25] == b"\x10")


def _inspect_gif(data: bytes) -> Container:
    blocks = list(_gif_blocks(data))
    images = [(at, end) for at, end in blocks if data[at] == _GIF_IMAGE]
    if not images:
        raise ValueError("no frame in it")
    at, end = images[0]
    controls = [data[c : c + 8] for c, _ in blocks if c < at and data[c : c + 3] == b"!\xf9\x04"]
    # Pillow grows the canvas to the first frame, and may warn while doing so; here it is grown beforehand.
    canvas, (left, top, width, height) = struct.unpack_from("<HH", data, 6), struct.unpack_from("<HHHH", data, at + 1)
    grown = max(canvas[0], left + width), max(canvas[1], top + height)
    head = data[:6] + struct.pack("<HH", *grown) + data[10 : 13 + _palette_size(data[10:11])]
    tail = b";" if end <= len(data) else b""
    return Container(head + b"".join(controls[-1:]) + data[at:end] + tail, frames=len(images))


_GIF_EXTENSION, _GIF_IMAGE, _GIF_END = b"!,;"


def _gif_blocks(data: bytes) -> Iterator[tuple[int, int]]:
    at = 13 + _palette_size(data[10:11])
    while at < len(data) and data[at] != _GIF_END:
        if data[at] == _GIF_IMAGE and at + 10 <= len(data):
            end = _end_of_blocks(data, at + 11 + _palette_size(data[at + 9 : at + 10]))
        elif data[at] == _GIF_EXTENSION:
            end = _end_of_blocks(data, at + 2)
        else:
            return
        yield at, end
        at = end


def _palette_size(flags: bytes) -> int:
    return 3 * 2 ** ((flags[0] & 7) + 1) if flags and flags[0] & 0x80 else 0


def _end_of_blocks(data: bytes, at: int) -> int:
    while at < len(data) and data[at]:
        at += 1 + data[at]
    return at + 1


# The AVIF standard orients by `irot` and `imir`; an EXIF orientation is to be ignored.
_AVIF_EXIF_ITEM = re.compile(rb"(infe(?:\x02.{3}..|\x03.{3}....)..)Exif", re.DOTALL)


def _without_exif_items(data: bytes) -> bytes:
    return _AVIF_EXIF_ITEM.sub(rb"\1skip", data)


# The luminance steps at quality 50 that the JPEG standard (annex K) gives as an example, row by row.
_STANDARD_STEPS = np.array([
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51,
    87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
    72, 92, 95, 98, 112, 100, 103, 99,
])  # fmt: skip


def stored_quality(data: bytes) -> int | None:
    """The setting from 1 to 100, as libjpeg counts, whose table is nearest to the file's; None where it is no JPEG."""
    if not data.startswith(b"\xff\xd8"):
        return None
    try:
        tables = JpegImageFile(io.BytesIO(data)).quantization
    except (OSError, SyntaxError, ValueError):
        return None
    if not tables or len(tables[min(tables)]) != len(_STANDARD_STEPS):
        return None
    # Encoders differ in the order they store a table in.
    luminance = np.sort(tables[min(tables)])
    return 1 + int(np.abs(np.sort(luminance_steps()) - luminance).sum(axis=1).argmin())


@lru_cache(maxsize=1)
def luminance_steps() -> npt.NDArray[np.intp]:
    """libjpeg's 64 luminance steps of every quality from 1 to 100, one quality below the other."""
    qualities = np.arange(1, 101)[:, None]
    scales = np.where(qualities < 50, 5000 // qualities, 200 - 2 * qualities)
    return np.asarray(np.clip((_STANDARD_STEPS * scales + 50) // 100, 1, 255), np.intp)
