"""Tables in workbooks: the first sheet of an .xlsx file, which is XML in a ZIP."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.etree import ElementTree

_SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def read_sheet(path: Path) -> list[list[str]]:
    """The rows of the first sheet as texts; empty cells are left out."""
    with zipfile.ZipFile(path) as book:
        shared = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
        texts = ["".join(part.text or "" for part in entry.iter(f"{_SPACE}t")) for entry in shared]
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    rows = [[_text(cell, texts) for cell in row] for row in sheet.iter(f"{_SPACE}row")]
    return [[text for text in row if text] for row in rows]


def _text(cell: ElementTree.Element, texts: list[str]) -> str:
    value = cell.findtext(f"{_SPACE}v") or ""
    return texts[int(value)] if value and cell.get("t") == "s" else value
