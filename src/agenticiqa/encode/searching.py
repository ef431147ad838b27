"""Which encoder quality is just good enough: bisection, each copy judged against the original by a score or metric."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field

from agenticiqa.encode.originals import Format, Original, Pixels, read_original
from agenticiqa.errors import EncodingError, UsageError, require_extra
from agenticiqa.images import ImageSource, LoadedImage, NamedBytes, load_image
from agenticiqa.weights import weight_set

Judge = Callable[[Pixels, Pixels], float]
"""The value of a picture against its original; higher is better."""
Metric = Literal["score", "ssim", "ms_ssim", "ssimulacra2"]
METRIC_NAMES: dict[Metric, str] = {
    "score": "score", "ssim": "SSIM", "ms_ssim": "MS-SSIM", "ssimulacra2": "SSIMULACRA2",
}  # fmt: skip
RANGES: dict[Metric, tuple[float, float]] = {
    "score": (1, 5),
    "ssim": (0, 1),
    "ms_ssim": (0, 1),
    "ssimulacra2": (0, 100),
}
"""The targets that make sense."""


def judge_by(metric: Metric, terms: str = "research") -> Judge:
    """The judge of this name; MissingExtraError where ssimulacra2 is not installed."""
    if metric == "score":
        return shipped_judge(terms)
    if metric == "ssimulacra2":
        return _ssimulacra2()
    from agenticiqa.tools.metrics.ssim import ms_ssim, ssim

    return ssim if metric == "ssim" else ms_ssim


def shipped_judge(terms: str = "research") -> Judge:
    """The learned full-reference score from 1 to 5."""
    from agenticiqa.embedded.tools import FullReferenceTool

    tool = FullReferenceTool(weight_set(terms))
    return lambda test, reference: tool.measure(test, reference)


def _ssimulacra2() -> Judge:
    require_extra("judging by SSIMULACRA2", "ssimulacra2", "ssimulacra2")
    from PIL import Image
    from ssimulacra2 import compute_ssimulacra2

    def stream(pixels: Pixels) -> io.BytesIO:
        held = io.BytesIO()
        Image.fromarray(pixels).save(held, "PNG", compress_level=0)
        held.seek(0)
        return held

    return lambda test, reference: float(compute_ssimulacra2(stream(reference), stream(test)))


OnTry = Callable[[Format, int, float], None]
"""Told of each copy that was judged: its format, quality and score."""
FORMATS: tuple[Format, ...] = get_args(Format)
SUFFIXES: dict[Format, str] = {"webp": ".webp", "avif": ".avif", "jpeg": ".jpg"}
_EFFORT: dict[Format, dict[str, Any]] = {
    "jpeg": {"optimize": True, "progressive": True}, "webp": {"method": 6}, "avif": {"speed": 4},
}  # fmt: skip
LOWEST, HIGHEST = 1, 100
STEP = 1


@dataclass(frozen=True)
class Encoded:
    """The smallest file found: its bytes, its quality setting, its score, and every quality that was tried.

    `pixels` are the copy's and `original` those it was judged by, both sRGB.
    """

    data: bytes
    pixels: Pixels
    original: Pixels
    quality: int
    score: float
    tried: dict[int, float]
    format: Format


class Encoding(BaseModel):
    """The setting found, and what it gives."""

    format: Format
    quality: int
    score: float = Field(description="against the original, 1 to 5")
    bytes: int

    @classmethod
    def of(cls, found: Encoded) -> Encoding:
        return cls(format=found.format, quality=found.quality, score=found.score, bytes=len(found.data))


def encode(
    image: ImageSource,
    format: Format | Literal["best"],
    min_score: float | None = None,
    *,
    judge: Judge | None = None,
    step: int = STEP,
    max_bytes: int | None = None,
    max_side: int | None = None,
    background: str | None = None,
    strip: bool = False,
    on_try: OnTry | None = None,
) -> Encoded:
    """The smallest file of this format at or above the score; raises EncodingError when no quality reaches it.

    `judge` is what the score comes from, by default our learned one. `max_bytes` is the most the file may have; without
    a score the best such file is found. `max_side` shrinks the picture first, and copies are judged against the shrunk
    one. The format "best" tries all of them and keeps the smallest file (without a score: the one that scores best).

    Transparency, colour profile and EXIF stay; the picture is stored upright. An animation is an EncodingError, and so
    is transparency in a JPEG unless `background` names a colour to fill it with. `strip` leaves out EXIF and profile
    and stores sRGB.
    """
    if min_score is None and max_bytes is None:
        raise UsageError("encode needs a score to reach or a number of bytes to fit into: give min_score or max_bytes")
    score = judge or shipped_judge()
    found, problems = list[Encoded](), list[EncodingError]()
    for each in FORMATS if format == "best" else (format,):
        try:
            original = read_original(image, each, background=background, strip=strip, max_side=max_side)
            copies = Copies(original, each, score, on_try)
            found.append(copies.best_of(min_score, max_bytes, step))
        except EncodingError as error:
            problems.append(error)
    if not found:
        raise problems[0] if len(problems) == 1 else EncodingError("; ".join(map(str, problems)))
    if min_score is None:
        return max(found, key=lambda copy: copy.score)
    return min(found, key=lambda copy: len(copy.data))


class Copies:
    """The copies of one original in one format, each encoded and judged at most once."""

    def __init__(self, original: Original, format: Format, judge: Judge, on_try: OnTry | None = None) -> None:
        self._original, self._format, self._judge, self._on_try = original, format, judge, on_try
        self._data: dict[int, bytes] = {}
        self._judged: dict[int, tuple[Pixels, float]] = {}

    def best_of(self, min_score: float | None, max_bytes: int | None, step: int) -> Encoded:
        """The smallest copy that reaches the score, or without one the best that fits; raises EncodingError."""
        if min_score is None:
            return self._largest_within(max_bytes or 0, step)
        quality = find_quality(self._score, min_score, step)
        if quality is None:
            best = max(sorted(self._judged), key=self._score)
            raise EncodingError(
                f"no {self._format} quality reaches {min_score:g}: {self._score(best):.4g} at quality {best} is the "
                "best; ask for a lower score or another format"
            )
        size = len(self._bytes(quality))
        if max_bytes is not None and size > max_bytes:
            raise EncodingError(
                f"{min_score:g} needs {size:,} bytes as {self._format}, more than {max_bytes:,}; ask for a lower "
                "score, more bytes or fewer pixels"
            )
        return self._encoded(quality)

    def _largest_within(self, max_bytes: int, step: int) -> Encoded:
        # Sizes rise with quality: the first that does not fit is one step above the answer.
        first_too_large = find_quality(lambda quality: len(self._bytes(quality)), max_bytes + 1, step)
        if first_too_large is None:
            return self._encoded(HIGHEST)
        fitting = [quality for quality in self._data if len(self._bytes(quality)) <= max_bytes]
        if not fitting:
            least = len(self._bytes(first_too_large))
            raise EncodingError(
                f"as {self._format} even quality {first_too_large} has {least:,} bytes, more than {max_bytes:,}; allow "
                "more bytes or shrink the picture (max_side)"
            )
        return self._encoded(max(fitting))

    def _bytes(self, quality: int) -> bytes:
        if quality not in self._data:
            self._data[quality] = encoded_bytes(self._original, self._format, quality)
        return self._data[quality]

    def _score(self, quality: int) -> float:
        if quality not in self._judged:
            name = f"the {self._format} at quality {quality}"
            pixels = load_image(NamedBytes(name, self._bytes(quality))).pixels
            self._judged[quality] = pixels, self._judge(pixels, self._original.judged)
            if self._on_try is not None:
                self._on_try(self._format, quality, self._judged[quality][1])
        return self._judged[quality][1]

    def _encoded(self, quality: int) -> Encoded:
        score = self._score(quality)
        tried = {each: found for each, (_, found) in sorted(self._judged.items())}
        pixels, judged = self._judged[quality][0], self._original.judged
        return Encoded(self._bytes(quality), pixels, judged, quality, score, tried, self._format)


def find_quality(score_of: Callable[[int], float], wanted: float, step: int = STEP) -> int | None:
    """The lowest quality whose score is at or above the wanted one, by bisection; None if the highest is not.

    Scores rise with quality but for small dips near the top, so a dip there is passed over from below: where the
    highest quality fails, the ones just under it are asked before giving up.
    """
    grid = [*range(HIGHEST, LOWEST - 1, -step)][::-1]
    highest = range(len(grid) - 1, max(-1, len(grid) - 4), -1)
    top = next((place for place in highest if score_of(grid[place]) >= wanted), None)
    if top is None:
        return None
    low, high = -1, int(top)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if score_of(grid[middle]) >= wanted else (middle, high)
    return int(grid[high])


def encoded_bytes(original: Original, format: Format, quality: int) -> bytes:
    """The picture in this format; 4:2:0 colours, and each encoder at its best effort that a person still waits for."""
    stream = io.BytesIO()
    kept: dict[str, Any] = {"icc_profile": original.profile or b"", "exif": original.exif or b""}
    try:
        original.picture.save(stream, format.upper(), quality=quality, **_EFFORT[format], **kept)
    except (OSError, ValueError, KeyError) as error:
        raise EncodingError(
            f"{format} at quality {quality}: the encoder failed ({error}); try another format"
        ) from error
    return stream.getvalue()


def original_bytes(image: LoadedImage) -> int:
    """How large the original's file is; of a picture without one, its PNG."""
    return len(image.original) if image.original is not None else len(image.png())
