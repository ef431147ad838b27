"""What Python users see: documented examples, the published schema, pages and notebook cards."""

from __future__ import annotations

import doctest
import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from agenticiqa.assessor import SCHEMA_VERSION, Assessment
from agenticiqa.assessor.assessment import schema_text
from tests.support.agent import picture
from tests.support.results import record, scripted_assessor

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA, USE = DOCS / "schema/assessment.schema.json", DOCS / "use.md"


def test_the_examples_in_the_documentation_are_right() -> None:
    # By name: the package offers functions of the same names as its modules.
    module = importlib.import_module("agenticiqa.assessor.assessing")

    outcome = doctest.testmod(module, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)

    assert outcome.failed == 0
    assert outcome.attempted > 0


def test_the_examples_of_the_page_on_everyday_use_are_right() -> None:
    outcome = doctest.testfile(str(USE), module_relative=False)

    assert outcome.failed == 0
    assert outcome.attempted > 0


def test_the_published_schema_is_the_current_one() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == schema_text(), (
        "write it again: python -m agenticiqa.assessor.assessment > docs/schema/assessment.schema.json"
    )


def test_every_field_of_a_record_is_in_the_schema_and_every_required_one_in_the_record() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))

    assert set(record()) == set(schema["properties"])
    assert set(schema["required"]) <= set(record())
    assert record()["schema_version"] == SCHEMA_VERSION == schema["properties"]["schema_version"]["const"]


def test_an_assessment_of_a_file_shows_the_file_on_its_page(tmp_path: Path) -> None:
    found = scripted_assessor().assess(picture(tmp_path, "holiday.png"))

    page = found.to_html()

    assert "<h1>Image quality: holiday.png</h1>" in page
    assert '"thumbnail":"data:image/jpeg;base64,' in page


def test_a_file_name_that_is_no_utf8_is_written_down_as_far_as_it_can_be(tmp_path: Path) -> None:
    path = Path(picture(tmp_path)).rename(tmp_path / "caf\udce9.png")

    found = scripted_assessor().assess(path)

    assert json.loads(found.to_json())["provenance"]["images"]["test image"]["path"].endswith("caf\ufffd.png")
    assert "caf\ufffd.png" in found.to_html()


def test_an_assessment_of_pixels_shows_them_when_they_are_given() -> None:
    pixels = np.full((32, 48, 3), 200, np.uint8)
    found = scripted_assessor().assess(pixels)

    assert "data:image/jpeg" not in found.to_html()
    assert "data:image/jpeg" in found.to_html(pixels)


def test_a_notebook_shows_answer_score_and_evidence() -> None:
    card = Assessment.model_validate(record())._repr_html_()

    assert "<strong>C</strong>" in card
    assert "Blurs on Global, moderate" in card
    assert "GAUGE 2.60 of 5" in card


@pytest.mark.parametrize("field", ["query", "answer", "reasoning"])
def test_words_in_a_notebook_are_never_taken_for_html(field: str) -> None:
    card = Assessment.model_validate(record(**{field: "<img src=x onerror=alert(1)>"}))._repr_html_()

    assert "<img" not in card
    assert "&lt;img src=x" in card
