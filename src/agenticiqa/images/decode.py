"""From a file's bytes to a Pillow image, through the one decoder its signature names."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator

import numpy as np
from PIL import Image, ImageFile
from PIL.AvifImagePlugin import AvifImageFile
from PIL.BmpImagePlugin import BmpImageFile
from PIL.GifImagePlugin import GifImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile
from PIL.WebPImagePlugin import WebPImageFile

from agenticiqa.errors import MissingExtraError


class _Jpeg(JpegImageFile):
    def _read_dpi_from_exif(self) -> None:
        """Nothing: Pillow warns about damaged EXIF here, and the resolution is of no use."""


class _Tiff(TiffImageFile):
    def load_prepare(self) -> None:
        # Pillow's version repeats its own pixel limit, with a warning; the size was checked before.
        if self._im is None:
            self.im = Image.new(self.mode, self._tile_size, None).im
        ImageFile.ImageFile.load_prepare(self)


# The classes, not Image.open: that one warns by a limit which only a module-level switch can move,
# and would let files choose among decoders nobody asked for.
_DECODERS: dict[str, Callable[[io.BytesIO], Image.Image]] = {
    "JPEG": _Jpeg,
    "PNG": PngImageFile,
    "WebP": WebPImageFile,
    "BMP": BmpImageFile,
    "TIFF": _Tiff,
    "GIF": GifImageFile,
    "AVIF": AvifImageFile,
}


def open_header(kind: str, data: bytes) -> Image.Image:
    """The image with its size known and its pixels not yet decoded."""
    return _open_heic(data) if kind == "HEIC" else _DECODERS[kind](io.BytesIO(data))


def webp_size(data: bytes) -> tuple[int, int]:
    """Width and height from a WebP header: its decoder reserves the canvas before it tells them."""
    form = data[12:16]
    if form == b"VP8X":
        return (int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1)
    if form == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF


def is_plain_webp(data: bytes) -> bool:
    """Whether a WebP neither moves nor has transparent places."""
    form = data[12:16]
    if form == b"VP8X":
        return not data[20] & 0x12
    return form == b"VP8 " or (form == b"VP8L" and not data[24] & 0x10)


def decode_plain_webp(data: bytes) -> Image.Image:
    """A WebP that neither moves nor has transparent places, with its profile and EXIF; raises ValueError.

    Through OpenCV, pixel for pixel the same: Pillow's decoder is made for animations and holds four canvases.
    """
    import cv2

    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION)
    if pixels is None or (pixels.shape[1], pixels.shape[0]) != webp_size(data):
        raise ValueError("the picture's data cannot be decoded")
    image = Image.fromarray(pixels)
    image.format = "WEBP"
    for name, content in riff_chunks(data):
        if name in _WEBP_METADATA:
            image.info[_WEBP_METADATA[name]] = content
    return image


_WEBP_METADATA = {b"ICCP": "icc_profile", b"EXIF": "exif"}


def riff_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Name and content of each chunk of a WebP."""
    at = 12
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        yield data[at : at + 4], data[at + 8 : at + 8 + size]
        at += 8 + size + size % 2


def _open_heic(data: bytes) -> Image.Image:
    try:
        import pillow_heif
    except ImportError:
        raise MissingExtraError("HEIC", "heic") from None
    image: Image.Image = pillow_heif.HeifImageFile(io.BytesIO(data))
    return image
