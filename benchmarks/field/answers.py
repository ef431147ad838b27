"""Questions with options about known damage, the locked questions, things located by name; and beside a recorded model.

All by records: what was answered or where a thing was found, per question or box.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from agenticiqa.embedded.objects.object_detector import overlap_share
from benchmarks.field.figures import Better, Measured, Rows, correlation, share_figure
from benchmarks.field.sources import Data, Source, field_table
from benchmarks.known_damage import SYNTHETIC_KINDS, held_out_photographs, synthetic_pictures, tid_pictures
from benchmarks.objects import read_boxes
from benchmarks.quality_questions import AskedPicture, make_questions
from benchmarks.recorded_fusion import Answers, beliefs_around

PER_KIND, SEED = 30, 8
# What `eta_for` gives for AIQA_NR's known error in 0.2.0; written down before the recorded scores were looked at.
ETA = 4.0
MODEL_RECORDED = ("koniq", "spaq")
PROMPTS = ("direct", "reasoned", "skills", "router")
# Runs inside the tree of the version, whose reader and marks may be older ones.
MARKS = """
import csv, sys
from benchmarks.reading import LOCKED, answers_to, evidence_by_picture, locked_questions, mark
questions = locked_questions(LOCKED.parent / "locked", "blind")
answers = answers_to(questions, evidence_by_picture())
writer = csv.writer(sys.stdout, lineterminator="\\n")
writer.writerow(("id", "answer"))
for row in questions:
    marks = [mark(row, place.split()[-1], text) for place, text in answers[row["id"]].items()]
    language = row["lang"] if row["lang"] in ("en", "zh") else "other"
    writer.writerow((f"{language} {row['id']}", "".join(one[0] for one in marks)))
"""


def choice_questions(data: Data) -> dict[str, AskedPicture]:
    """Balanced questions about pictures whose damage is known; TID2013's pairs are left out, the weights know them."""
    photographs = held_out_photographs(data.find("bsds/BSDS500/data/images", "bsds500"), data.find("imagenet"))
    made = list(synthetic_pictures(photographs, 10 * len(SYNTHETIC_KINDS), SEED))
    known = list(tid_pictures(data.find("tid2013-part")))
    asked = [question for pictures in (known, made) for question in make_questions(pictures, PER_KIND, SEED)]
    wanted = [question for question in asked if question.source != "tid2013" or question.reference is None]
    return {f"{n:03} {question.source} {question.kind}": question for n, question in enumerate(wanted)}


def choice_jobs(questions: Mapping[str, AskedPicture], folder: Path) -> Iterator[dict[str, Any]]:
    """The questions as jobs; the pictures are written to the folder."""
    for name, question in questions.items():
        job: dict[str, Any] = {"id": name, "query": question.query, "choices": choices_of(name, question)}
        for what, pixels in (("path", question.pixels), ("reference", question.reference)):
            if pixels is not None:
                job[what] = str(folder / f"{name[:3]}-{what}.png")
                Image.fromarray(pixels).save(job[what])
        yield job


def choices_of(name: str, question: AskedPicture) -> dict[str, str]:
    """The options, in an order fixed by the question's number."""
    order = np.random.default_rng(int(name[:3])).permutation(len(question.options))
    return question.choices(order.tolist())


def choice_figures(questions: Mapping[str, AskedPicture], rows: Rows) -> Iterator[Measured]:
    """The share of right options; unanswered is wrong."""
    right = {
        name: float(choices_of(name, question).get(rows[name]["answer"], rows[name]["answer"]) == question.right)
        for name, question in questions.items()
        if name in rows
    }
    if right:
        yield share_figure("multiple choice right", "check", right)


def record_questions(target: Path, code: Path) -> None:
    """Marks of the locked blind set by the version's own reader; a version without such a set has none."""
    tree = code.parent
    if target.exists() or not (tree / "benchmarks" / "reading.py").exists():
        return
    environment = {**os.environ, "PYTHONPATH": f"{code}:{tree}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", MARKS], cwd=tree, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    target.write_text(done.stdout, encoding="utf-8")


def question_figures(rows: Rows) -> Iterator[Measured]:
    """Right and wrong answers by language, a question's mean over the photographs it was asked about."""
    for language in ("en", "zh", "other"):
        directions: dict[str, Better] = {"right": "higher", "wrong": "lower"}
        for word, better in directions.items():
            shares = {
                name: row["answer"].count(word[0]) / len(row["answer"])
                for name, row in rows.items()
                if name.startswith(f"{language} ")
            }
            if shares:
                yield share_figure(f"questions {language} {word}", "check", shares, better)


def place_jobs(data: Data) -> Iterator[dict[str, Any]]:
    """The pictures with boxes drawn by eye, and the names of what is in them."""
    pictures = {
        path.stem.partition("_")[2]: path for path in sorted(data.find("imagenet").glob("*.JPEG"), reverse=True)
    }
    for name, drawn in read_boxes().items():
        if name in pictures:
            yield {"id": name, "path": str(pictures[name]), "names": sorted({box.kind for box in drawn if not box.may})}


def place_figures(rows: Rows) -> Iterator[Measured]:
    """The share of names whose box lies on one drawn by eye, IoU at least .5."""
    hits: dict[str, float] = {}
    for name, row in rows.items():
        found = {kind: tuple(map(float, box.split())) for kind, _, box in
                 (part.partition(":") for part in row["boxes"].split(";") if part)}  # fmt: skip
        drawn = [box for box in read_boxes()[name] if not box.may]
        for kind in {box.kind for box in drawn}:
            place = found.get(kind)
            hits[f"{name}/{kind}"] = float(
                place is not None and any(overlap_share(place, b.box) >= 0.5 for b in drawn if b.kind == kind)  # type: ignore[arg-type]
            )
    if hits:
        yield share_figure("objects located by name", "check", hits, cluster=lambda name: name.partition("/")[0])


def beside_model(source: Source, data: Data, rows: Rows) -> Iterator[Measured]:
    """A recorded model's scores under each prompt, and the product's own fusion of them with ours, η fixed."""
    table = {row["image"]: row for row in field_table(data, source.name)}
    pictures = [picture for picture in source.pictures if rows.get(picture.id, {}).get("score")]
    ours = np.array([float(rows[picture.id]["score"]) for picture in pictures])
    opinions = np.array([picture.opinion for picture in pictures])
    for prompt in PROMPTS:
        # The model was asked on the scale of the opinions.
        told = source.on_scale([float(table[picture.id][f"vlm_{prompt}"]) for picture in pictures]) or []
        beliefs = np.array([beliefs_around(score) for score in told])
        fused = Answers(opinions, beliefs, ours).fused(ETA)
        alone, joint = (
            dict(zip((picture.id for picture in pictures), map(float, scores), strict=True)) for scores in (told, fused)
        )
        yield correlation(f"{source.name} model ({prompt}) SRCC", source, alone, "neither")
        yield correlation(f"{source.name} fused ({prompt}) SRCC", source, joint)
