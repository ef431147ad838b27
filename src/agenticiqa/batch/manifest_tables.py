"""Reading manifests line by line: JSON Lines, CSV and Parquet; a line that cannot be read is a value, not an end."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from agenticiqa.errors import ManifestError, MissingExtraError
from agenticiqa.question.choices import parted

_LONGEST_LINE = 16 * 2**20
_JSON_COLUMNS = ("choices", "metadata")
_METADATA = "metadata."


@dataclass(frozen=True)
class BadLine:
    """A line that is no sample, and why."""

    line: int | None
    problem: str

    def __str__(self) -> str:
        return self.problem if self.line is None else f"line {self.line}: {self.problem}"


ManifestRow = tuple[int, dict[str, Any] | BadLine]


def read_json_lines(path: Path) -> Iterator[ManifestRow]:
    """Each line's values; blank lines are skipped."""
    with _opened(path) as file:
        # Lines end at \n alone: other separators may stand inside a text.
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 1):
            if line.strip():
                yield number, _json_values(number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)


def read_csv(path: Path) -> Iterator[ManifestRow]:
    """Each row's values by column; empty cells are left out, `choices` and `metadata` hold JSON, and columns named
    `metadata.NAME` are gathered."""
    with _opened(path) as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        rows = csv.reader(text, strict=True)
        try:
            columns = [name.strip() for name in next(rows, [])]
            for cells in filter(None, rows):
                yield rows.line_num, _csv_values(rows.line_num, columns, cells)
        except (csv.Error, UnicodeDecodeError) as error:
            # After this nothing says where the next row begins.
            yield rows.line_num + 1, BadLine(rows.line_num + 1, f"cannot be read as CSV ({error})")


def read_parquet(path: Path) -> Iterator[ManifestRow]:
    """Each row's values by column, a batch of rows at a time."""
    try:
        import pyarrow.parquet as parquet
        from pyarrow.lib import ArrowException
    except ImportError as error:
        raise MissingExtraError("reading Parquet", "parquet") from error
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1024):
                for values in batch.to_pylist():
                    number += 1
                    yield number, {name: _plain(value) for name, value in values.items()}
    except (OSError, ArrowException) as error:
        raise ManifestError(f"{path}: cannot be read as Parquet ({error})") from error


READERS: dict[str, Callable[[Path], Iterator[ManifestRow]]] = {
    **dict.fromkeys((".jsonl", ".ndjson"), read_json_lines),
    ".csv": read_csv,
    ".parquet": read_parquet,
}
LISTS = (".txt", ".lst")


def list_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The paths of a list file with their line numbers."""
    with _opened(path) as file:
        yield from read_list(file)


def read_list(file: BinaryIO) -> Iterator[tuple[int, str]]:
    """One path per line, as the file system spells it; blank lines and those that begin with # are skipped."""
    for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 1):
        text = os.fsdecode(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).rstrip("\r\n")
        if text.strip() and not text.startswith("#"):
            yield number, text


def json_rows(lines: Iterable[tuple[int, str]]) -> Iterator[ManifestRow]:
    """Each line's values, of lines read already."""
    for number, line in lines:
        yield number, _json_values(number, os.fsencode(line))


def _opened(path: Path) -> io.BufferedReader:
    try:
        return open(path, "rb")
    except OSError as error:
        raise ManifestError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error


def _json_values(number: int, line: bytes) -> dict[str, Any] | BadLine:
    if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
        return BadLine(number, f"is longer than {_LONGEST_LINE} bytes; is this a manifest?")
    try:
        values = _DECODER.decode(line.decode())
    except (ValueError, RecursionError) as error:
        return BadLine(number, f"is not JSON ({error}); one object per line is expected")
    return values if isinstance(values, dict) else BadLine(number, "is no JSON object; write {...}")


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no JSON number")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name stands there twice")
    return values


# Made once: a manifest may have a million lines.
_DECODER = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_without_twins)


def _csv_values(number: int, columns: list[str], cells: list[str]) -> dict[str, Any] | BadLine:
    if len(cells) != len(columns) or len(set(columns)) < len(columns):
        return BadLine(number, f"has {len(cells)} cells, the header {len(columns)}; each column once, each row in full")
    values: dict[str, Any] = {}
    gathered: dict[str, Any] = {}
    try:
        for name, cell in zip(columns, cells, strict=True):
            if cell == "":
                continue
            if name.startswith(_METADATA):
                gathered[name.removeprefix(_METADATA)] = cell
            else:
                values[name] = _cell(name, cell)
    except ValueError as error:
        return BadLine(number, str(error))
    if gathered:
        values["metadata"] = {**values.get("metadata", {}), **gathered}
    return values


def _cell(name: str, cell: str) -> Any:
    if name == "mos":
        try:
            return float(cell)
        except ValueError:
            raise ValueError(f"mos must be a number, not {cell!r}") from None
    if name not in _JSON_COLUMNS:
        return cell
    if name == "choices" and "|" in cell and not cell.lstrip().startswith(("[", "{")):
        return parted(cell)
    try:
        return json.loads(cell)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} must be JSON ({error})") from None


def _plain(value: Any) -> Any:
    """A Parquet value as JSON would have it: maps arrive as pairs, and a struct holds None for what a row lacks."""
    if isinstance(value, list) and value and all(isinstance(item, tuple) and len(item) == 2 for item in value):
        value = dict(value)
    if isinstance(value, dict):
        return {name: item for name, item in value.items() if item is not None}
    return value
