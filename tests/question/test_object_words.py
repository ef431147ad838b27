"""Names of things in seven languages lead to what can be located."""

from __future__ import annotations

import pytest

from agenticiqa.question.object_words import names_several, object_called, subject_of, things_in, word_for


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("kitty", "cat"), ("Katze", "cat"), ("小猫", "cat"), ("gatos", "cat"), ("le chat", "cat"), ("子猫", "cat"),
        ("puppies", "dog"), ("Hunde", "dog"), ("狗", "dog"), ("perros", "dog"), ("chiens", "dog"), ("cães", "dog"),
        ("cars", "car"), ("Autos", "car"), ("voitures", "car"), ("traffic lights", "traffic light"),
        ("the guy", "person"), ("women", "person"), ("Kinder", "person"), ("女孩", "person"), ("mulheres", "person"),
        ("buses", "bus"), ("benches", "bench"), ("black dog", "dog"), ("faces", "face"), ("脸", "face"),
        ("subject", "subject"), ("sky", "sky"), ("knives", "knife"), ("red car", "car"),
    ],
)  # fmt: skip
def test_synonyms_plurals_and_other_languages_name_the_same_class(name: str, kind: str) -> None:
    found = object_called(name)

    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize(
    ("name", "kind", "side"),
    [
        ("guy on the left", "person", "left"),
        ("right dog", "dog", "right"),
        ("左边的猫", "cat", "left"),
        ("chat à gauche", "cat", "left"),
    ],
)
def test_a_side_in_the_name_is_kept(name: str, kind: str, side: str) -> None:
    found = object_called(name)

    assert found is not None
    assert (found.kind, found.side) == (kind, side)


def test_a_group_stands_for_its_members_and_a_plural_for_several() -> None:
    animal, cats = object_called("animals"), object_called("cats")

    assert animal is not None
    assert {"cat", "dog", "bird"} <= set(animal.kinds)
    assert cats is not None
    assert cats.several


@pytest.mark.parametrize("name", ["logo", "noise", "unicorn", "sharpness", "", "image"])
def test_what_has_no_class_is_not_guessed(name: str) -> None:
    assert object_called(name) is None


def test_a_class_has_a_word_in_every_language_of_the_reader() -> None:
    assert [word_for("cat", language) for language in ("en", "zh", "de", "es", "fr", "ja", "pt")] == [
        "cat", "猫", "katze", "gato", "chat", "猫", "gato",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["cars", "Autos", "Katzen", "people", "faces", "the two dogs", "voitures", "chevaux"])
def test_a_plural_asks_for_all_of_a_class(name: str) -> None:
    assert names_several(name)


@pytest.mark.parametrize("name", ["car", "bus", "Katze", "face", "woman", "scissors", "sheep", "top left", "unicorns"])
def test_one_thing_is_no_plural(name: str) -> None:
    assert not names_several(name)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("the upper left corner", "top left"),
        ("links oben", "top left"),
        ("右下角", "bottom right"),
        ("the right side", "right"),
        ("le fond", "background"),
        ("the dog on the left", "dog on the left"),
    ],
)
def test_a_place_has_one_name_in_every_language(words: str, name: str) -> None:
    assert things_in(words) == (name,)


def test_skin_is_looked_at_in_the_faces_and_is_no_plural_of_ski() -> None:
    asked = object_called("skin")

    assert asked is not None
    assert asked.kinds == ("face",)
    assert asked.several


@pytest.mark.parametrize("name", ["wall", "hands", "boots", "banks", "care", "kinds", "label"])
def test_a_noun_without_a_class_never_becomes_another_thing(name: str) -> None:
    assert object_called(name) is None


@pytest.mark.parametrize(
    ("query", "things"),
    [
        ("Is the zebra sharp?", ("zebra",)),
        ("Are the cat and the dog sharp?", ("cat", "dog")),
        ("Is the man sharper than the woman?", ("man", "woman")),
        ("Is the face on the left sharp?", ("face on the left",)),
        ("Is every face sharp?", ("every face",)),
        ("Is everyone in focus?", ("everyone",)),
        ("Which face is the sharpest?", ("face",)),
        ("Is the portrait sharp?", ()),
        ("Is the orange too strong?", ()),
        ("Is the plane of focus right?", ()),
        ("Is it sharper than the original?", ()),
        ("Is the bride's hair soft?", ()),
    ],
)
def test_the_known_things_a_question_begins_with_are_what_it_is_about(query: str, things: tuple[str, ...]) -> None:
    assert subject_of(query) == things
