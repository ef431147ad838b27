"""Names of things in seven languages lead to what can be located."""

from __future__ import annotations

import pytest

from agenticiqa.embedded.objects.object_detector import CLASSES
from agenticiqa.question.object_words import names_several, object_called, word_for
from agenticiqa.question.scope import scope_of
from agenticiqa.question.understanding import understand


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


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("ist die katze unscharf?", "katze"),
        ("¿está borroso el perro?", "perro"),
        ("l'oiseau est-il flou ?", "oiseau"),
        ("is the image sharp?", None),
    ],
)
def test_an_object_after_an_article_of_another_language_is_what_is_asked_about(question: str, name: str | None) -> None:
    assert scope_of(question, images=False) == (() if name is None else (name,))


@pytest.mark.parametrize("name", ["cars", "Autos", "Katzen", "people", "faces", "the two dogs", "voitures", "chevaux"])
def test_a_plural_asks_for_all_of_a_class(name: str) -> None:
    assert names_several(name)


@pytest.mark.parametrize("name", ["car", "bus", "Katze", "face", "woman", "scissors", "sheep", "top left", "unicorns"])
def test_one_thing_is_no_plural(name: str) -> None:
    assert not names_several(name)


@pytest.mark.parametrize("name", [name for name in CLASSES if " " in name or len(name) == 2])
def test_a_name_of_several_words_is_read_whole(name: str) -> None:
    assert understand(f"Is the {name} blurry?").scope == (name,)


def test_the_plural_of_a_name_of_several_words_is_read_whole() -> None:
    assert understand("Are the traffic lights sharp?").scope == ("traffic lights",)
