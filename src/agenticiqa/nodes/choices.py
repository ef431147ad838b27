"""The answer choices of a question, and which of them an answer means."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agenticiqa.perception.choices import split_choices
from agenticiqa.state import UNABLE, AgenticIQAState

_LABELLED = re.compile(r"^[(\[（【]?\s*([A-Za-z]|\d)\s*(?:[)\].、,，:：）】]\s*(.*)|)$", re.DOTALL)


def choices_of(state: AgenticIQAState) -> dict[str, str]:
    """The choices given as data, else those written into the question."""
    return dict(state.get("choices") or split_choices(state["query"])[1])


def match_choice(answer: str, choices: Mapping[str, str]) -> str:
    """The letter an answer means ("B", "b)", "B. Good" or "Good"); ValueError when it means none of them."""
    text = answer.strip().strip("*\"'` ")
    if text.rstrip(".").casefold() == UNABLE.casefold():
        return UNABLE
    letters = {letter.casefold(): letter for letter in choices}
    labelled = _LABELLED.match(text)
    if labelled and labelled.group(1).casefold() in letters:
        return letters[labelled.group(1).casefold()]
    for letter, words in choices.items():
        if _plain(words) == _plain(text):
            return letter
    raise ValueError(f"final_answer {answer!r} is none of the choices {', '.join(choices)}")


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(".。!！ ").casefold()
