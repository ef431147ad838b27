"""Files made to do harm, each by a few lines here instead of a blob in the repository."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator

from PIL import Image

SIDE = 16


def hostile_files() -> Iterator[tuple[str, bytes]]:
    """Name and content of every file."""
    yield "empty", b""
    yield "one byte", b"\xff"
    yield "only a PNG signature", b"\x89PNG\r\n\x1a\n"
    yield "PNG of 2 gigapixels in 100 bytes", png(2**16 - 1, 2**15, zlib.compress(b"\0" * 100))
    yield "PNG of the largest numbers", png(2**31 - 1, 2**31 - 1, b"")
    yield "PNG of no width", png(0, SIDE, b"")
    yield "PNG whose data swells a thousandfold", png(SIDE, SIDE, zlib.compress(b"\0" * 20_000_000, 9))
    yield (
        "PNG with a profile that swells",
        png(SIDE, SIDE, rows(), chunk(b"iCCP", b"x\0\0" + zlib.compress(b"a" * 10**7))),
    )
    yield "PNG with a text that swells", png(SIDE, SIDE, rows(), chunk(b"zTXt", b"x\0\0" + zlib.compress(b"a" * 10**7)))
    yield "PNG with ten thousand texts", png(SIDE, SIDE, rows(), chunk(b"tEXt", b"k\0v") * 10_000)
    yield "PNG with a chunk longer than the file", png(SIDE, SIDE, b"")[:33] + struct.pack(">I4s", 2**31 - 1, b"IDAT")
    yield "PNG with wrong checksums", png(SIDE, SIDE, rows())[:-16] + b"\0" * 16
    yield "PNG palette without a palette", png(SIDE, SIDE, rows(), kind=3)
    yield "PNG animation of a million frames", png(SIDE, SIDE, rows(), chunk(b"acTL", struct.pack(">II", 10**6, 0)))
    yield "JPEG of the largest numbers", jpeg_of(65535, 65535)
    yield (
        "JPEG without tables",
        b"\xff\xd8\xff\xc0\x00\x11\x08\x00\x10\x00\x10\x03\x01\x22\0\x02\x11\x01\x03\x11\x01\xff\xd9",
    )
    yield "JPEG of markers only", b"\xff\xd8" + b"\xff\xe1\x00\x02" * 20_000 + b"\xff\xd9"
    yield "JPEG cut in its first scan", encoded("JPEG")[:-200]
    yield "JPEG with metadata that points to itself", with_exif(tiff_loop())
    yield "JPEG that is a page too", encoded("JPEG") + b"<script>alert(1)</script>"
    yield "GIF of a huge screen", b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0x80, 0, 0) + b"\0" * 6 + b"\x3b"
    yield (
        "GIF whose codes never end",
        b"GIF89a\x10\0\x10\0\x80\0\0" + b"\0" * 6 + b",\0\0\0\0\x10\0\x10\0\0\x08" + b"\xff" * 4000,
    )
    yield "BMP of negative size", bmp(-SIDE, -SIDE)
    yield "BMP of the largest numbers", bmp(2**31 - 1, 2**31 - 1)
    yield "BMP whose pixels lie beyond the end", bmp(SIDE, SIDE, offset=2**31 - 1)
    yield "TIFF whose directory points to itself", tiff_loop()
    yield "TIFF with sixty thousand entries", b"II*\0\x08\0\0\0" + struct.pack("<H", 60_000) + b"\xff" * 600
    yield "TIFF of strips beyond the end", tiff_strip(2**31)
    yield "BigTIFF of a huge count", b"II+\0\x08\0\0\0" + struct.pack("<QQ", 16, 2**60)
    yield "WebP of a wrong length", encoded("WEBP")[:4] + struct.pack("<I", 2**31) + encoded("WEBP")[8:]
    yield "WebP of 16384 by 16384", b"RIFF\x16\0\0\0WEBPVP8L\x0a\0\0\0\x2f" + struct.pack("<I", 0x0FFFFFFF) + b"\0" * 5
    yield "AVIF of boxes in boxes", b"\0\0\0\x18ftypavif\0\0\0\0avifmif1" + b"\0\0\x10\0meta" * 2000
    yield "a page", b"<!doctype html><html><body>hello</body></html>"
    yield (
        "a drawing that loads another file",
        b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>',
    )
    yield "PostScript", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 16 16\n(/etc/passwd) run\n"
    yield "an archive", b"PK\x03\x04" + b"\0" * 200
    yield "a program", b"\x7fELF" + b"\0" * 200


def chunk(name: bytes, content: bytes) -> bytes:
    """A PNG chunk."""
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def rows() -> bytes:
    """The compressed rows of a black SIDE × SIDE picture."""
    return zlib.compress((b"\0" + b"\0" * 3 * SIDE) * SIDE)


def png(width: int, height: int, data: bytes, more: bytes = b"", kind: int = 2) -> bytes:
    """A PNG with this header, whatever follows."""
    header = struct.pack(">IIBBBBB", width & 0xFFFFFFFF, height & 0xFFFFFFFF, 8, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + more + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def encoded(kind: str) -> bytes:
    """A sound picture."""
    target = io.BytesIO()
    Image.linear_gradient("L").resize((64, 64)).convert("RGB").save(target, kind)
    return target.getvalue()


def jpeg_of(width: int, height: int) -> bytes:
    """A JPEG whose frame claims this size."""
    data = bytearray(encoded("JPEG"))
    at = data.index(b"\xff\xc0")
    data[at + 5 : at + 9] = struct.pack(">HH", height, width)
    return bytes(data)


def with_exif(block: bytes) -> bytes:
    """A JPEG with this EXIF block."""
    content = b"Exif\0\0" + block
    return b"\xff\xd8\xff\xe1" + struct.pack(">H", len(content) + 2) + content + encoded("JPEG")[2:]


def tiff_loop() -> bytes:
    """A TIFF whose only directory is followed by itself."""
    entry = struct.pack("<HHII", 0x8769, 4, 1, 8)
    return b"II*\0\x08\0\0\0" + struct.pack("<H", 1) + entry + struct.pack("<I", 8)


def tiff_strip(offset: int) -> bytes:
    """A TIFF whose pixels lie where there is nothing."""
    tags = [(256, SIDE), (257, SIDE), (258, 8), (259, 1), (262, 1), (273, offset), (277, 1), (278, SIDE), (279, 2**31)]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return b"II*\0\x08\0\0\0" + struct.pack("<H", len(tags)) + entries + b"\0" * 4


def bmp(width: int, height: int, offset: int = 54) -> bytes:
    """A BMP with this header and no pixels."""
    head = struct.pack("<2sIHHI", b"BM", 54, 0, 0, offset)
    return head + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
