"""Image files without their metadata: not one pixel is encoded anew."""

from __future__ import annotations

import struct
from collections.abc import Iterator

# JFIF and Adobe segments tell the decoder how colours are stored; all others describe the picture or its maker.
_JPEG_KEPT_APPLICATIONS = (0xE0, 0xEE)
_JPEG_COMMENT = 0xFE
_JPEG_END, _JPEG_SCAN = 0xD9, 0xDA
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
    kept = [data[:2]]
    for marker, segment in _jpeg_segments(data):
        is_application = 0xE0 <= marker <= 0xEF
        if marker != _JPEG_COMMENT and (not is_application or marker in _JPEG_KEPT_APPLICATIONS):
            kept.append(segment)
    return b"".join(kept)


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Marker and bytes of each segment up to the end marker; whatever follows it belongs to no picture of ours."""
    at = 2
    while True:
        if data[at] != 0xFF:
            raise ValueError("no marker where one must be")
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if marker == _JPEG_END:
            yield marker, data[at : at + 2]
            return
        end = at + 2 + struct.unpack_from(">H", data, at + 2)[0]
        if marker == _JPEG_SCAN:
            end = _end_of_scan(data, end)
        yield marker, data[at:end]
        at = end


def _end_of_scan(data: bytes, at: int) -> int:
    """Where the next marker stands that is no stuffed byte and no restart."""
    while True:
        at = data.index(b"\xff", at)
        if data[at + 1] not in (0x00, *range(0xD0, 0xD8)):
            return at
        at += 2


def _png(data: bytes) -> bytes:
    kept, at, name = [data[:8]], 8, b""
    while name != b"IEND":
        size, name = struct.unpack_from(">I4s", data, at)
        if name in _PNG_KEPT:
            kept.append(data[at : at + 12 + size])
        at += 12 + size
    return b"".join(kept)


def _webp(data: bytes) -> bytes:
    kept, at = [], 12
    while at + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, at)
        padded = size + size % 2
        chunk = data[at : at + 8 + padded]
        if name == b"VP8X":
            chunk = chunk[:8] + bytes([chunk[8] & ~_WEBP_METADATA_FLAGS]) + chunk[9:]
        if name not in _WEBP_DROPPED:
            kept.append(chunk)
        at += 8 + padded
    body = b"WEBP" + b"".join(kept)
    return b"RIFF" + struct.pack("<I", len(body)) + body
