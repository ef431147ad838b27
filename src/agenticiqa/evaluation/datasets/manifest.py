"""Anything else: a table of rated pictures, or of questions, written by the user."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.datasets.files import Folder, number, numbered_table
from agenticiqa.evaluation.samples import KnownQuestion, OpinionScale, QuestionSet, RatedPicture, RatedSet
from agenticiqa.question.choices import lettered, parted

_RATINGS = ("rating", "mos", "dmos", "score", "opinion")
_SHOWN_FAULTS = 10
Made = TypeVar("Made", RatedPicture, KnownQuestion)
LAYOUT = (
    "a CSV or JSON Lines file with `image` and `rating` (or `mos`, `dmos`), and where known `reference`, `group`, "
    "`distortion`, `level`, `split`; or with `image`, `question`, `options`, `answer`"
)


def read_manifest(path: Path, root: Path | None = None, scale: OpinionScale | None = None) -> RatedSet | QuestionSet:
    """The rated pictures or questions of a manifest; paths are relative to `root` or to the manifest's folder."""
    rows = read_numbered(path)
    if not rows:
        raise DatasetError(f"{path}: holds no rows; expected {LAYOUT}")
    pictures, first = Folder(root or path.parent), rows[0].values
    if "question" in first:
        found = questions_of(path, path.stem, rows, pictures)
        if not found.questions:
            raise DatasetError(_none_is_there(path, rows, found.missing))
        return found
    column = next((name for name in _RATINGS if name in first), None)
    if column is None or "image" not in first:
        raise DatasetError(f"{path}: has the columns {', '.join(first)}; expected {LAYOUT}")
    return _rated(path, rows, column, pictures, scale)


