"""Questions as people put them: about all of the picture, about somebody's own, two at once, what to do with it."""

from __future__ import annotations

import pytest

from agenticiqa.question.several_questions import split_questions
from agenticiqa.question.understanding import understand


@pytest.mark.parametrize(
    ("query", "reach", "yes_means"),
    [
        ("Is everything in focus?", "all", "fine"),
        ("Is the whole picture sharp from front to back?", "all", "fine"),
        ("Isn't everything in focus?", "all", "fine"),
        ("Is the whole picture blurry?", "all", "flaw"),
        ("Is anything out of focus?", "any", "flaw"),
        ("Not everything is in focus, right?", "any", "flaw"),
        ("Is it sharp?", None, "fine"),
    ],
)
def test_all_of_the_picture_or_any_of_it_is_told_from_the_words(query: str, reach: str | None, yes_means: str) -> None:
    question = understand(query)

    assert (question.reach, question.yes_means) == (reach, yes_means)


@pytest.mark.parametrize(
    ("query", "yes_means", "place"),
    [
        ("Is the right side too dark?", "flaw", "right"),
        ("Is it underexposed on the right side?", "flaw", "right"),
        ("Isn't the right side too dark?", "flaw", "right"),
        ("Is the right side not too dark?", "fine", "right"),
        ("Is the picture grainy in the bottom right corner?", "flaw", "bottom right"),
        ("Is it overexposed in the top right?", "flaw", "top right"),
        ("Is it too bright on the right?", "flaw", "right"),
        ("Is the right half sharp?", "fine", "right"),
        ("Is it too dark at the top?", "flaw", "top"),
    ],
)
def test_the_right_side_is_no_praise(query: str, yes_means: str, place: str) -> None:
    question = understand(query)

    assert (question.intent, question.yes_means, question.scope) == ("yesno", yes_means, (place,))


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ("Is the man out of focus or is it camera shake?", ["defocus_blur", "motion_blur"]),
        ("Is the dog blurred by motion or out of focus?", ["motion_blur", "defocus_blur"]),
    ],
)
def test_one_kind_or_another_is_a_choice(query: str, kinds: list[str]) -> None:
    question = understand(query)

    assert question.intent == "choose"
    assert [option.kind for option in question.options.values()] == kinds


@pytest.mark.parametrize(
    ("query", "things", "sharpest"),
    [
        ("Is it the background or the man that is less sharp?", ("background", "man"), False),
        ("Is it the man or the dog that is sharper?", ("man", "dog"), True),
        ("Is the man or the dog sharper?", ("man", "dog"), True),
    ],
)
def test_one_thing_or_another_is_a_choice(query: str, things: tuple[str, ...], sharpest: bool) -> None:
    question = understand(query)

    assert (question.intent, question.attribute, question.scope) == ("where", "blur", things)
    assert question.asks_for_least == sharpest


def test_to_be_saved_by_sharpening_is_about_blur() -> None:
    question = understand("Can this be saved by sharpening?")

    assert (question.intent, question.attribute) == ("advice", "blur")


def test_what_is_right_is_still_praised() -> None:
    assert understand("Is the exposure right?").yes_means == "fine"
    assert understand("Is the exposure on the right side right?").yes_means == "fine"


@pytest.mark.parametrize(
    ("query", "scope"),
    [
        ("Is the bride's face sharp?", ("face",)),
        ("Is my daughter in focus?", ("daughter",)),
        ("My wife says it is blurry, is it?", ()),
        ("Is the face on the left sharp?", ("face on the left",)),
        ("Is the left dog sharper than the right dog?", ("dog on the left", "dog on the right")),
        ("Is every face sharp?", ("every face",)),
        ("Is it too dark or is that just night?", ()),
        ("Are the shadows crushed?", ()),
    ],
)
def test_the_scope_is_who_is_asked_about_and_nobody_who_only_says_something(query: str, scope: tuple[str, ...]) -> None:
    assert understand(query).scope == scope


def test_all_faces_in_focus_is_good_news() -> None:
    assert understand("Are all faces in focus?").yes_means == "fine"


def test_one_thing_sharper_than_another_is_a_comparison_whatever_the_things_are() -> None:
    question = understand("Is the dog on the right sharper than the dog on the left?")

    assert (question.intent, question.attribute, question.yes_means) == ("compare", "blur", "fine")
    assert question.places == ("dog on the right", "dog on the left")


@pytest.mark.parametrize(
    ("query", "yes_means"),
    [
        ("Can I use this as a hero image on a web page?", "fine"),
        ("Should this image be dropped from a training set?", "flaw"),
        ("Is this photo usable for a catalogue?", "fine"),
    ],
)
def test_what_to_do_with_a_picture_is_a_question_for_its_quality(query: str, yes_means: str) -> None:
    question = understand(query)

    assert (question.intent, question.attribute, question.yes_means) == ("yesno", "overall", yes_means)


def test_what_to_do_with_something_in_the_picture_is_none() -> None:
    assert understand("Should I remove the background from the photo?").intent == "decline"


def test_whether_a_picture_can_be_saved_asks_for_advice() -> None:
    assert understand("Is it salvageable?").intent == "advice"


def test_a_share_of_black_is_asked_for_as_a_measurement() -> None:
    assert understand("How much of the picture is pure black, in percent?").intent == "measure"


def test_among_flaws_a_bare_name_is_what_may_be_wrong_with_it() -> None:
    options = understand("What is the main problem: blur, noise, darkness or colour?").options

    assert [each.attribute for each in options.values()] == ["blur", "noise", "dark", "colour"]


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        (
            "Are the light trails blown out and is the skyline sharp?",
            ("Are the light trails blown out?", "is the skyline sharp?"),
        ),
        ("Is it sharp? How dark is it?", ("Is it sharp?", "How dark is it?")),
        ("Is it underexposed, and if so by how much?", None),
        ("Is it blurry or not?", None),
        ("Are the shadows and the highlights fine?", None),
        ("Is it blurry? A) yes B) no", None),
    ],
)
def test_two_questions_in_one_sentence_are_told_apart(query: str, parts: tuple[str, ...] | None) -> None:
    assert split_questions(query) == (parts or (query,))
