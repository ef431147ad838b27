"""Every conversion is checked against values worked out by hand, every refusal against its type and message."""

from __future__ import annotations

import hashlib
import io
import os
import struct
import subprocess
import sys
import warnings
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageCms, ImageOps

from agenticiqa.errors import (
    ImageDamagedError,
    ImageFormatError,
    ImageIsDirectoryError,
    ImageNotFoundError,
    ImageOutsideRootError,
    ImagePermissionError,
    ImageShapeError,
    ImageTooLargeError,
    ImageTooSmallError,
    ImageTruncatedError,
    MissingExtraError,
)
from agenticiqa.images import ImageLimits, files, load_image
from agenticiqa.images.containers import MEDIA_TYPES
from agenticiqa.images.load import limits_by_format
from tests.support.photos import photo, save

ORIENTATION = 274


def flat(mode: str, value: Any) -> Image.Image:
    """A 16×16 image of one colour."""
    return Image.new(mode, (16, 16), value)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    """The image as a file of this kind."""
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def colour(data: bytes) -> tuple[int, ...]:
    """The top left pixel after loading."""
    return tuple(int(value) for value in load_image(data).pixels[0, 0])


def oriented(value: int) -> Image.Exif:
    """EXIF that asks for this orientation."""
    exif = Image.Exif()
    exif[ORIENTATION] = value
    return exif


@pytest.mark.parametrize("suffix", ["png", "bmp", "tif"])
def test_a_lossless_photograph_keeps_every_pixel_and_needs_no_note(tmp_path: Path, suffix: str) -> None:
    pixels = photo("chelsea")
    path = save(tmp_path / f"cat.{suffix}", pixels)

    image = load_image(path)

    assert np.array_equal(image.pixels, pixels)
    assert (image.notes, image.size, image.path) == ((), (451, 300), path)


@pytest.mark.parametrize(
    ("suffix", "media_type"),
    [("jpg", "image/jpeg"), ("webp", "image/webp"), ("avif", "image/avif"), ("gif", "image/gif")],
)
def test_a_lossy_photograph_stays_close_to_its_source(tmp_path: Path, suffix: str, media_type: str) -> None:
    pixels = photo("chelsea")

    image = load_image(save(tmp_path / f"cat.{suffix}", pixels))

    assert cv2.PSNR(np.ascontiguousarray(image.pixels), pixels) > 28
    assert image.media_type == media_type


def test_the_file_keeps_its_bytes_and_their_hash(tmp_path: Path) -> None:
    path = save(tmp_path / "cat.jpg", photo("chelsea"))

    image = load_image(str(path))

    assert image.original == path.read_bytes()
    assert image.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_pixels_cannot_be_written_to() -> None:
    image = load_image(encoded(flat("RGB", "red"), "PNG"))

    with pytest.raises(ValueError, match="read-only"):
        image.pixels[0, 0] = 0


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP"])
@pytest.mark.parametrize("value", range(2, 9))
def test_every_orientation_is_shown_as_pillow_shows_it(kind: str, value: int) -> None:
    stored = Image.fromarray(photo("chelsea")[:24, :40])
    options = {"lossless": True} if kind == "WEBP" else {}
    data = encoded(stored, kind, exif=oriented(value), **options)
    tagged = stored.copy()
    tagged.getexif()[ORIENTATION] = value

    image = load_image(data)

    assert np.array_equal(image.pixels, np.asarray(ImageOps.exif_transpose(tagged)))
    assert image.notes == (f"orientation {value} applied",)


def half_white() -> Image.Image:
    """White on the left, black on the right."""
    pixels = np.zeros((16, 32, 3), np.uint8)
    pixels[:, :16] = 255
    return Image.fromarray(pixels)


@pytest.mark.parametrize("kind", ["JPEG", "AVIF"])
def test_a_phone_photograph_held_upright_is_turned_clockwise(kind: str) -> None:
    data = encoded(half_white(), kind, quality=95, exif=oriented(6))

    image = load_image(data)

    assert image.size == (16, 32)
    assert image.pixels[:14].min() > 245
    assert image.pixels[18:].max() < 10


