"""Result files as rows of a report: one assessment per line, alone or inside a batch record."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agenticiqa.errors import ReportError

Row = dict[str, Any]
"""One result with JSON values only, as the page shows it."""

TEST_IMAGE = "test image"
# What is shown of a tool's reading, and of where a result comes from.
_READING = ("tool", "object_name", "distortion", "raw", "calibrated", "voted", "fallback", "error", "notes")
_ORIGIN = ("version", "models", "terms", "images")


def read_rows(path: Path) -> list[Row]:
    """The rows of a JSON Lines file, or of a file with one record; raises ReportError with the line that is wrong.

    Of the records of one sample the last counts: a batch that was killed leaves earlier tries in its file. Records of
    pictures that are gone are left out.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise ReportError(f"{path}: cannot be read ({reason}); name a file of results") from error
    whole = _one_record(text)
    if whole is not None:
        return [row_of(whole)]
    by_sample: dict[str | int, Row | None] = {}
    # Only line feeds part lines: JSON text may hold other separators as they are.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            record, row = _read_line(path, number, line)
            by_sample[row["id"] if record.get("sample_id") else number] = None if record.get("gone") else row
    rows = [row for row in by_sample.values() if row is not None]
    if not rows:
        raise ReportError(f"{path}: holds no results; write some with `agenticiqa assess IMAGE --json`")
    return rows


def rows_of(records: Iterable[Mapping[str, Any]]) -> list[Row]:
    return [row_of(record, number) for number, record in enumerate(records, 1)]


def row_of(record: Mapping[str, Any], number: int = 1) -> Row:
    """The row of an assessment, or of a batch record with `sample_id`, `image_path`, `assessment` and `error`."""
    wrapped = "assessment" in record
    found: Mapping[str, Any] = (record.get("assessment") or {}) if wrapped else record
    provenance = found.get("provenance") or {}
    image = record.get("image_path") or ((provenance.get("images") or {}).get(TEST_IMAGE) or {}).get("path")
    tools = [{name: reading.get(name) for name in _READING} for reading in found.get("tools") or []]
    return {
        "id": str(record.get("sample_id") or (image and Path(image).name) or f"result {number}"),
        "image": str(image) if image else None,
        "query": found.get("query") or record.get("query") or "",
        "answer": found.get("answer") or "",
        "score": _number(found.get("score")),
        "interval": found.get("interval"),
        "level": found.get("level"),
        "level_name": found.get("level_name"),
        "reasoning": found.get("reasoning") or "",
        "tool_score": found.get("tool_score"),
        "model_score": found.get("model_score"),
        "probabilities": found.get("level_probabilities"),
        "source": found.get("probability_source"),
        "distortions": found.get("distortions") or [],
        "tools": tools,
        "regions": {name: region for name, region in (found.get("regions") or {}).items() if region},
        "disagreement": _disagreement(tools),
        "notes": [*(found.get("notes") or []), *(found.get("replan_history") or [])],
        "failed_steps": dict(found.get("evidence_errors") or {}),
        "error": found.get("error") or (record.get("error") if wrapped else None),
        "provenance": {name: provenance[name] for name in _ORIGIN if name in provenance},
        **_cost(found),
    }


def _disagreement(tools: Iterable[Mapping[str, Any]]) -> float | None:
    """How far the calibrated tools lie apart on the 1–5 scale; None with fewer than two."""
    scores = {tool["tool"]: tool["calibrated"] for tool in tools if tool["calibrated"] is not None}
    return round(max(scores.values()) - min(scores.values()), 4) if len(scores) > 1 else None


def _one_record(text: str) -> dict[str, Any] | None:
    """The record of a file that is one JSON object over several lines; None for any other file."""
    if not text.startswith("{\n"):
        return None
    try:
        record = json.loads(text, parse_constant=_no_number)
    except ValueError:
        return None
    return record if _is_result(record) else None


def _read_line(path: Path, number: int, line: str) -> tuple[dict[str, Any], Row]:
    try:
        record = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path}: line {number} is not JSON ({error}); one result per line is expected") from None
    try:
        if _is_result(record):
            return record, row_of(record, number)
    except (AttributeError, KeyError, TypeError, ValueError):
        pass
    raise ReportError(f"{path}: line {number} is no result; lines of `agenticiqa assess --json` are expected")


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no JSON number")


def _is_result(record: object) -> bool:
    return isinstance(record, dict) and bool({"answer", "assessment", "error"} & set(record))


def _number(value: object) -> float | None:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise TypeError(f"{value!r} is no number")


def _cost(found: Mapping[str, Any]) -> Row:
    nodes = list(((found.get("ledger") or {}).get("nodes") or {}).values())
    costs = [node.get("cost_usd", 0.0) for node in nodes]
    seconds = [node.get("seconds") or 0.0 for node in nodes]
    seconds += [reading.get("seconds") or 0.0 for reading in found.get("tools") or []]
    return {
        "calls": sum(node.get("calls") or 0 for node in nodes),
        "tokens": sum((node.get("input_tokens") or 0) + (node.get("output_tokens") or 0) for node in nodes),
        "cost": None if None in costs else math.fsum(costs),
        "seconds": round(math.fsum(seconds), 4),
    }
