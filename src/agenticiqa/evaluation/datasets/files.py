"""Finding and reading a data set's files as they come: names in mixed case, tables in several formats."""

from __future__ import annotations

import csv
import math
import posixpath
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.samples import OpinionScale, RatedPicture, RatedSet
from agenticiqa.evaluation.statistics import require_scipy

SUFFIXES = (".png", ".bmp", ".jpg", ".jpeg", ".webp", ".tif", ".tiff")


class Folder:
    """The pictures below a folder, found whatever the case of their names."""

    def __init__(self, *roots: Path, any_suffix: bool = False) -> None:
        """`any_suffix` finds `i01.webp` for the listed name `I01.BMP`, for copies in another lossless format."""
        self._roots, self._any_suffix = roots, any_suffix
        self._by_path: dict[str, Path] = {}
        self._by_name: dict[str, list[Path]] = defaultdict(list)
        for root in roots:
            for path in sorted(root.rglob("*")):
                if path.suffix.lower() in SUFFIXES and path.is_file():
                    self._by_path.setdefault(self._key(path.relative_to(root).as_posix()), path)
                    self._by_name[self._key(path.name)].append(path)

    def find(self, name: str) -> Path | None:
        """The file at this path, else the one file of this name below the folder; None if there is none.

        A full path stands for itself, and one with `..` may leave the folder. DatasetError when several folders hold
        a file of a bare name: which one was rated cannot be told.
        """
        plain = posixpath.normpath(name.strip().replace("\\", "/"))
        if plain.startswith(("/", "../")) or Path(plain).is_absolute():
            return next((path for root in self._roots if (path := root / plain).is_file()), None)
        if self._key(plain) in self._by_path:
            return self._by_path[self._key(plain)]
        named = self._by_name.get(self._key(plain), [])
        if len(named) > 1:
            raise DatasetError(f"{name}: stands in {named[0].parent} and in {named[1].parent}; name its folder too")
        return named[0] if named else None

    def _key(self, name: str) -> str:
        lowered = name.lower()
        return lowered.rpartition(".")[0] or lowered if self._any_suffix else lowered


def require(root: Path, *names: str) -> Path:
    """The first of these files or folders that is there, whatever the case of its name; DatasetError if none is."""
    for name in names:
        place: Path | None = root
        for part in Path(name).parts:
            place = place and next((p for p in place.iterdir() if p.name.lower() == part.lower()), None)
            if place is None or (place.is_file() and part != Path(name).parts[-1]):
                break
        if place is not None:
            return place
    raise DatasetError(f"{root}: has no {' or '.join(names)}")


def table(path: Path, *columns: str) -> list[dict[str, str]]:
    """The rows of a CSV file with a header; DatasetError when one of these columns is missing."""
    return [row for _, row in numbered_table(path, *columns)]


