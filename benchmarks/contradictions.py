"""Whether the embedded backend contradicts itself: answer against severity, score and printed measurement.

`ask_and_check(client, image, look)` asks twelve questions about one image and returns every contradiction in words.
A "yes" must rest on a finding, a finding of moderate or worse must not be denied, no answer may deny what its own
measurement shows, and a score that reads Good beside a moderate finding must say why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agenticiqa.embedded.client import PerceptionClient
from agenticiqa.embedded.findings import Look
from agenticiqa.images import LabelledImage, LoadedImage
from agenticiqa.state import LEVEL_NAMES, SEVERITIES, DistortionCategory
from agenticiqa.values import Distortion
from agenticiqa.vlm_client.client import VLMRequest
from agenticiqa.vlm_client.structured import value_of
from agenticiqa.vlm_client.tasks import AnswerInputs, AnswerReply

MODERATE = SEVERITIES.index("moderate")


@dataclass(frozen=True)
class YesNo:
    """A yes/no question: the category it is about, the kinds that count, and whether "yes" means the flaw."""

    query: str
    category: DistortionCategory | None
    kinds: tuple[str, ...] = ()
    yes_is_flaw: bool = True


YES_NO = (
    YesNo("Is the image blurry?", "Blurs"),
    YesNo("Is this photo sharp?", "Blurs", yes_is_flaw=False),
    YesNo("Is there noise in the image?", "Noise"),
    YesNo("Are there compression artifacts?", "Compression"),
    YesNo("Is the image too dark?", "Brightness change", ("darken",)),
    YesNo("Is the image overexposed?", "Brightness change", ("brighten",)),
    YesNo("Does it have a color cast?", "Color distortions", ("color_cast",)),
    YesNo("Is the contrast too low?", "Contrast", ("contrast_down",)),
    YesNo("Is anything wrong with this image?", None),
)
OPEN = ("What is the main problem of this image?", "How good is the quality of this image?", "Describe the quality.")
QUESTIONS = (*(question.query for question in YES_NO), *OPEN)
# What no answer may deny: the category and kind, the measurement, and the value beyond which it speaks for itself.
UNDENIABLE: tuple[tuple[DistortionCategory, str, str, float, bool], ...] = (
    ("Brightness change", "brighten", "clipped highlights", 33.0, True),
    ("Brightness change", "darken", "mean brightness", 25.0, False),
    ("Color distortions", "color_cast", "color cast", 50.0, True),
    ("Blurs", "", "blur radius", 4.0, True),
)


def ask_and_check(client: PerceptionClient, image: LoadedImage, look: Look) -> list[str]:
    """All contradictions in the answers to the twelve questions."""
    found = list(_of_measurements(look))
    for question in YES_NO:
        answer, reasons = _asked(client, image, question.query)
        found += [f"{question.query} {answer}: {why}" for why in _of_answer(question, answer, look)]
        found += [f"{question.query} {answer}: {why}" for why in _of_score(reasons, look)]
    for query in OPEN:
        answer, reasons = _asked(client, image, query)
        found += [f"{query} {answer}: {why}" for why in _of_score(f"{answer} {reasons}", look)]
    return found


def _asked(client: PerceptionClient, image: LoadedImage, query: str) -> tuple[str, str]:
    request = VLMRequest("answer", "", "", (LabelledImage("image", image),), AnswerInputs(query=query), AnswerReply)
    reply = value_of(client.ask(request), AnswerReply)
    return reply.final_answer, reply.quality_reasoning


def _of_answer(question: YesNo, answer: str, look: Look) -> Iterator[str]:
    said = re.match(r"\s*(yes|no)\b", answer, re.IGNORECASE)
    if said is None:
        return
    flawed = (said[1].lower() == "yes") == question.yes_is_flaw
    told = [each for finding in look.findings for each in (finding, *finding.directions)]
    findings = [f for f in told if question.category in (None, f.category) and _is_asked(f, question)]
    worst = max((SEVERITIES.index(f.severity) for f in findings), default=0)
    if flawed and worst == 0:
        yield "affirmed, but no such finding"
    if not flawed and worst >= MODERATE:
        yield f"denied, but found {SEVERITIES[worst]}"
    if not flawed and question.category:
        yield from (why for category, why in _undeniable(look, question.kinds) if category == question.category)


def _is_asked(finding: Distortion, question: YesNo) -> bool:
    return not question.kinds or finding.kind is None or finding.kind in question.kinds


def _undeniable(look: Look, kinds: tuple[str, ...] = ()) -> Iterator[tuple[DistortionCategory, str]]:
    for category, kind, name, limit, above in UNDENIABLE:
        reading = look.reading(name)
        if reading is None or (kinds and kind and kind not in kinds):
            continue
        if (reading.value >= limit) if above else (reading.value <= limit):
            yield category, f"{name} {reading.value:g} {reading.unit}"


def _of_measurements(look: Look) -> Iterator[str]:
    """Findings that deny what was measured."""
    for category, why in _undeniable(look):
        finding = look.finding(category)
        if finding is not None and SEVERITIES.index(finding.severity) < MODERATE:
            yield f"{category} {finding.severity}, but {why}"


def _of_score(text: str, look: Look) -> Iterator[str]:
    """A level of Good or better beside a finding of moderate or worse that the words do not mention."""
    if not re.search(rf"\b({LEVEL_NAMES['A']}|{LEVEL_NAMES['B']})\b", text):
        return
    for finding in look.findings:
        if SEVERITIES.index(finding.severity) >= MODERATE and finding.category.split()[0].rstrip("s") not in text:
            yield f"reads good, silent about {finding.category} ({finding.severity})"
