"""An audit to look at: one page with the worst pictures of every issue and duplicates side by side."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from importlib.metadata import version
from typing import Any

from PIL import Image

from agenticiqa.audit.auditing import Audit, Row
from agenticiqa.audit.duplicates import Group
from agenticiqa.audit.issues import ISSUES
from agenticiqa.errors import AgenticIQAError
from agenticiqa.images import ImageSource, load_image
from agenticiqa.report.page import source_hash
from agenticiqa.report.pictures import data_url

SIDE = 220
SHOWN = 12
GROUPS_SHOWN = 30
MEMBERS_SHOWN = 8

OpenPicture = Callable[[Row], ImageSource]

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 78rem; padding: 1rem; }
h2 { margin: 1.6rem 0 .3rem; } p { margin: .2rem 0 .6rem; }
.cards { display: flex; flex-wrap: wrap; gap: .7rem; align-items: flex-start; }
figure { margin: 0; width: 13.75rem; } figure img { max-width: 100%; display: block; border: 1px solid #8885; }
figcaption { font-size: .8rem; overflow-wrap: anywhere; } .keep { font-weight: 600; }
.group { border-top: 1px solid #8885; padding: .6rem 0; } .missing { padding: 2rem .5rem; background: #8882; }
table { border-collapse: collapse; } td, th { padding: .15rem .8rem .15rem 0; text-align: left; }
td:nth-child(2), td:nth-child(3) { text-align: right; font-variant-numeric: tabular-nums; }
"""


def gallery_page(result: Audit, open_picture: OpenPicture, title: str = "Audit", shown: int = SHOWN) -> str:
    """The page as HTML; it loads nothing from anywhere, and every name in it is escaped."""
    sections = "".join(_issue_section(result, name, open_picture, shown) for name in _with_pictures(result))
    policy = (
        f"default-src 'none'; img-src data:; style-src '{source_hash(_STYLE)}'; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(title)}</title><link rel="icon" href="data:,"><style>{_STYLE}</style></head><body>'
        f"<header><h1>{escape(title)}</h1><p>agenticiqa {escape(version('agenticiqa'))}. {len(result.rows):,} pictures."
        " A score runs from 0 (worst) to 1; below its threshold a picture is flagged.</p></header>"
        f"{_counts(result)}<main>{sections}{_duplicates(result, open_picture)}</main></body></html>\n"
    )


def card_html(result: Audit) -> str:
    """A small table of counts for a notebook."""
    return f"<div><p>{len(result.rows):,} pictures audited</p>{_counts(result)}</div>"


def _with_pictures(result: Audit) -> list[str]:
    return [name for name in result.issues if not name.endswith("_duplicates") and result.counts()[name]]


def _counts(result: Audit) -> str:
    meanings = {issue.name: issue.meaning for issue in ISSUES}
    rows = "".join(
        f"<tr><td>{name.replace('_', ' ')}</td><td>{count:,}</td><td>{result.thresholds[name]:g}</td>"
        f"<td>{escape(meanings[name])}</td></tr>"
        for name, count in result.counts().items()
    )
    return f"<table><tr><th>Issue</th><th>Pictures</th><th>Threshold</th><th>Meaning</th></tr>{rows}</table>"


def _issue_section(result: Audit, name: str, open_picture: OpenPicture, shown: int) -> str:
    cards = "".join(_card(row, f"{row[f'{name}_score']:.2f}", open_picture) for row in result.worst(name, shown))
    count = result.counts()[name]
    more = f"; the worst {shown} are shown" if count > shown else ""
    return (
        f'<section id="{name}"><h2>{name.replace("_", " ").capitalize()}</h2>'
        f'<p>{count:,} flagged{more}.</p><div class="cards">{cards}</div></section>'
    )


def _duplicates(result: Audit, open_picture: OpenPicture) -> str:
    if not result.groups:
        return ""
    by_name = {row["name"]: row for row in result.rows}
    groups = "".join(_group(group, by_name, open_picture) for group in result.groups[:GROUPS_SHOWN])
    counted = f"{len(result.groups):,} group{'s' if len(result.groups) > 1 else ''}"
    more = f" The first {GROUPS_SHOWN} are shown." if len(result.groups) > GROUPS_SHOWN else ""
    return f'<section id="duplicates"><h2>Duplicates</h2><p>{counted}.{more}</p>{groups}</section>'


def _group(group: Group, by_name: dict[str, Row], open_picture: OpenPicture) -> str:
    cards = "".join(
        _card(by_name[name], "keep" if name == group.keep else "", open_picture)
        for name in group.members[:MEMBERS_SHOWN]
    )
    more = len(group.members) - MEMBERS_SHOWN
    rest = f"<p>and {more} more</p>" if more > 0 else ""
    kind = "the same pixels" if group.kind == "exact" else "nearly the same"
    return (
        f'<div class="group"><p>{kind}, {len(group.members)} pictures</p><div class="cards">{cards}</div>{rest}</div>'
    )


def _card(row: Row, note: str, open_picture: OpenPicture) -> str:
    size = f"{row['width']}×{row['height']}" if row["width"] else ""
    caption = f"{escape(str(row['name']))}<br>{size} {escape(note)}"
    label = ' class="keep"' if note == "keep" else ""
    return f"<figure>{_thumbnail(row, open_picture)}<figcaption{label}>{caption}</figcaption></figure>"


def _thumbnail(row: Row, open_picture: OpenPicture) -> str:
    try:
        small: Any = Image.fromarray(load_image(open_picture(row)).pixels)
    except AgenticIQAError as error:
        return f'<p class="missing">{escape(str(error))}</p>'
    small.thumbnail((SIDE, SIDE))
    return f'<img alt="{escape(str(row["name"]), quote=True)}" src="{data_url(small)}">'
