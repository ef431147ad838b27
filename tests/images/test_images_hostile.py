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
from PIL import Image

from agenticiqa.errors import ImageError, MissingExtraError
from agenticiqa.images import load_image
from tests.support.photos import photo

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
    """Kilobytes this process needed at most; getrusage would count the parent's memory from before the exec."""
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


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
