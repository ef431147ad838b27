"""Python as people expect it: any form of a picture, choices as a list, typed errors, await, many at once."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from agenticiqa.assessor import Assessment, Assessor, assess, measure
from agenticiqa.assessor.ranking import rank
from agenticiqa.errors import ImageError, ImageFormatError, ImageNotFoundError, QueryError
from agenticiqa.images import load_image
from agenticiqa.nodes.context import ProgressEvent
from agenticiqa.parts import Parts
from agenticiqa.state import UNABLE
from agenticiqa.vlm_client import ScriptedVLMClient
from tests.support.agent import picture, registry, script, settings
from tests.support.photos import photo
from tests.support.results import assessment

ROLES = ("planner", "executor", "summarizer")


def assessor(**changes: Any) -> Assessor:
    client = ScriptedVLMClient(script(**changes))
    return Assessor(parts=Parts(dict.fromkeys(ROLES, client), registry(), settings()))


def test_a_picture_may_come_in_any_form(tmp_path: Path) -> None:
    path = Path(picture(tmp_path))
    data = path.read_bytes()
    with Image.open(path) as opened:
        pixels = np.asarray(opened)
        forms: list[Any] = [str(path), path, data, bytearray(data), memoryview(data), io.BytesIO(data), pixels, opened]
        read = [load_image(form) for form in forms]
    with open(path, "rb") as file:
        file.read(10)
        read.append(load_image(file))

    assert all(np.array_equal(image.pixels, pixels) for image in read)


@pytest.mark.parametrize("address", ["https://example.org/a.png", "s3://bucket/a.png", "data:image/png;base64,AAAA"])
def test_a_web_address_is_refused_in_words(address: str) -> None:
    with pytest.raises(ImageFormatError, match="is a web address, and nothing is downloaded"):
        assessor().assess(address)


@pytest.mark.parametrize("wrong", [None, 7, ["a.png"], io.StringIO("text"), object()])
def test_what_is_no_picture_is_a_typed_error(wrong: Any) -> None:
    with pytest.raises(ImageError):
        load_image(wrong)


def test_choices_may_be_a_list(tmp_path: Path) -> None:
    said = assessor(answer={"final_answer": "Yes", "quality_reasoning": "It is soft."}).assess(
        picture(tmp_path), "Is it blurry?", choices=["Yes", "No"]
    )

    assert said.answer == "A"
    with pytest.raises(QueryError, match="choices must be texts by letter"):
        assessor().assess(picture(tmp_path), "Is it blurry?", choices=[1, 2])  # type: ignore[list-item]


@pytest.mark.parametrize("wrong", [42, b"Is it blurry?", ["Is it blurry?"]])
def test_a_question_that_is_no_text_is_a_typed_error(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(QueryError, match="the question must be a text, not"):
        assessor().assess(picture(tmp_path), wrong)


def test_many_pictures_are_assessed_as_they_are_asked_for(tmp_path: Path) -> None:
    files = [picture(tmp_path, "a.png"), str(tmp_path / "missing.png"), picture(tmp_path, "b.png")]
    missed: list[Any] = []

    found = list(assessor().assess_many(files, on_error=lambda image, error: missed.append((image, error))))

    assert [each.answered for each in found] == [True, True]
    assert missed[0][0] == files[1]
    assert isinstance(missed[0][1], ImageNotFoundError)
    with pytest.raises(ImageNotFoundError):
        list(assessor().assess_many(files))


def test_one_bad_picture_of_many_may_be_one_failed_record(tmp_path: Path) -> None:
    files = [picture(tmp_path, "a.png"), str(tmp_path / "missing.png"), picture(tmp_path, "b.png")]

    found = list(assessor().assess_many(files, on_error="record"))

    assert [each.answered for each in found] == [True, False, True]
    assert found[1].answer == UNABLE
    assert found[1].error is not None
    assert "missing.png: no such file" in found[1].error
    assert Assessment.from_json(found[1].to_json()) == found[1]


def test_the_error_of_one_of_many_names_the_way_to_go_on(tmp_path: Path) -> None:
    with pytest.raises(ImageNotFoundError) as raised:
        list(assessor().assess_many([str(tmp_path / "missing.png")]))

    assert 'on_error="record"' in raised.value.__notes__[0]


def test_an_assessment_can_be_awaited_and_its_progress_iterated(tmp_path: Path) -> None:
    async def both() -> tuple[Assessment, list[ProgressEvent | Assessment]]:
        image = picture(tmp_path)
        return await assessor().aassess(image), [event async for event in assessor().aprogress(image)]

    awaited, told = asyncio.run(both())

    assert awaited.answered
    assert isinstance(told[0], ProgressEvent)
    assert isinstance(told[-1], Assessment)


def test_an_error_reaches_who_iterates_the_progress() -> None:
    async def listen() -> None:
        async for _ in assessor().aprogress("no-such-file.png"):
            pass

    with pytest.raises(ImageNotFoundError):
        asyncio.run(listen())


def test_a_ranking_shows_itself_in_a_notebook() -> None:
    shown = rank(["<a>.png", "b.png"], [assessment(2.0), assessment(4.0)])._repr_html_()

    assert shown.index("b.png") < shown.index("&lt;a&gt;.png")


def test_printing_an_assessment_shows_the_answer_one_reason_and_the_score() -> None:
    rated = assessment(3.1, reasoning="Severe blur. Some noise.")
    asked = assessment(2.9, answer="No (no visible blur)")

    assert str(rated).splitlines()[0].startswith("3.1 of 5, ")
    assert str(rated).splitlines()[1] == "Why: Severe blur."
    assert str(asked).splitlines()[0] == "Answer: No (no visible blur)"
    assert str(asked).splitlines()[2].startswith("Score: 2.9 of 5, ")
    assert repr(rated).startswith("Assessment(schema_version=3")


def test_printing_a_ranking_shows_a_line_per_image_and_repr_stays() -> None:
    ranking = rank(["a.png", "b.png"], [assessment(2.0), assessment(4.0)])

    assert [line.partition(" of 5")[0] for line in str(ranking).splitlines()[:2]] == [
        "1. b.png: 4.00",
        "2. a.png: 2.00",
    ]
    assert repr(ranking).startswith("Ranking(schema_version=3")


def test_measuring_gives_values_by_tool(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)

    found = measure(pixels, ["psnr", "SSIM"], reference=pixels)

    assert {name: each.raw for name, each in found.items()} == {"PSNR": 100.0, "SSIM": 1.0}


def test_a_cut_out_is_not_judged_by_its_filling_and_the_reasons_say_so(tmp_path: Path) -> None:
    picture = Image.fromarray(photo("chelsea")[:240, :320]).convert("RGBA")
    picture.putalpha(Image.fromarray(np.pad(np.full((120, 160), 255, np.uint8), ((60, 60), (80, 80)))))
    picture.save(tmp_path / "cut-out.png")

    found = assess(tmp_path / "cut-out.png")

    assert "Brightness change" not in {finding.type for finding in found.distortions}
    assert "Transparent places were judged as an even grey." in found.reasoning


def test_the_reasons_say_that_one_frame_of_an_animation_was_judged(tmp_path: Path) -> None:
    frames = [Image.fromarray(np.ascontiguousarray(photo("coffee")[:96, at : at + 128])) for at in (0, 10, 20)]
    frames[0].save(tmp_path / "moves.gif", save_all=True, append_images=frames[1:])

    assert "Only one of the 3 pictures in the file was judged." in assessor().assess(tmp_path / "moves.gif").reasoning
