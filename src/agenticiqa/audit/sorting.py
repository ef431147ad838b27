"""Pictures copied, moved or labelled by what an audit or a batch found, with everything written down to be undone.

A label is an XMP sidecar: a rating, a colour and keywords in a file beside the picture, which itself stays as it is.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import escape, quoteattr

from agenticiqa.audit.auditing import MEASUREMENTS, SUMMARY, judge
from agenticiqa.batch import Sample
from agenticiqa.batch.manifest import open_manifest
from agenticiqa.batch.manifest_tables import LISTS
from agenticiqa.errors import OutputError, ReportError, UsageError, cannot_write
from agenticiqa.report.records import read_rows
from agenticiqa.state import LEVEL_SCORES

Program = Literal["darktable", "digikam", "lightroom"]

# The byte order mark is part of the packet's beginning.
_BEGIN = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'


def sidecar_path(picture: Path, program: Program) -> Path:
    """Where the program looks: photo.jpg.xmp, or photo.xmp for Lightroom."""
    return picture.with_suffix(".xmp") if program == "lightroom" else picture.with_name(f"{picture.name}.xmp")


def sidecar(rating: int | None, label: str | None, keywords: tuple[str, ...]) -> str:
    """The sidecar's text; a rating is 1 to 5 stars or -1 for rejected, a label the name of a colour."""
    given = {"xmp:Rating": None if rating is None else str(rating), "xmp:Label": label}
    attributes = "".join(f"\n   {name}={quoteattr(value)}" for name, value in given.items() if value is not None)
    items = "".join(f"<rdf:li>{escape(keyword)}</rdf:li>" for keyword in keywords)
    subject = f"\n   <dc:subject><rdf:Bag>{items}</rdf:Bag></dc:subject>" if keywords else ""
    return (
        f'{_BEGIN}\n<x:xmpmeta xmlns:x="adobe:ns:meta/">\n'
        ' <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'
        '  <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/"\n'
        f'   xmlns:dc="http://purl.org/dc/elements/1.1/"{attributes}>{subject}\n'
        '  </rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n<?xpacket end="w"?>\n'
    )


UNDO = "undo.jsonl"
WITHOUT_SCORE = "without a score"
# The severities a keyword is worth.
_PLAIN_TO_SEE = ("moderate", "severe", "extreme")
_COLOURS = {"keep": "Green", "maybe": "Yellow", "reject": "Red"}


@dataclass(frozen=True)
class PictureVerdict:
    """What a result says of one picture: the folder it belongs into, and its rating, label and keywords."""

    path: Path
    folder: str
    rating: int | None = None
    label: str | None = None
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileStep:
    """One file to make: a copy or the new place of a picture, or a sidecar with its text."""

    action: Literal["copy", "move", "sidecar"]
    target: Path
    source: Path
    text: str = ""


def verdicts_of(result: Path) -> list[PictureVerdict]:
    """The verdicts of an audit's folder, by its decisions; of a list, by its name; of a batch's results, by level."""
    if result.is_dir():
        return _of_audit(result)
    if result.suffix.lower() in LISTS:
        # As `audit --keep` or the page wrote it, one path per line; keep.txt holds those to keep.
        entries = open_manifest(result).entries()
        return [_decided(entry.image_path, result.stem) for entry in entries if isinstance(entry, Sample)]
    return [_of_row(row) for row in read_rows(result) if row["image"]]


def _of_audit(folder: Path) -> list[PictureVerdict]:
    try:
        thresholds = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))["thresholds"]
        judged = judge(folder / MEASUREMENTS, thresholds, issues=list(thresholds))
    except (OSError, ValueError, KeyError) as error:
        raise ReportError(
            f"{folder}: holds no finished audit; name the folder that `agenticiqa audit` wrote"
        ) from error
    return [_decided(row["path"], row["decision"], row["reasons"]) for row in judged.rows]


def _decided(path: str, decision: str, reasons: Iterable[str] = ()) -> PictureVerdict:
    # Stars stand for quality, which an audit does not score; a rejected picture is -1 in every program.
    rating = -1 if decision == "reject" else None
    return PictureVerdict(Path(path), decision, rating, _COLOURS.get(decision), tuple(reasons))


def _of_row(row: dict[str, Any]) -> PictureVerdict:
    level = row["level"]
    seen = (each for each in row["distortions"] if each.get("severity") in _PLAIN_TO_SEE)
    keywords = tuple(dict.fromkeys(str(each["type"]).lower() for each in seen))
    if level is None:
        return PictureVerdict(Path(row["image"]), WITHOUT_SCORE, keywords=keywords)
    stars = LEVEL_SCORES[level]
    label = _COLOURS["keep" if stars >= 4 else "maybe" if stars == 3 else "reject"]
    return PictureVerdict(Path(row["image"]), str(row["level_name"]).lower(), stars, label, keywords)


