"""Every answer and every reason is wholly in the language of the question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from itertools import product
from typing import Any, get_args

import pytest
import yaml

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.evidence import Evidence, Meant, ToolScore, gather
from agenticiqa.embedded.answers.file_facts import FileFacts
from agenticiqa.embedded.answers.reasons import explain
from agenticiqa.embedded.findings import Look
from agenticiqa.embedded.regions.sharpness import FocusPart, FocusParts
from agenticiqa.question.asked import (
    Advice,
    Choose,
    Compare,
    Conditions,
    Declined,
    Degree,
    Fact,
    Flaw,
    Measure,
    Open,
    OptionMeaning,
    Question,
    Reply,
    Score,
    Topic,
    Use,
    Where,
    YesNo,
)
from agenticiqa.question.object_words import _words as object_words
from agenticiqa.question.scales import Scale
from agenticiqa.state import DISTORTION_CATEGORIES, GLOBAL, UNABLE
from agenticiqa.tools.synthetic.kinds import KINDS
from agenticiqa.values import CATEGORY_OF, Disagreement, Distortion, Language, MetricScore, Reading
from tests.support.looks import judged

OTHERS = [language for language in get_args(Language) if language != "en"]
# Names that are the same in every language, and "Unable to determine", which programs read.
NAMES = {"jpeg", "webp", "srgb", "iso", "aiqa_nr", "aiqa_fr", "niqe", "psnr", "ssim", "backend", "openai", "gpt",
         "agenticiqa", "tools", "px", "cm", "kb", "mb", "unable", "to", "determine", "lab",
         "piqe"}  # fmt: skip
READINGS = {
    "Blurs": ("blur radius", 2.4, "px"), "Noise": ("noise sigma", 14.0, "grey levels"),
    "Compression": ("JPEG quality", 30.0, ""), "Brightness change": ("mean brightness", 40.0, "grey levels"),
    "Contrast": ("contrast", 20.0, "%"), "Color distortions": ("saturation", 9.0, "Lab"),
    "Sharpness": ("sharpness", 3.0, ""),
}  # fmt: skip


def words_of(language: str) -> dict[str, dict[str, Any]]:
    file = resources.files("agenticiqa.wording") / "words" / f"{language}.yaml"
    loaded: dict[str, dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return loaded


def texts_in(words: dict[str, dict[str, Any]]) -> list[str]:
    told = [text for group in words.values() for text in group.values()]
    return [each for text in told for each in (text if isinstance(text, list) else [text])]


def latin_words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[^\W\d]{2,}", re.sub(r"\{\w+\}", " ", text)) if word.isascii()}


def vocabulary(language: str) -> set[str]:
    things = [kind for group in object_words()["classes"].values() for kind in group.get(language, [])]
    return {word for text in [*texts_in(words_of(language)), *things] for word in latin_words(text)}


def test_the_languages_say_the_same_things() -> None:
    english = words_of("en")
    for language in OTHERS:
        other = words_of(language)
        assert list(other) == list(english)
        for group in set(english) - {"endings"}:
            assert list(other[group]) == list(english[group]), (language, group)
        for name, text in english["sentences"].items():
            assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", other["sentences"][name])), name
        assert all(len(words) == 5 for words in other["merits"].values())


def findings(kind: str | None, strength: float, likely: float) -> tuple[Distortion, ...]:
    category = KINDS[kind].category if kind else None
    return tuple(
        Distortion(
            each,
            likely if each == category else 0.1,
            strength if each == category else 0.1,
            kind if each == category else None,
            (Reading(*READINGS[each]),),
            colour="orange" if kind == "color_cast" and each == category else None,
        )
        for each in DISTORTION_CATEGORIES
    )


def evidences() -> Iterator[Evidence]:
    calm, bad = Look(judged(4.4), findings(None, 0.0, 0.1)), Look(judged(1.8), findings("motion_blur", 3.0, 0.9))
    for number, kind in enumerate(KINDS):
        look = Look(
            judged(1 + number % 4, interval=(1.0, 4.9)), findings(kind, 1 + number % 3, 0.55 + 0.1 * (number % 5))
        )
        yield gather({GLOBAL: look})
    evidence = gather({GLOBAL: bad})
    parts = FocusParts(FocusPart("top left", 2.2), FocusPart("centre", 0.5), 9)
    places = {"left": bad, "background": calm}
    file = FileFacts((600, 400), transparent=True, turned=90, colour_space="", bits=8, per_inch=72.0, bytes=20_000)
    tools = (ToolScore("NIQE", 4.5, GLOBAL, "Overall"), ToolScore("PSNR", 1.9, GLOBAL, "Blurs"))
    page = replace(bad.quality, out_of_domain="text: glyphs")
    two = MetricScore("SSIM", 0.5, 3.0, 0.4)
    split = replace(bad.quality, disagreement=Disagreement(MetricScore("PSNR", 20.0, 1.5, 0.2), (two,), "jpeg"))
    yield replace(evidence, parts=parts, file=file, size=(600, 400), is_grey=False)
    yield replace(
        evidence, file=replace(file, turned=0, transparent=False, colour_space=None), size=(600, 400), is_grey=True
    )
    yield replace(evidence, places=places, asked_place="left", tools=tools, values={"PIQE": 3.0})
    yield replace(evidence, judgement=page, seen_instead="", doubtful={"x": 0.3}, unlocated=("y",))
    yield replace(evidence, has_reference=True, judgement=split, advantage=0.4)
    for others in ((bad, calm), (bad, bad)):
        yield replace(gather({"x": bad}), meant=(Meant("x", others, 1),), counts={"x": 2})
    yield replace(evidence, absent=("x",))
    yield Evidence()


def questions(language: Language) -> Iterator[Question]:
    reply, flaws = Reply(language), [Flaw(attribute) for attribute in (*CATEGORY_OF, "overall")]
    flaws += [Flaw("blur", "motion_blur"), Flaw("noise", "white_noise"), Flaw("colour", None, ("blue",))]
    for flaw, polarity in product(flaws, ("flaw", "fine", None)):
        yield YesNo(Topic(flaw), reply, polarity)  # type: ignore[arg-type]
    for flaw in flaws:
        yield Degree(Topic(flaw), reply, "fine")
        yield Degree(Topic(flaw), reply, "flaw")
        yield from (kind(Topic(flaw), reply) for kind in (Open, Advice, Where))
    topic, blurred = Topic(Flaw("blur")), Topic(Flaw("blur"), scope=("x",))
    both = Conditions("both", (Flaw("blur"), Flaw("noise")))
    yield YesNo(topic, reply, "fine", conditions=both)
    yield YesNo(topic, reply, "flaw", conditions=replace(both, combined="except"))
    yield from (YesNo(topic, reply, "fine", part=part) for part in ("all", "any"))
    yield YesNo(Topic(use=Use("print", 30.0)), reply, "fine", "acceptable")
    yield YesNo(Topic(Flaw("blur"), use=Use("print")), reply, "fine", "acceptable")
    yield YesNo(Topic(Flaw("dark")), reply, "flaw", limit="clipped shadows")
    yield YesNo(blurred, reply, "flaw")
    yield Degree(blurred, reply, "flaw")
    for words in ("true", "agree"):
        yield YesNo(topic, replace(reply, words=words), "flaw")
    for which in ("any", "most", "least"):
        yield Open(blurred, replace(reply, which=which))
    yield Score(Topic(), reply)
    yield Score(Topic(), reply, "fine", Scale(1, 10, "stars"))
    yield Score(topic, reply, "flaw", Scale(0, 10))
    yield Open(topic, replace(reply, form="word"))
    for by, between in product(("more", "same", "different", "what"), ("test", "reference", ("left", "background"))):
        yield Compare(Topic(Flaw("blur")), replace(reply, form="yesno"), "flaw", by, between)  # type: ignore[arg-type]
        yield Compare(Topic(), reply, "fine", by, between, which=by == "more")  # type: ignore[arg-type]
    for fact in get_args(Fact):
        yield Measure(Topic(Flaw("colour")), reply, None, fact)
        yield Measure(Topic(Flaw("colour"), use=Use("print", 10.0)), reply, "flaw", fact)
    yield Measure(Topic(), reply, readings=(("Noise", "noise sigma"),))
    yield Measure(Topic(tool="PIQE"), reply)
    yield Choose(topic, reply, "flaw", {"A": OptionMeaning("blur", "flaw"), "B": OptionMeaning("noise", "flaw")})
    for what in words_of("en")["unmeasured"]:
        yield Declined(topic, reply, "unmeasured", what)
    for doubts in ((), ("polarity",), ("intent",), ("attribute",)):
        yield Declined(topic, reply, "unclear", doubts=doubts)
    yield Declined(topic, reply, "content")


@pytest.mark.parametrize("language", OTHERS)
def test_no_english_word_is_in_an_answer_of_another_language(language: Language) -> None:
    own = vocabulary(language) | NAMES
    foreign = vocabulary("en") - own if language not in ("zh", "ja") else None
    leaks = set()
    for question, evidence in product(questions(language), list(evidences())):
        if isinstance(question, Compare) and question.places and not evidence.places:
            continue
        if question.topic.scope and GLOBAL not in (evidence.judged_place,) and not evidence.meant:
            continue
        given = answer(question, evidence)
        text = " ".join([given.text, *(reason.text for reason in explain(question, evidence, given))])
        assert UNABLE not in text.removeprefix(UNABLE)
        said = latin_words(text) - own
        leaks |= said & foreign if foreign is not None else {word for word in said if len(word) > 1}
    assert not leaks


@pytest.mark.parametrize("language", ["de", "es", "fr", "pt"])
def test_what_is_written_as_in_english_is_a_word_of_both(language: str) -> None:
    """A line that was never translated would hide its words from the test above."""
    english = words_of("en")
    shared = set()
    for group, words in words_of(language).items():
        for name, text in words.items():
            if group not in ("marks", "endings", "units") and text == english[group].get(name) and "{" not in str(text):
                shared.add(str(text))

    assert shared <= {"Compression", "compression", "logos", "No", "saturation", "contrast", "Logos", "dominante cyan",
                      "dominante magenta"}  # fmt: skip