def test_alpha_is_composited_on_a_grey_that_is_neither_burnt_out_nor_black() -> None:
    data = encoded(flat("RGBA", (200, 100, 0, 128)), "PNG")

    # (200·128 + 119·127) / 255 = 159.7, (100·128 + 119·127) / 255 = 109.5, 119·127 / 255 = 59.3
    assert colour(data) == (160, 109, 59)
    assert load_image(data).notes == ("alpha composited on grey 119",)
    assert load_image(data).transparent
    assert not load_image(encoded(flat("RGBA", (200, 100, 0, 255)), "PNG")).transparent


def test_a_transparent_palette_entry_becomes_grey() -> None:
    image = flat("P", 0)
    image.putpalette([10, 20, 30])

    assert colour(encoded(image, "PNG")) == (10, 20, 30)
    assert colour(encoded(image, "PNG", transparency=0)) == (119, 119, 119)
    assert load_image(encoded(image, "GIF", transparency=0)).notes == (
        "palette expanded to RGB",
        "alpha composited on grey 119",
    )


def test_a_colour_named_transparent_becomes_grey() -> None:
    assert colour(encoded(flat("RGB", (1, 2, 3)), "PNG", transparency=(1, 2, 3))) == (119, 119, 119)


@pytest.mark.parametrize(
    ("image", "expected"),
    [(flat("L", 77), (77, 77, 77)), (flat("1", 1), (255, 255, 255)), (flat("LA", (0, 51)), (95, 95, 95))],
)
def test_grey_is_repeated_in_three_channels(image: Image.Image, expected: tuple[int, ...]) -> None:
    data = encoded(image, "PNG")

    assert colour(data) == expected
    assert "grey repeated in R, G and B" in load_image(data).notes


@pytest.mark.parametrize("kind", ["TIFF", "JPEG"])
def test_cmyk_without_a_profile_is_converted_and_noted(kind: str) -> None:
    data = encoded(flat("CMYK", (0, 255, 255, 0)), kind)

    assert np.allclose(colour(data), (255, 0, 0), atol=2)
    assert load_image(data).notes == ("CMYK converted to RGB without a profile",)


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_sixteen_bit_grey_keeps_its_high_byte(suffix: str) -> None:
    values = np.full((16, 16), 0x80FF, np.uint16)

    image = load_image(cv2.imencode(suffix, values)[1].tobytes())

    assert image.pixels[0, 0].tolist() == [0x80, 0x80, 0x80]
    assert "16-bit grey reduced to 8 bits (value // 256)" in image.notes


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_sixteen_bit_colour_keeps_its_high_bytes(suffix: str) -> None:
    blue_green_red = np.full((16, 16, 3), (0x01FF, 0x7F00, 0xFFFF), np.uint16)

    image = load_image(cv2.imencode(suffix, blue_green_red)[1].tobytes())

    assert image.pixels[0, 0].tolist() == [0xFF, 0x7F, 0x01]
    assert image.notes == ("16-bit colour reduced to 8 bits (value // 256)",)


@pytest.mark.parametrize(
    ("value", "expected", "note"),
    [
        (0.2, 51, "floating-point values in 0–1 multiplied by 255"),
        (130.4, 130, "floating-point values in 0–255 rounded to 8 bits"),
    ],
)
def test_a_float_tiff_is_scaled_by_the_range_of_its_values(value: float, expected: int, note: str) -> None:
    image = load_image(encoded(flat("F", value), "TIFF"))

    assert image.pixels[0, 0].tolist() == [expected] * 3
    assert note in image.notes


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 300.0])
def test_a_float_tiff_without_a_stated_meaning_is_refused(value: float) -> None:
    with pytest.raises(ImageFormatError, match=r"NaN or infinite|no stated meaning"):
        load_image(encoded(flat("F", value), "TIFF"))


def test_one_nan_among_good_pixels_is_refused() -> None:
    values = np.full((16, 16), 0.5, np.float32)
    values[3, 4] = np.nan

    with pytest.raises(ImageFormatError, match="the given bytes: holds NaN"):
        load_image(encoded(Image.fromarray(values), "TIFF"))


