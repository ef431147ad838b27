"""Assesses 40 pictures and pairs with 12 questions and stores what a user would see, or compares with what was stored.

    python scripts/snapshot.py save FILE
    python scripts/snapshot.py compare FILE

Compare prints every answer, score, level or distortion that differs, then "N differences"; exit code 1 unless N is 0.
The pictures are scikit-image's photographs and copies of them damaged here, so nothing depends on the package itself.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from skimage import data

from agenticiqa import Assessor

Pixels = npt.NDArray[np.uint8]

QUESTIONS = (
    "Rate the overall quality of this image.",
    "Is the image blurry?",
    "Is there visible noise?",
    "Is it too dark?",
    "What is the main problem of this picture?",
    "How strong is the compression?",
    "Which distortion is most severe?\nA. Blur\nB. Noise\nC. Compression\nD. None",
    "Is the image sharp enough for print?",
    "Where is the quality lowest?",
    "Are the colours natural?",
    "这张图片清晰吗？",
    "Describe the quality of the background.",
)
PHOTOGRAPHS = ("astronaut", "coffee", "chelsea", "rocket", "cat")
DAMAGES = ("clean", "blur", "noise", "jpeg")


def main() -> int:
    """Stores or compares; the exit code says whether anything differs."""
    if len(sys.argv) != 3 or sys.argv[1] not in ("save", "compare"):
        sys.stderr.write(__doc__ or "")
        return 2
    found, file = dict(answers()), Path(sys.argv[2])
    if sys.argv[1] == "save":
        file.write_text(json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8")
        sys.stdout.write(f"{len(found)} answers stored\n")
        return 0
    stored: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    differing = [key for key in sorted(stored | found) if stored.get(key) != found.get(key)]
    for key in differing:
        sys.stdout.write(f"{key}\n  was {stored.get(key)}\n  is  {found.get(key)}\n")
    sys.stdout.write(f"{len(differing)} differences\n")
    return 1 if differing else 0


def answers() -> Iterator[tuple[str, Any]]:
    """What the product says about each picture and question."""
    assessor = Assessor()
    for name, picture, reference in pictures():
        for question in QUESTIONS:
            result = assessor.assess(picture, question, reference=reference)
            yield f"{name} | {question}", seen(result.model_dump(mode="json"))


def seen(result: dict[str, Any]) -> dict[str, Any]:
    """The part of a result that a user reads, with scores to four digits."""
    keys = ("answer", "score", "level", "distortions", "reasoning")
    return {key: round(value, 4) if isinstance(value := result.get(key), float) else value for key in keys}


def pictures() -> Iterator[tuple[str, Pixels, Pixels | None]]:
    """Each photograph clean and damaged, alone and, where damaged or clean, beside its original."""
    for name in PHOTOGRAPHS:
        original = np.asarray(getattr(data, name)())[:384, :384, :3].copy()
        for damage in DAMAGES:
            picture = damaged(original, damage)
            yield f"{name} {damage}", picture, None
            yield f"{name} {damage} with reference", picture, original


def damaged(original: Pixels, damage: str) -> Pixels:
    """A copy of the picture with one kind of damage that anyone sees."""
    if damage == "blur":
        return np.asarray(cv2.GaussianBlur(original, (0, 0), 3.0), np.uint8)
    if damage == "noise":
        grain = np.random.default_rng(7).normal(0, 25, original.shape)
        return np.clip(original + grain, 0, 255).astype(np.uint8)
    if damage == "jpeg":
        written = cv2.imencode(".jpg", original, [cv2.IMWRITE_JPEG_QUALITY, 10])[1]
        return np.asarray(cv2.imdecode(written, cv2.IMREAD_COLOR), np.uint8)
    return original


if __name__ == "__main__":
    sys.exit(main())
