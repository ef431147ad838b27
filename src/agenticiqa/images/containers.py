"""What a file's bytes say before a decoder runs: its kind, its frames, its orientation.

Pillow reports damaged metadata with `warnings.warn`, and a warning filter is shared by all threads, so it
cannot be set for one image. Here the metadata that would warn is taken out of the decoder's copy instead.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from PIL import TiffTags

MEDIA_TYPES = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "WebP": "image/webp",
    "BMP": "image/bmp",
    "TIFF": "image/tiff",
    "GIF": "image/gif",
    "AVIF": "image/avif",
    "HEIC": "image/heic",
}


@dataclass(frozen=True)
class Container:
    """The bytes a decoder may see, and what was read from the bytes it may not."""

    data: bytes
    frames: int = 1
    orientation: int = 1
    sixteen_bit: bool = False


def sniff(data: bytes) -> str | None:
    """The kind of image these bytes begin like, whatever the file is called; None if it is none of ours."""
    if data.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if data.startswith(b"BM"):
        return "BMP"
    if data.startswith((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")):
        return "TIFF"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WebP"
    return _sniff_brand(data) if data[4:8] == b"ftyp" else None


def _sniff_brand(data: bytes) -> str | None:
    size = min(int.from_bytes(data[:4], "big"), 256)
    brands = {data[at : at + 4] for at in (8, *range(16, size - 3, 4))}
    if brands & {b"avif", b"avis"}:
        return "AVIF"
    if brands & {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1"}:
        return "HEIC"
    return None


def inspect(kind: str, data: bytes) -> Container:
    """The decoder's copy of a file of this kind; damaged bytes are passed on for the decoder to refuse."""
    if kind == "PNG":
        return _inspect_png(data)
    if kind == "GIF":
        return _inspect_gif(data)
    if kind == "TIFF":
        return _inspect_tiff(data)
    if kind == "AVIF":
        return Container(_without_exif_items(data))
    return Container(data)


def exif_orientation(exif: bytes) -> int:
    """The orientation (1 to 8) that EXIF bytes ask for; 1 when they do not say or cannot be read."""
    try:
        directory = _Directory(exif.removeprefix(b"Exif\0\0"))
        return next((e.first for e in directory.entries() if e.tag == 274 and e.first in range(1, 9)), 1)
    except (struct.error, ValueError):
        return 1


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
    frames = list(_gif_frames(data))
    if not frames:
        return Container(data)
    canvas = struct.unpack_from("<HH", data, 6)
    left, top, width, height = frames[0]
    # Pillow grows the canvas to the first frame and may warn while doing so; here it is grown beforehand.
    grown = min(max(canvas[0], left + width), 65535), min(max(canvas[1], top + height), 65535)
    return Container(data[:6] + struct.pack("<HH", *grown) + data[10:], frames=len(frames))


def _gif_frames(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    at = 13 + _palette_size(data[10:11])
    while at < len(data):
        if data[at] == 0x21:
            at = _end_of_blocks(data, at + 2)
        elif data[at] == 0x2C and at + 10 <= len(data):
            yield struct.unpack_from("<HHHH", data, at + 1)
            at = _end_of_blocks(data, at + 11 + _palette_size(data[at + 9 : at + 10]))
        else:
            return


def _palette_size(flags: bytes) -> int:
    return 3 * 2 ** ((flags[0] & 7) + 1) if flags and flags[0] & 0x80 else 0


def _end_of_blocks(data: bytes, at: int) -> int:
    while at < len(data) and data[at]:
        at += 1 + data[at]
    return at + 1


@dataclass(frozen=True)
class _Entry:
    tag: int
    raw: bytes
    count: int
    first: int
    size: int
    end: int


_TYPE_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8}


