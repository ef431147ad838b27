"""Questions are understood as a person would, in seven languages, or said not to be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenticiqa.question.answer_options import read_option
from agenticiqa.question.choices import split_alternatives, split_choices
from agenticiqa.question.composition import composed_polarity
from agenticiqa.question.scales import scale_in
from agenticiqa.question.understanding import understand
from tests.support.steps import steps_of


@pytest.mark.parametrize(
    ("query", "intent", "attribute", "yes_means"),
    [
        ("Is the image blurry?", "yesno", "blur", "flaw"),
        ("Is it blurry? Do not explain.", "yesno", "blur", "flaw"),
        ("I have no idea, is it sharp?", "yesno", "blur", "fine"),
        ("No explanation needed. Is it noisy?", "yesno", "noise", "flaw"),
        ("Is the noise acceptable?", "yesno", "noise", "fine"),
        ("Is it noisy, or is it not?", "yesno", "noise", "flaw"),
        ("True or false: the photo is too dark.", "yesno", "dark", "flaw"),
        ("How sharp is this?", "degree", "blur", "fine"),
        ("How noisy is the picture?", "degree", "noise", "flaw"),
        ("Rate the sharpness from 1 to 5", "score", "blur", "fine"),
        ("Rate the noise level from 0 to 10.", "score", "noise", "flaw"),
        ("What is wrong with this photo?", "open", "overall", None),
        ("How can I fix this photo?", "advice", "overall", None),
        ("Where is the noise?", "where", "noise", None),
        ("Which one is the noisiest?", "compare", "noise", "flaw"),
        ("这张照片模糊吗？", "yesno", "blur", "flaw"),
        ("画面清晰吗，不用解释", "yesno", "blur", "fine"),
        ("没有噪点吧", "yesno", "noise", "fine"),
        ("Ist das Bild scharf?", "yesno", "blur", "fine"),
        ("¿Está borrosa la foto?", "yesno", "blur", "flaw"),
        ("La photo est-elle trop sombre ?", "yesno", "dark", "flaw"),
        ("A foto está nítida?", "yesno", "blur", "fine"),
        ("ノイズはありますか？", "yesno", "noise", "flaw"),
        ("Would you print this?", "yesno", "overall", "fine"),
        ("Would you hang it on the wall?", "yesno", "overall", "fine"),
        ("Should I retake this one?", "yesno", "overall", "flaw"),
        ("Is the dog on the left out of focus?", "yesno", "blur", "flaw"),
        ("¿Están borrosas las fotos?", "yesno", "blur", "flaw"),
        ("¿Son nítidas las imágenes?", "yesno", "blur", "fine"),
        ("Ist das ein unscharfes Bild?", "yesno", "blur", "flaw"),
        ("Sind das scharfe Aufnahmen?", "yesno", "blur", "fine"),
        ("Gibt es überbelichtete Stellen?", "yesno", "bright", "flaw"),
    ],
)
def test_a_question_is_read_with_its_attribute_and_its_polarity(
    query: str, intent: str, attribute: str, yes_means: str | None
) -> None:
    question = understand(query)

    assert (question.intent, question.attribute, question.yes_means) == (intent, attribute, yes_means)


@pytest.mark.parametrize(
    ("query", "plainly"),
    [
        ("Is it sharp?", "fine"),
        ("Is her face in focus?", "fine"),
        ("Are the eyes sharp?", "fine"),
        ("Is my photo out of focus?", "flaw"),
        ("Is the picture really grainy?", "flaw"),
    ],
)
def test_a_plain_question_means_what_its_word_says(query: str, plainly: str) -> None:
    found = understand(query)

    assert (found.intent, found.yes_means, found.doubts) == ("yesno", plainly, ())


@pytest.mark.parametrize(
    ("query", "plainly"),
    [
        ("Is the cat not blurry?", "flaw"),
        ("Is it not sharp?", "fine"),
        ("Is the picture never sharp?", "fine"),
        ("Is the sky hardly noisy?", "flaw"),
        ("Is the picture barely sharp?", "fine"),
        ("Is the dog any less blurry?", "flaw"),
        ("Is the photo anything but sharp?", "fine"),
    ],
)
def test_a_plain_question_with_a_negation_is_turned_or_not_understood(query: str, plainly: str) -> None:
    found = understand(query)

    assert found.intent == "unclear" or found.yes_means != plainly


@pytest.mark.parametrize("query", ["What animal is this?", "Tell me a joke", "这是什么花", "How do I centre a div?"])
def test_what_is_not_about_quality_is_declined(query: str) -> None:
    assert understand(query).is_declined


def test_what_is_not_understood_says_what_was() -> None:
    question = understand("blur yes no maybe sharp unsharp or not so")

    assert not question.doubts or question.intent == "unclear"
    assert 0 <= question.confidence <= 1


@pytest.mark.parametrize(
    ("text", "stem", "options"),
    [
        ("Which? A. Noise B. Blur", "Which?", {"A": "Noise", "B": "Blur"}),
        ("Which?\nA) Noise\nB) Blur", "Which?", {"A": "Noise", "B": "Blur"}),
        ("哪种？（A）噪声（B）模糊", "哪种?", {"A": "噪声", "B": "模糊"}),
        ("哪种？A.噪声B.模糊C.JPEG压缩", "哪种?", {"A": "噪声", "B": "模糊", "C": "JPEG压缩"}),
        ("Pick one: 1. yes 2. no", "Pick one:", {"1": "yes", "2": "no"}),
        ("Sharp (A) or soft (B)?", "Sharp (A) or soft (B)?", {"A": "Sharp", "B": "soft"}),
        ("Pick one. A - crisp, B - blurred.", "Pick one.", {"A": "crisp", "B": "blurred"}),
        ("Exposure? U = under, C = correct, O = over.", "Exposure?", {"U": "under", "C": "correct", "O": "over"}),
        ("清晰选A，模糊选B", "清晰选A,模糊选B", {"A": "清晰", "B": "模糊"}),
        ("Is vitamin A. good?", "Is vitamin A. good?", {}),
        ("Rate from 1 to 5.", "Rate from 1 to 5.", {}),
        ("Rate the grain, 1 = hardly any, 5 = sandstorm.", "Rate the grain, 1 = hardly any, 5 = sandstorm.", {}),
    ],
)
def test_labelled_options_are_split_from_the_question(text: str, stem: str, options: dict[str, str]) -> None:
    assert split_choices(text) == (stem, options)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Is it sharp or blurry?", ["sharp", "blurry"]),
        ("Good, fair or poor?", ["Good", "fair", "poor"]),
        ("flat/balanced/harsh?", ["flat", "balanced", "harsh"]),
        ("清楚还是糊？", ["清楚", "糊"]),
        ("nette ou floue ?", ["nette", "floue"]),
        ('Say "poor", "fair" or "good".', ["poor", "fair", "good"]),
    ],
)
def test_alternatives_without_labels_are_found(text: str, options: list[str]) -> None:
    assert list(split_alternatives(text)[1]) == options


def test_an_alternative_is_a_choice_and_or_not_is_none() -> None:
    assert list(understand("Is it sharp or blurry?").choices) == ["sharp", "blurry"]
    assert understand("Is it blurry or not?").intent == "yesno"


@pytest.mark.parametrize(
    ("text", "attribute", "says"),
    [
        ("slightly blurry", "blur", "flaw"),
        ("not underexposed", "dark", "fine"),
        ("überbelichtet", "bright", "flaw"),
        ("干净", "noise", "fine"),
    ],
)
def test_an_option_says_which_flaw_it_claims_or_denies(text: str, attribute: str, says: str) -> None:
    meaning = read_option(text, language="de" if text.startswith("ü") else "zh" if text == "干净" else "en")

    assert (meaning.attribute, meaning.says) == (attribute, says)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("Rate it from 1 to 10.", 1, 10),
        ("quality outta 10", 0, 10),
        ("How many stars?", 1, 5),
        ("Bewerte von 0 bis 100", 0, 100),
        ("请按百分制打分", 0, 100),
        ("0 none, 3 heavy: which?", 0, 3),
        ("Sharpness in percent?", 0, 100),
    ],
)
def test_the_scale_of_a_rating_is_found(text: str, low: float, high: float) -> None:
    scale = scale_in(text)

    assert scale is not None
    assert (scale.low, scale.high) == (low, high)


@pytest.mark.parametrize(
    ("text", "language", "sign"),
    [
        ("Is it not blurry at all?", "en", -1),
        ("Is the image free of noise?", "en", -1),
        ("Isn't it too dark?", "en", 1),
        ("糊不糊", "zh", 1),
        ("没有噪点吧", "zh", -1),
        ("Ist das Bild frei von Rauschen?", "de", -1),
        ("Tell me a story.", "en", 0),
    ],
)
def test_polarity_is_composed_from_head_words_and_negations(text: str, language: str, sign: float) -> None:
    found = composed_polarity(text, language)  # type: ignore[arg-type]

    assert (found > 0) - (found < 0) == sign


def test_choices_given_as_data_win_over_written_ones() -> None:
    question = understand("Which is worse? A. Noise B. Blur", {"X": "JPEG", "Y": "Too dark"})

    assert question.choices == {"X": "JPEG", "Y": "Too dark"}


def test_a_tool_takes_the_spelling_of_the_registry() -> None:
    assert understand("Rate it with topiq", tools=["TOPIQ_NR"]).tool == "TOPIQ_NR"
    assert understand("Rate it with ms ssim", tools=["MS_SSIM", "SSIM"]).tool == "MS_SSIM"
    assert understand("Rate it with ssim", tools=["MS_SSIM", "SSIM"]).tool == "SSIM"


def test_a_form_of_answer_is_no_tool() -> None:
    question = understand("Is it blurry? Respond with JSON only.")

    assert question.tool is None
    assert (question.intent, question.form) == ("yesno", "json")


def test_a_word_for_a_distortion_is_no_tool_unless_spelled_as_one() -> None:
    tools = ["CONTRAST", "JPEG_QUALITY"]

    named = [understand(text, tools=tools).tool for text in ("How is the contrast?", "What JPEG quality was used?")]

    assert named == [None, None]
    assert understand("Report CONTRAST", tools=tools).tool == "CONTRAST"
    assert understand("Use jpeg_quality", tools=tools).tool == "JPEG_QUALITY"


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("Is the image blurry?", "en"),
        ("这张图的JPEG压缩严重吗？", "zh"),
        ("この画像はぼやけていますか？", "ja"),
        ("Ist das Bild zu dunkel?", "de"),
        ("¿La foto tiene mucho ruido?", "es"),
        ("L'image est-elle nette ?", "fr"),
        ("A imagem está escura demais?", "pt"),
    ],
)
def test_the_language_is_that_of_the_question(query: str, language: str) -> None:
    assert understand(query).language == language


@given(st.text(max_size=300))
@settings(max_examples=60, deadline=None)
def test_any_text_is_understood_or_said_not_to_be(text: str) -> None:
    assert understand(text).intent


@pytest.mark.parametrize("text", ["A. x B. y " * 200, "color " * 340, "a" * 2000])
def test_a_question_of_twice_the_length_takes_at_most_about_twice_the_work(text: str) -> None:
    understand(text)

    once, twice = steps_of(lambda: understand(text + "b")), steps_of(lambda: understand(text * 2 + "b"))

    assert twice <= 2.2 * once
