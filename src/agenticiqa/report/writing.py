"""From a file of results to a page on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agenticiqa.images import ImageSource, ImageStore
from agenticiqa.outputs import refuse_overwriting, write_whole
from agenticiqa.report.figures import extremes
from agenticiqa.report.page import render_page
from agenticiqa.report.pictures import Picture, picture_of
from agenticiqa.report.records import Row, read_rows, row_of, rows_of

SHOWN = 12
Draw = Callable[..., Picture]
"""Called with the image, the terms and whether a map is wanted; with the regions too, where there are some."""


def write_report(
    records: Path | Sequence[Mapping[str, Any]],
    output: Path,
    *,
    title: str | None = None,
    shown: int = SHOWN,
    with_maps: bool = True,
    draw: Draw = picture_of,
    gate: Mapping[str, Any] | None = None,
    store: ImageStore | None = None,
) -> int:
    """Writes one page about a file of results, or about records, and returns how many there are.

    The page is written whole or not at all. The `shown` worst and best images get a thumbnail and a quality map; `gate`
    is a gate's report, which is shown first. Images are opened through `store`, where one is given.
    """
    if store is not None:
        draw = partial(draw, store=store)
    rows = read_rows(records) if isinstance(records, Path) else rows_of(records)
    images = (row["image"] for row in rows)
    refuse_overwriting([output], [*([records] if isinstance(records, Path) else ()), *images])
    name = title or (f"Image quality: {records.name}" if isinstance(records, Path) else "Image quality")
    page = render_page(rows, pictures_for(rows, shown, with_maps, draw), name, shown, gate)
    write_whole(output, page)
    return len(rows)


def single_page(record: Mapping[str, Any], image: ImageSource | None = None, draw: Draw = picture_of) -> str:
    """The page of one assessment; `image` shows it where the record names no file."""
    row = row_of(record)
    source = image if image is not None else row["image"]
    pictures = {} if source is None else {0: _drawn(draw, source, row, True)}
    return render_page([row], pictures, f"Image quality: {row['id']}")


def page_of(records: Sequence[Mapping[str, Any]], pictures: Mapping[int, Picture], shown: int = SHOWN) -> str:
    """The page of these assessments with pictures that are drawn already, by the place of the record from 0."""
    rows = rows_of(records)
    title = f"Image quality: {rows[0]['id']}" if len(rows) == 1 else f"Image quality: {len(rows)} images"
    return render_page(rows, pictures, title, shown)


def pictures_for(rows: Sequence[Row], shown: int, with_maps: bool, draw: Draw = picture_of) -> dict[int, Picture]:
    """The pictures of the worst and best rows whose image is known."""
    wanted = [index for group in extremes(rows, shown) for index in group]
    return {
        index: _drawn(draw, rows[index]["image"], rows[index], with_maps) for index in wanted if rows[index]["image"]
    }


def _drawn(draw: Draw, source: ImageSource, row: Row, with_map: bool) -> Picture:
    regions = {name: (box["left"], box["top"], box["right"], box["bottom"]) for name, box in row["regions"].items()}
    return draw(source, _terms(row), with_map, *([regions] if regions else []))


def _terms(row: Row) -> str:
    return str(row["provenance"].get("terms") or "research")