class _Directory:
    """One directory of a TIFF file, classic or big, as EXIF uses it too."""

    def __init__(self, data: bytes, offset: int | None = None) -> None:
        if data[:2] not in (b"II", b"MM"):
            raise ValueError("no TIFF header")
        self.order = "<" if data[:2] == b"II" else ">"
        self.big = struct.unpack_from(f"{self.order}H", data, 2) == (43,)
        self.word = "Q" if self.big else "L"
        self.count_format = f"{self.order}{'Q' if self.big else 'H'}"
        self.data = data
        at = 8 if self.big else 4
        self.offset: int = self._read(self.word, at) if offset is None else offset
        self.count: int = struct.unpack_from(self.count_format, data, self.offset)[0]
        self.start = self.offset + struct.calcsize(self.count_format)
        self.step = 20 if self.big else 12

    def _read(self, form: str, at: int) -> int:
        value: int = struct.unpack_from(f"{self.order}{form}", self.data, at)[0]
        return value

    def entries(self) -> Iterator[_Entry]:
        """Every entry whose values lie inside the file."""
        for at in range(self.start, min(self.start + self.count * self.step, len(self.data)), self.step):
            entry = self._entry(at)
            if entry.count and entry.end <= len(self.data):
                yield entry

    def _entry(self, at: int) -> _Entry:
        tag, kind, count = struct.unpack_from(f"{self.order}HH{self.word}", self.data, at)
        inline = struct.calcsize(f"={self.word}")
        value_at = at + self.step - inline
        size = _TYPE_SIZES.get(kind, 0) * count
        where = value_at if size <= inline else self._read(self.word, value_at)
        first = self._read("H", value_at) if kind == 3 and size <= inline else 0
        raw = self.data[at : at + self.step]
        return _Entry(tag, raw, count if size else 0, first, size, where + size)

    @property
    def next(self) -> int:
        """Where the following directory lies; 0 after the last one."""
        return self._read(self.word, self.start + self.count * self.step)


# What a decoder needs: layout, compression, colour. Orientation (274) is read and applied here.
_TIFF_KEPT = {
    *(256, 257, 258, 259, 262, 266, 273, 277, 278, 279, 284, 292, 293, 317, 320, 322, 323, 324, 325, 332),
    *(338, 339, 347, 512, 513, 514, 515, 517, 518, 519, 520, 521, 529, 530, 531, 532, 34675),
}


def _inspect_tiff(data: bytes) -> Container:
    directory = _Directory(data)
    entries = list(directory.entries())
    bits = next((e for e in entries if e.tag == 258), None)
    return Container(
        _with_entries(directory, [e for e in entries if _is_sound(e)]),
        frames=_count_directories(directory),
        orientation=next((e.first for e in entries if e.tag == 274 and e.first in range(1, 9)), 1),
        sixteen_bit=bits is not None and _first_short(directory, bits) == 16,
    )


def _is_sound(entry: _Entry) -> bool:
    return entry.tag in _TIFF_KEPT and (entry.count == 1 or TiffTags.lookup(entry.tag).length != 1)


def _first_short(directory: _Directory, entry: _Entry) -> int:
    return entry.first or directory._read("H", entry.end - entry.size)


def _with_entries(directory: _Directory, entries: list[_Entry]) -> bytes:
    """The file with only these entries in its first directory, at the same place, and no other directory."""
    data, last = directory.data, bytes(struct.calcsize(f"={directory.word}"))
    room = struct.pack(directory.count_format, len(entries)) + b"".join(e.raw for e in entries) + last
    return data[: directory.offset] + room + data[directory.offset + len(room) :]


def _count_directories(first: _Directory) -> int:
    seen, directory = {first.offset}, first
    try:
        while (following := directory.next) and following not in seen:
            directory = _Directory(first.data, following)
            seen.add(following)
    except struct.error:
        pass
    return len(seen)


# The AVIF standard orients by `irot` and `imir`; an EXIF orientation is to be ignored.
_AVIF_EXIF_ITEM = re.compile(rb"(infe(?:\x02.{3}..|\x03.{3}....)..)Exif", re.DOTALL)


def _without_exif_items(data: bytes) -> bytes:
    return _AVIF_EXIF_ITEM.sub(rb"\1skip", data)