def test_cielab_is_converted_to_srgb() -> None:
    # L = 100, a = b = 0 is white; sRGB red under D50 is L = 54.29, a = 80.81, b = 69.89. Pillow stores a and b + 128.
    white = encoded(flat("LAB", (255, 128, 128)), "TIFF")
    red = encoded(flat("LAB", (138, 209, 198)), "TIFF")

    assert colour(white) == (255, 255, 255)
    assert colour(red) == (255, 0, 0)
    assert load_image(white).notes == ("CIELAB converted to sRGB",)


def srgb_profile() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def test_an_embedded_profile_is_converted_to_srgb() -> None:
    # The profile's red is sRGB's blue and its blue is sRGB's red; green stays.
    swapped = srgb_profile().replace(b"rXYZ", b"____").replace(b"bXYZ", b"rXYZ").replace(b"____", b"bXYZ")
    image = flat("RGB", (255, 0, 0))

    data = encoded(image, "PNG", icc_profile=swapped)

    assert np.allclose(colour(data), (0, 0, 255), atol=1)
    assert load_image(data).notes == ("RGB converted to sRGB by the embedded ICC profile",)


def test_a_profile_is_applied_before_alpha() -> None:
    swapped = srgb_profile().replace(b"rXYZ", b"____").replace(b"bXYZ", b"rXYZ").replace(b"____", b"bXYZ")

    data = encoded(flat("RGBA", (255, 0, 0, 128)), "PNG", icc_profile=swapped)

    # Blue at half over grey: 119·127 / 255 = 59, 128 + 59 = 187
    assert np.allclose(colour(data), (59, 59, 187), atol=1)


def test_an_srgb_profile_leaves_the_pixels_alone() -> None:
    pixels = photo("chelsea")

    image = load_image(encoded(Image.fromarray(pixels), "PNG", icc_profile=srgb_profile()))

    assert np.array_equal(image.pixels, pixels)
    assert image.notes == ("embedded ICC profile is sRGB; pixels kept",)


def test_an_unusable_profile_is_ignored_and_noted() -> None:
    image = load_image(encoded(flat("RGB", "red"), "PNG", icc_profile=b"no profile at all" * 20))

    assert image.notes == ("embedded ICC profile unusable and ignored",)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF", "AVIF"])
def test_an_animation_shows_its_first_frame(kind: str) -> None:
    others = [flat("RGB", "blue"), flat("RGB", "lime")]
    data = encoded(flat("RGB", "red"), kind, save_all=True, append_images=others)

    assert np.allclose(colour(data), (255, 0, 0), atol=4)
    assert load_image(data).notes[0] == "first frame of 3"


def test_png_output_carries_no_metadata() -> None:
    exif = oriented(1)
    exif[0x010E] = "a private remark"
    data = encoded(flat("RGB", "red"), "JPEG", exif=exif, comment="another remark", icc_profile=srgb_profile())

    image = load_image(data)

    with Image.open(io.BytesIO(image.png())) as again:
        assert again.info == {}
        assert np.array_equal(np.asarray(again), image.pixels)
    assert b"remark" not in image.png()
    assert image.original is not None
    assert b"a private remark" in image.original


def test_an_array_and_its_pillow_image_give_the_same_hash() -> None:
    pixels = photo("chelsea")

    first, second = load_image(pixels), load_image(Image.fromarray(pixels))

    stated = hashlib.sha256(b"451x300\n" + pixels.tobytes()).hexdigest()
    assert first.sha256 == second.sha256 == stated
    assert (first.original, first.media_type, first.path) == (None, None, None)


