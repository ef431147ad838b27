"""Records as a table, and what can be said of all of them: one pass over the file, whatever its length."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from agenticiqa.batch.journal import read_records
from agenticiqa.batch.records import spent_on
from agenticiqa.errors import MissingExtraError, OutputError

TableFormat = Literal["csv", "parquet"]

NUMBERS = ("score", "interval_low", "interval_high", "tool_score", "model_score", "mos", "cost_usd", "seconds")
COLUMNS = (
    "sample_id", "image_path", "reference_path", "query", "answer", "expected_answer", "score", "level", "level_name",
    "interval_low", "interval_high", "tool_score", "model_score", "distortions", "reasoning", "mos", "error", "calls",
    "cost_usd", "seconds", "metadata",
)  # fmt: skip


def require_table(records: Path, kind: TableFormat, manifest: Path | None) -> None:
    """Raises MissingExtraError when such a table cannot be written, OutputError when the manifest is in its place."""
    target = records.with_suffix(f".{kind}")
    if manifest is not None and target.exists() and target.samefile(manifest):
        raise OutputError(f"{target}: is the input, and the table would take its place; choose another output")
    if kind == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("writing Parquet", "parquet")


def write_table(records: Path, kind: TableFormat) -> Path:
    """The table beside the records, written whole or not at all."""
    target = records.with_suffix(f".{kind}")
    spare = target.with_name(f".{target.name}.new")
    try:
        (_write_csv if kind == "csv" else _write_parquet)(map(row_of, read_records(records)), spare)
        os.replace(spare, target)
    except OSError as error:
        raise OutputError(f"{target}: cannot be written ({error.strerror or error}); make room for it") from error
    finally:
        spare.unlink(missing_ok=True)
    return target


def row_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """One record as a row of `COLUMNS`."""
    found: Mapping[str, Any] = record["assessment"] or {}
    spent, (low, high) = spent_on(record), found.get("interval") or (None, None)
    return {
        "sample_id": record["sample_id"],
        **{name: record.get(name) for name in ("image_path", "reference_path", "mos", "error", "seconds")},
        "query": found.get("query") or record.get("query"),
        **{name: found.get(name) for name in ("answer", "score", "level", "level_name", "reasoning")},
        **{name: found.get(name) for name in ("tool_score", "model_score")},
        "expected_answer": record.get("answer"),
        "interval_low": low,
        "interval_high": high,
        "distortions": json.dumps(found.get("distortions") or []),
        "calls": spent.calls,
        "cost_usd": spent.cost_usd,
        "metadata": json.dumps(record.get("metadata") or {}),
    }


def count_unusable(records: Path) -> int:
    """How many records failed because of a file: their error begins with its name, and comes again until it changes."""
    return sum(_blames_a_file(record) for record in read_records(records))


def _blames_a_file(record: Mapping[str, Any]) -> bool:
    files = [record.get("image_path"), record.get("reference_path")]
    return any(file and str(record.get("error") or "").startswith(f"{file}: ") for file in files)


def count_below(records: Path, bar: float) -> tuple[int, int]:
    """How many records score below the bar, and how many have no score."""
    below = without = 0
    for record in read_records(records):
        score = (record["assessment"] or {}).get("score")
        without += score is None
        below += score is not None and score < bar
    return below, without


def _write_csv(rows: Iterator[dict[str, Any]], path: Path) -> None:
    with open(path, "w", encoding="utf-8", errors="replace", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows)


def _write_parquet(rows: Iterator[dict[str, Any]], path: Path) -> None:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    kinds = {**dict.fromkeys(NUMBERS, arrow.float64()), "calls": arrow.int64()}
    schema = arrow.schema([(name, kinds.get(name, arrow.string())) for name in COLUMNS])
    with parquet.ParquetWriter(path, schema) as writer:
        while chunk := [_encodable(row) for row in islice(rows, 1024)]:
            writer.write_table(arrow.Table.from_pylist(chunk, schema))


def _encodable(row: dict[str, Any]) -> dict[str, Any]:
    """The row with texts that UTF-8 can hold: a file name may have bytes that it cannot."""
    return {
        name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for name, value in row.items()
    }
