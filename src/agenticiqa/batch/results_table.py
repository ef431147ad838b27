"""Records as a table, and what can be said of all of them: one pass over the file, whatever its length."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from agenticiqa.batch.journal import is_stream, standing_records
from agenticiqa.batch.samples import BatchRecord
from agenticiqa.errors import OutputError, require_extra
from agenticiqa.outputs import replacing, spreadsheet_row
from agenticiqa.state import DISTORTION_CATEGORIES, SEVERITIES

TableFormat = Literal["csv", "parquet"]

NUMBERS = ("score", "interval_low", "interval_high", "tool_score", "model_score", "mos", "cost_usd", "seconds")
COLUMNS = (
    "sample_id", "image_path", "reference_path", "query", "answer", "expected_answer", "score", "level", "level_name",
    "interval_low", "interval_high", "tool_score", "model_score", "distortions", "reasoning", "mos", "error", "calls",
    "cost_usd", "seconds", "metadata",
)  # fmt: skip


def require_table(records: Path, kind: TableFormat) -> None:
    """Raises MissingExtraError when such a table cannot be written, OutputError when its place is unknown."""
    if is_stream(records):
        raise OutputError(f"{records}: a table is written beside a file of records; name one with -o")
    if kind == "parquet":
        require_extra("writing Parquet", "parquet", "pyarrow")


def write_table(records: Path, kind: TableFormat) -> Path:
    """The table beside the records, written whole or not at all."""
    target = table_path(records, kind)
    types: dict[str, type] = {**dict.fromkeys(COLUMNS, str), **dict.fromkeys(NUMBERS, float), "calls": int}
    types |= dict.fromkeys(measured_columns(standing_records(records)), float)
    write_rows(map(row_of, standing_records(records)), target, types)
    return target


def write_rows(rows: Iterator[Mapping[str, Any]], target: Path, types: Mapping[str, type]) -> None:
    """A table of these columns, as CSV or Parquet by the suffix of its file; whole or not at all."""
    with replacing(target) as spare:
        (_write_csv if target.suffix == ".csv" else _write_parquet)(rows, spare, types)


def table_path(records: Path, kind: TableFormat) -> Path:
    """The table's file, beside the records."""
    return records.with_suffix(f".{kind}")


def row_of(record: BatchRecord) -> dict[str, Any]:
    """One record as a row: `COLUMNS`, and a number per category, tool and region it has (`measured_columns`)."""
    found: Mapping[str, Any] = record.assessment or {}
    spent, (low, high) = record.spent, found.get("interval") or (None, None)
    return {
        "sample_id": record.sample_id,
        **{name: getattr(record, name) for name in ("image_path", "reference_path", "mos", "error", "seconds")},
        "query": found.get("query") or record.query,
        **{name: found.get(name) for name in ("answer", "score", "level", "level_name", "reasoning")},
        **{name: found.get(name) for name in ("tool_score", "model_score")},
        "expected_answer": record.answer,
        "interval_low": low,
        "interval_high": high,
        "distortions": json.dumps(found.get("distortions") or []),
        "calls": spent.calls,
        "cost_usd": spent.cost_usd,
        "metadata": json.dumps(record.metadata),
        **_numbers(record, found),
    }


def measured_columns(records: Iterable[BatchRecord]) -> list[str]:
    """The further columns of a table of these records, sorted: `severity.Blurs` (0 none to 4 extreme), `tool.SSIM`
    (raw), `tool.SSIM.score` (1 to 5), `region.face.left` and so on; a probability per category where findings have one.
    """
    return sorted({name for record in records for name in _numbers(record, record.assessment or {})})


def _numbers(record: BatchRecord, found: Mapping[str, Any]) -> dict[str, float]:
    """Every number of a record that has no column of its own, by name."""
    numbers: dict[str, Any] = {f"tool.{name}": value for name, value in (record.measurements or {}).items()}
    for reading in found.get("tools") or []:
        if reading["object_name"] == "Global":
            numbers |= {f"tool.{reading['tool']}": reading["raw"]}
            numbers |= {f"tool.{reading['tool']}.score": reading["calibrated"]}
    for name, region in (found.get("regions") or {}).items():
        values = {side: (region or {}).get(side) for side in ("left", "top", "right", "bottom", "score")}
        numbers |= {f"region.{name}.{side}": value for side, value in values.items()}
    numbers |= _severities(found)
    return {name: float(value) for name, value in numbers.items() if value is not None}


def _severities(found: Mapping[str, Any]) -> dict[str, float]:
    """The strongest severity of each category in the whole picture; 0 for one that was looked for and not found."""
    looked = bool(((found.get("plan") or {}).get("plan") or {}).get("distortion_detection"))
    failed = {"distortion_detection", "distortion_analysis"} & set(found.get("evidence_errors") or {})
    categories = DISTORTION_CATEGORIES if looked and not failed else ()
    steps: dict[str, float] = {f"severity.{category}": 0.0 for category in categories}
    for finding in found.get("distortions") or []:
        if finding["object_name"] != "Global":
            continue
        name = f"severity.{finding['type']}"
        if finding.get("severity") is not None:
            steps[name] = max(steps.get(name, 0.0), float(SEVERITIES.index(finding["severity"])))
        if finding.get("probability") is not None:
            steps[f"probability.{finding['type']}"] = float(finding["probability"])
    return steps


def unusable_files(records: Path, samples: Iterable[str]) -> list[str]:
    """The errors of these samples that blame a file: they come again until it changes."""
    asked = set(samples)
    return [
        record.error
        for record in standing_records(records)
        if record.sample_id in asked
        and record.error
        and record.error.startswith(tuple(f"{file}: " for file in (record.image_path, record.reference_path)))
    ]


def _write_csv(rows: Iterator[Mapping[str, Any]], path: Path, types: Mapping[str, type]) -> None:
    with open(path, "w", encoding="utf-8", errors="replace", newline="") as file:
        table = csv.DictWriter(file, list(types))
        table.writeheader()
        table.writerows(map(spreadsheet_row, rows))


def _write_parquet(rows: Iterator[Mapping[str, Any]], path: Path, types: Mapping[str, type]) -> None:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    kinds = {bool: arrow.bool_(), int: arrow.int64(), float: arrow.float64(), list: arrow.list_(arrow.string())}
    schema = arrow.schema([(name, kinds.get(kind, arrow.string())) for name, kind in types.items()])
    with parquet.ParquetWriter(path, schema) as writer:
        while chunk := [_encodable(row) for row in islice(rows, 1024)]:
            writer.write_table(arrow.Table.from_pylist(chunk, schema))


def _encodable(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with texts that UTF-8 can hold: a file name may have bytes that it cannot."""
    return {
        name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for name, value in row.items()
    }
