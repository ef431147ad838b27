"""Images as they are sent: the original bytes without metadata, or PNG; smaller only where a service demands it."""

from __future__ import annotations

import io
import math
import struct
from dataclasses import dataclass

from PIL import Image

from agenticiqa.images import LoadedImage
from agenticiqa.images.containers import JPEG_END, JPEG_SCAN, jpeg_segments
from agenticiqa.images.decode import riff_chunks


@dataclass(frozen=True)
class SizeRule:
    """What a service accepts, and what it does to larger images by its own account."""

    media_types: tuple[str, ...]
    max_side: int
    max_bytes: int
    shown_side: int | None = None
    """The service itself scales longer sides down to this before the model looks."""


@dataclass(frozen=True)
class SentImage:
    """One image on its way to a model, and what was done to it."""

    label: str
    media_type: str
    data: bytes
    note: str


def encode(label: str, image: LoadedImage, rule: SizeRule, *, keep_metadata: bool = False) -> SentImage:
    """The image as a service with this rule gets it: unchanged if it may be, else as PNG, smaller only if it must."""
    original = _original(image, rule, keep_metadata)
    if original is not None:
        how = "with its metadata" if keep_metadata else "metadata stripped"
        media_type = image.media_type or ""
        return SentImage(label, media_type, original, _note(label, image, f"original {media_type}, {how}", rule))
    data, size = _png_within(image, rule)
    how = "PNG" if size == image.size else f"PNG scaled from {image.width}×{image.height} to {size[0]}×{size[1]}"
    return SentImage(label, "image/png", data, _note(label, image, how, rule))


def _original(image: LoadedImage, rule: SizeRule, keep_metadata: bool) -> bytes | None:
    # Notes mean that the pixels we judge differ from the file's: turned upright, other colours, first frame.
    if image.original is None or image.notes or image.media_type not in rule.media_types:
        return None
    if max(image.size) > rule.max_side:
        return None
    data = image.original if keep_metadata else stripped(image.media_type, image.original)
    return data if data is not None and len(data) <= rule.max_bytes else None


def _png_within(image: LoadedImage, rule: SizeRule) -> tuple[bytes, tuple[int, int]]:
    picture = Image.fromarray(image.pixels)
    scale = min(1.0, rule.max_side / max(image.size))
    while True:
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        sent = picture if size == image.size else picture.resize(size, Image.Resampling.LANCZOS)
        # PNG, never JPEG: the assessor must not add artefacts of its own.
        target = io.BytesIO()
        sent.save(target, "PNG")
        if target.tell() <= rule.max_bytes or max(size) == 1:
            return target.getvalue(), size
        # The bytes of a PNG grow with its area; 0.95 so that the next try nearly always fits.
        scale *= 0.95 * math.sqrt(rule.max_bytes / target.tell())


def _note(label: str, image: LoadedImage, how: str, rule: SizeRule) -> str:
    note = f"{label} sent as {how}"
    if rule.shown_side and max(image.size) > rule.shown_side:
        note += f"; the service scales sides above {rule.shown_side} pixels down"
    return note


# JFIF and Adobe segments tell the decoder how colours are stored; all others describe the picture or its maker.
_JPEG_KEPT_APPLICATIONS = (0xE0, 0xEE)
_JPEG_COMMENT = 0xFE
_PNG_KEPT = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"sRGB", b"gAMA")
_WEBP_DROPPED = (b"EXIF", b"XMP ", b"ICCP")
_WEBP_METADATA_FLAGS = 0x20 | 0x08 | 0x04


def stripped(media_type: str, data: bytes) -> bytes | None:
    """The file without EXIF, comments, thumbnails and the like; None if its structure is not understood."""
    strip = {"image/jpeg": _jpeg, "image/png": _png, "image/webp": _webp}.get(media_type)
    try:
        return strip(data) if strip else None
    except (struct.error, IndexError, ValueError):
        return None


def _jpeg(data: bytes) -> bytes:
    kept, last, end = [data[:2]], 0, 2
    for marker, start, next_end in jpeg_segments(data):
        if start > end and last != JPEG_SCAN:
            raise ValueError("no marker where one must be")
        kept.append(data[end:start])
        is_application = 0xE0 <= marker <= 0xEF
        if marker != _JPEG_COMMENT and (not is_application or marker in _JPEG_KEPT_APPLICATIONS):
            kept.append(data[start:next_end])
        last, end = marker, next_end
    if last != JPEG_END:
        raise ValueError("no end")
    return b"".join(kept)


def _png(data: bytes) -> bytes:
    kept, at, name = [data[:8]], 8, b""
    while name != b"IEND":
        size, name = struct.unpack_from(">I4s", data, at)
        if name in _PNG_KEPT:
            kept.append(data[at : at + 12 + size])
        at += 12 + size
    return b"".join(kept)


def _webp(data: bytes) -> bytes:
    body = b"WEBP"
    for name, content in riff_chunks(data):
        if name == b"VP8X":
            content = bytes([content[0] & ~_WEBP_METADATA_FLAGS]) + content[1:]
        if name not in _WEBP_DROPPED:
            body += name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)
    return b"RIFF" + struct.pack("<I", len(body)) + body
