"""Facts of the file and of prints, from real files."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image, ImageCms

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.gathering import Observer
from agenticiqa.embedded.findings import Look
from agenticiqa.images import load_image
from agenticiqa.question.asked import Fact, Flaw, Measure, Reply, Topic, Use, YesNo
from agenticiqa.state import UNABLE
from agenticiqa.values import Answer, Polarity
from tests.support.looks import BLURRED, CLEAN, FixedEyes
from tests.support.photos import photo


def written(form: str, picture: Image.Image | None = None, **options: object) -> bytes:
    file = io.BytesIO()
    (picture or Image.fromarray(photo("chelsea"))).save(file, form, **options)
    return file.getvalue()


def asked(fact: Fact, file: bytes | np.ndarray, *, polarity: Polarity | None = None, use: Use | None = None) -> Answer:
    question = Measure(Topic(use=use), Reply(), polarity, fact)
    return answer(question, Observer(FixedEyes(CLEAN), question, load_image(file)).evidence())


SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
TURNED = Image.Exif()
TURNED[0x0112] = 6
SEE_THROUGH = Image.new("RGBA", (40, 30), (200, 0, 0, 90))
DEEP = Image.fromarray(np.full((30, 40), 40_000, np.uint16))


@pytest.mark.parametrize(
    ("fact", "file", "expected"),
    [
        ("format", written("PNG"), "PNG"),
        ("format", written("JPEG"), "JPEG"),
        ("size", written("PNG"), "451 × 300 pixels"),
        ("bit_depth", written("JPEG"), "8 bits per channel"),
        ("bit_depth", written("PNG", DEEP), "16 bits per channel"),
        ("colour_space", written("PNG"), "sRGB (no color profile in the file)"),
        ("colour_space", written("PNG", icc_profile=SRGB), "sRGB built-in"),
        ("alpha", written("PNG", SEE_THROUGH), "transparent in places"),
        ("alpha", written("JPEG"), "no transparency"),
        ("rotation", written("JPEG", exif=TURNED), "the file asks to be turned by 90° to stand upright"),
        ("rotation", written("JPEG"), "stored upright"),
        ("dpi", written("JPEG", dpi=(240, 240)), "240 pixels per inch"),
        (
            "print",
            written("PNG"),
            "3.8 × 2.5 cm at 300 pixels per inch; 5.7 × 3.8 cm at 200 pixels per inch; "
            "7.6 × 5.1 cm at 150 pixels per inch",
        ),
    ],
)
def test_a_fact_of_the_file_is_read_from_it(fact: Fact, file: bytes, expected: str) -> None:
    assert asked(fact, file).text == expected


def test_the_size_of_the_file_is_that_of_its_bytes() -> None:
    assert asked("file_size", written("PNG", SEE_THROUGH) + bytes(2_000)).text == "2 kB"


@pytest.mark.parametrize("fact", ["format", "bit_depth", "colour_space", "dpi", "file_size"])
def test_pixels_without_a_file_do_not_tell_its_facts(fact: Fact) -> None:
    told = asked(fact, photo("chelsea"))

    assert (told.text, told.why_not) == (UNABLE, "not_in_file")


def test_whether_it_is_turned_or_transparent_is_a_yes_or_a_no() -> None:
    assert asked("rotation", written("JPEG", exif=TURNED), polarity="flaw").value is True
    assert asked("alpha", written("JPEG"), polarity="flaw").text == "No (no transparency)"


def test_pixels_per_inch_are_those_of_the_print_where_one_is_named() -> None:
    assert asked("dpi", written("PNG"), use=Use("print", 4.51)).text == "100 pixels per inch"


@pytest.mark.parametrize(
    ("look", "use", "expected"),
    [
        (CLEAN, Use("print", 3.0), "Yes (no visible blur; 451 × 300 pixels, 150 per inch at that size)"),
        (BLURRED, Use("print", 3.0), "No (severe blur; 451 × 300 pixels, 150 per inch at that size)"),
        (CLEAN, Use("print", 16.5), "No (no visible blur; 451 × 300 pixels, 27 per inch at that size)"),
        (CLEAN, Use("print", 3.0, 300.0), "No (no visible blur; 451 × 300 pixels, 150 per inch at that size)"),
        (CLEAN, Use("print"), "No (no visible blur; 7.6 × 5.1 cm at 150 pixels per inch)"),
        (CLEAN, Use("web"), "Yes (no visible blur)"),
    ],
)
def test_sharp_enough_for_print_is_a_matter_of_pixels_and_of_sharpness(look: Look, use: Use, expected: str) -> None:
    question = YesNo(Topic(Flaw("blur"), use=use), Reply(), "fine", "acceptable")
    evidence = Observer(FixedEyes(look), question, load_image(written("PNG"))).evidence()

    assert answer(question, evidence).text == expected
