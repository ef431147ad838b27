"""The records of all versions, one folder each: what is recorded for a part, and the figures that come out of it."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agenticiqa.errors import UsageError
from agenticiqa.tools.calibration import Terms
from benchmarks.field import answers, copies, flaws
from benchmarks.field.figures import Measured, Rows, opinion_figures, pair_figures
from benchmarks.field.recording import read_records, record
from benchmarks.field.sources import SOURCES, Data, Half, read_source

RECORDS = Path(__file__).with_name("records")
UNRELEASED, OPEN = "unreleased", "-open"
# With a reference: the source, and the terms whose weights saw nothing of it.
PAIRS = {"tid2013-pairs": "commercial", "fsqd-pairs": "research", "hecd-pairs": "research"}
# What the training code writes into the same folder: predictions of folds and of fits without the source.
FITTED = {"folds": "by folds", "left-out": "left out"}

# Releases whose weights saw nothing of the deciding sources but BIQ2021: as recorded is left out.
FITTED_ON_NONE = ("0.1.0", "0.2.0")


def parts_of(half: Half) -> list[str]:
    """The names of what is recorded for one half."""
    sources = [name for name, source in SOURCES.items() if source.half == half]
    pairs = [name for name in PAIRS if _source(name) in sources]
    more = [*flaws.LABELLED, "choices", "questions", "places", "copies"] if half == "check" else []
    return [*sources, *pairs, *more]


@dataclass(frozen=True)
class Versions:
    """The records below a folder, and the data they are about."""

    data: Data
    folder: Path = RECORDS
    terms: Terms = "research"

    def of(self, version: str) -> Path:
        """Where a version's records lie; those of the free weights have a folder of their own."""
        return self.folder / (version if self.terms == "research" else f"{version}{OPEN}")

    def rows(self, version: str, name: str) -> Rows:
        """One table of a version; empty where it was not recorded."""
        return read_records(self.of(version) / f"{name}.csv")

    def earlier(self, version: str) -> list[str]:
        """The versions with records that came before this one."""
        known = sorted(path.name for path in self.folder.iterdir() if path.is_dir() and not path.name.endswith(OPEN))
        return [name for name in known if name != UNRELEASED and (version == UNRELEASED or name < version)]

    def record(self, version: str, part: str, code: Path) -> None:
        """Complete one table of a version."""
        self.stamp(version, part, code)
        target = self.of(version) / f"{part}.csv"
        if part == "questions":
            answers.record_questions(target, code)
        elif part == "choices":
            with tempfile.TemporaryDirectory() as scratch:
                jobs = answers.choice_jobs(answers.choice_questions(self.data), Path(scratch))
                record(jobs, "answers", target, code, self.terms)
        elif part == "copies":
            with tempfile.TemporaryDirectory() as scratch:
                record(copies.copy_jobs(self.data, Path(scratch)), "opinions", target, code, self.terms)
        elif part == "places":
            record(answers.place_jobs(self.data), "places", target, code, self.terms)
        else:
            record(self._picture_jobs(part), "pairs" if part in PAIRS else "opinions", target, code, self.terms)

    def _picture_jobs(self, part: str) -> Iterator[dict[str, Any]]:
        if part in flaws.LABELLED:
            for name, path in flaws.read_labelled(part, self.data).paths.items():
                yield {"id": name, "path": str(path)}
            return
        for picture in read_source(_source(part), self.data).pictures:
            job = {"id": picture.id, "path": str(picture.path)}
            yield job | {"reference": str(picture.reference), "terms": PAIRS[part]} if part in PAIRS else job

    def figures(self, version: str, part: str) -> Iterator[Measured]:
        """The figures of one part of a version; none where it was not recorded."""
        for measured in self._figures(version, part):
            yield measured if self.terms == "research" else replace(measured, name=f"open: {measured.name}")

    def _figures(self, version: str, part: str) -> Iterator[Measured]:
        rows = self.rows(version, part)
        if part in SOURCES:
            yield from self._of_source(version, part, rows)
        elif not rows:
            return
        elif part == "choices":
            yield from answers.choice_figures(answers.choice_questions(self.data), rows)
        elif part == "questions":
            yield from answers.question_figures(rows)
        elif part == "places":
            yield from answers.place_figures(rows)
        elif part == "copies":
            yield from copies.copy_figures(rows)
        elif part in flaws.LABELLED:
            yield from flaws.flaw_figures(flaws.read_labelled(part, self.data), rows)
        else:
            yield from pair_figures(read_source(_source(part), self.data), rows, f"{_source(part)} with reference")

    def _of_source(self, version: str, name: str, rows: Rows) -> Iterator[Measured]:
        source = read_source(name, self.data)
        if source.half == "decide":
            # The shipped weights may have seen these pictures: what they say of them is no figure.
            whole = read_source(name, self.data, whole=True)
            for kind, words in FITTED.items():
                written = self.rows(version, f"{name}-{kind}")
                left_out = rows if kind == "left-out" and version in FITTED_ON_NONE else {}
                yield from opinion_figures(whole, written or left_out, f"{name} {words}")
        else:
            yield from opinion_figures(source, rows)
        if not rows:
            return
        if name in answers.MODEL_RECORDED:
            yield from answers.beside_model(source, self.data, rows)
        if name == "spaq":
            yield from flaws.attribute_figures(self.data, rows)
        if name == "mmp2k":
            yield from flaws.flaw_figures(flaws.read_mmp2k_labels(self.data), rows)

    def codes(self, version: str) -> dict[str, str]:
        """By part, the hash of the code its records were made with."""
        kept = self.of(version) / "code.json"
        return dict(json.loads(kept.read_text(encoding="utf-8"))) if kept.exists() else {}

    def stamp(self, version: str, part: str, code: Path) -> None:
        """Keep the hash of the package's files beside a part, so that records of two states are never mixed in it.

        Records of unreleased code that has changed since are removed; for a release that is an error.
        """
        found, codes, folder = hash_of(code), self.codes(version), self.of(version)
        if codes.get(part, found) != found:
            if version != UNRELEASED:
                raise UsageError(
                    f"{part} of {version} was recorded with other code ({codes[part]}, not {found}); "
                    "name that version's own source folder with --code"
                )
            (folder / f"{part}.csv").unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        stamped = dict(sorted({**codes, part: found}.items()))
        (folder / "code.json").write_text(json.dumps(stamped, indent=1) + "\n", encoding="utf-8")


def hash_of(code: Path) -> str:
    """The first digits of the hash of a version's package: its code and its weights."""
    digest = hashlib.sha256()
    for path in sorted(code.glob("agenticiqa/**/*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(str(path.relative_to(code)).encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _source(part: str) -> str:
    return part.removesuffix("-pairs")
