"""Damaged files of every kind: the loader gives an image or a typed error, and little memory is used."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agenticiqa.errors import ImageError, ImageTooLargeError, MissingExtraError
from agenticiqa.images import ImageLimits, load_image
from agenticiqa.images.containers import inspect
from tests.support.photos import photo
from tests.support.scan_bombs import progressive

CASES_PER_FILE = 30
GIGABYTE_IN_KILOBYTES = 10**9 // 1024


def whole_files() -> Iterator[bytes]:
    """Small photographs in every kind and variant the loader treats differently."""
    pixels = photo("astronaut")[80:144, 190:270]
    image = Image.fromarray(pixels)
    exif = Image.Exif()
    exif.update({274: 6, 270: "remark " * 20})
    frames: dict[str, Any] = {"save_all": True, "append_images": [image.rotate(90), image.rotate(180)]}
    yield from _encodings(image, ["JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF", "AVIF"], {})
    yield from _encodings(image, ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"], {"exif": exif})
    yield from _encodings(image, ["PNG", "WEBP", "TIFF", "GIF", "AVIF"], frames)
    yield from _encodings(image.convert("CMYK"), ["JPEG", "TIFF"], {"progressive": True})
    yield from _encodings(image.convert("P"), ["PNG", "BMP", "TIFF", "GIF"], {"transparency": 3})
    yield from _encodings(image.convert("F"), ["TIFF"], {"big_tiff": True})
    yield from _encodings(image, ["TIFF"], {"compression": "tiff_lzw"})
    yield from _encodings(image, ["TIFF"], {"compression": "jpeg"})
    for suffix in (".png", ".tif"):
        yield cv2.imencode(suffix, pixels.astype(np.uint16) * 257)[1].tobytes()
    yield b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + random.Random(5).randbytes(2000)


def _encodings(image: Image.Image, kinds: list[str], options: dict[str, Any]) -> Iterator[bytes]:
    for kind in kinds:
        target = io.BytesIO()
        image.save(target, kind, **options)
        yield target.getvalue()


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The file cut short, with flipped bits, with a stretch of random bytes, or spliced."""
    # Half of the damage goes to the first 200 bytes: that is where headers, and so surprises, are.
    at = rng.randrange(min(len(data), 200) if rng.random() < 0.5 else len(data))
    damage = rng.choice(["cut", "flip", "flip", "scramble", "splice", "noise"])
    if damage == "cut":
        return data[:at]
    if damage == "scramble":
        return data[:at] + rng.randbytes(8) + data[at + 8 :]
    if damage == "splice":
        return data[:at] + data[rng.randrange(len(data)) :]
    if damage == "noise":
        return data[: rng.choice([0, 4, 16])] + rng.randbytes(300)
    flipped = bytearray(data)
    for _ in range(rng.choice([1, 4, 32])):
        flipped[rng.randrange(at + 1)] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def outcome(path: Path) -> str:
    """'image', or the name of the typed error; anything else is left to escape."""
    try:
        image = load_image(path)
    except (ImageError, MissingExtraError) as error:
        return type(error).__name__
    assert image.pixels.shape == (image.height, image.width, 3)
    return "image"


def drive(folder: Path, cases_per_file: int, seed: int) -> dict[str, Any]:
    """The outcome of every mutated file, counted, and the most memory this process ever had."""
    rng = random.Random(seed)
    outcomes: Counter[str] = Counter()
    for data in whole_files():
        for _ in range(cases_per_file):
            path = folder / f"last.{rng.choice(['jpg', 'png', 'webp', 'bmp', 'tif', 'gif', 'avif', 'txt'])}"
            path.write_bytes(mutated(data, rng))
            outcomes[outcome(path)] += 1
            path.unlink()
    return {"outcomes": outcomes, "kilobytes": peak_memory()}


def peak_memory() -> int:
    """Kilobytes this process or one it decodes in needed at most; getrusage would count those from before the exec."""
    own = Path("/proc/self")
    decoders = " ".join(file.read_text() for file in own.glob("task/*/children")).split()
    return max(map(_peak_of, ("self", *decoders)))


