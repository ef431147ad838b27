"""The smallest file at a score: bisection finds what exhaustive search finds, and says when nothing does."""

from __future__ import annotations

import io
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms
from typer.testing import CliRunner, Result

from agenticiqa.cli import app
from agenticiqa.encode import Metric, encode, find_quality, judge_by
from agenticiqa.encode.folders import CopyOptions, before_and_after, loss_map, report_page
from agenticiqa.encode.originals import Format, Pixels, read_original
from agenticiqa.encode.searching import FORMATS, encoded_bytes
from agenticiqa.errors import EncodingError
from agenticiqa.images import NamedBytes, load_image
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
    assert page_text == report_page(tmp_path / "out", CopyOptions("webp", 2.0, step=25))
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


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["encode", *map(str, arguments)])


@pytest.fixture
def coffee(tmp_path: Path) -> Path:
    return save(tmp_path / "coffee.png", np.ascontiguousarray(photo("coffee")[:128, :192]))


def test_the_best_format_is_the_smallest_that_reaches_the_score(coffee: Path) -> None:
    each = {format: len(encode(coffee, format, 3.0, step=10).data) for format in FORMATS}

    best = encode(coffee, "best", 3.0, step=10)

    assert (best.format, len(best.data)) == min(each.items(), key=lambda item: item[1])


def test_the_best_format_names_the_file_and_leaves_out_what_cannot_hold_the_picture(tmp_path: Path) -> None:
    clear = np.dstack([photo("coffee")[:64, :64], np.full((64, 64), 90, np.uint8)])
    save(tmp_path / "clear.png", np.ascontiguousarray(clear))

    shown = run(
        tmp_path / "clear.png", "-o", tmp_path / "small", "--format", "best", "--min-score", "2", "--step", "25"
    )

    assert shown.exit_code == 0, shown.output
    made = [file.name for file in tmp_path.iterdir() if file.name.startswith("small")]
    assert made in (["small.webp"], ["small.avif"])


def test_every_encoder_works_at_its_best_effort(coffee: Path) -> None:
    original = read_original(coffee, "webp")
    quick: dict[Format, dict[str, int]] = {"webp": {"method": 4}, "avif": {"speed": 8}, "jpeg": {}}

    for format, options in quick.items():
        stream = io.BytesIO()
        original.picture.save(stream, format.upper(), quality=60, **options)
        assert len(encoded_bytes(original, format, 60)) < len(stream.getvalue()), format


def test_a_file_fits_into_the_bytes_it_may_have(coffee: Path) -> None:
    found = encode(coffee, "webp", max_bytes=3000, judge=closeness)
    larger = encoded_bytes(read_original(coffee, "webp"), "webp", found.quality + 1)

    assert len(found.data) <= 3000 < len(larger)
    with pytest.raises(EncodingError, match="allow more bytes or shrink the picture"):
        encode(coffee, "webp", max_bytes=60, judge=closeness)
    with pytest.raises(EncodingError, match="more than 300; ask for a lower score"):
        encode(coffee, "jpeg", 3.0, max_bytes=300, judge=closeness)


def test_a_picture_is_shrunk_first_and_judged_against_the_shrunk_one(coffee: Path, tmp_path: Path) -> None:
    found = encode(coffee, "webp", 2.0, max_side=96, step=25)

    assert found.original.shape == found.pixels.shape == (64, 96, 3)
    assert encode(coffee, "webp", 2.0, max_side=500, step=25).pixels.shape == (128, 192, 3)


@pytest.mark.parametrize(("metric", "target"), [("ssim", 0.9), ("ms_ssim", 0.95)])
def test_another_measure_can_be_the_judge(tmp_path: Path, metric: Metric, target: float) -> None:
    save(tmp_path / "a.png", np.ascontiguousarray(photo("coffee")[:200, :300]))

    shown = run(tmp_path / "a.png", "-o", tmp_path / "a.jpg", "--metric", metric, "--target", target, "--json", "-q")

    told = json.loads(shown.stdout)
    original, copy = (load_image(tmp_path / name).pixels for name in ("a.png", "a.jpg"))
    assert told["score"] == pytest.approx(judge_by(metric)(copy, original))
    assert told["score"] >= target > min(told["tried"].values())


def test_the_measure_of_another_package_is_used_or_asked_for(coffee: Path, tmp_path: Path) -> None:
    shown = run(coffee, "-o", tmp_path / "a.webp", "--metric", "ssimulacra2", "--target", 50, "--step", 25, "-q")

    if find_spec("ssimulacra2"):
        assert (shown.exit_code, "SSIMULACRA2 " in shown.output) == (0, True)
    else:
        assert (shown.exit_code, "pip install 'agenticiqa[ssimulacra2]'" in shown.output) == (1, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "say what the copies must reach"),
        (["--metric", "ssim"], "--metric and --target belong together"),
        (["--metric", "ssim", "--target", "70"], "SSIM runs from 0 to 1"),
        (["--metric", "ssim", "--target", ".9", "--min-score", "4"], "two scales"),
        (["--min-score", "4", "--format", "best"], "leave out the suffix"),
    ],
)
def test_targets_that_do_not_fit_together_are_refused(
    coffee: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    shown = run(coffee, "-o", tmp_path / "a.webp", *options)

    assert shown.exit_code == 2
    assert words in shown.output


@pytest.mark.parametrize("folder", [False, True])
def test_a_dry_run_tells_what_would_be_saved_and_writes_nothing(tmp_path: Path, folder: bool) -> None:
    (tmp_path / "in").mkdir()
    one = save(tmp_path / "in" / "a.png", np.ascontiguousarray(photo("coffee")[:96, :128]))
    source, output = (tmp_path / "in", tmp_path / "out") if folder else (one, tmp_path / "a.webp")

    shown = run(source, "-o", output, "--min-score", "2", "--step", "25", "--dry-run", "-j", "1", "-q")

    assert shown.exit_code == 0, shown.output
    assert "Nothing was written (--dry-run)." in shown.output
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [one]


def test_a_folder_is_told_as_a_table_of_before_and_after() -> None:
    rows: list[dict[str, Any]] = [
        {"name": "a.png", "error": None, "original_bytes": 200_000, "bytes": 50_000, "format": "avif", "quality": 61,
         "score": 4.02},
        {"name": "b.png", "error": "is empty"},
    ]  # fmt: skip

    lines = before_and_after(rows).splitlines()

    assert lines[0].split() == ["picture", "before", "after", "saved", "setting", "score"]
    assert lines[1].split() == ["a.png", "200.0", "kB", "50.0", "kB", "75%", "avif", "61", "4.02"]
    assert lines[2:] == ["b.png: is empty", "1 encoded: 200.0 kB became 50.0 kB (25%)"]


@pytest.mark.parametrize("quality", [60, 90])
def test_the_loss_map_of_a_good_copy_is_not_black_and_has_a_legend(coffee: Path, quality: int) -> None:
    original = read_original(coffee, "jpeg")
    copy = load_image(NamedBytes("copy", encoded_bytes(original, "jpeg", quality))).pixels

    drawn = np.asarray(loss_map(original.judged, copy))

    height, width = copy.shape[:2]
    assert drawn[:height, :width].max() > 200
    assert drawn.shape[0] > height
    assert not np.array_equal(drawn[height:], np.full_like(drawn[height:], 255))
