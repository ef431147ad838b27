"""What a question is about, and what it only mentions."""

from __future__ import annotations

import pytest

from agenticiqa.question.object_words import object_called
from agenticiqa.question.scope import scope_of


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("is the wall blurry?", ("wall",)),
        ("are my hands in focus?", ("hands",)),
        ("is there noise on the wall?", ("wall",)),
        ("is the shop window overexposed?", ("window",)),
        ("does the paint look grainy?", ("paint",)),
        ("is the man's shirt noisy?", ("shirt",)),
    ],
)
def test_the_thing_asked_about_is_the_scope(query: str, expected: tuple[str, ...]) -> None:
    assert scope_of(query, images=False) == expected


@pytest.mark.parametrize(
    "query",
    [
        "would you hang it on the wall?",
        "is it sharp enough for my wall?",
        "on the other hand, is it noisy?",
        "i can't tell on my phone. is it blurry?",
        "is it fit for a book?",
        "is the client happy with the noise?",
        "sieht man verrauschte flächen?",
        "would the editor reject it?",
    ],
)
def test_what_is_only_mentioned_is_no_scope(query: str) -> None:
    assert scope_of(query, images=False) == ()


def test_skin_is_looked_at_in_the_faces_and_is_no_plural_of_ski() -> None:
    asked = object_called("skin")

    assert asked is not None
    assert asked.kinds == ("face",)
    assert asked.several


@pytest.mark.parametrize("name", ["wall", "hands", "boots", "banks", "care", "kinds", "label"])
def test_a_noun_without_a_class_never_becomes_another_thing(name: str) -> None:
    assert object_called(name) is None
