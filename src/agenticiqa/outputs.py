"""Where results go: never over something that is read, never over another result, each file whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from agenticiqa.errors import OutputError, cannot_write

Place = str | Path
Identity = tuple[int, int] | None
STANDARD_INPUT = Path("/dev/stdin")
"""The file a command's input may be redirected from."""


def refuse_overwriting(outputs: Iterable[Path | None], inputs: Iterable[Place | None] = ()) -> None:
    """Raises OutputError, before any work, where an output is an input or two outputs are one file.

    Files are compared, not names: a link to an input is that input. Outputs and inputs that are None are left out.
    """
    wanted = [path for path in outputs if path is not None]
    seen: set[object] = set()
    for path in wanted:
        places = {os.path.normcase(os.path.realpath(path)), _identity(path)} - {None}
        if places & seen:
            raise OutputError(f"{path}: two results would be written to it; give each a place of its own")
        seen |= places
    there: dict[Identity, Path] = {found: path for path in wanted if (found := _identity(path)) is not None}
    # What is not there yet is no input: a long list of inputs need not be looked at.
    for given in inputs if there else ():
        identity = None if given is None else _identity(given)
        if identity in there:
            raise OutputError(f"{there[identity]}: is an input and would be written over; choose another output")


def _identity(place: Place) -> Identity:
    """Device and number of the file; None where there is none, or a device such as /dev/null."""
    try:
        status = os.stat(place)
    except (OSError, ValueError):
        return None
    kept = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    return (status.st_dev, status.st_ino) if kept else None


def require_folder_of(path: Path) -> None:
    """Raises OutputError now, before any work, when a file could not be written there afterwards."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise OutputError(f"{path}: there is no folder {folder}; make it first, or choose another place")
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; name a file in it")
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{path}: cannot be written (Permission denied); choose a place you may write to")


def write_whole(output: Path, content: str | bytes) -> None:
    """Writes the file so that an interruption or a full disk leaves the old one or the new one; raises OutputError."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    with replacing(output) as spare:
        spare.write_bytes(data)


@contextmanager
def replacing(output: Path) -> Iterator[Path]:
    """A file beside the output to write to, which takes its place at the end; after an error nothing is left of it.

    A pipe or a device is written to directly. Raises OutputError where the system refuses.
    """
    try:
        if _is_device(output):
            yield output
            return
        handle, name = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name[:100]}.", suffix=output.suffix)
        os.close(handle)
        spare = Path(name)
        try:
            # mkstemp's files are for their owner only; a result is made to be shared.
            spare.chmod(0o644)
            yield spare
            with open(spare, "rb+") as written:
                os.fsync(written.fileno())
            os.replace(spare, output)
        finally:
            with suppress(FileNotFoundError):
                spare.unlink()
    except OSError as error:
        raise cannot_write(output, error) from error


def spreadsheet_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a CSV with no text that a spreadsheet would take for a formula: an apostrophe stands before it.

    >>> spreadsheet_row({"name": "=1+1.png", "score": -1.5, "other": "-1.5"})
    {'name': "'=1+1.png", 'score': -1.5, 'other': '-1.5'}
    """
    return {name: f"'{value}" if _is_formula(value) else value for name, value in row.items()}


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = ()) -> str:
    """Mappings as CSV under these columns, or the keys of the first; empty text without any."""
    lines = list(rows)
    text = io.StringIO()
    if lines or columns:
        table = csv.DictWriter(text, columns or list(lines[0]), extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(map(spreadsheet_row, lines))
    return text.getvalue()


def _is_formula(value: Any) -> bool:
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def _is_device(path: Path) -> bool:
    # /dev/stdout may lead to a file, and it is the way that counts.
    return path.is_relative_to("/dev") or path.is_relative_to("/proc") or (path.exists() and not path.is_file())
