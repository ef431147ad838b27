"""The samples of a batch, streamed from a file, a folder, a pattern or pairs of folders as often as they are needed."""

from __future__ import annotations

import glob
import logging
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from agenticiqa.batch.manifest_tables import LISTS, READERS, BadLine, ManifestRow, json_rows, list_lines, read_list
from agenticiqa.batch.samples import Sample, id_digest, sample_from
from agenticiqa.errors import ManifestError
from agenticiqa.images.files import is_address
from agenticiqa.logs import printable
from agenticiqa.outputs import STANDARD_INPUT, Place

# fmt: off
IMAGE_SUFFIXES = frozenset({
    ".jpg", ".jpeg", ".jpe", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff",
    ".ppm", ".pgm", ".pbm", ".avif", ".heic", ".heif", ".jp2",
})
# fmt: on
_MOST_PROBLEMS_NAMED = 10

logger = logging.getLogger("agenticiqa.batch")

Entry = Sample | BadLine


@dataclass(frozen=True)
class Manifest:
    """Samples that can be read again and again; `entries` gives unreadable lines as problems instead of raising."""

    name: str
    entries: Callable[[], Iterator[Entry]]
    file: Path | None = None
    """The table it is read from, if it is one."""

    def __iter__(self) -> Iterator[Sample]:
        for entry in self.entries():
            if isinstance(entry, BadLine):
                raise ManifestError(f"{self.name}: {entry}")
            yield entry

    @classmethod
    def of(cls, samples: Sequence[Sample], name: str = "samples") -> Manifest:
        """A manifest of samples made in Python."""
        return cls(name, lambda: iter(samples))


@dataclass(frozen=True)
class ManifestCheck:
    """What a whole manifest holds."""

    samples: int = 0
    missing: int = 0
    first_missing: str | None = None
    with_reference: int = 0
    with_choices: int = 0
    with_mos: int = 0


def open_manifest(inputs: str | Path | Sequence[str | Path]) -> Manifest:
    """The samples of a .jsonl, .csv or .parquet file, of a folder with all folders inside, a pattern, or image files.

    A .txt file holds one path per line, seen from its folder or from the working folder; `-` is such a list, or JSON
    Lines, on standard input.

    >>> open_manifest("no-such-folder")
    Traceback (most recent call last):
    agenticiqa.errors.ManifestError: no-such-folder: no such file or folder; check the path
    """
    given = [str(item) for item in ([inputs] if isinstance(inputs, str | Path) else inputs)]
    if len(given) > 1:
        return Manifest("the images named", lambda: _files(given))
    return _standard_input() if given == ["-"] else _single(given[0])


def files_read(manifest: Manifest) -> Iterator[Place]:
    """Every file that is read for these samples: the table or list, pictures and their originals."""
    if manifest.file is not None:
        yield manifest.file
    for entry in manifest.entries():
        if isinstance(entry, Sample):
            yield from filter(None, (entry.image_path, entry.reference_path))


def check_manifest(manifest: Manifest) -> ManifestCheck:
    """What the manifest holds, after every line was read; raises ManifestError with the first lines that are wrong.

    An unreadable line, an unknown field or a second use of an id refuses the whole manifest, because nothing has been
    paid for yet. An image that is missing is only counted: it becomes one failed record.
    """
    problems, seen, counts = list[BadLine](), set[bytes](), Counter[str]()
    missing: list[str] = []
    for entry in manifest.entries():
        if isinstance(entry, Sample):
            where = f"line {entry.line}: " if entry.line else ""
            paths = filter(None, (entry.image_path, entry.reference_path))
            gone = [f"{where}{path}" for path in paths if not os.path.exists(path)]
            missing = missing or gone
            counts.update(samples=1, missing=len(gone), with_reference=entry.reference_path is not None)
            counts.update(with_choices=entry.choices is not None, with_mos=entry.mos is not None)
            # Sixteen bytes each, whatever the length of the ids.
            known, name = len(seen), entry.sample_id
            seen.add(id_digest(name))
            if len(seen) > known:
                continue
            hint = "give every line a sample_id of its own"
            entry = BadLine(entry.line, f"the sample_id {name!r} was used before; {hint}")
        problems.append(entry)
        if len(problems) > _MOST_PROBLEMS_NAMED:
            break
    if problems:
        more = ["…"] if len(problems) > _MOST_PROBLEMS_NAMED else []
        error = ManifestError(f"{manifest.name}: nothing was assessed; correct these lines:")
        error.details = (*map(str, problems[:_MOST_PROBLEMS_NAMED]), *more)
        raise error
    if not counts["samples"]:
        raise ManifestError(f"{manifest.name}: holds no samples; name a manifest with lines or a folder with images")
    return ManifestCheck(**counts, first_missing=missing[0] if missing else None)


def _single(given: str) -> Manifest:
    path = Path(given)
    if path.is_dir():
        warned_of: set[str] = set()
        return Manifest(given, lambda: _folder(path, warned_of))
    if path.suffix.lower() in READERS and path.is_file():
        return Manifest(given, lambda: _table(path), path)
    if path.suffix.lower() in LISTS and path.is_file():
        return Manifest(given, lambda: _listed(list_lines(path), [str(path.parent), os.curdir]), path)
    if path.is_file():
        return Manifest(given, lambda: _files([given]))
    if glob.has_magic(given):
        return Manifest(given, lambda: _files(sorted(glob.glob(given, recursive=True))))
    if is_address(given):
        raise ManifestError(f"{given}: is an address; download the images and name their files or folder")
    raise ManifestError(f"{given}: no such file or folder; check the path")


