"""A small card about one assessment, for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from agenticiqa.report.records import Row, row_of


def card_html(record: Mapping[str, Any]) -> str:
    """A fragment of HTML with answer, score, reasons, distortions and tools; every word is escaped."""
    row = row_of(record)
    lines = [
        f"<strong>{escape(row['answer'])}</strong>{_score(row)}",
        f"<em>{escape(row['query'])}</em>",
        escape(row["reasoning"]),
        *([f"Failed: {escape(row['error'])}"] if row["error"] else []),
        *_listed("Distortions", [_finding(finding) for finding in row["distortions"]]),
        *_listed("Tools", [_reading(tool) for tool in row["tools"]]),
        *_listed("Regions", [_region(name, region) for name, region in row["regions"].items()]),
    ]
    return f"<div>{''.join(f'<p>{line}</p>' for line in lines)}</div>"


def _score(row: Row) -> str:
    if row["score"] is None:
        return ""
    interval = row["interval"]
    span = f", 95 % interval {interval[0]:.1f} to {interval[1]:.1f}" if interval else ""
    return f" · {row['score']:.2f} of 5 ({escape(str(row['level_name']))}{span})"


def _listed(heading: str, items: list[str]) -> list[str]:
    return [f"{heading}: {escape('; '.join(items))}"] if items else []


def _finding(finding: Mapping[str, Any]) -> str:
    severity = f", {finding['severity']}" if finding.get("severity") else ""
    return f"{finding['type']} on {finding['object_name']}{severity}"


def _region(name: str, region: Mapping[str, Any]) -> str:
    score = "" if region.get("score") is None else f", {region['score']:.2f} of 5"
    return f"{name} at {region['left']},{region['top']} to {region['right']},{region['bottom']}{score}"


def _reading(tool: Mapping[str, Any]) -> str:
    score = "not calibrated" if tool["calibrated"] is None else f"{tool['calibrated']:.2f} of 5"
    return f"{tool['tool']} {tool['error'] or score}"
