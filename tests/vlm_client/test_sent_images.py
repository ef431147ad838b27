"""Images as models get them: the same pixels, no metadata, and every change written down."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from agenticiqa.images import LoadedImage, load_image
from agenticiqa.vlm_client.providers.image_encoding import SizeRule, encode, stripped
from tests.support.photos import photo

ROOMY = SizeRule(("image/png", "image/jpeg", "image/webp"), max_side=4000, max_bytes=20_000_000)
SECRET = b"Serial 4711, 52.5N 13.4E"


def crop() -> Image.Image:
    return Image.fromarray(photo("chelsea")[40:168, 60:220])


def with_metadata(form: str, **options: Any) -> bytes:
    """The crop as a file of this form, with EXIF, comments and the like."""
    exif = Image.Exif()
    exif[0x010E] = SECRET.decode()
    target = io.BytesIO()
    extra: dict[str, Any] = {"exif": exif.tobytes(), **options}
    if form == "PNG":
        info = PngImagePlugin.PngInfo()
        info.add_text("Comment", SECRET.decode())
        info.add_itxt("XML:com.adobe.xmp", SECRET.decode())
        extra["pnginfo"] = info
    elif form == "JPEG":
        extra |= {"comment": SECRET, "quality": 80}
    else:
        extra |= {"xmp": SECRET, "quality": 80}
    crop().save(target, form, **extra)
    return target.getvalue()


def pixels(data: bytes) -> Any:
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


@pytest.mark.parametrize(
    ("form", "options"),
    [("JPEG", {}), ("JPEG", {"progressive": True, "restart_marker_rows": 2}), ("PNG", {}), ("WebP", {}),
     ("WebP", {"lossless": True})],
)  # fmt: skip
def test_a_file_is_sent_as_it_is_without_its_metadata(form: str, options: dict[str, Any]) -> None:
    original = with_metadata(form, **options)
    image = load_image(original)

    sent = encode("test image", image, ROOMY)

    assert SECRET in original
    assert SECRET not in sent.data
    assert sent.media_type == f"image/{form.lower()}"
    np.testing.assert_array_equal(pixels(sent.data), pixels(original))
    assert sent.note == f"test image sent as original image/{form.lower()}, metadata stripped"


def test_metadata_goes_along_when_asked() -> None:
    original = with_metadata("JPEG")

    sent = encode("test image", load_image(original), ROOMY, keep_metadata=True)

    assert sent.data == original
    assert "with its metadata" in sent.note


def test_what_follows_the_end_of_a_jpeg_is_not_sent() -> None:
    original = with_metadata("JPEG") + b"\xff\xd8 a second picture" + SECRET

    sent = encode("test image", load_image(original), ROOMY)

    assert sent.data.endswith(b"\xff\xd9")
    assert b"second picture" not in sent.data


def test_an_image_turned_upright_is_sent_as_the_pixels_that_are_judged() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    image = load_image(with_metadata("JPEG", exif=exif.tobytes()))

    sent = encode("test image", image, ROOMY)

    assert sent.media_type == "image/png"
    np.testing.assert_array_equal(pixels(sent.data), image.pixels)


def test_a_format_the_service_does_not_know_is_sent_as_png() -> None:
    image = load_image(with_metadata("WebP"))

    sent = encode("reference image", image, SizeRule(("image/png", "image/jpeg"), 4000, 20_000_000))

    assert sent.note == "reference image sent as PNG"
    np.testing.assert_array_equal(pixels(sent.data), image.pixels)


def noise(width: int, height: int) -> LoadedImage:
    return load_image(np.random.default_rng(0).integers(0, 255, (height, width, 3), dtype=np.uint8))


def test_a_side_beyond_the_services_limit_is_scaled_and_noted() -> None:
    sent = encode("test image", noise(400, 100), SizeRule(("image/png",), max_side=200, max_bytes=10_000_000))

    assert pixels(sent.data).shape == (50, 200, 3)
    assert sent.note == "test image sent as PNG scaled from 400×100 to 200×50"


def test_too_many_bytes_are_made_fewer_by_size_not_by_quality() -> None:
    sent = encode("test image", noise(200, 100), SizeRule(("image/png",), max_side=4000, max_bytes=20_000))

    height, width, _ = pixels(sent.data).shape
    assert len(sent.data) <= 20_000
    assert len(sent.data) > 10_000
    assert width == pytest.approx(2 * height, abs=1)


def test_scaling_by_the_service_itself_is_said() -> None:
    rule = SizeRule(("image/png",), max_side=4000, max_bytes=10_000_000, shown_side=300)

    assert encode("test image", noise(200, 100), rule).note == "test image sent as PNG"
    assert encode("test image", noise(400, 100), rule).note.endswith("the service scales sides above 300 pixels down")


@pytest.mark.parametrize("media_type", ["image/jpeg", "image/png", "image/webp", "image/gif"])
@pytest.mark.parametrize("data", [b"", b"\xff\xd8\xff\xe1", b"\x89PNG\r\n\x1a\n\0\0", b"RIFF"])
def test_a_structure_that_is_not_understood_is_never_passed_on_unstripped(media_type: str, data: bytes) -> None:
    result = stripped(media_type, data)

    assert result is None or SECRET not in result


def test_the_original_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(with_metadata("JPEG"))

    encode("test image", load_image(path), ROOMY)

    assert SECRET in path.read_bytes()
