"""An audit's table on disk: CSV, Parquet or JSON, with one row per picture."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
from pathlib import Path
from typing import Any, Literal

from agenticiqa.audit.auditing import Audit
from agenticiqa.errors import MissingExtraError, OutputError
from agenticiqa.report.writing import write_whole

TableFormat = Literal["csv", "parquet", "json"]


def require_format(kind: TableFormat) -> None:
    """Raises MissingExtraError before the work when such a table cannot be written."""
    if kind == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("writing Parquet", "parquet")


def write_table(result: Audit, path: Path, kind: TableFormat) -> None:
    """Writes the table whole or not at all."""
    if kind == "csv":
        write_whole(path, _csv(result))
    elif kind == "json":
        write_whole(path, json.dumps(result.rows, indent=1) + "\n")
    else:
        _write_parquet(result, path)


def _csv(result: Audit) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, result.columns(), extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(result.rows)
    return text.getvalue()


def _write_parquet(result: Audit, path: Path) -> None:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    schema = arrow.schema([(name, _kind(name, arrow)) for name in result.columns()])
    rows = [{name: _plain(row.get(name)) for name in result.columns()} for row in result.rows]
    spare = path.with_name(f".{path.name}.new")
    try:
        parquet.write_table(arrow.Table.from_pylist(rows, schema), spare)
        spare.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error}); make room for it") from error
    finally:
        spare.unlink(missing_ok=True)


def _kind(name: str, arrow: Any) -> Any:
    if name.startswith("is_") or name == "keep":
        return arrow.bool_()
    if name.endswith("_score"):
        return arrow.float64()
    return arrow.int64() if name in ("width", "height", "bytes", "group") else arrow.string()


def _plain(value: Any) -> Any:
    """Text that UTF-8 can hold: a file name may have bytes that it cannot."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
