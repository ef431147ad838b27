"""Results as HTML: one page that holds everything, with no request to anywhere, and a small card for notebooks."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from html import escape
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agenticiqa.images import ImageSource, ImageStore
from agenticiqa.outputs import refuse_overwriting, write_whole
from agenticiqa.report.figures import (
    SHADES,
    Figures,
    distortion_chart,
    extremes,
    figures_of,
    histogram_chart,
    most_disputed,
)
from agenticiqa.report.pictures import Picture, picture_of
from agenticiqa.report.records import Row, read_rows, row_of, rows_of
from agenticiqa.state import Region

# So many of the worst and of the best images are shown, and of those whose tools disagree most.
SHOWN = 12
_DISPUTED = 10


def render_page(
    rows: Sequence[Row],
    pictures: Mapping[int, Picture],
    title: str,
    shown: int = SHOWN,
    gate: Mapping[str, Any] | None = None,
) -> str:
    """The report as HTML; `pictures` by index of the row, `shown` is how many of the worst and best are put in front.

    `gate` is what a gate reports: how many were `checked`, and the `failures` with picture, score, rule and reason.

    Words of users and models reach the page as data only: its script writes them as text, never as HTML.
    """
    figures = figures_of(rows)
    worst, best = extremes(rows, shown) if len(rows) > 1 else ([], [])
    data = {
        "rows": list(rows),
        "pictures": {str(index): asdict(picture) for index, picture in pictures.items()},
        "worst": worst,
        "best": best,
        "disputed": most_disputed(rows, _DISPUTED),
        "failures": list(figures.failures.items()),
        "tools": [asdict(tool) for tool in figures.tools],
    }
    style, script = asset("page.css"), asset("page.js")
    return asset("page.html").format_map(
        {
            "title": escape(title),
            "policy": escape(_policy(style, script)),
            "style": style,
            "script": script,
            "data": _inert_json(data),
            "facts": _facts(figures),
            "histogram": histogram_chart(figures.histogram),
            "distortions": distortion_chart(figures.distortions) if figures.distortions else "<p>None was found.</p>",
            "legend": "".join(
                f'<span class="entry"><span class="key severity{n}"></span>{word}</span> '
                for n, word in enumerate(SHADES)
            ),
            "gate": _gate_section(gate) if gate is not None else "",
            "kind": "one" if len(rows) == 1 else "many",
            "version": escape(version("agenticiqa")),
            "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        }
    )


def _gate_section(gate: Mapping[str, Any]) -> str:
    """The gate's verdict, and a table of what did not pass; every word in it is escaped."""
    counts = f"<p>{gate['checked']:,} checked, {gate['passed']:,} passed.</p>"
    counts += "".join(f"<p>{escape(said)}.</p>" for said in gate.get("unused_sections", ()))
    head = "<tr><th>Picture</th><th>Score</th><th>Rule</th><th>Why</th></tr>"
    body = "".join(
        f"<tr><td>{escape(each['sample_id'])}</td><td>{_two_digits(each['score'])}"
        f"</td><td><code>{escape(each['rule'])}</code></td><td>{escape(each['reason'])}</td></tr>"
        for each in gate["failures"]
    )
    table = f"<table>{head}{body}</table>" if body else ""
    return f'<section class="wide" id="gate"><h2>Gate</h2>{counts}{table}</section>\n'


def _policy(style: str, script: str = "") -> str:
    """Nothing may be loaded from anywhere; only a page's own style and, where it has one, script may act."""
    scripts = f"script-src '{_source_hash(script)}'; " if script else ""
    return (
        f"default-src 'none'; img-src data:; style-src '{_source_hash(style)}'; {scripts}"
        "base-uri 'none'; form-action 'none'"
    )


def _source_hash(text: str) -> str:
    """How a content security policy names one inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def plain_page(title: str, style: str, body: str) -> str:
    """A page with one style, which runs no script and asks nobody for anything; the title is escaped here."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_policy(style))}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(title)}</title><link rel="icon" href="data:,"><style>{style}</style></head>'
        f"<body>{body}</body></html>\n"
    )


