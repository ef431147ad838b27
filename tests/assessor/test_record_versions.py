"""Records of versions 1 and 2 are read by this version; what this version writes it reads back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agenticiqa.assessor import Assessment
from agenticiqa.assessor.ranking import Ranking
from agenticiqa.errors import ReportError

# Written by version 0.1.0's `assess --json`; a box was added by hand, as that version wrote boxes.
VERSION_1 = Path(__file__).with_name("record_version_1.json")
# Written by version 0.2.0, for a question with choices.
VERSION_2 = Path(__file__).with_name("record_version_2.json")


def test_a_record_of_version_1_is_read_with_its_answer_score_and_boxes() -> None:
    written = json.loads(VERSION_1.read_text(encoding="utf-8"))

    read = Assessment.from_json(VERSION_1.read_bytes())

    assert read.schema_version == 3
    assert (read.query, read.answer, read.score) == (written["query"], written["answer"], written["score"])
    assert read.fused_score == written["fused_score"]
    box = read.regions["left half"]
    assert box is not None
    assert box.box == (0, 0, 225, 300)
    assert read.regions["cat"] is None


def test_a_record_of_version_2_is_read_and_lacks_only_what_is_new() -> None:
    written = json.loads(VERSION_2.read_text(encoding="utf-8"))

    read = Assessment.from_json(VERSION_2.read_bytes())

    assert read.schema_version == 3
    assert (read.value, read.certainty, read.reasons, read.choices) == (None, None, [], {})
    assert holds(json.loads(read.to_json()), {**written, "schema_version": 3})


def holds(found: Any, written: Any) -> bool:
    """Whether everything that was written is found again, however much there is besides."""
    if isinstance(written, dict):
        return all(name in found and holds(found[name], value) for name, value in written.items())
    if isinstance(written, list):
        return len(found) == len(written) and all(map(holds, found, written))
    return bool(found == written)


@pytest.mark.parametrize("written", [VERSION_1, VERSION_2])
def test_a_record_read_and_written_again_stays_the_same(written: Path) -> None:
    once = Assessment.from_json(written.read_bytes()).to_json()

    assert Assessment.from_json(once).to_json() == once


def test_a_ranking_of_version_1_was_of_overall_quality() -> None:
    entry = {"rank": 1, "name": "a", "assessment": json.loads(VERSION_1.read_text(encoding="utf-8"))}

    read = Ranking.model_validate({"schema_version": 1, "entries": [entry], "pairs": []})

    assert (read.schema_version, read.attribute) == (3, "overall")


def test_a_record_of_a_later_version_is_refused() -> None:
    fields = json.loads(VERSION_1.read_text(encoding="utf-8")) | {"schema_version": 4}

    with pytest.raises(ValidationError, match="schema_version"):
        Assessment.model_validate(fields)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "missing: query, answer, reasoning and 20 more"),
        ("[]", "input should be an object"),
        ("an answer", "is not JSON"),
        ('{"schema_version": 4}', "schema_version input should be 3, not 4"),
        ('{"colour": 1}', "colour is unknown; leave it out"),
    ],
)
def test_what_is_no_record_is_refused_with_the_field_that_is_wrong(text: str, words: str) -> None:
    with pytest.raises(ReportError, match="this is no record of an assessment") as refused:
        Assessment.from_json(text)

    assert words in str(refused.value)
    assert "pydantic" not in str(refused.value)
