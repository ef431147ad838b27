"""The directory of a TIFF file, which is also how EXIF is written."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from PIL import TiffTags

_BITS_PER_SAMPLE, _ORIENTATION = 258, 274
# What a decoder needs: layout, compression, colour. The orientation is applied by the loader.
_KEPT = {
    *(256, 257, 258, 259, 262, 266, 273, 277, 278, 279, 284, 292, 293, 317, 320, 322, 323, 324, 325, 332),
    *(338, 339, 347, 512, 513, 514, 515, 517, 518, 519, 520, 521, 529, 530, 531, 532, 34675),
}
_SHORT = 3
_EXIF_PREFIX = b"Exif\0\0"
_BYTE_STRINGS = (1, 2, 7)
_TYPE_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8}


def inspect(data: bytes) -> tuple[bytes, int, int, bool]:
    """The file with nothing but its first image and the entries a decoder needs; frames, orientation, if 16-bit."""
    directory = _Directory(data)
    entries = list(directory.entries())
    shorts = {entry.tag: entry.first_short for entry in reversed(entries)}
    return (
        _with_entries(directory, list(_sound(entries, len(data)))),
        _count_directories(directory),
        _valid_orientation(shorts.get(_ORIENTATION, 1)),
        shorts.get(_BITS_PER_SAMPLE) == 16,
    )


def exif_orientation(exif: bytes) -> int:
    """The orientation (1 to 8) that EXIF bytes ask for; 1 when they do not say or cannot be read."""
    try:
        entries = _Directory(exif.removeprefix(_EXIF_PREFIX)).entries()
        return _valid_orientation(next((e.first_short for e in entries if e.tag == _ORIENTATION), 1))
    except (struct.error, ValueError, OverflowError):
        return 1


def exif_upright(exif: bytes) -> bytes:
    """The same EXIF bytes with the orientation 1 (upright) wherever they ask for another; with their usual prefix."""
    content = bytearray(exif.removeprefix(_EXIF_PREFIX))
    try:
        directory = _Directory(bytes(content))
        for entry in directory.entries():
            if entry.tag == _ORIENTATION and entry.kind == _SHORT:
                content[entry.value_at : entry.value_at + 2] = directory.packed_short(1)
    except (struct.error, ValueError, OverflowError):
        pass  # not to be read, so nobody turns the picture by it
    return _EXIF_PREFIX + bytes(content)


def _valid_orientation(value: int) -> int:
    return value if 1 <= value <= 8 else 1


@dataclass(frozen=True)
class _Entry:
    tag: int
    kind: int
    count: int
    size: int
    first_short: int
    raw: bytes
    value_at: int


class _Directory:
    """One directory, in either byte order, classic or BigTIFF."""

    def __init__(self, data: bytes, offset: int | None = None) -> None:
        if data[:2] not in (b"II", b"MM"):
            raise ValueError("no TIFF header")
        self.data = data
        self._order = "<" if data[:2] == b"II" else ">"
        big = self._read("H", 2) == 43
        self._word = "Q" if big else "L"
        self._step = 20 if big else 12
        self._count_format = "Q" if big else "H"
        self.offset = self._read(self._word, 8 if big else 4) if offset is None else offset
        self._count = self._read(self._count_format, self.offset)
        self._start = self.offset + struct.calcsize(f"={self._count_format}")

    def entries(self) -> Iterator[_Entry]:
        """Every entry of a known type that lies, with its values, inside the file."""
        whole = min(self._count, (len(self.data) - self._start) // self._step)
        for number in range(whole):
            entry = self._entry(self._start + number * self._step)
            if entry is not None:
                yield entry

    def next(self) -> int:
        """Where the following directory lies; 0 after the last one."""
        return self._read(self._word, self._start + self._count * self._step)

    def pack(self, entries: list[_Entry]) -> bytes:
        """These entries as the bytes of a directory that no other follows."""
        count = struct.pack(f"{self._order}{self._count_format}", len(entries))
        return count + b"".join(entry.raw for entry in entries) + bytes(struct.calcsize(f"={self._word}"))

    def packed_short(self, value: int) -> bytes:
        """A number of two bytes in this directory's byte order."""
        return struct.pack(f"{self._order}H", value)

    def _entry(self, at: int) -> _Entry | None:
        tag, kind, count = self._read("H", at), self._read("H", at + 2), self._read(self._word, at + 4)
        room = struct.calcsize(f"={self._word}")
        value_at = at + self._step - room
        size = _TYPE_SIZES.get(kind, 0) * count
        where = value_at if size <= room else self._read(self._word, value_at)
        if not size or where + size > len(self.data):
            return None
        first_short = self._read("H", where) if kind == _SHORT else 0
        return _Entry(tag, kind, count, size, first_short, self.data[at : at + self._step], where)

    def _read(self, form: str, at: int) -> int:
        value: int = struct.unpack_from(f"{self._order}{form}", self.data, at)[0]
        return value


def _sound(entries: list[_Entry], budget: int) -> Iterator[_Entry]:
    """The entries a decoder needs, as long as all their values together could come from the file."""
    for entry in entries:
        if entry.tag in _KEPT and entry.size <= budget and _has_expected_count(entry):
            budget -= entry.size
            yield entry


def _has_expected_count(entry: _Entry) -> bool:
    return entry.count == 1 or entry.kind in _BYTE_STRINGS or TiffTags.lookup(entry.tag).length != 1


def _with_entries(directory: _Directory, entries: list[_Entry]) -> bytes:
    packed, data = directory.pack(entries), directory.data
    return data[: directory.offset] + packed + data[directory.offset + len(packed) :]


def _count_directories(first: _Directory) -> int:
    seen, directory = {first.offset}, first
    try:
        while (following := directory.next()) and following not in seen:
            directory = _Directory(first.data, following)
            seen.add(following)
    except (struct.error, OverflowError):
        pass  # a broken chain ends at its last whole link
    return len(seen)
