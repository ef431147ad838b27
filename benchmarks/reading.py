"""How well questions are understood and answered: a blind set, six versions of three photographs, several languages.

    python -m benchmarks.reading [--set release|third] [--before FILE] [--json FILE]

The questions were written by people who had not seen the reader, with the right answers for each version; the files'
hashes are in training/questions/LOCKED.md and are checked here. Only tables are printed, never a question.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from agenticiqa.embedded.answers.answering import answer
from agenticiqa.embedded.answers.evidence import Evidence, gather, without
from agenticiqa.embedded.answers.file_facts import facts_of
from agenticiqa.embedded.client import plan_for
from agenticiqa.embedded.findings import Look
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.question.asked import Compare, Declined, Question, YesNo
from agenticiqa.question.read import read_question
from agenticiqa.state import DISTORTION_CATEGORIES, GLOBAL, LevelLetter
from agenticiqa.values import Distortion, Judgement
from benchmarks.reading_marks import Mark, mark
from benchmarks.reading_pictures import PHOTOGRAPHS, VERSIONS, Pixels, version_of

LOCKED = Path(__file__).parents[1] / "training/questions/LOCKED.md"
TARGETS = dict.fromkeys(("zh", "de", "es", "fr", "ja", "pt", "other"), (0.85, 0.05)) | {"en": (0.90, 0.04)}
# Stock sentences around a question that must not change what it means.
BOILERPLATE = (
    "No explanation needed. {q}", "{q} Do not explain.", "I have no idea, {q}", "{q} No other text.",
    "I'm not an expert, but {q}", "{q} Don't add anything.", "Never mind the subject. {q}", "{q} Not a word more.",
    "There is no hurry. {q}", "{q} I can't tell myself.",
)  # fmt: skip


def main() -> None:
    """Prints the tables of the blind set."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--questions", type=Path, default=LOCKED.parent / "locked", help="folder of the locked files")
    options.add_argument("--set", default="blind", choices=("blind", "release", "third"), help="which set")
    options.add_argument("--before", type=Path, help="the earlier reader's answers, as `reading_before` wrote them")
    options.add_argument("--no-pictures", action="store_true", help="only what does not need the eyes")
    options.add_argument("--json", type=Path, help="also write the figures here")
    given = options.parse_args()
    questions = locked_questions(given.questions, given.set)
    figures: dict[str, Any] = {"understood": understanding(questions)}
    figures["answers, flaws known"] = answering(questions, known_evidence(), "answers, flaws known")
    if not given.no_pictures:
        figures["answers"] = answering(questions, evidence_by_picture(), "answers")
    if given.before:
        figures["before"] = table(marks_of(questions, json.loads(given.before.read_text(encoding="utf-8"))))
        show("answers of the earlier reader", figures["before"])
    figures["stray"] = stray_negations(questions)
    figures["milliseconds"] = reading_time(questions)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))


def locked_questions(folder: Path, name: str) -> list[dict[str, Any]]:
    """The questions of one set; refuses a file whose hash is not the recorded one."""
    recorded = dict(reversed(line.split()) for line in re.findall(r"(?m)^[0-9a-f]{64}\s+\S+$", LOCKED.read_text()))
    rows: list[dict[str, Any]] = []
    for file in sorted(file for file in recorded if file.startswith(name)):
        content = (folder / file).read_bytes()
        if hashlib.sha256(content).hexdigest() != recorded[file]:
            raise SystemExit(f"{file} is not the locked file: its hash differs from {LOCKED.name}")
        rows += [json.loads(line) for line in content.decode().splitlines() if line]
    return rows


