"""With perfect eyes every benchmark question is answered rightly: what is missed there, the eyes have missed."""

from __future__ import annotations

import pytest

from agenticiqa.embedded.client import PerceptionClient
from agenticiqa.embedded.findings import Look
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.state import DISTORTION_CATEGORIES, SEVERITIES, Region
from agenticiqa.values import Distortion
from benchmarks.known_damage import SYNTHETIC_KINDS, VISIBLE_LEVELS, Picture, synthetic_pictures
from benchmarks.multiple_choice import chosen_option, named_first
from benchmarks.quality_questions import AskedPicture, make_questions
from tests.support.looks import judged
from tests.support.photos import photo


class PerfectEyes:
    """Perception that know what was done to each picture."""

    def __init__(self, pictures: list[Picture]) -> None:
        self._truth = {load_image(picture.pixels).sha256: picture for picture in pictures}

    def look(self, image: LoadedImage, reference: LoadedImage | None = None, region: Region | None = None) -> Look:
        """The truth about the picture, and a score against another picture that says whether they are the same."""
        truth = self._truth[image.sha256]
        findings = tuple(
            Distortion.called(category, truth.severity, 0.9)
            if category == truth.category
            else Distortion.called(category, "none", 0.05)
            for category in DISTORTION_CATEGORIES
        )
        score = max(1.0, 4.8 - SEVERITIES.index(truth.severity) - (0.6 if truth.category else 0.0))
        if reference is not None:
            score = 5.0 if reference.sha256 == image.sha256 else 2.5
        return Look(judged(score), findings)

    def locate(self, image: LoadedImage, name: str) -> Region | None:
        """No place is ever asked for."""
        return None


@pytest.fixture(scope="module")
def pictures() -> list[Picture]:
    return list(synthetic_pictures([photo("chelsea")[:192, :192]], 5 * len(SYNTHETIC_KINDS), seed=8))


@pytest.fixture(scope="module")
def questions(pictures: list[Picture]) -> list[AskedPicture]:
    return make_questions(pictures, 42, seed=8)


def test_perfect_eyes_answer_every_question_rightly(pictures: list[Picture], questions: list[AskedPicture]) -> None:
    client = PerceptionClient(PerfectEyes(pictures))

    wrong = [q.query for q in questions if chosen_option(client, q, range(len(q.options))) != q.right]

    assert wrong == []


def test_perfect_eyes_name_the_true_distortion_first(pictures: list[Picture]) -> None:
    visible = [picture for picture in pictures if picture.level in VISIBLE_LEVELS and picture.severity != "none"]

    assert named_first(PerceptionClient(PerfectEyes(pictures)), visible) == 1.0


def test_the_questions_are_balanced(questions: list[AskedPicture]) -> None:
    rights = [question.right for question in questions]

    assert {rights.count(word) for word in ("Worse", "Better", "About the same")} == {14}
    assert len({question.right for question in questions if question.kind == "which"}) == len(DISTORTION_CATEGORIES)
    assert abs(rights.count("Yes") - rights.count("No")) <= 14
