"""Which encoder quality is just good enough: bisection over qualities, each judged against the original."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agenticiqa.encode.originals import Format, Original, Pixels, read_original
from agenticiqa.errors import EncodingError
from agenticiqa.images import ImageSource, LoadedImage, NamedBytes, load_image
from agenticiqa.weights import weight_set

Judge = Callable[[Pixels, Pixels], float]
"""The score from 1 to 5 of a picture against its original."""

SUFFIXES: dict[Format, str] = {"webp": ".webp", "avif": ".avif", "jpeg": ".jpg"}
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


def encode(
    image: ImageSource,
    format: Format,
    min_score: float,
    *,
    judge: Judge | None = None,
    step: int = STEP,
    background: str | None = None,
    strip: bool = False,
) -> Encoded:
    """The smallest file of this format at or above the score; raises EncodingError when no quality reaches it.

    Transparency, colour profile and EXIF stay; the picture is stored upright. An animation is an EncodingError, and so
    is transparency in a JPEG unless `background` names a colour to fill it with. `strip` leaves out EXIF and profile
    and stores sRGB.
    """
    original = read_original(image, format, background=background, strip=strip)
    score = judge or shipped_judge()
    tries: dict[int, tuple[bytes, Pixels, float]] = {}

    def score_of(quality: int) -> float:
        if quality not in tries:
            data = encoded_bytes(original, format, quality)
            decoded = load_image(NamedBytes(f"the {format} at quality {quality}", data)).pixels
            tries[quality] = data, decoded, score(decoded, original.judged)
        return tries[quality][2]

    quality = find_quality(score_of, min_score, step)
    scores = {each: found[2] for each, found in sorted(tries.items())}
    if quality is None:
        best = max(scores, key=lambda each: scores[each])
        raise EncodingError(
            f"no {format} quality reaches {min_score:g}: {scores[best]:.2f} at quality {best} is the best; "
            "ask for a lower score or another format"
        )
    data, decoded, reached = tries[quality]
    return Encoded(data, decoded, original.judged, quality, reached, scores)


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
    """The picture in this format; settings are those sites use: 4:2:0 colours, encoders at their default effort."""
    stream = io.BytesIO()
    kept: dict[str, Any] = {"icc_profile": original.profile or b"", "exif": original.exif or b""}
    try:
        if format == "jpeg":
            original.picture.save(stream, "JPEG", quality=quality, optimize=True, progressive=True, **kept)
        elif format == "webp":
            original.picture.save(stream, "WEBP", quality=quality, method=4, **kept)
        else:
            original.picture.save(stream, "AVIF", quality=quality, speed=8, **kept)
    except (OSError, ValueError, KeyError) as error:
        raise EncodingError(
            f"{format} at quality {quality}: the encoder failed ({error}); try another format"
        ) from error
    return stream.getvalue()


def shipped_judge(terms: str = "research") -> Judge:
    """The learned full-reference score."""
    from agenticiqa.embedded.tools import FullReferenceTool

    tool = FullReferenceTool(weight_set(terms))
    return lambda test, reference: tool.measure(test, reference)


def original_bytes(image: LoadedImage) -> int:
    """How large the original's file is; of a picture without one, its PNG."""
    return len(image.original) if image.original is not None else len(image.png())
