"""Every category of distortions is known as an option, under its name, its kinds and what people write instead."""

from __future__ import annotations

from itertools import pairwise

import pytest

from agenticiqa.question.asked import Choose
from agenticiqa.question.read import read_option, read_question
from agenticiqa.state import DISTORTION_CATEGORIES, DistortionCategory
from agenticiqa.values import CATEGORY_OF

NAMES: dict[DistortionCategory, list[str]] = {
    "Blurs": ["Blurs", "Gaussian blur", "Lens blur", "Motion blur", "Out of focus", "Loss of sharpness"],
    "Noise": ["Noise", "White noise", "Impulse noise", "Color noise", "Grain", "Multiplicative noise"],
    "Compression": ["Compression", "JPEG artifacts", "Lossy compression", "JPEG2000 compression", "Blockiness"],
    "Brightness change": ["Brightness change", "Underexposure", "Overexposure", "Too dark", "Too bright"],
    "Contrast": ["Contrast change", "Low contrast", "Excessive contrast"],
    "Color distortions": ["Color distortions", "Color saturation change", "Color cast", "Oversaturation"],
    "Sharpness": ["Sharpness distortion", "Oversharpening", "Over-sharpening artifacts", "High sharpen"],
}


@pytest.mark.parametrize(("category", "name"), [(category, name) for category in NAMES for name in NAMES[category]])
def test_a_name_from_the_literature_is_the_claim_of_its_category(category: DistortionCategory, name: str) -> None:
    meaning = read_option(name)

    assert (CATEGORY_OF.get(meaning.attribute or "none"), meaning.says) == (category, "flaw")


STYLES = ["{q}\nA. {a}\nB. {b}", "{q} (A) {a} (B) {b}", "{q} A) {a}; B) {b}. Answer with the letter."]


@pytest.mark.parametrize("style", STYLES)
def test_the_categories_are_options_in_every_layout(style: str) -> None:
    for first, second in pairwise(DISTORTION_CATEGORIES):
        text = style.format(q="Which distortion is most apparent in this image?", a=first, b=second)

        question = read_question(text)

        assert isinstance(question, Choose)
        assert all(meaning.attribute and meaning.says == "flaw" for meaning in question.options.values())


def test_the_categories_as_options_are_seven_different_flaws() -> None:
    question = read_question("Which distortion is most apparent in this image?", list(DISTORTION_CATEGORIES))

    assert isinstance(question, Choose)
    assert [CATEGORY_OF[meaning.attribute or "none"] for meaning in question.options.values()] == list(
        DISTORTION_CATEGORIES
    )


def test_the_severity_of_a_category_is_asked_of_that_category() -> None:
    asked = [read_question(f"How severe is the {name.lower()} distortion?") for name in DISTORTION_CATEGORIES]

    assert [each.topic.flaw.category for each in asked] == list(DISTORTION_CATEGORIES)


@pytest.mark.parametrize(
    ("options", "levels"),
    [
        (["Excellent", "Good", "Fair", "Poor", "Bad"], [5, 4, 3, 2, 1]),
        (["非常好", "好", "一般", "差"], [5, 4, 3, 2]),
    ],
)
def test_levels_of_quality_are_options(options: list[str], levels: list[float]) -> None:
    assert [read_option(option).level for option in options] == levels


def test_severities_are_options() -> None:
    found = [read_option(option).severity for option in ["None", "Slight", "Moderate", "Severe", "Extreme"]]

    assert found == [0, 1, 2, 3, 4]
