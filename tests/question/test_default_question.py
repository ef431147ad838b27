"""The question of whoever asks none."""

from __future__ import annotations

import subprocess
import sys

from agenticiqa.question.asked import Reply, Score, Topic
from agenticiqa.question.asking import read_question
from agenticiqa.question.choices import split_choices
from agenticiqa.question.default_question import DEFAULT_QUERY, DEFAULT_QUESTION
from agenticiqa.question.understanding import understand


def test_the_default_question_means_what_reading_its_words_gives() -> None:
    typed = f" {DEFAULT_QUERY} "

    read = understand(typed)

    assert understand(DEFAULT_QUERY) is DEFAULT_QUESTION
    assert read == DEFAULT_QUESTION
    assert split_choices(typed)[1] == {}


def test_choices_given_with_the_default_question_are_understood() -> None:
    question = understand(DEFAULT_QUERY, {"A": "good", "B": "bad"})

    assert question.choices == {"A": "good", "B": "bad"}


def test_rating_a_picture_without_a_question_reads_no_words() -> None:
    script = (
        "import numpy as np; from agenticiqa import assess; from agenticiqa.question import lexicon, reader\n"
        "assess(np.full((64, 64, 3), 128, np.uint8))\n"
        "print(lexicon.lexicon.cache_info().currsize, reader.shipped_reader.cache_info().currsize)"
    )

    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert told.split() == ["0", "0"]


def test_the_default_question_asks_for_a_score_on_our_own_scale() -> None:
    assert read_question(DEFAULT_QUERY) == Score(Topic(), Reply(form="number"))