def _peak_of(process: str) -> int:
    status = Path("/proc", process, "status").read_text()
    return int(next((line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")), 0))


def test_the_files_are_sound_before_they_are_mutated() -> None:
    files = list(whole_files())[:-1]

    assert {load_image(data).size for data in files} <= {(80, 64), (64, 80)}


def test_every_mutated_file_is_an_image_or_a_typed_error_within_one_gigabyte(tmp_path: Path) -> None:
    # Shown, not raised: a raised warning would be taken for a damaged file.
    command = [sys.executable, "-W", "always", "-m", "tests.images.test_images_hostile", str(tmp_path)]

    run = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])

    assert run.returncode == 0, run.stderr
    assert "Warning" not in run.stderr
    report = json.loads(run.stdout)
    assert sum(report["outcomes"].values()) >= 300
    assert {"image", "ImageTruncatedError", "ImageFormatError", "ImageTooLargeError"} <= set(report["outcomes"])
    assert report["kilobytes"] < GIGABYTE_IN_KILOBYTES


if __name__ == "__main__":
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else CASES_PER_FILE
    sys.stdout.write(json.dumps(drive(Path(sys.argv[1]), cases, int(sys.argv[3]) if len(sys.argv) > 3 else 7)))


def test_a_jpeg_of_a_few_scans_more_is_read() -> None:
    assert load_image(progressive(64, 3)).size == (64, 64)


@pytest.mark.parametrize(("side", "scans"), [(64, 4000), (400, 200)])
def test_a_scan_bomb_is_refused_before_it_is_decoded(side: int, scans: int) -> None:
    with pytest.raises(ImageTooLargeError, match=rf"passes over {side}×{side} pixels"):
        load_image(progressive(side, scans))


def test_scans_times_pixels_are_bounded_by_the_limit_on_pixels() -> None:
    data = progressive(400, 30)

    assert load_image(data).size == (400, 400)
    with pytest.raises(ImageTooLargeError, match="passes over"):
        load_image(data, limits=ImageLimits(max_pixels=200_000))


def test_the_scans_of_a_thumbnail_are_not_counted() -> None:
    thumbnail = b"\xff\xe1" + (60_002).to_bytes(2, "big") + b"\xff\xda\x00\x02" * 15_000
    data = progressive(64, 0)

    assert inspect("JPEG", data[:2] + thumbnail + data[2:]).passes <= 16


def box(name: bytes, content: bytes) -> bytes:
    """A box of an ISO media file."""
    return (len(content) + 8).to_bytes(4, "big") + name + content


def overlaid(*uses: int) -> bytes:
    """The boxes of a HEIC with an overlay for every number, made of so many pictures."""
    items = b"".join(
        box(b"infe", b"\2\0\0\0" + number.to_bytes(2, "big") + b"\0\0iovl\0") for number, _ in enumerate(uses, 1)
    )
    listed = box(b"iinf", b"\0\0\0\0" + len(uses).to_bytes(2, "big") + items)
    made = b"".join(
        box(b"dimg", number.to_bytes(2, "big") + count.to_bytes(2, "big") + b"\0\x09" * count)
        for number, count in enumerate(uses, 1)
    )
    return box(b"ftyp", b"heic\0\0\0\0mif1heic") + box(b"meta", b"\0\0\0\0" + listed + box(b"iref", b"\0\0\0\0" + made))


@pytest.mark.parametrize(("uses", "passes"), [((), 1), ((3,), 3), ((4000,), 4000), ((50, 50), 2500)])
def test_pictures_laid_over_each_other_are_counted(uses: tuple[int, ...], passes: int) -> None:
    assert inspect("HEIC", overlaid(*uses)).passes == passes


@given(st.binary(max_size=400))
def test_counting_passes_ends_for_any_bytes(content: bytes) -> None:
    assert inspect("JPEG", b"\xff\xd8" + b"\xff\xda" * 20 + content).passes >= 1
    assert inspect("HEIC", box(b"meta", content)).passes >= 1
