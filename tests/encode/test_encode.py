"""The smallest file at a score: bisection finds what exhaustive search finds, and says when nothing does."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms
from typer.testing import CliRunner

from agenticiqa.cli import app
from agenticiqa.encode import encode, find_quality
from agenticiqa.encode.folders import report_page
from agenticiqa.encode.originals import Format, Pixels
from agenticiqa.errors import EncodingError
from agenticiqa.images import load_image
from tests.support.photos import photo, save


def closeness(test: Pixels, reference: Pixels) -> float:
    """A stand-in for the learned score that rises with quality: 5 less the mean difference."""
    return max(1.0, 5.0 - float(np.abs(test.astype(np.int16) - reference).mean()))


@given(st.lists(st.floats(1, 5), min_size=100, max_size=100), st.floats(1, 5))
def test_bisection_finds_the_lowest_quality_of_rising_scores(scores: list[float], wanted: float) -> None:
    rising = sorted(scores)

    found = find_quality(lambda quality: rising[quality - 1], wanted)

    assert found == next((quality for quality in range(1, 101) if rising[quality - 1] >= wanted), None)


def test_a_dip_at_the_highest_quality_is_no_reason_to_give_up() -> None:
    scores = {quality: min(4.5, 1 + quality / 20) for quality in range(1, 101)} | {100: 4.3}

    assert find_quality(scores.__getitem__, 4.4) == 68


@pytest.mark.parametrize("format", ["webp", "avif", "jpeg"])
def test_the_file_is_the_smallest_that_reaches_the_score(format: Format) -> None:
    pixels = np.ascontiguousarray(photo("chelsea")[:128, :192])

    found = encode(pixels, format, 3.0, judge=closeness, step=5)

    with Image.open(io.BytesIO(found.data)) as image:
        assert image.format == {"webp": "WEBP", "avif": "AVIF", "jpeg": "JPEG"}[format]
    assert found.score >= 3.0
    below = [score for quality, score in found.tried.items() if quality < found.quality]
    assert all(score < 3.0 for score in below)
    assert len(found.tried) <= 6


def test_a_score_that_no_quality_reaches_is_said() -> None:
    with pytest.raises(EncodingError, match="no jpeg quality reaches 5"):
        encode(np.ascontiguousarray(photo("chelsea")[:64, :64]), "jpeg", 5.0, judge=closeness, step=25)


def test_a_folder_is_encoded_with_a_page_and_nothing_else_lies_about(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for name in ("a.png", "deep/b.png"):
        save(tmp_path / "in" / name, np.ascontiguousarray(photo("coffee")[:96, :128]))
    arguments = ["encode", str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--min-score", "2", "--step", "25"]
    page = ["--html", str(tmp_path / "page.html"), "--json", "-q", "-j", "1"]

    shown = CliRunner().invoke(app, [*arguments, *page])
    again = CliRunner().invoke(app, [*arguments, *page])

    assert (shown.exit_code, again.exit_code) == (0, 0), shown.output
    rows = {row["name"]: row for row in json.loads(shown.stdout)}
    assert rows["deep/b.png"]["file"] == str(tmp_path / "out" / "deep" / "b.webp")
    assert rows["a.png"]["bytes"] == (tmp_path / "out" / "a.webp").stat().st_size < rows["a.png"]["original_bytes"]
    left = {file.relative_to(tmp_path / "out").as_posix() for file in (tmp_path / "out").rglob("*") if file.is_file()}
    assert {name for name in left if not name.startswith(".encode/")} == {"a.webp", "deep/b.webp"}
    page_text = (tmp_path / "page.html").read_text()
    assert page_text == report_page(tmp_path / "out", "webp", 2.0)
    assert (page_text.count("<img"), "deep/b.png" in page_text) == (2, True)
    assert json.loads(again.stdout) == json.loads(shown.stdout)


@pytest.mark.parametrize(
    ("output", "more", "words"),
    [
        ("photo.jpg", [], "photo.jpg: is an input and would be written over; choose another output"),
        ("link.jpg", [], "link.jpg: is an input and would be written over; choose another output"),
        ("copy.png", [], "copy.png: a copy is .webp, .avif or .jpg; name it so"),
        ("copy.webp", ["--format", "avif"], "is named as webp and --format is avif; make them agree"),
    ],
)
def test_an_output_that_is_the_original_or_lies_about_its_format_is_refused(
    tmp_path: Path, output: str, more: list[str], words: str
) -> None:
    original = tmp_path / "photo.jpg"
    Image.fromarray(np.ascontiguousarray(photo("coffee")[:64, :64])).save(original, quality=95)
    (tmp_path / "link.jpg").symlink_to(original)
    before = original.read_bytes()

    shown = CliRunner().invoke(app, ["encode", str(original), "-o", str(tmp_path / output), "--min-score", "3", *more])

    assert shown.exit_code == 2
    assert words in shown.stderr
    assert original.read_bytes() == before
    assert not (tmp_path / "copy.webp").exists()


def test_another_score_in_the_same_folder_is_refused_and_force_encodes_again(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    save(tmp_path / "in" / "a.png", np.ascontiguousarray(photo("coffee")[:96, :128]))
    folders = ["encode", str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--step", "25", "--json", "-q", "-j", "1"]
    CliRunner().invoke(app, [*folders, "--min-score", "2"])

    refused = CliRunner().invoke(app, [*folders, "--min-score", "2.5"])
    forced = CliRunner().invoke(app, [*folders, "--min-score", "2.5", "--force", "--map"])

    assert refused.exit_code == 2
    assert "--force" in refused.output
    assert (forced.exit_code, json.loads(forced.stdout)[0]["score"] >= 2.5) == (0, True)
    assert (tmp_path / "out" / "a.loss.png").exists()


def cut_out() -> Image.Image:
    """A photograph whose left half is transparent."""
    picture = Image.fromarray(np.ascontiguousarray(photo("chelsea")[:96, :128])).convert("RGBA")
    picture.paste(0, (0, 0, 64, 96), mask=None)
    return picture


@pytest.mark.parametrize("format", ["webp", "avif"])
def test_transparent_places_stay_transparent(format: Format) -> None:
    found = encode(cut_out(), format, 2.0, judge=closeness, step=25)

    with Image.open(io.BytesIO(found.data)) as image:
        alpha = np.asarray(image.convert("RGBA").getchannel("A"))
    assert (alpha[:, :60].max() < 16, alpha[:, 68:].min() > 240) == (True, True)


def test_jpeg_refuses_transparency_and_fills_it_when_asked() -> None:
    with pytest.raises(EncodingError, match="--background white"):
        encode(cut_out(), "jpeg", 2.0, judge=closeness, step=25)

    found = encode(cut_out(), "jpeg", 2.0, judge=closeness, step=25, background="#00ff00")

    with Image.open(io.BytesIO(found.data)) as image:
        red, green, blue = np.asarray(image)[40, 20].astype(int)
    assert (red < 60, green > 200, blue < 60) == (True, True, True)


def test_a_palette_with_a_transparent_entry_stays_transparent(tmp_path: Path) -> None:
    picture = Image.fromarray(np.repeat(np.arange(64, dtype=np.uint8) % 4, 64).reshape(64, 64), "P")
    picture.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9])
    picture.save(tmp_path / "logo.png", transparency=1)

    found = encode(tmp_path / "logo.png", "webp", 1.0, judge=closeness, step=25)

    with Image.open(io.BytesIO(found.data)) as image:
        assert image.convert("RGBA").getchannel("A").getextrema() == (0, 255)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
def test_an_animation_is_refused(kind: str, tmp_path: Path) -> None:
    frames = [Image.fromarray(np.full((32, 32, 3), level, np.uint8)) for level in (20, 120, 220)]
    frames[0].save(tmp_path / "moves", kind, save_all=True, append_images=frames[1:])

    with pytest.raises(EncodingError, match="holds 3 pictures"):
        encode(tmp_path / "moves", "webp", 2.0, judge=closeness, step=25)


def wide_gamut_profile() -> bytes:
    """An RGB profile whose colours are not sRGB's: a gamma of 1.0."""
    made = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    for tag in (b"rTRC", b"gTRC", b"bTRC"):
        at = made.index(tag, 128)
        offset = int.from_bytes(made[at + 4 : at + 8], "big")
        made[offset : offset + 12] = b"curv" + bytes(8)
    return bytes(made)


