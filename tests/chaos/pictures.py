"""Hostile pictures of every format and shape through the code a worker runs: how each ends, and the most memory.

`python -m tests.chaos.pictures FOLDER MINUTES` is one worker's life, on the pictures in the folder; the command writes
them and starts it as a process of its own, so that only its own memory counts.
"""

from __future__ import annotations

import importlib.util
import io
import itertools
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tests.chaos.service import Trouble
from tests.fuzz.hostile_files import hostile_files, png
from tests.images.test_images_hostile import mutated, peak_memory, whole_files

GIGABYTE = 10**9 // 1024
FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "TIFF", "GIF", "AVIF")
THIN = ((8, 20_000), (20_000, 8), (8, 80_000), (8, 512), (512, 8), (9, 576), (16, 1000), (1000, 16), (8, 8), (64, 4096))
LARGE = ((7000, 7000), (800, 51_000), (51_000, 800), (8000, 6000))
MEGAPIXELS = 50
_LONGEST = {"JPEG": 65_501, "WEBP": 16_384, "AVIF": 16_384, "GIF": 65_536}
"""The longest side an encoder takes."""


def hostile_pictures(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """So many pictures: the hostile files, thin ones and huge ones in every format, and mutations of sound files."""
    return islice(chain(hostile_files(), _thin_pictures(), _claims(), _large_pictures(), _mutations(seed)), count)


def _mutations(seed: int) -> Iterator[tuple[str, bytes]]:
    rng, sound = random.Random(seed), list(whole_files())
    for number in itertools.count():
        yield f"mutation {number}", mutated(rng.choice(sound), rng)


def _thin_pictures() -> Iterator[tuple[str, bytes]]:
    for kind in FORMATS:
        for width, height in THIN:
            if max(width, height) < _LONGEST.get(kind, 2**31):
                yield f"{kind} {width}x{height}", _encoded(kind, width, height)


def _claims() -> Iterator[tuple[str, bytes]]:
    for width, height in ((8, 6_000_000), (6_000_000, 8), (7_000, 7_001), (64, 781_250)):
        yield f"PNG that claims {width}x{height}", png(width, height, b"")


def _large_pictures() -> Iterator[tuple[str, bytes]]:
    for width, height in LARGE:
        yield f"PNG {width}x{height}", _encoded("PNG", width, height)
    yield "JPEG 8000x6000", _encoded("JPEG", 8000, 6000)
    yield "progressive JPEG 8000x6000", _encoded("JPEG", 8000, 6000, progressive=True)
    yield "WEBP 8000x6000", _encoded("WEBP", 8000, 6000, method=0)
    yield "AVIF 8000x6000", _encoded("AVIF", 8000, 6000, speed=10)
    yield "TIFF 8000x6000", _encoded("TIFF", 8000, 6000, compression="tiff_lzw")
    if importlib.util.find_spec("pillow_heif"):
        yield "HEIC 8000x6000", _heic(8000, 6000)


def worst_pictures() -> Iterator[tuple[str, bytes]]:
    """A few that need most memory, each after one that may have left gaps behind, and small ones between them."""
    small = (("JPEG 512x8", _encoded("JPEG", 512, 8)), ("PNG that claims 8x6000000", png(8, 6_000_000, b"")))
    yield "PNG 7000x7000", _encoded("PNG", 7000, 7000, compress_level=1)
    yield from small
    yield "TIFF 8000x6000", _encoded("TIFF", 8000, 6000, compression="tiff_lzw")


def _encoded(kind: str, width: int, height: int, **options: Any) -> bytes:
    """A ramp with bars: neither flat nor slow to encode."""
    row = (np.arange(width) * 255 // width).astype(np.uint8)
    pixels = np.broadcast_to(row[None, :, None], (height, width, 3)).copy()
    pixels[:: max(1, height // 50)] = 40
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, kind, **options)
    return target.getvalue()


def _heic(width: int, height: int) -> bytes:
    import pillow_heif

    pillow_heif.register_heif_opener()
    return _encoded("HEIF", width, height, quality=30)


def live(folder: Path, minutes: float) -> dict[str, Any]:
    """Assesses the pictures of the folder one after the other as a worker does, within the service's limits."""
    from agenticiqa.server.service_options import ServiceOptions
    from agenticiqa.server.workers.messages import RunFile, RunRequest
    from agenticiqa.server.workers.worker import frugal_assessor, outcome_of, warm_up
    from tests.support.agent import settings

    assessor = frugal_assessor(ServiceOptions(max_megapixels=MEGAPIXELS).limited(settings()))
    warm_up(assessor)
    outcomes, slowest, end, tried = Counter[str](), (0.0, ""), time.monotonic() + 60 * minutes, 0
    peaks: list[tuple[int, str]] = [(peak_memory(), "warm-up")]
    (folder / "run").mkdir()
    request = RunRequest(images=[RunFile(file="image-1", name="image-1")])
    for file in sorted(folder.glob("*.picture")):
        if time.monotonic() > end:
            break
        name = file.stem.partition(" ")[2]
        file.replace(folder / "run" / "image-1")
        started = time.monotonic()
        kind, data = outcome_of(assessor, "assess", folder / "run", request, lambda *_: None)
        slowest = max(slowest, (time.monotonic() - started, name))
        outcomes[data.get("code", kind)] += 1
        tried += 1
        if peak_memory() > peaks[-1][0]:
            peaks.append((peak_memory(), name))
    return {"tried": tried, "outcomes": outcomes, "slowest": slowest, "peaks": peaks[-5:]}


def try_pictures(folder: Path, pictures: Iterable[tuple[str, bytes]], minutes: float) -> Trouble:
    """The pictures in a worker of their own."""
    folder.mkdir()
    for number, (name, content) in enumerate(pictures):
        (folder / f"{number:05} {name}.picture").write_bytes(content)
    command = [sys.executable, "-W", "ignore", "-m", "tests.chaos.pictures", str(folder), str(minutes)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    if run.returncode != 0:
        return Trouble(broken=[f"the worker ended with {run.returncode}: {run.stderr[-500:]}"])
    report = json.loads(run.stdout.splitlines()[-1])
    peak, name = report["peaks"][-1]
    found = Trouble(
        {
            "hostile pictures": report["tried"],
            "outcomes": report["outcomes"],
            "peak of the worker (MB)": peak // 1000,
            "at": name,
            "earlier peaks": report["peaks"],
            "slowest": report["slowest"],
        }
    )
    if peak > GIGABYTE:
        found.broken.append(f"the worker needed {peak // 1000} MB for {name}")
    if "failed" in report["outcomes"]:
        found.broken.append(f"{report['outcomes']['failed']} pictures ended in an error nobody foresaw")
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(live(Path(sys.argv[1]), float(sys.argv[2]))) + "\n")
