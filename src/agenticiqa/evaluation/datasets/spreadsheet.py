"""The cells of an .xlsx file: a zip of XML, of which only values and shared texts are needed."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

from agenticiqa.errors import DatasetError

_SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
# No annotation table comes near this; a file that claims more is not one.
_MOST_BYTES = 200_000_000


def sheets(path: Path) -> list[list[list[str]]]:
    """The rows of every sheet, in the order of the sheets' numbers."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)]
            shared = _shared_texts(archive)
            found = [_rows(_parse(archive, name), shared) for name in sorted(names, key=_number_in)]
    except (OSError, KeyError, IndexError, ValueError, zipfile.BadZipFile, ElementTree.ParseError) as error:
        raise DatasetError(f"{path}: cannot be read as .xlsx ({error}); save it anew as .xlsx or .csv") from error
    if not found:
        raise DatasetError(f"{path}: has no sheet")
    return found


def _number_in(name: str) -> int:
    return int("".join(filter(str.isdigit, name)))


def _parse(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    if archive.getinfo(name).file_size > _MOST_BYTES:
        raise ValueError(f"{name} is too large")
    return ElementTree.fromstring(archive.read(name))


def _shared_texts(archive: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    return ["".join(t.text or "" for t in item.iter(f"{_SPACE}t")) for item in _parse(archive, "xl/sharedStrings.xml")]


def _rows(sheet: ElementTree.Element, shared: list[str]) -> list[list[str]]:
    rows = []
    for row in sheet.iter(f"{_SPACE}row"):
        cells: list[str] = []
        for cell in row.iter(f"{_SPACE}c"):
            place = _column(cell.get("r", ""), len(cells))
            cells += [""] * (place - len(cells)) + [_value(cell, shared)]
        rows.append(cells)
    return rows


def _column(reference: str, following: int) -> int:
    letters = re.match(r"[A-Z]+", reference)
    if letters is None:
        return following
    place = 0
    for letter in letters.group():
        place = 26 * place + ord(letter) - 64
    return place - 1


def _value(cell: ElementTree.Element, shared: list[str]) -> str:
    if cell.get("t") == "inlineStr":
        return "".join(t.text or "" for t in cell.iter(f"{_SPACE}t")).strip()
    text = (cell.findtext(f"{_SPACE}v") or "").strip()
    return shared[int(text)].strip() if cell.get("t") == "s" else text