def test_a_loaded_array_does_not_change_with_its_source() -> None:
    pixels = np.zeros((16, 16, 3), np.uint8)

    image = load_image(pixels)
    pixels[:] = 9

    assert image.pixels.max() == 0


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.full((16, 16), 7, np.uint8), [7, 7, 7]),
        (np.full((16, 16, 1), 7, np.uint8), [7, 7, 7]),
        (np.full((16, 16, 4), (0, 0, 0, 51), np.uint8), [95, 95, 95]),
        (np.full((16, 16, 3), 0x12FF, np.uint16), [0x12, 0x12, 0x12]),
        (np.full((16, 16, 3), 0.2), [51, 51, 51]),
        (np.full((16, 16), 200, np.int64), [200, 200, 200]),
    ],
)
def test_arrays_follow_the_same_rules_as_files(array: NDArray[Any], expected: list[int]) -> None:
    assert load_image(array).pixels[0, 0].tolist() == expected


@pytest.mark.parametrize("array", [np.zeros(16), np.zeros((16, 16, 2)), np.zeros((16, 16), complex)])
def test_an_array_that_is_no_image_is_refused(array: NDArray[Any]) -> None:
    with pytest.raises(ImageFormatError, match="the given array: has the"):
        load_image(array)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImageNotFoundError, match=r"gone\.png: no such file"):
        load_image(tmp_path / "gone.png")


@pytest.mark.parametrize("name", ["a\0b.png", "x" * 5000, "file.png/inside.png"])
def test_a_path_that_cannot_exist_is_a_missing_file(tmp_path: Path, name: str) -> None:
    save(tmp_path / "file.png", photo("chelsea"))

    with pytest.raises(ImageNotFoundError):
        load_image(tmp_path / name)
    with pytest.raises(ImageNotFoundError):
        load_image(tmp_path / name, allowed_root=tmp_path)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageIsDirectoryError, match="is a folder"):
        load_image(tmp_path)


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")

    with pytest.raises(ImageFormatError, match="not a regular file"):
        load_image(tmp_path / "pipe.png")


def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "secret.png", photo("chelsea"))
    path.chmod(0)

    with unprivileged(), pytest.raises(ImagePermissionError, match=r"secret\.png: may not be read"):
        load_image(path)


