"""What words alone decide: facts of the picture, deeds, tools' values, and what is not measured at all."""

from __future__ import annotations

import pytest

from agenticiqa.question.understanding import understand


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Is it watermark free?", "watermarks"),
        ("Is it free of text overlays?", "text in the picture"),
        ("Does it have vignetting?", "vignetting"),
        ("Is there lens flare?", "lens flare"),
        ("Is there red-eye?", "red eyes"),
        ("Does it have a transparent background?", "transparency"),
        ("Is it photoshopped?", "artificial origin"),
        ("图片有水印吗？", "watermarks"),
        ("有暗角吗", "vignetting"),
        ("Hat das Bild ein Wasserzeichen?", "watermarks"),
        ("La photo a-t-elle un filigrane ?", "watermarks"),
        ("¿Tiene marca de agua?", "watermarks"),
        ("A foto tem marca d'água?", "watermarks"),
        ("透かしはありますか", "watermarks"),
    ],
)
def test_what_is_not_measured_is_declined_by_its_name(query: str, name: str) -> None:
    question = understand(query)

    assert (question.intent, question.unmeasured) == ("decline", name)


@pytest.mark.parametrize(
    ("query", "attribute"),
    [
        ("Is the watermark blurry?", "blur"),
        ("Is the text overlay sharp?", "blur"),
        ("Is it a color cast?", "colour"),
        ("Is the black and white photo noisy?", "noise"),
        ("Does it have fine grain?", "noise"),
        ("Is there banding?", "compression"),
        ("Is there chromatic aberration?", "colour"),
        ("Are the colours natural?", "colour"),
    ],
)
def test_a_flaw_that_is_measured_is_asked_about_whatever_else_is_named(query: str, attribute: str) -> None:
    question = understand(query)

    assert (question.unmeasured, question.fact) == (None, None)
    assert (question.intent, question.attribute) == ("yesno", attribute)


@pytest.mark.parametrize(
    ("query", "fact", "yes_means"),
    [
        ("What is the resolution of the image?", "size", None),
        ("How big is the picture in pixels?", "size", None),
        ("resolution?", "size", None),
        ("How many megapixels does it have?", "size", None),
        ("Welche Auflösung hat das Bild?", "size", None),
        ("这张照片的分辨率是多少？", "size", None),
        ("Is the image grayscale?", "grey", "flaw"),
        ("Is it black and white?", "grey", "flaw"),
        ("Is it in colour?", "grey", "fine"),
        ("Is it a color photo?", "grey", "fine"),
        ("Is this grayscale or colour?", "grey", None),
        ("这是黑白照片吗？", "grey", "flaw"),
        ("Ist das Foto schwarz-weiß?", "grey", "flaw"),
    ],
)
def test_facts_of_the_picture_are_asked_for_as_facts(query: str, fact: str, yes_means: str | None) -> None:
    question = understand(query)

    assert (question.intent, question.fact, question.yes_means) == ("measure", fact, yes_means)


@pytest.mark.parametrize(
    "query", ["Is the resolution high enough?", "Is the resolution too low?", "How is the resolution?"]
)
def test_whether_the_resolution_is_good_is_no_question_for_a_number(query: str) -> None:
    assert understand(query).fact is None


@pytest.mark.parametrize(
    ("query", "attribute", "yes_means"),
    [
        ("Should I brighten it?", "dark", "flaw"),
        ("Should I sharpen this photo?", "blur", "flaw"),
        ("Does it need denoising?", "noise", "flaw"),
        ("Do I need to retake this shot?", "overall", "flaw"),
        ("Can I publish this scan?", "overall", "fine"),
        ("Can it be printed?", "overall", "fine"),
    ],
)
def test_a_deed_is_a_question_for_what_it_needs(query: str, attribute: str, yes_means: str) -> None:
    question = understand(query)

    assert (question.intent, question.attribute, question.yes_means) == ("yesno", attribute, yes_means)


@pytest.mark.parametrize("query", ["Can I fix it in Lightroom?", "Can this be fixed?", "Could you rescue this photo?"])
def test_whether_it_can_be_mended_asks_for_advice(query: str) -> None:
    question = understand(query)

    assert (question.intent, question.attribute) == ("advice", "overall")


def test_highlight_is_a_verb_before_what_is_to_be_named() -> None:
    assert (understand("Highlight the main problem").intent, understand("Highlight the main problem").attribute) == (
        "open",
        "overall",
    )
    assert understand("Are the highlights blown?").attribute == "bright"


@pytest.mark.parametrize(
    "query", ["What is the PIQE?", "PIQE?", "Tell me the PIQE value", "What is the PIQE score?", "PIQE 的数值是多少？"]
)
def test_the_value_of_a_tool_is_asked_for_by_its_name(query: str) -> None:
    question = understand(query, tools=("PIQE",))

    assert (question.intent, question.tool) == ("measure", "PIQE")


def test_a_rating_by_a_tool_is_still_a_rating() -> None:
    assert understand("Rate the quality with PIQE", tools=("PIQE",)).is_scoring


@pytest.mark.parametrize("query", ["?", "PIQE?", "SSIM", "!!", "123"])
def test_a_text_without_words_is_taken_for_english(query: str) -> None:
    assert understand(query, tools=("PIQE", "SSIM")).language == "en"


def test_both_of_two_flaws_that_are_offered_are_looked_at() -> None:
    assert set(understand("Is it blurry or noisy?").categories) == {"Blurs", "Noise"}
