"""The shipped models, looking at photographs none of them was fitted on."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from agenticiqa.embedded.client import PerceptionClient
from agenticiqa.embedded.combined_models import (
    shipped_perception,
    with_doubt,
)
from agenticiqa.embedded.findings import Perception
from agenticiqa.images import LabelledImage, LoadedImage, load_image
from agenticiqa.state import Region
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.values import Distortion, Judgement, Reading
from agenticiqa.vlm_client.client import VLMRequest
from agenticiqa.vlm_client.structured import value_of
from agenticiqa.vlm_client.tasks import AnswerInputs, AnswerReply
from tests.support.photos import photo

CHELSEA = load_image(photo("chelsea"))


@pytest.fixture(scope="module")
def eyes() -> Perception:
    return shipped_perception("research")


def damaged(kind: str, level: int = 4) -> LoadedImage:
    """The cat, damaged so."""
    return load_image(distort(CHELSEA.pixels, kind, level))


@pytest.mark.parametrize(
    ("kind", "category"),
    [
        ("gaussian_blur", "Blurs"),
        ("white_noise", "Noise"),
        ("jpeg", "Compression"),
        ("darken", "Brightness change"),
        ("contrast_down", "Contrast"),
    ],
)
def test_plain_damage_is_found_with_and_without_the_reference(eyes: Perception, kind: str, category: str) -> None:
    picture = damaged(kind)

    for look in (eyes.look(picture), eyes.look(picture, CHELSEA)):
        strongest = max(look.findings, key=lambda finding: finding.weight)
        assert strongest.category == category
        assert strongest.probability > 0.5


def test_an_identical_pair_shows_no_change_and_scores_five(eyes: Perception) -> None:
    look = eyes.look(CHELSEA, CHELSEA)

    assert look.quality.score == 5.0
    assert look.quality.source == "AIQA_FR"
    assert all(finding.severity == "none" for finding in look.findings)


def test_the_models_look_once_at_the_same_pixels(eyes: Perception) -> None:
    again = load_image(CHELSEA.pixels.copy())
    corner = Region(left=0, top=0, right=200, bottom=200)

    assert eyes.look(CHELSEA) is eyes.look(again)
    assert eyes.look(CHELSEA, None, corner) is eyes.look(again, None, corner)
    assert eyes.look(CHELSEA) is not eyes.look(damaged("jpeg"))


def test_a_clean_photograph_has_no_moderate_distortion(eyes: Perception) -> None:
    look = eyes.look(CHELSEA)

    assert [finding for finding in look.findings if finding.probability >= 0.5 and finding.strength >= 1.5] == []
    assert look.quality.score > 3


def test_the_noisy_side_is_found() -> None:
    pixels = CHELSEA.pixels.copy()
    half = pixels.shape[1] // 2
    pixels[:, :half] = distort(np.ascontiguousarray(pixels[:, :half]), "white_noise", 4)
    inputs = AnswerInputs(query="Which side of the photo is noisier?", choices={"A": "Right", "B": "Left"})
    request = VLMRequest("answer", "", "", (LabelledImage("image", load_image(pixels)),), inputs, AnswerReply)

    reply = PerceptionClient(shipped_perception("research")).ask(request)

    assert value_of(reply, AnswerReply).final_answer == "B"


def test_what_is_more_likely_absent_is_not_called_severe() -> None:
    assert Distortion("Noise", 0.4, 2.6, "white_noise").severity == "none"
    assert Distortion("Noise", 0.6, 2.6, "white_noise").severity == "severe"


def test_a_page_of_crisp_text_is_given_no_flaw_for_its_score(eyes: Perception) -> None:
    page = np.full((600, 800, 3), 255, np.uint8)
    for line in range(20):
        cv2.putText(page, "The quick brown fox jumps over it", (20, 30 + 28 * line), 0, 0.7, (0, 0, 0), 1)

    look = eyes.look(load_image(page))

    assert look.quality.out_of_domain
    assert not [each for each in look.findings if each.category == "Blurs" and each.severity != "none"]


def test_what_is_more_likely_absent_is_weaker_than_slight_in_numbers_too() -> None:
    weaker, stronger = (Distortion("Noise", 0.4, strength) for strength in (1.0, 2.6))

    assert weaker.strength < stronger.strength < 0.5


def test_a_severe_flaw_beside_a_good_score_is_told_as_a_doubt_and_changes_nothing() -> None:
    good = Judgement({"A": 1.0, "B": 0.0, "C": 0.0, "D": 0.0, "E": 0.0}, (4.8, 5.0))

    doubted = with_doubt(good, (Distortion("Blurs", 0.9, 2.9),))

    assert doubted.levels == good.levels
    assert doubted.interval == good.interval
    assert "Blurs disagree" in doubted.notes[0]
    assert with_doubt(good, (Distortion("Blurs", 0.6, 2.9),)) == good
    assert with_doubt(good, (Distortion("Blurs", 0.9, 0.9),)) == good


def test_a_reading_that_contradicts_the_finding_is_kept_and_the_doubt_told() -> None:
    calm = Judgement({"A": 0.0, "B": 0.0, "C": 1.0, "D": 0.0, "E": 0.0})
    loud = (Reading("noise sigma", 71, "grey levels"),)

    doubted = with_doubt(calm, (Distortion("Noise", 0.1, 0.2, readings=loud),))

    assert doubted.notes == ("doubtful: noise sigma 71 grey levels was measured, and the finding is none Noise",)
    assert with_doubt(calm, (Distortion("Noise", 0.9, 2.4, readings=loud),)) == calm
