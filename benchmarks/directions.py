"""Whether the answer follows which way and which kind a flaw is: casts by color, contrast, saturation, blur, ratings.

    python -m benchmarks.directions [--json FILE]

120 questions in seven languages, written without sight of the reader, each with the right reaction to every state of
a picture; the file's hash is in training/questions/LOCKED.md and is checked here. What the picture shows is given: only
reading and answering are measured. Only tables are printed, never a question.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Literal

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.evidence import Evidence, gather
from agenticiqa.embedded.findings import Look
from agenticiqa.question.asked import Degree, Question, Score
from agenticiqa.question.read import read_question
from agenticiqa.question.scales import OWN_SCALE
from agenticiqa.state import DISTORTION_CATEGORIES, GLOBAL, DistortionCategory, LevelLetter
from agenticiqa.values import CATEGORY_OF, Answer, Distortion, Judgement
from benchmarks.reading import LOCKED, locked_questions

Mark = Literal["right", "wrong", "declined"]
# By state of the picture: the category that is flawed, the kind, and the words for it.
STATES: dict[str, tuple[DistortionCategory, str]] = {
    "orange": ("Color distortions", "color_cast"),
    "blue": ("Color distortions", "color_cast"),
    "green": ("Color distortions", "color_cast"),
    "flat": ("Contrast", "contrast_down"),
    "hard": ("Contrast", "contrast_up"),
    "vivid": ("Color distortions", "saturation_up"),
    "faded": ("Color distortions", "saturation_down"),
    "motion": ("Blurs", "motion_blur"),
    "defocus": ("Blurs", "defocus_blur"),
}
COLORS = {
    "orange": ("orange", "橙", "naranja", "laranja", "オレンジ"),
    "blue": ("blue", "蓝", "blau", "azul", "bleu", "青"),
    "green": ("green", "绿", "grün", "verde", "vert", "緑"),
}
LEVELS: dict[bool, LevelLetter] = {True: "D", False: "A"}


def main() -> None:
    """Prints right, wrong and declined by topic and by language."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--questions", type=Path, default=LOCKED.parent / "locked", help="folder of the locked files")
    options.add_argument("--json", type=Path, help="also write the figures here")
    given = options.parse_args()
    tables: dict[str, dict[str, Counter[Mark]]] = {"topic": defaultdict(Counter), "language": defaultdict(Counter)}
    for row in locked_questions(given.questions, "directions"):
        question = read_question(row["question"])
        for state, wanted in row["states"].items():
            if wanted == "either":
                continue
            found = mark(row["topic"], wanted, question, answer(question, shown(row["topic"], state, question)))
            for name in tables:
                tables[name][row[name]][found] += 1
            tables["topic"]["all"][found] += 1
    for name, table in tables.items():
        print(f"{name:<12} answers   right   wrong declined")
        for key, counts in sorted(table.items()):
            shares = [counts[each] / counts.total() for each in ("right", "wrong", "declined")]
            print(f"{key:<12} {counts.total():>7} " + " ".join(f"{share:7.3f}" for share in shares))
    if given.json:
        given.json.write_text(json.dumps(tables, indent=2) + "\n")


def shown(topic: str, state: str, question: Question) -> Evidence:
    """What a picture in this state shows; a rating is of whatever the question rates."""
    is_flawed = state != "none"
    flawed: dict[DistortionCategory, str | None] = {STATES[state][0]: STATES[state][1]} if state in STATES else {}
    color = state if state in COLORS else None
    if topic == "rating" and is_flawed:
        flawed = dict.fromkeys([CATEGORY_OF.get(question.topic.flaw.attribute, "Blurs")])
        if question.topic.flaw.attribute in ("dark", "bright"):
            flawed = {"Brightness change": "darken" if question.topic.flaw.attribute == "dark" else "brighten"}
    findings = tuple(
        Distortion(category, 0.95, 3.0, flawed[category], colour=color)
        if category in flawed
        else Distortion(category, 0.02, 0.0)
        for category in DISTORTION_CATEGORIES
    )
    return gather({GLOBAL: Look(Judgement({LEVELS[is_flawed]: 1.0}), findings)})


def mark(topic: str, wanted: str, question: Question, given: Answer) -> Mark:
    """Whether the answer is the wanted one."""
    if given.why_not is not None:
        return "declined"
    if topic == "which":
        named = [color for color, words in COLORS.items() if any(word in given.text.lower() for word in words)]
        return "right" if named == ([] if wanted == "none" else [wanted]) else "wrong"
    if topic == "rating":
        return _mark_rating(wanted, question, given)
    return "right" if given.value is (wanted == "yes") else "wrong"


def _mark_rating(wanted: str, question: Question, given: Answer) -> Mark:
    scale = (question.scale if isinstance(question, Score | Degree) else None) or OWN_SCALE
    if not isinstance(given.value, int | float):
        return "wrong"
    return "right" if (given.value > (scale.at(0.0) + scale.at(1.0)) / 2) == (wanted == "high") else "wrong"


if __name__ == "__main__":
    main()
