"""What a question leaves out is left out of its answer."""

from __future__ import annotations

import numpy as np
import pytest

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.gathering import Observer
from agenticiqa.embedded.findings import Look
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.question.read import read_question
from tests.support.looks import FixedEyes, seen

BRIGHT = seen(2.4, Brightness_change=(0.95, "moderate", "brighten"))
BRIGHT_AND_NOISY = seen(2.0, Brightness_change=(0.95, "severe", "brighten"), Noise=(0.9, "moderate", "white_noise"))


@pytest.fixture(scope="module")
def image() -> LoadedImage:
    return load_image(np.full((32, 32, 3), 128, np.uint8))


def told(query: str, look: Look, image: LoadedImage) -> str:
    question = read_question(query)
    return answer(question, Observer(FixedEyes(look), question, image).evidence()).text.lower()


@pytest.mark.parametrize(
    "query",
    [
        "Name everything that is wrong except the exposure",
        "What is wrong apart from the exposure?",
        "Besides the exposure, what problems does it have?",
        "Aside from the brightness, what flaws are there?",
        "Was stimmt nicht, außer der Belichtung?",
    ],
)
def test_what_is_excepted_is_not_told(query: str, image: LoadedImage) -> None:
    noisy, only_bright = told(query, BRIGHT_AND_NOISY, image), told(query, BRIGHT, image)

    assert "noise" in noisy or "rauschen" in noisy
    assert "exposure" not in noisy
    assert "belichtung" not in noisy
    assert only_bright.startswith(("no other visible distortion", "sonst kein sichtbarer fehler"))


def test_a_yes_or_no_is_about_the_rest(image: LoadedImage) -> None:
    assert told("Is anything wrong other than the exposure?", BRIGHT, image).startswith("no")
    assert told("Is anything wrong other than the exposure?", BRIGHT_AND_NOISY, image).startswith("yes (moderate")
    assert told("Is the picture fine apart from the exposure?", BRIGHT, image).startswith("yes")


def test_a_place_or_an_unmeasured_thing_excepted_changes_nothing() -> None:
    assert read_question("Is it sharp except in the corners?").topic.excepted == ()
    assert read_question("Apart from the framing, what is wrong?").topic.excepted == ()