def numbered_table(path: Path, *columns: str) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file, each with the line of the file it ends on."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines, skipinitialspace=True)
            names = {name.strip().lower(): name for name in reader.fieldnames or [] if name}
            rows = [
                (reader.line_num, {key: (row[name] or "").strip() for key, name in names.items()}) for row in reader
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(f"{path}: cannot be read as CSV ({error})") from error
    missing = [column for column in columns if column.lower() not in names]
    if missing:
        raise DatasetError(f"{path}: has no column {', '.join(missing)}; it has {', '.join(names)}")
    return [(line, row) for line, row in rows if any(row.values())]


def lines_of(path: Path) -> list[str]:
    """The lines of a text file that hold anything."""
    try:
        return [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: cannot be read as text ({error})") from error


def number(text: object, where: str) -> float:
    """The number in this cell; DatasetError naming the place when there is none."""
    try:
        found = float(str(text))
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise DatasetError(f"{where}: {text!r} is no number; write one, or take the row out")
    return found


def matrix(path: Path, *names: str) -> Any:
    """The first of these variables that a MATLAB file has."""
    require_scipy()
    from scipy.io import loadmat

    try:
        content = loadmat(path, squeeze_me=True, variable_names=list(names))
        return next(content[name] for name in names if name in content)
    except (OSError, ValueError, NotImplementedError, StopIteration, TypeError) as error:
        raise DatasetError(f"{path}: has no readable variable {' or '.join(names)} ({error})") from error


def require_equal(where: Path, **counts: int) -> None:
    """Nothing, unless lists that belong together differ in length."""
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{count} {what}" for what, count in counts.items())
        raise DatasetError(f"{where}: its lists do not belong together: {listed}")


def texts(cells: Iterable[Any]) -> Iterator[str]:
    """The names in a MATLAB cell array, however deep they are wrapped."""
    for cell in cells:
        while not isinstance(cell, str) and hasattr(cell, "__len__") and len(cell) == 1:
            cell = cell[0]
        yield str(cell)


def listed(
    name: str, pictures: Folder, rated: Iterable[tuple[str, float, str | None]], scale: OpinionScale, *notes: str
) -> RatedSet:
    """The set of these (file name, opinion, split), those whose picture is missing counted."""
    samples, missing = [], []
    for file, opinion, split in rated:
        image = pictures.find(file)
        if image is None:
            missing.append(file)
        else:
            samples.append(RatedPicture(file, image, opinion, split=split))
    return RatedSet(name, tuple(samples), scale, tuple(missing), notes)


_SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_TEXTS = "xl/sharedStrings.xml"
# No annotation table comes near this; a file that claims more is not one.
_MOST_BYTES = 200_000_000


def sheets(path: Path) -> list[list[list[str]]]:
    """The rows of every sheet, in the order of the sheets' numbers."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
            names = [name for name in sizes if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)]
            if any(sizes.get(name, 0) > _MOST_BYTES for name in (*names, _TEXTS)):
                raise ValueError("a sheet is too large")
            names.sort(key=lambda name: (len(name), name))
            texts = ElementTree.fromstring(archive.read(_TEXTS)) if _TEXTS in sizes else ()
            shared = [_text_of(item) for item in texts]
            found = [_rows(ElementTree.fromstring(archive.read(name)), shared) for name in names]
    except (OSError, KeyError, IndexError, ValueError, zipfile.BadZipFile, ElementTree.ParseError) as error:
        raise DatasetError(f"{path}: cannot be read as .xlsx ({error}); save it anew as .xlsx or .csv") from error
    if not found:
        raise DatasetError(f"{path}: has no sheet")
    return found


def rows_under(path: Path, tables: list[list[list[str]]], *columns: str) -> list[dict[str, str]]:
    """The rows below the first header with these columns that fill all of them; DatasetError when no table has it."""
    for table in tables:
        for place, header in enumerate(table):
            names = [cell.strip().lower() for cell in header]
            if set(columns) <= set(names):
                rows = (dict(zip(names, map(str.strip, row), strict=False)) for row in table[place + 1 :])
                return [row for row in rows if all(row.get(column) for column in columns)]
    raise DatasetError(f"{path}: no table with the columns {', '.join(columns)}")


def _rows(sheet: ElementTree.Element, shared: list[str]) -> list[list[str]]:
    rows = []
    for row in sheet.iter(f"{_SPACE}row"):
        cells: list[str] = []
        for cell in row.iter(f"{_SPACE}c"):
            # Empty cells are left out of the file; a place such as AB7 tells how many.
            letters = re.match("[A-Z]*", cell.get("r", ""))
            column = reduce(lambda place, letter: 26 * place + ord(letter) - 64, letters.group() if letters else "", 0)
            cells += [""] * (column - 1 - len(cells)) + [_value(cell, shared)]
        rows.append(cells)
    return rows


def _value(cell: ElementTree.Element, shared: list[str]) -> str:
    if cell.get("t") == "inlineStr":
        return _text_of(cell)
    text = (cell.findtext(f"{_SPACE}v") or "").strip()
    return shared[int(text)] if cell.get("t") == "s" else text


def _text_of(element: ElementTree.Element) -> str:
    return "".join(part.text or "" for part in element.iter(f"{_SPACE}t")).strip()