def _inert_json(data: Any) -> str:
    """JSON that no parser of HTML can take for the end of its element or for a comment.

    In ASCII, because a file name may hold what UTF-8 cannot.
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _facts(figures: Figures) -> str:
    facts = {
        "results": f"{figures.results:,}",
        "with a score": f"{figures.scored:,}",
        "failed": f"{figures.failed:,}",
        "mean score": _two_digits(figures.mean),
        "median": _two_digits(figures.median),
        "model calls": f"{figures.calls:,}",
        "tokens": f"{figures.tokens:,}",
        "cost": "unknown" if figures.cost is None else f"${figures.cost:,.4f}",
        "time in models and tools": _duration(figures.seconds),
    }
    return "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items())


def _two_digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, hours = seconds / 60, seconds / 3600
    return f"{minutes:.1f} min" if minutes < 120 else f"{hours:.1f} h"


def asset(name: str, package: str = "agenticiqa.report") -> str:
    """A text file that ships with the package."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def card_html(record: Mapping[str, Any]) -> str:
    """A fragment of HTML with answer, score, reasons, distortions and tools; every word is escaped."""
    row = row_of(record)
    score = ""
    if row["score"] is not None:
        low, high = row["interval"] or (None, None)
        span = "" if low is None else f", 95 % interval {low:.1f} to {high:.1f}"
        score = f" · {row['score']:.2f} of 5 ({row['level_name']}{span})"
    tools = [f"{tool['tool']} {tool['error'] or _calibrated(tool)}" for tool in row["tools"]]
    listed = {
        "Failed": row["error"] or "",
        "Distortions": "; ".join(map(_finding, row["distortions"])),
        "Tools": "; ".join(tools),
        "Regions": "; ".join(_region(name, region) for name, region in row["regions"].items()),
    }
    lines = [
        f"<strong>{escape(row['answer'])}</strong>{escape(score)}",
        f"<em>{escape(row['query'])}</em>",
        escape(row["reasoning"]),
        *(f"{heading}: {escape(text)}" for heading, text in listed.items() if text),
    ]
    return f"<div>{''.join(f'<p>{line}</p>' for line in lines)}</div>"


def _finding(finding: Mapping[str, Any]) -> str:
    severity = f", {finding['severity']}" if finding.get("severity") else ""
    return f"{finding['type']} on {finding['object_name']}{severity}"


def _region(name: str, region: Mapping[str, Any]) -> str:
    score = "" if region.get("score") is None else f", {region['score']:.2f} of 5"
    return f"{name} at {region['left']},{region['top']} to {region['right']},{region['bottom']}{score}"


def _calibrated(tool: Mapping[str, Any]) -> str:
    return "not calibrated" if tool["calibrated"] is None else f"{tool['calibrated']:.2f} of 5"


def write_report(
    records: Path | Sequence[Mapping[str, Any]],
    output: Path,
    *,
    title: str | None = None,
    shown: int = SHOWN,
    with_maps: bool = True,
    gate: Mapping[str, Any] | None = None,
    store: ImageStore | None = None,
) -> int:
    """Writes one page about a file of results, or about records, and returns how many there are.

    The page is written whole or not at all. The `shown` worst and best images get a thumbnail and a quality map; `gate`
    is a gate's report, which is shown first. Images are opened through `store`, where one is given.
    """
    file = records if isinstance(records, Path) else None
    rows = read_rows(records) if isinstance(records, Path) else rows_of(records)
    refuse_overwriting([output], [file, *(row["image"] for row in rows)])
    pictures = {
        index: _drawn(rows[index]["image"], rows[index], with_maps, store)
        for group in extremes(rows, shown)
        for index in group
        if rows[index]["image"]
    }
    name = title or (f"Image quality: {file.name}" if file else "Image quality")
    write_whole(output, render_page(rows, pictures, name, shown, gate))
    return len(rows)


def single_page(record: Mapping[str, Any], image: ImageSource | None = None) -> str:
    """The page of one assessment; `image` shows it where the record names no file."""
    row = row_of(record)
    source = image if image is not None else row["image"]
    pictures = {} if source is None else {0: _drawn(source, row)}
    return render_page([row], pictures, f"Image quality: {row['id']}")


def page_of(records: Sequence[Mapping[str, Any]], pictures: Mapping[int, Picture], shown: int = SHOWN) -> str:
    """The page of these assessments with pictures that are drawn already, by the place of the record from 0."""
    rows = rows_of(records)
    title = f"Image quality: {rows[0]['id']}" if len(rows) == 1 else f"Image quality: {len(rows)} images"
    return render_page(rows, pictures, title, shown)


def _drawn(source: ImageSource, row: Row, with_map: bool = True, store: ImageStore | None = None) -> Picture:
    sides = ("left", "top", "right", "bottom")
    regions = {name: Region(**{side: box[side] for side in sides}) for name, box in row["regions"].items()}
    return picture_of(source, str(row["provenance"].get("terms") or "research"), with_map, regions, store)