class Numbered(NamedTuple):
    """A row and where it stands in its file, as an editor counts."""

    place: str
    values: dict[str, Any]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV, JSON or JSON Lines file, column names in lower case."""
    return [row.values for row in read_numbered(path)]


def read_numbered(path: Path) -> list[Numbered]:
    """The same rows, each with its place."""
    if not path.is_file():
        raise DatasetError(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}; expected {LAYOUT}")
    if path.suffix.lower() not in (".json", ".jsonl"):
        return [Numbered(f"line {line}", dict(row)) for line, row in numbered_table(path)]
    try:
        entries = _entries(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: cannot be read as JSON ({error})") from error
    if not all(isinstance(entry, dict) for _, entry in entries):
        raise DatasetError(f"{path}: every entry must be an object; expected {LAYOUT}")
    return [Numbered(place, {str(key).lower(): value for key, value in entry.items()}) for place, entry in entries]


def _entries(text: str) -> list[tuple[str, Any]]:
    """The entries of an array, of lines, or of objects one after the other however they are broken into lines."""
    if text.lstrip().startswith("["):
        return [(f"entry {place}", entry) for place, entry in enumerate(json.loads(text), 1)]
    decoder, found, at = json.JSONDecoder(), list[tuple[str, Any]](), 0
    while rest := text[at:].lstrip(" \t\r\n,"):
        begin = len(text) - len(rest)
        entry, at = decoder.raw_decode(text, begin)
        found.append((f"line {text.count(chr(10), 0, begin) + 1}", entry))
    return found


def _made(
    path: Path, rows: list[Numbered], pictures: Folder, make: Callable[[dict[str, Any], int, Path, Path | None], Made]
) -> tuple[tuple[Made, ...], tuple[str, ...]]:
    """What is made of the rows whose pictures are there, and the names of pictures that are missing.

    One DatasetError says what is wrong with all rows that cannot be used.
    """
    made: list[Made] = []
    missing: list[str] = []
    faults: list[str] = []
    for count, (place, row) in enumerate(rows, 1):
        named = str(row.get("image") or row.get("img_path") or "")
        wanted = str(row.get("reference") or "")
        image, reference = pictures.find(named), pictures.find(wanted) if wanted else None
        if image is None or (wanted and reference is None):
            missing.append(named if image is None else wanted)
            continue
        try:
            made.append(make(row, count, image, reference))
        except DatasetError as error:
            faults.append(f"{place}, {error}")
    if len(faults) == 1:
        raise DatasetError(f"{path}: {faults[0]}")
    if faults:
        more: list[str] = [f"and {len(faults) - _SHOWN_FAULTS} more"] if len(faults) > _SHOWN_FAULTS else []
        shown = "\n  ".join([*faults[:_SHOWN_FAULTS], *more])
        raise DatasetError(f"{path}: {len(faults)} rows cannot be used\n  {shown}")
    return tuple(made), tuple(missing)


def questions_of(path: Path, name: str, rows: list[Numbered], pictures: Folder) -> QuestionSet:
    """The questions of these rows whose pictures are there."""
    return QuestionSet(name, *_made(path, rows, pictures, _question))


def _question(row: dict[str, Any], count: int, image: Path, reference: Path | None) -> KnownQuestion:
    if not row.get("question"):
        raise DatasetError("question: is missing; write one, or take the row out")
    choices = _choices(row.get("choices") or row.get("options"))
    answer = _letter(str(row.get("answer") or ""), choices)
    task, kind, concern = (str(row.get(key) or "") or None for key in ("task_type", "type", "concern"))
    mode = str(row.get("reference_mode") or "") or None
    name = str(row.get("id") or f"row {count}")
    return KnownQuestion(name, image, str(row["question"]), choices, answer, reference, task, kind or mode, concern)


def _rated(path: Path, rows: list[Numbered], column: str, pictures: Folder, scale: OpinionScale | None) -> RatedSet:
    if scale and not scale.low < scale.high:
        raise DatasetError(f"the range {scale.low:g} to {scale.high:g} is not one; give the lowest rating first")

    def sample(row: dict[str, Any], count: int, image: Path, reference: Path | None) -> RatedPicture:
        kind, level, split = (str(row.get(key) or "") or None for key in ("distortion", "level", "split"))
        group = str(row.get("group") or "") or (Path(str(row["reference"])).stem if reference else None)
        opinion = number(row.get(column), column)
        if scale is not None and not scale.low <= opinion <= scale.high:
            outside = f"outside the range {scale.low:g} to {scale.high:g}"
            raise DatasetError(f"{column}: {opinion:g} is {outside}; correct one")
        return RatedPicture(str(row["image"]), image, opinion, reference, group, kind, level, split)

    samples, missing = _made(path, rows, pictures, sample)
    if not samples:
        raise DatasetError(_none_is_there(path, rows, missing))
    rising = column != "dmos"
    if scale:
        return RatedSet(path.stem, samples, replace(scale, higher_is_better=rising), missing)
    guessed = _guessed_scale([sample.opinion for sample in samples], rising)
    note = "the range was taken from the ratings; give --range LOW HIGH if it is wider"
    return RatedSet(path.stem, samples, guessed, missing, (note,))


def _none_is_there(path: Path, rows: Sequence[object], missing: Sequence[str]) -> str:
    return f"{path}: none of its {len(rows)} pictures is there, for example {missing[0]}; use --root"


def _guessed_scale(opinions: list[float], higher_is_better: bool) -> OpinionScale:
    """The first usual range that holds all ratings, else their own."""
    low, high = min(opinions), max(opinions)
    for bottom, top in ((0.0, 1.0), (1.0, 5.0), (0.0, 5.0), (0.0, 10.0), (0.0, 100.0)):
        if bottom <= low and high <= top:
            return OpinionScale(bottom, top, higher_is_better)
    if low == high:
        raise DatasetError(f"all {len(opinions)} ratings are {low:g}; nothing can be compared with them")
    return OpinionScale(low, high, higher_is_better)


def _choices(options: Any) -> dict[str, str]:
    """Choices by letter, from a list, a mapping, JSON of either, or a text like "A. Blur | B. Noise".

    A text is parted by |, line ends or semicolons.
    """
    if isinstance(options, str) and options.lstrip().startswith(("[", "{")):
        try:
            options = json.loads(options)
        except ValueError as error:
            raise DatasetError(f"options: {options!r} begins like JSON and is none ({error})") from None
    if isinstance(options, dict):
        return lettered({str(key).upper(): str(value) for key, value in options.items()})
    text = str(options or "")
    # One mark parts them all: a semicolon between bars belongs to its choice.
    mark = next((mark for mark in "|\n" if mark in text), ";")
    listed = "\n".join(str(part).replace("\n", " ") for part in options) if isinstance(options, list) else None
    bare = parted(text, mark) if listed is None else parted(listed, "\n")
    if len(bare) < 2:
        raise DatasetError(f"options: {text!r} must hold two choices or more, parted by |")
    return lettered(bare)


def _letter(answer: str, choices: dict[str, str]) -> str:
    plain = answer.strip().rstrip(".)").strip()
    if plain.upper() in choices:
        return plain.upper()
    for letter, text in choices.items():
        if text.casefold() in (plain.casefold(), re.sub(r"^[A-Za-z][.)]\s*", "", plain).casefold()):
            return letter
    raise DatasetError(f"answer: {answer!r} is none of the options {choices}; write a letter or one of the texts")
