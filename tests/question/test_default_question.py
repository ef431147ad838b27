"""The question of whoever asks none."""

from __future__ import annotations

import subprocess
import sys

from agenticiqa.question.asked import DEFAULT_QUERY, Choose, Reply, Score, Topic
from agenticiqa.question.read import read_question


def test_the_default_question_means_what_reading_its_words_gives() -> None:
    question = read_question(f" {DEFAULT_QUERY} ")

    assert question == read_question(DEFAULT_QUERY) == Score(Topic(), Reply(form="number"))


def test_choices_given_with_the_default_question_are_understood() -> None:
    question = read_question(DEFAULT_QUERY, {"A": "good", "B": "bad"})

    assert isinstance(question, Choose)
    assert question.reply.choices == {"A": "good", "B": "bad"}


def test_rating_a_picture_without_a_question_reads_no_words() -> None:
    script = (
        "import numpy as np; from agenticiqa import assess; from agenticiqa.question import model\n"
        "assess(np.full((64, 64, 3), 128, np.uint8))\n"
        "print(model.read.cache_info().currsize)"
    )

    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert told.split() == ["0"]
