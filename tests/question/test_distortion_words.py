"""Words for distortions beyond the seven categories."""

from __future__ import annotations

import pytest

from agenticiqa.question.distortion_words import DistortionWord, all_words, word_for
from agenticiqa.state import DISTORTION_CATEGORIES


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("motion blur", DistortionWord("Blurs", "motion blur")),
        ("JPEG artifacts", DistortionWord("Compression", "jpeg")),
        ("overexposure", DistortionWord("Brightness change", "overexposure", "brighter")),
        ("Under-exposed", DistortionWord("Brightness change", "underexposure", "darker")),
        ("low contrast", DistortionWord("Contrast", "low contrast", "lower")),
        ("pixelation", DistortionWord("Compression", "pixelation")),
        ("banding", DistortionWord("Compression", "banding")),
        ("haze", DistortionWord("Contrast", "haze", "lower")),
        ("severe chromatic aberration", DistortionWord("Color distortions", "chromatic aberration")),
        ("Blurs", DistortionWord("Blurs", "blurs")),
    ],
)
def test_a_word_has_its_category_kind_and_direction(said: str, meant: DistortionWord) -> None:
    assert word_for(said) == meant


def test_more_than_sixty_words_are_known_and_every_category_has_some() -> None:
    words = all_words()

    assert len(words) >= 67
    assert {word.category for word in words.values()} == set(DISTORTION_CATEGORIES)


@pytest.mark.parametrize("said", ["", "a lovely sunset", "wonky horizon", "composition"])
def test_what_is_no_distortion_is_not_mapped(said: str) -> None:
    assert word_for(said) is None