def _standard_input() -> Manifest:
    """What standard input lists, read once; lines that begin with a brace are JSON."""
    lines = list(read_list(sys.stdin.buffer))
    if lines and lines[0][1].lstrip().startswith("{"):
        return Manifest("standard input", lambda: _samples(json_rows(lines), os.curdir), STANDARD_INPUT)
    return Manifest("standard input", lambda: _listed(lines, [os.curdir]), STANDARD_INPUT)


def _listed(lines: Iterable[tuple[int, str]], roots: Sequence[str]) -> Iterator[Entry]:
    """A sample per path, under the first of these folders in which it lies."""
    for number, path in lines:
        places = [os.path.abspath(os.path.join(root, path)) for root in roots]
        yield Sample(path, next(filter(os.path.exists, places), places[0]), line=number)


def _table(path: Path) -> Iterator[Entry]:
    return _samples(READERS[path.suffix.lower()](path), str(path.parent))


def _samples(rows: Iterable[ManifestRow], root: str) -> Iterator[Entry]:
    for line, values in rows:
        try:
            yield values if isinstance(values, BadLine) else sample_from(values, root, line)
        except ValueError as error:
            yield BadLine(line, str(error))


def _folder(folder: Path, warned_of: set[str]) -> Iterator[Entry]:
    def warn(error: OSError) -> None:
        # The folder is read several times, and this is said once.
        if error.filename not in warned_of:
            warned_of.add(error.filename)
            logger.warning("%s: cannot be read (%s); images in it are left out", error.filename, error.strerror)

    for place, folders, files in os.walk(folder, onerror=warn):
        folders.sort()
        for name in sorted(files):
            if os.path.splitext(name)[1].lower() in IMAGE_SUFFIXES and not name.startswith("."):
                path = os.path.join(place, name)
                yield Sample(Path(os.path.relpath(path, folder)).as_posix(), os.path.abspath(path))


def _files(paths: Sequence[str]) -> Iterator[Entry]:
    """A sample per file; of a folder every picture that is not named besides, called by its path from here."""
    named = {os.path.abspath(path) for path in paths}
    warned_of: set[str] = set()
    for path in paths:
        if os.path.isdir(path):
            for entry in _folder(Path(path), warned_of):
                if isinstance(entry, Sample) and entry.image_path not in named:
                    named.add(entry.image_path)
                    yield replace(entry, sample_id=Path(path, entry.sample_id).as_posix())
        elif os.path.splitext(path)[1].lower() in (*READERS, *LISTS):
            yield BadLine(None, f"{path}: a manifest stands alone; name only this one")
        else:
            yield Sample(path, os.path.abspath(path))


@dataclass(frozen=True)
class Pairing:
    """The copies with their originals, those that have none, and originals that nobody copied."""

    manifest: Manifest
    without_original: tuple[str, ...]
    without_copy: tuple[str, ...]


def pair_by_folder(copies: Manifest, references: Path) -> Pairing:
    """Every copy with the original of the same relative path, else of the same path up to the suffix.

    A copy without an original keeps the path where it should lie, so that it fails instead of being judged alone. Two
    originals that fit equally well are a problem of that line.
    """
    if not references.is_dir():
        raise ManifestError(f"{references}: is no folder; name the folder of the originals")
    exact = {sample.sample_id: sample.image_path for sample in open_manifest(references)}
    by_stem: defaultdict[str, list[str]] = defaultdict(list)
    for name in exact:
        by_stem[_stem(name)].append(name)
    paired = [_with_original(entry, references, exact, by_stem) for entry in copies.entries()]
    samples = [entry for entry in paired if isinstance(entry, Sample)]
    lonely = tuple(each.sample_id for each in samples if not os.path.exists(each.reference_path or ""))
    used = {each.reference_path for each in samples}
    unused = tuple(name for name, path in exact.items() if path not in used)
    return Pairing(replace(copies, entries=lambda: iter(paired)), lonely, unused)


def _with_original(entry: Entry, folder: Path, exact: dict[str, str], by_stem: dict[str, list[str]]) -> Entry:
    if isinstance(entry, BadLine) or entry.reference_path is not None:
        return entry
    name = entry.sample_id
    if name in exact:
        return replace(entry, reference_path=exact[name])
    close = by_stem.get(_stem(name), [])
    if len(close) > 1:
        return BadLine(entry.line, f"{name}: fits {' and '.join(close)} in {folder}; keep one of them")
    found = exact[close[0]] if close else str((folder / name).absolute())
    return replace(entry, reference_path=found)


def _stem(name: str) -> str:
    return str(PurePosixPath(name).with_suffix(""))


def pairing_in_words(pairing: Pairing, references: Path) -> Iterator[str]:
    """What a person should hear about copies and originals that stand alone."""
    for names, what in (
        (pairing.without_original, f"have no original in {references} and fail"),
        (pairing.without_copy, f"of {references} have no copy"),
    ):
        if names:
            more = f" and {len(names) - 10} more" if len(names) > 10 else ""
            yield printable(f"{len(names)} {what}: {', '.join(names[:10])}{more}")
