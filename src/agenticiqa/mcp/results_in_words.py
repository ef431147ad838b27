"""Results in words: the first line is a sentence, whatever the answer."""

from __future__ import annotations

from collections.abc import Mapping

from agenticiqa.assessor import Assessment, Ranking, wording
from agenticiqa.state import LEVEL_NAMES

SHOWN = 8


def assessment_in_words(found: Assessment) -> str:
    """A sentence with the answer, one with the score, then the reasons."""
    options = found.choices
    answer = found.answer.strip().rstrip(".")
    levels: Mapping[str, str] = {letter: name.lower() for letter, name in LEVEL_NAMES.items()}
    if answer in options:
        said = f"The answer is {answer}: {options[answer]}."
    elif answer in levels:
        said = f"The quality is {levels[answer]}."
    else:
        said = f"The answer is: {answer}."
    return f"{said} The image scores {score_in_words(found)}.\n{found.reasoning}"


def ranking_in_words(ranking: Ranking) -> str:
    """A sentence with the answer, then a line per image."""
    best = ranking.entries[0]
    said = f"The answer is: {ranking.answer}." if ranking.answer else f"The best is {best.name}."
    close = [pair.second for pair in ranking.pairs if pair.first == best.name and pair.verdict != "better"]
    if not ranking.answer and close:
        said = f"No clear difference between {best.name} and {', '.join(close)}."
    return "\n".join([said, *(wording.place_in_words(entry, ranking) for entry in ranking.entries)])


def numbers_in_words(values: Mapping[str, float | None], image: str) -> str:
    """A sentence with every number."""
    told = "; ".join(
        f"{name} {'not measured' if value is None else format(value, '.6g')}" for name, value in values.items()
    )
    return f"Measured on {image if len(image) < 100 else 'the image sent'}: {told}."


def faults_in_words(issues: Mapping[str, list[str]], pictures: int) -> str:
    """A sentence with the count, then a line per fault with the first few names."""
    faulty = {name for names in issues.values() for name in names}
    if not faulty:
        return f"Nothing wrong was found in {pictures} pictures."
    lines = [f"{issue} ({len(names)}): {', '.join(names[:SHOWN])}" for issue, names in issues.items()]
    return "\n".join([f"{len(faulty)} of {pictures} pictures have a fault.", *lines])


def score_in_words(found: Assessment) -> str:
    """The score with its level and interval."""
    if found.score is None:
        return f"no score ({found.error or 'none was asked for'})"
    return wording.score_in_words(found)
