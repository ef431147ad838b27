"""Finding and reading a data set's files as they come: names in mixed case, tables in several formats."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agenticiqa.errors import DatasetError

SUFFIXES = (".png", ".bmp", ".jpg", ".jpeg", ".webp", ".tif", ".tiff")


class Folder:
    """The pictures below a folder, found whatever the case of their names."""

    def __init__(self, *roots: Path, any_suffix: bool = False) -> None:
        """`any_suffix` finds `i01.webp` for the listed name `I01.BMP`, for copies in another lossless format."""
        self._any_suffix = any_suffix
        self._files: dict[str, Path] = {}
        for root in roots:
            for path in sorted(root.rglob("*")):
                if path.suffix.lower() in SUFFIXES and path.is_file():
                    self._files.setdefault(self._key(path.relative_to(root).as_posix()), path)
                    self._files.setdefault(self._key(path.name), path)

    def find(self, name: str) -> Path | None:
        """The file of this name, or None; a full path stands for itself."""
        if Path(name).is_absolute() and Path(name).is_file():
            return Path(name)
        return self._files.get(self._key(name.strip().replace("\\", "/")))

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
    try:
        with path.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines, skipinitialspace=True)
            names = {name.strip().lower(): name for name in reader.fieldnames or [] if name}
            rows = [{key: (row[name] or "").strip() for key, name in names.items()} for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(f"{path}: cannot be read as CSV ({error})") from error
    missing = [column for column in columns if column.lower() not in names]
    if missing:
        raise DatasetError(f"{path}: has no column {', '.join(missing)}; it has {', '.join(names)}")
    return [row for row in rows if any(row.values())]


def number(text: object, where: str) -> float:
    """The number in this cell; DatasetError naming the place when there is none."""
    try:
        return float(str(text))
    except ValueError:
        raise DatasetError(f"{where}: {text!r} is no number") from None


def matrix(path: Path, name: str) -> Any:
    """One variable of a MATLAB file."""
    from scipy.io import loadmat

    try:
        return loadmat(path, squeeze_me=True, variable_names=[name])[name]
    except (OSError, ValueError, NotImplementedError, KeyError, TypeError) as error:
        raise DatasetError(f"{path}: has no readable variable {name} ({error})") from error


def texts(cells: Iterable[Any]) -> Iterator[str]:
    """The names in a MATLAB cell array, however deep they are wrapped."""
    for cell in cells:
        while not isinstance(cell, str) and hasattr(cell, "__len__") and len(cell) == 1:
            cell = cell[0]
        yield str(cell)