@pytest.mark.parametrize("format", ["webp", "avif", "jpeg"])
def test_profile_and_exif_stay_and_the_picture_is_upright(format: Format, tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x8298] = 6, "Jane Doe"
    picture, profile = Image.fromarray(np.ascontiguousarray(photo("chelsea")[:96, :128])), wide_gamut_profile()
    picture.save(tmp_path / "a.jpg", quality=95, exif=exif, icc_profile=profile)

    found = encode(tmp_path / "a.jpg", format, 2.0, judge=closeness, step=25)

    with Image.open(io.BytesIO(found.data)) as image:
        assert (image.size, image.info["icc_profile"]) == ((96, 128), profile)
        assert (image.getexif().get(0x0112, 1), image.getexif()[0x8298]) == (1, "Jane Doe")
    shown, original = load_image(found.data).pixels, load_image(tmp_path / "a.jpg").pixels
    assert np.abs(shown.astype(int) - original).mean() < 5


def test_strip_leaves_out_metadata_and_keeps_the_colours(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x8298] = "Jane Doe"
    picture = Image.fromarray(np.ascontiguousarray(photo("chelsea")[:96, :128]))
    picture.save(tmp_path / "a.jpg", quality=95, exif=exif, icc_profile=wide_gamut_profile())

    found = encode(tmp_path / "a.jpg", "webp", 2.0, judge=closeness, step=25, strip=True)

    with Image.open(io.BytesIO(found.data)) as image:
        assert not {"exif", "icc_profile"} & image.info.keys()
    difference = load_image(found.data).pixels.astype(int) - load_image(tmp_path / "a.jpg").pixels
    assert np.abs(difference).mean() < 5


def test_a_colour_nobody_knows_is_a_wrong_request(tmp_path: Path) -> None:
    save(tmp_path / "a.png", np.ascontiguousarray(photo("coffee")[:64, :64]))

    shown = CliRunner().invoke(
        app,
        ["encode", str(tmp_path / "a.png"), "-o", str(tmp_path / "a.jpg"), "--min-score", "2", "--background", "whit"],
    )

    assert (shown.exit_code, "is no colour" in shown.output) == (2, True)