def understanding(questions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What was understood, apart from any image: right, wrong and declined per part of the meaning."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for row in questions:
        question, group = asked_in(row), group_of(row)
        unclear = isinstance(question, Declined) and question.why == "unclear"
        stray = row["intent"] in ("decline", "declined")
        right = {"intent": intent_of(question) == ("declined" if stray else row["intent"])}
        if not stray:
            right["attribute"] = question.topic.flaw.attribute in attributes_of(row)
        if row["intent"] == "yesno":
            right["polarity"] = isinstance(question, YesNo) and question.polarity == row["yes_means"]
        for part, is_right in right.items():
            no_stance = part == "polarity" and not (isinstance(question, YesNo) and question.polarity)
            verdict = "declined" if unclear or no_stance else "right" if is_right else "wrong"
            found[f"{group} {part}"][verdict] += 1
        if stray:
            found[f"{group} not about quality"]["declined" if isinstance(question, Declined) else "answered"] += 1
        else:
            as_content = isinstance(question, Declined) and question.why == "content"
            found[f"{group} about quality"]["declined as content" if as_content else "kept"] += 1
    for name in sorted(found):
        total = sum(found[name].values())
        print(
            f"understood, {name:22} n={total:4}  "
            + "  ".join(f"{k} {v / total:.3f}" for k, v in sorted(found[name].items()))
        )
    return {name: dict(counts) for name, counts in found.items()}


def asked_in(row: Mapping[str, Any]) -> Question:
    """The question of a row, with the choices it gives apart from its text."""
    return read_question(row["q"], row.get("choices"))


def intent_of(question: Question) -> str:
    """The kind of a question as the rows name it."""
    return type(question).__name__.lower()


def attributes_of(row: Mapping[str, Any]) -> list[str]:
    """What the question of a row is about; the earlier sets name one attribute."""
    return list(row["attributes"]) if "attributes" in row else [row["attribute"]]


def answering(questions: Sequence[Mapping[str, Any]], seen: Mapping[str, Evidence], title: str) -> dict[str, Any]:
    """Right, wrong and declined answers per language and per intent."""
    marks = marks_of(questions, answers_to(questions, seen))
    by_language = table(marks)
    show(title, by_language)
    show(f"{title} by intent", table(marks, lambda row, version: f"{group_of(row)} {row['intent']}"))
    show(f"{title} by version", table(marks, lambda row, version: f"{group_of(row)} {version}"))
    for group, (right, wrong) in TARGETS.items():
        if group in by_language:
            found = by_language[group]
            print(f"target {group}: right {found['right']:.3f} ({right}), wrong {found['wrong']:.3f} ({wrong})")
    return by_language


def answers_to(questions: Sequence[Mapping[str, Any]], seen: Mapping[str, Evidence]) -> dict[str, dict[str, str]]:
    """The answer to every question about every version of every photograph: id → "photograph version" → text."""
    understood = {row["id"]: asked_in(row) for row in questions}
    return {
        name: {place: told(question, found) for place, found in seen.items()} for name, question in understood.items()
    }


def told(question: Question, evidence: Evidence) -> str:
    """What the agent answers: the level's letter where the plan is a plain rating, else the answer's text."""
    if plan_for(question, has_reference=False).query_type == "IQA" and evidence.judgement:
        return evidence.judgement.letter
    # Which place is meant is not judged here: every place looks like the whole.
    named = question.places if isinstance(question, Compare) else None
    places = dict.fromkeys(named or (), evidence.places["centre"])
    seen = without(evidence, question.topic.excepted)
    given = answer(question, replace(seen, places={**evidence.places, **places}))
    # What counts is the value: a statement without a yes or a no is none, in whatever word it begins.
    return "" if isinstance(question, YesNo) and given.value is None and given.why_not is None else given.text


def known_evidence() -> dict[str, Evidence]:
    """What perfect eyes would see of the six versions, so that the reader is judged apart from them."""
    flaws: dict[str, Distortion | None] = {
        "clean": None,
        "blurred": Distortion.called("Blurs", "severe", 0.98, "defocus_blur"),
        "noisy": Distortion.called("Noise", "severe", 0.98, "white_noise"),
        "dark": Distortion.called("Brightness change", "severe", 0.98, "darken"),
        "bright": Distortion.called("Brightness change", "severe", 0.98, "brighten"),
        "blocky": Distortion.called("Compression", "severe", 0.98, "jpeg"),
    }
    found = {}
    for version, flaw in flaws.items():
        absent = [Distortion.called(category, "none", 0.03) for category in DISTORTION_CATEGORIES]
        findings = tuple(flaw if flaw and flaw.category == each.category else each for each in absent)
        levels: dict[LevelLetter, float] = {"D": 0.5, "E": 0.5} if flaw else {"A": 0.7, "B": 0.3}
        look = Look(Judgement(levels), findings)
        found[f"known {version}"] = _with_file(look, load_image(_as_png(version_of(PHOTOGRAPHS[0], version))))
    return found


def _as_png(pixels: Pixels) -> bytes:
    """The picture as a user has it: a file, of which facts are asked for too."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def _with_file(look: Look, image: LoadedImage) -> Evidence:
    """The evidence of one look; a "where" question needs some place, and which one is not judged here."""
    evidence = gather({GLOBAL: look})
    return replace(evidence, places={"centre": look}, asked_place="centre", size=image.size, file=facts_of(image))


def evidence_by_picture() -> dict[str, Evidence]:
    """What the shipped eyes see in every version, each looked at once."""
    from agenticiqa.embedded.combined_models import shipped_perception

    eyes = shipped_perception("research")
    found = {}
    for photograph in PHOTOGRAPHS:
        for version in VERSIONS:
            image = load_image(_as_png(version_of(photograph, version)))
            found[f"{photograph} {version}"] = _with_file(eyes.look(image), image)
    return found


_VERDICTS: tuple[Mark, ...] = ("right", "wrong", "declined")
Marks = list[tuple[Mapping[str, Any], str, Mark]]


def marks_of(questions: Sequence[Mapping[str, Any]], answers: Mapping[str, Mapping[str, str]]) -> Marks:
    """Every answer marked: question, version, verdict."""
    return [
        (row, name.split()[-1], mark(row, name.split()[-1], text))
        for row in questions
        for name, text in answers[row["id"]].items()
    ]


def table(marks: Marks, key: Any = lambda row, version: group_of(row)) -> dict[str, dict[str, float]]:
    """Shares of right, wrong and declined per group, with 95 % intervals that resample whole questions."""
    groups: dict[str, dict[str, list[Mark]]] = defaultdict(lambda: defaultdict(list))
    for row, version, verdict in marks:
        groups[key(row, version)][row["id"]].append(verdict)
    return {name: _shares(list(by_question.values())) for name, by_question in sorted(groups.items())}


def _shares(by_question: list[list[Mark]]) -> dict[str, float]:
    random = np.random.default_rng(0)
    figures: dict[str, float] = {"questions": float(len(by_question))}
    for verdict in _VERDICTS:
        each = np.array([np.mean([one == verdict for one in marks]) for marks in by_question])
        means = each[random.integers(0, len(each), (2000, len(each)))].mean(axis=1)
        figures |= {verdict: float(each.mean()), f"{verdict} low": float(np.quantile(means, 0.025)),
                    f"{verdict} high": float(np.quantile(means, 0.975))}  # fmt: skip
    return figures


def show(title: str, figures: Mapping[str, Mapping[str, float]]) -> None:
    """One line per group."""
    for name, row in figures.items():
        shares = "  ".join(f"{v} {row[v]:.3f} [{row[v + ' low']:.3f}, {row[v + ' high']:.3f}]" for v in _VERDICTS)
        print(f"{title}, {name:22} n={row['questions']:.0f}  {shares}")


def stray_negations(questions: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """200 yes/no questions with a stock sentence around them: how many are read as the opposite of the plain one."""
    plain = [row for row in questions if row["intent"] == "yesno" and row["lang"] == "en"]
    counts: Counter[str] = Counter()
    for number in range(200):
        row = plain[number % len(plain)]
        around = read_question(BOILERPLATE[number % len(BOILERPLATE)].format(q=row["q"]))
        alone = read_question(row["q"])
        stances = {each.polarity if isinstance(each, YesNo) else None for each in (around, alone)}
        counts["declined" if None in stances else "kept" if len(stances) == 1 else "inverted"] += 1
    print(f"stray negations and boilerplate, 200 questions: {dict(counts)}")
    return dict(counts)


def reading_time(questions: Sequence[Mapping[str, Any]]) -> float:
    """The median processor time to read a question anew, in milliseconds: other work on the machine does not count."""
    times = []
    for row in questions:
        start = time.process_time()
        read_question(row["q"] + " ")
        times.append(1000 * (time.process_time() - start))
    print(f"reading one question: median {np.median(times):.2f} ms of processor time")
    return float(np.median(times))


def group_of(row: Mapping[str, Any]) -> str:
    """The language; the earlier sets have too few questions to tell the five others apart."""
    return row["lang"] if row["lang"] in ("en", "zh") or "attributes" in row else "other"


if __name__ == "__main__":
    main()
