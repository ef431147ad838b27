"""The phrasings the reader learns from are whole, and the sets that measure it stay locked."""

from __future__ import annotations

import random
import re
from pathlib import Path

from training.questions import phrasings
from training.questions.phrasings import ATTRIBUTES, changed, made, written
from training.reader import compose

INTENTS = (*compose.INTENTS[:-1], "decline")
LOCKED = Path(__file__).parents[2] / "training/questions/LOCKED.md"


def test_there_are_more_than_six_thousand_phrasings_in_seven_languages() -> None:
    rows = written()

    assert len({row["q"] for row in rows if row["file"] != "added"}) > 6000
    assert {row["lang"] for row in rows} == {"en", "zh", "de", "es", "fr", "ja", "pt"}
    assert all(row["intent"] in INTENTS and row["attribute"] in (*ATTRIBUTES, "none") for row in rows)


def test_a_made_phrasing_has_a_meaning_and_a_changed_one_keeps_its_own() -> None:
    rng = random.Random(0)

    assert all(made(rng)["intent"] in INTENTS for _ in range(200))
    assert all(changed(row, rng)["intent"] == row["intent"] for row in written()[:200])


def test_the_measuring_sets_are_recorded_by_their_hashes() -> None:
    assert len(re.findall(r"(?m)^[0-9a-f]{64}  (?:blind|release)-", LOCKED.read_text())) == 5


def test_a_made_row_says_what_it_was_made_of() -> None:
    rng = random.Random(0)

    rows = [compose.made(rng) for _ in range(1200)]

    assert all(row.text for row in rows)
    assert {row.option is None for row in rows} == {True, False}
    assert {row.fact for row in rows if row.intent == "measure"} > {"print", "alpha"}
    assert all(0 <= start < end <= len(row.text) for row in rows for start, end in row.offered or ())
    assert any(row.offered for row in rows)


def test_every_question_written_by_the_guide_has_a_whole_meaning() -> None:
    rows = compose.written_now(phrasings.FOLDER / "guided")
    questions = [row for row in rows if row.option is None]

    assert all(row.intent in compose.INTENTS and row.kind for row in questions)
    assert all((row.yes_means is not None) == (row.intent == "yesno") for row in questions)
    assert not [row.text for row in questions if row.intent == "declined" and row.attributes]


def test_no_held_out_question_is_learnt_from() -> None:
    kept, held = compose.held_out(compose.written_now(phrasings.FOLDER / "guided"))

    assert {row.source for row in held} >= {
        "development-held",
        "strays-hand-held",
        "languages-hand-held",
        "english-hand-held",
    }
    assert not {row.text for row in kept if row.option is None} & {row.text for row in held if row.option is None}
