"""Model calls and tokens per assessment: the five-call flow of the paper beside `mode: fast`, on the same pictures.

    python -m benchmarks.calls

The embedded backend answers; each request is counted as a hosted model would count it. Text: one token per four bytes.
Images: OpenAI's published rule for gpt-4o at high detail (85, and 170 per tile of 512 pixels after fitting into 2048
and scaling the short side to 768). Remembered: the longest beginning shared with an earlier request of the run, in
steps of 128 tokens from 1,024 on, which services bill at a fraction. No hosted model is asked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from agenticiqa import Assessment, Assessor
from agenticiqa.config import Settings, load_settings
from agenticiqa.evaluation.statistics import srcc
from agenticiqa.parts import build_parts
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs
from agenticiqa.vlm_client.client import Usage, VLMClient, VLMReply, VLMRequest
from agenticiqa.vlm_client.providers.http import SHARED_SYSTEM
from agenticiqa.vlm_client.schemas import schema_for

Pixels = npt.NDArray[np.uint8]
RATE = "Rate the perceptual quality of this image."
QUESTIONS = (
    (RATE, False),
    ("What is wrong with this photo?", False),
    ("Which is worse? A. Noise B. Blur C. Compression", False),
    (RATE, True),
)
"""What is asked, and whether the original is given."""
KINDS = ("gaussian_blur", "jpeg", "white_noise")
PHOTOGRAPHS = 2
SMALLEST_MEMORY, STEP = 1024, 128


@dataclass(frozen=True)
class Case:
    """A picture, its original and how strongly it was damaged."""

    picture: Pixels
    original: Pixels
    level: int


@dataclass(frozen=True)
class Segment:
    """A piece of a request as the service reads it, and its size."""

    content: str
    tokens: int


class MeteredClient(VLMClient):
    """A backend whose requests are counted as a hosted model would count them."""

    def __init__(self, inner: VLMClient) -> None:
        self._inner = inner
        self.model, self.deterministic, self.derived_from = inner.model, inner.deterministic, inner.derived_from
        self._earlier: list[list[Segment]] = []

    def generate(self, prompt: str, image: Any, **kwargs: Any) -> str:
        """The inner backend's reply, not counted."""
        return self._inner.generate(prompt, image, **kwargs)

    def ask(self, request: VLMRequest) -> VLMReply:
        """The inner backend's reply with the tokens it would have taken."""
        reply, said = self._inner.ask(request), segments(request)
        remembered = max((shared(said, other) for other in self._earlier), default=0)
        self._earlier.append(said)
        usage = Usage(
            input_tokens=sum(piece.tokens for piece in said),
            output_tokens=text_tokens(reply.words()),
            cached_tokens=remembered // STEP * STEP if remembered >= SMALLEST_MEMORY else 0,
        )
        return replace(reply, usage=usage)

    def forget(self) -> None:
        """Begins a new run: nothing is remembered."""
        self._earlier.clear()


def segments(request: VLMRequest) -> list[Segment]:
    """The request in the order in which a service reads it; an enforced schema comes first."""
    schema = json.dumps(schema_for(request))
    images = [Segment(item.image.sha256, image_tokens(item.image.size)) for item in request.images]
    if request.images_first:
        return [_text(SHARED_SYSTEM), *images, _text(request.system), _text(schema), _text(request.user)]
    return [_text(schema), _text(request.system), *images, _text(request.user)]


def _text(content: str) -> Segment:
    return Segment(content, text_tokens(content))


def image_tokens(size: tuple[int, int]) -> int:
    """What gpt-4o counts for an image at high detail."""
    width, height = (side * min(1.0, 2048 / max(size)) for side in size)
    scale = min(1.0, 768 / min(width, height))
    return 85 + 170 * math.ceil(width * scale / 512) * math.ceil(height * scale / 512)


def text_tokens(text: str) -> int:
    """About what a text counts."""
    return math.ceil(len(text.encode()) / 4)


def shared(one: list[Segment], other: list[Segment]) -> int:
    """The tokens both begin with."""
    total = 0
    for mine, its in zip(one, other, strict=False):
        if mine.content != its.content:
            break
        total += mine.tokens
    return total


@dataclass(frozen=True)
class Flow:
    """What one mode took and found on all pictures."""

    found: list[Assessment]

    def mean(self, name: str) -> float:
        """The mean count per assessment."""
        return float(np.mean([getattr(one.ledger.total, name) for one in self.found]))

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The scores, picture by picture."""
        return np.array([one.score or math.nan for one in self.found])


def main() -> None:
    """Prints calls and tokens per assessment for both modes, and how their answers compare."""
    cases = list(pictures())
    for query, with_original in QUESTIONS:
        full, fast = (flow(mode, query, cases, with_original) for mode in ("full", "fast"))
        shown = "pairs" if with_original else "pictures"
        print(f"\n{query} ({len(cases)} {shown} of 768×768, clean and damaged)\n")
        print("| flow | calls | input tokens | of them remembered | output tokens | SRCC with the damage |")
        print("|---|---|---|---|---|---|")
        for name, one in (("five calls, as the paper has it (peer)", full), ("mode: fast", fast)):
            counts = [one.mean(each) for each in ("calls", "input_tokens", "cached_tokens", "output_tokens")]
            agreement = -srcc(one.scores, np.array([case.level for case in cases], float))
            print(
                f"| {name} | {counts[0]:.1f} | " + " | ".join(f"{n:,.0f}" for n in counts[1:]) + f" | {agreement:.3f} |"
            )
        print(f"\n{compared(full, fast)}")


def flow(mode: str, query: str, cases: list[Case], with_original: bool) -> Flow:
    """Every picture assessed in one mode."""
    settings: Settings = load_settings(overrides={"pipeline": {"mode": mode, "cache": {"enabled": False}}})
    parts = build_parts(settings)
    # One model for all roles, as in the paper: what one role has shown it, another need not show again.
    client = MeteredClient(parts.vlm_clients["executor"])
    assessor = Assessor(parts=replace(parts, vlm_clients=dict.fromkeys(parts.vlm_clients, client)))
    found = []
    for case in cases:
        client.forget()
        found.append(assessor.assess(case.picture, query, reference=case.original if with_original else None))
    return Flow(found)


def compared(full: Flow, fast: Flow) -> str:
    """How far the two modes agree."""
    same = sum(a.answer == b.answer for a, b in zip(full.found, fast.found, strict=True))
    alike = sum(a.distortions == b.distortions for a, b in zip(full.found, fast.found, strict=True))
    furthest = float(np.nanmax(np.abs(full.scores - fast.scores)))
    count = len(full.found)
    return f"Same answer {same}/{count}, same distortions {alike}/{count}, largest difference of scores {furthest:.4f}."


def pictures() -> Iterator[Case]:
    """Shipped photographs, clean and damaged in known ways."""
    import cv2

    for image in list(photographs().values())[:PHOTOGRAPHS]:
        clean = np.asarray(cv2.resize(image.pixels, (768, 768), interpolation=cv2.INTER_AREA), np.uint8)
        yield Case(clean, clean, 0)
        for kind in KINDS:
            yield from (Case(distort(clean, kind, level), clean, level) for level in (2, 4))


if __name__ == "__main__":
    main()