@contextmanager
def unprivileged() -> Iterator[None]:
    """Another user's rights when the tests run as root, whom no permission stops."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.png").touch()

    with pytest.raises(ImageDamagedError, match=r"empty\.png: is empty"):
        load_image(tmp_path / "empty.png")


@pytest.mark.parametrize(
    "content",
    [b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"%PDF-1.7\n", b"just text", b"%!PS-Adobe-3.0 EPSF-3.0\n"],
)
def test_what_is_no_image_is_refused_whatever_its_suffix(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "fake.jpg").write_bytes(content)

    with pytest.raises(ImageFormatError, match=r"fake\.jpg: is not an image we can read"):
        load_image(tmp_path / "fake.jpg")


def test_a_wrong_suffix_does_not_matter(tmp_path: Path) -> None:
    data = encoded(flat("RGB", "red"), "PNG")
    (tmp_path / "actually-png.jpg").write_bytes(data)

    assert load_image(tmp_path / "actually-png.jpg").media_type == "image/png"


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "bmp", "tif", "gif", "avif"])
def test_half_a_file_is_truncated(tmp_path: Path, suffix: str) -> None:
    data = save(tmp_path / f"whole.{suffix}", photo("chelsea")).read_bytes()
    (tmp_path / "half").write_bytes(data[: len(data) // 2])

    with pytest.raises(ImageTruncatedError, match=r"half: this .* ends early"):
        load_image(tmp_path / "half")


@pytest.mark.parametrize("suffix", ["jpg", "png"])
def test_a_file_damaged_in_between_is_not_said_to_end_early(tmp_path: Path, suffix: str) -> None:
    data = bytearray(save(tmp_path / f"whole.{suffix}", photo("chelsea")).read_bytes())
    data[60 : len(data) - 100] = bytes(len(data) - 160)
    (tmp_path / "zeroed").write_bytes(data)

    with pytest.raises(ImageDamagedError, match=r"zeroed: this \w+ is damaged"):
        load_image(tmp_path / "zeroed")


def png_header(width: int, height: int) -> bytes:
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    return b"\x89PNG\r\n\x1a\n" + body + struct.pack(">I", 0) + b"IDAT" + struct.pack(">I", zlib.crc32(b"IDAT"))


def gif_header(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(3) + b"," + bytes(9) + b"\x02\x00;"


def webp_header(width: int, height: int) -> bytes:
    body = b"VP8X" + struct.pack("<I", 10) + bytes(4)
    body += (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


@pytest.mark.parametrize("header", [png_header, gif_header, webp_header])
def test_a_decompression_bomb_is_refused_by_its_header(header: Any) -> None:
    with pytest.raises(ImageTooLargeError, match=r"has 12000×12000 pixels, more than the \d+ allowed"):
        load_image(header(12000, 12000))


def test_an_image_between_pillows_limit_and_ours_loads_without_a_warning() -> None:
    side = 9500
    assert Image.MAX_IMAGE_PIXELS is not None
    assert side * side > Image.MAX_IMAGE_PIXELS
    data = encoded(Image.new("1", (side, side), 1), "TIFF")

    assert load_image(data).size == (side, side)


def test_a_kind_whose_decoder_needs_more_memory_may_have_fewer_pixels() -> None:
    with pytest.raises(ImageTooLargeError, match=r"more than the 75000000 allowed for this kind \(WebP\)"):
        load_image(webp_header(9000, 9000))


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg"])
def test_compressed_tiffs_are_read(compression: str) -> None:
    pixels = photo("chelsea")

    image = load_image(encoded(Image.fromarray(pixels), "TIFF", compression=compression))

    assert cv2.PSNR(np.ascontiguousarray(image.pixels), pixels) > 30


def test_limits_can_be_moved() -> None:
    data = encoded(flat("RGB", "red"), "PNG")

    with pytest.raises(ImageTooLargeError, match=r"raise pipeline\.limits\.max_pixels"):
        load_image(data, limits=ImageLimits(max_pixels=255))
    with pytest.raises(ImageTooLargeError, match=r"raise pipeline\.limits\.max_file_megabytes"):
        load_image(data, limits=ImageLimits(max_bytes=len(data) - 1))
    with pytest.raises(ImageTooSmallError, match="at least 17"):
        load_image(data, limits=ImageLimits(min_side=17))
    assert load_image(data, limits=ImageLimits(256, len(data), 16)).size == (16, 16)


def test_seven_pixels_are_too_few() -> None:
    with pytest.raises(ImageTooSmallError, match="has 7×40 pixels"):
        load_image(encoded(Image.new("RGB", (7, 40)), "PNG"))


@pytest.mark.parametrize("size", [(8, 20_000), (20_000, 8), (8, 513), (1000, 65_000)])
def test_a_strip_is_refused_before_its_pixels_are_decoded(size: tuple[int, int]) -> None:
    header_only = encoded(Image.new("1", size), "PNG")[:60]

    with pytest.raises(ImageShapeError, match="64 times as long as wide"):
        load_image(header_only)


def test_a_panorama_and_a_long_page_are_accepted() -> None:
    assert load_image(encoded(Image.new("L", (8, 512)), "PNG")).size == (8, 512)
    assert load_image(encoded(Image.new("L", (4096, 64)), "PNG")).size == (4096, 64)


def test_a_link_that_appears_after_the_check_is_not_followed(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    for folder in (root / "inner", elsewhere):
        folder.mkdir(parents=True)
        save(folder / "a.png", photo("chelsea"))
    checked = files.path_below(root / "inner" / "a.png", root)

    (root / "inner").rename(root / "was")
    (root / "inner").symlink_to(elsewhere)

    with pytest.raises(OSError, match="inner"):
        files._open_below(root, checked)


def test_a_path_stays_inside_the_allowed_folder(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    outside = save(tmp_path / "outside.png", photo("chelsea"))
    inside = save(root / "inside.png", photo("chelsea"))
    (root / "link.png").symlink_to(outside)
    (root / "good-link.png").symlink_to(inside)

    for path in (root / ".." / "outside.png", root / "link.png", outside, tmp_path / "root-2" / "x.png"):
        with pytest.raises(ImageOutsideRootError, match="outside the allowed folder"):
            load_image(path, allowed_root=root)
    assert load_image(root / ".." / "root" / "inside.png", allowed_root=root).size == (451, 300)
    assert load_image(root / "good-link.png", allowed_root=root).size == (451, 300)


def test_a_loop_of_links_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")

    for root in (None, tmp_path):
        with pytest.raises(ImageNotFoundError, match="a: is a link that leads back to itself; name the image file"):
            load_image(tmp_path / "a", allowed_root=root)


def test_damaged_exif_in_many_threads_neither_warns_nor_touches_shared_state() -> None:
    exif = b"Exif\0\0II*\0\x08\0\0\0\x02\0" + b"\x0e\x01\x02\0\xff\xff\0\0\xff\xff\0\0" * 2
    data = encoded(flat("RGB", "red"), "JPEG", exif=exif)
    before = list(warnings.filters), Image.MAX_IMAGE_PIXELS

    with ThreadPoolExecutor(8) as pool:
        images = list(pool.map(load_image, [data] * 64))

    assert {image.sha256 for image in images} == {hashlib.sha256(data).hexdigest()}
    assert (list(warnings.filters), Image.MAX_IMAGE_PIXELS) == before


HEIC_START = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"


def test_heic_without_its_extra_names_the_pip_command(tmp_path: Path) -> None:
    (tmp_path / "phone.jpg").write_bytes(HEIC_START + bytes(100))
    script = (
        "import sys; sys.modules['pillow_heif'] = None\n"
        "from agenticiqa.images import load_image\n"
        "try: load_image(sys.argv[1])\n"
        "except Exception as error: sys.exit(f'{type(error).__name__}: {error}')\n"
    )

    run = subprocess.run([sys.executable, "-c", script, tmp_path / "phone.jpg"], capture_output=True, text=True)

    assert run.stderr.startswith(f"{MissingExtraError.__name__}: {tmp_path / 'phone.jpg'}")
    assert "pip install 'agenticiqa[heic]'" in run.stderr


def test_a_heic_photograph_is_read_with_the_extra(tmp_path: Path) -> None:
    pillow_heif = pytest.importorskip("pillow_heif")
    pixels = photo("chelsea")
    pillow_heif.from_pillow(Image.fromarray(pixels)).save(tmp_path / "phone.jpg", quality=90)

    image = load_image(tmp_path / "phone.jpg")

    assert image.media_type == "image/heic"
    assert cv2.PSNR(np.ascontiguousarray(image.pixels), pixels) > 30


def test_a_heic_orientation_is_applied_once(tmp_path: Path) -> None:
    pillow_heif = pytest.importorskip("pillow_heif")
    image = half_white().resize((64, 32))
    exif = oriented(6).tobytes()
    pillow_heif.from_pillow(image).save(tmp_path / "phone.heic", quality=95, exif=exif)

    loaded = load_image(tmp_path / "phone.heic")

    assert loaded.size == (32, 64)
    assert loaded.pixels[:28].min() > 240
    assert loaded.pixels[36:].max() < 15


@pytest.mark.parametrize("options", [{"quality": 40}, {"lossless": True}, {"quality": 90, "orientation": 6}])
def test_a_plain_webp_has_the_pixels_any_other_decoder_gives_it(options: dict[str, Any]) -> None:
    pixels = np.ascontiguousarray(photo("astronaut")[:201, :307])
    exif = Image.Exif()
    exif[274] = options.get("orientation", 1)
    data = encoded(Image.fromarray(pixels), "WEBP", exif=exif, **options)

    image = load_image(data)

    expected = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    upright = np.rot90(expected, -1) if "orientation" in options else expected
    np.testing.assert_array_equal(image.pixels, upright)


def test_the_service_takes_48_megapixels_of_every_format() -> None:
    told = limits_by_format(50_000_000)

    assert min(told[kind] for kind in MEDIA_TYPES) >= 48_000_000
    assert told["transparent WebP"] == 37_500_000