def plan(
    verdicts: Sequence[PictureVerdict], output: Path | None, move: bool = False, xmp: Program | None = None
) -> list[FileStep]:
    """The files to make, none of which is there yet; OutputError where one would take the place of another file.

    Below `output` pictures keep their places below the folder that holds all of them. Without it only sidecars are
    made, beside the originals. What was copied before is left out.
    """
    missing = [verdict.path for verdict in verdicts if not verdict.path.is_file()]
    if missing:
        raise UsageError(
            f"{missing[0]}: is not there any more{_and_more(missing)}; run the audit or batch again (pictures in an "
            "archive have to be unpacked first)"
        )
    steps = list[FileStep]()
    common = os.path.commonpath([verdict.path.absolute().parent for verdict in verdicts]) if verdicts else ""
    for verdict in verdicts:
        source = verdict.path.absolute()
        target = source if output is None else output.absolute() / verdict.folder / source.relative_to(common)
        if output is not None:
            steps.append(FileStep("move" if move else "copy", target, source))
        if xmp is not None:
            text = sidecar(verdict.rating, verdict.label, verdict.keywords)
            steps.append(FileStep("sidecar", sidecar_path(target, xmp), source, text))
    return _without_conflicts(steps)


def _without_conflicts(steps: Sequence[FileStep]) -> list[FileStep]:
    wanted = [step for step in steps if not _is_done(step)]
    taken = [step.target for step in wanted if step.target.exists()]
    doubled = [target for target, count in Counter(step.target for step in wanted).items() if count > 1]
    if taken or doubled:
        first = (taken or doubled)[0]
        raise OutputError(
            f"{first}: {'is there already' if taken else 'would be written twice'}{_and_more(taken or doubled)}; "
            "nothing was done: choose another folder, or move these away"
        )
    return wanted


def _is_done(step: FileStep) -> bool:
    if not step.target.is_file():
        return False
    if step.action == "sidecar":
        return step.target.read_bytes() == step.text.encode()
    return step.action == "copy" and filecmp.cmp(step.source, step.target, shallow=False)


def carry_out(steps: Sequence[FileStep], undo: Path) -> None:
    """Makes the files; each is written into the undo file before it is made. Nothing is ever written over."""
    undo.parent.mkdir(parents=True, exist_ok=True)
    with open(undo, "a", encoding="utf-8") as file:
        for step in steps:
            content = step.text.encode() if step.action == "sidecar" else step.source.read_bytes()
            note = {**asdict(step), "target": str(step.target), "source": str(step.source), "sha256": _hash(content)}
            file.write(json.dumps({name: value for name, value in note.items() if name != "text"}) + "\n")
            file.flush()
            try:
                _make(step, content)
            except OSError as error:
                raise cannot_write(step.target, error) from error


def _make(step: FileStep, content: bytes) -> None:
    step.target.parent.mkdir(parents=True, exist_ok=True)
    if step.action == "move":
        _move(step.source, step.target)
        return
    with open(step.target, "xb") as file:
        file.write(content)
    if step.action == "copy":
        shutil.copystat(step.source, step.target)


def _move(source: Path, target: Path) -> None:
    """Gives a file another place, which must be free: a second name first, then the old one is taken away."""
    if not source.is_symlink():
        try:
            os.link(source, target)
        except FileExistsError:
            raise
        except OSError:
            pass
        else:
            source.unlink()
            return
    # Another disk, or one without second names.
    with open(source, "rb") as old, open(target, "xb") as new:
        shutil.copyfileobj(old, new)
        new.flush()
        os.fsync(new.fileno())
    shutil.copystat(source, target)
    source.unlink()


def undo_all(undo: Path, do: bool = True) -> tuple[int, list[str]]:
    """Takes back what an undo file lists, the last first; how many files that were, and what had to stay and why.

    A file that was changed since stays, and so does one whose old place is taken. Without `do` nothing is touched.
    """
    try:
        notes = [json.loads(line) for line in undo.read_text(encoding="utf-8").splitlines()]
        steps = [(note["action"], Path(note["target"]), Path(note["source"]), note["sha256"]) for note in notes]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReportError(f"{undo}: is no undo file of `agenticiqa sort`; name one") from error
    left, kept, done = list[str](), list[str](), 0
    for note, (action, target, source, digest) in reversed(list(zip(notes, steps, strict=True))):
        reason = _why_it_stays(action, target, source, digest)
        if reason:
            left.append(f"{target}: {reason}")
            kept.append(json.dumps(note))
        elif target.exists():
            done += 1
            if do:
                _take_back(action, target, source)
    if not do:
        return done, left
    if kept:
        undo.write_text("\n".join(reversed(kept)) + "\n", encoding="utf-8")
    else:
        undo.unlink()
    _remove_empty({target.parent for _, target, _, _ in steps})
    return done, left


def _why_it_stays(action: str, target: Path, source: Path, digest: str) -> str | None:
    if not target.exists():
        return None if action != "move" or source.exists() else "is gone, and so is the original"
    if _hash(target.read_bytes()) != digest:
        return "was changed since"
    if action == "move" and source.exists() and not source.samefile(target):
        return f"{source} is there again"
    return None


def _take_back(action: str, target: Path, source: Path) -> None:
    # A move that was interrupted has left both names.
    if action == "move" and not source.exists():
        source.parent.mkdir(parents=True, exist_ok=True)
        _move(target, source)
    else:
        target.unlink()


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in sorted(folders, key=lambda each: -len(each.parts)):
        with suppress(OSError):
            folder.rmdir()


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _and_more(paths: Sequence[Path]) -> str:
    return f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
