"""Mutations without end, for so many minutes: files for the loader, words for the reader of questions."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable

from agenticiqa.errors import AgenticIQAError
from tests.chaos.hostile_text import INJECTIONS
from tests.chaos.service import Trouble
from tests.fuzz.targets import LIMITS
from tests.images.test_images_hostile import mutated, peak_memory, whole_files

QUESTIONS = (
    "Is the image blurry?", "Rate the quality of the sky from 1 to 5.", "Which is sharper, the left or the right half?",
    "A. noise B. blur C. neither", "这张图片清晰吗？", "Is it *not* over-exposed, or is it?", "PSNR and SSIM please",
)  # fmt: skip
_PIECES = "\0\u202e\ud83d\ude00\n\t ,.;?!()[]{}<>\"'%$€§üß图片的A B C D 1 2 3 not never less than "


def fuzz_loader(minutes: float, seed: int) -> Trouble:
    """Any bytes are an image of the stated size or a typed error, within a gigabyte."""
    from agenticiqa.images import load_image

    sound = list(whole_files())

    def once(rng: random.Random) -> str:
        once_mutated = mutated(rng.choice(sound), rng) or b"\0"
        data = mutated(once_mutated, rng)
        try:
            image = load_image(data, limits=LIMITS)
        except AgenticIQAError as error:
            return type(error).__name__
        assert image.pixels.shape == (image.height, image.width, 3)
        assert max(image.size) <= LIMITS.max_ratio * min(image.size)
        return "image"

    return _for_minutes(once, minutes, seed, "loader")


def fuzz_reader(minutes: float, seed: int) -> Trouble:
    """Any words are understood as some question, or a typed error says why not."""
    from agenticiqa.question.read import read_question

    words = [*QUESTIONS, *INJECTIONS]

    def once(rng: random.Random) -> str:
        text = list(rng.choice(words))
        for _ in range(rng.randrange(1, 12)):
            at = rng.randrange(len(text) + 1)
            text[at : at + rng.randrange(3)] = rng.choices(_PIECES, k=rng.randrange(6))
        choices = {"A": rng.choice(words)[:200], "B": "".join(text)[:50] or "b"} if rng.random() < 0.4 else None
        try:
            read_question("".join(text), choices, ("PSNR", "SSIM"))
        except AgenticIQAError as error:
            return type(error).__name__
        return "understood"

    return _for_minutes(once, minutes, seed, "reader")


def _for_minutes(once: Callable[[random.Random], str], minutes: float, seed: int, name: str) -> Trouble:
    rng, outcomes, end, slowest = random.Random(seed), Counter[str](), time.monotonic() + 60 * minutes, 0.0
    found = Trouble()
    while time.monotonic() < end and not found.broken:
        started = time.process_time()
        state = rng.getstate()
        try:
            outcomes[once(rng)] += 1
        except Exception as error:
            found.broken.append(f"{name}: {type(error).__name__}: {error} (case {outcomes.total()}, {hash(state)})")
        slowest = max(slowest, time.process_time() - started)
    found.figures |= {
        f"{name}: cases": outcomes.total(),
        f"{name}: outcomes": dict(outcomes),
        f"{name}: slowest (s)": round(slowest, 2),
        f"{name}: peak (MB)": peak_memory() // 1000,
    }
    if peak_memory() > 10**9 // 1024:
        found.broken.append(f"{name}: needed {peak_memory() // 1000} MB")
    return found
