"""An audit to look at: one page with the worst pictures of every issue and duplicates side by side."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from importlib.metadata import version
from typing import Any

from PIL import Image

from agenticiqa.audit.auditing import Audit, AuditRow
from agenticiqa.audit.duplicates import Group
from agenticiqa.audit.issues import ISSUES
from agenticiqa.errors import AgenticIQAError
from agenticiqa.images import LoadedImage
from agenticiqa.report.page import plain_page
from agenticiqa.report.pictures import data_url

THUMBNAIL_PIXELS = 220
SHOWN = 12
GROUPS_SHOWN = 30
MEMBERS_SHOWN = 8
KEEP = "keep this one"
MEANINGS = {issue.name: issue.meaning for issue in ISSUES}

OpenPicture = Callable[[AuditRow], LoadedImage]

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 78rem; padding: 1rem; }
h1 { overflow-wrap: anywhere; } h2 { margin: 1.8rem 0 .3rem; } p { margin: .2rem 0 .6rem; } a { color: inherit; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(11rem, 46%), 1fr)); gap: .9rem .7rem; }
figure { margin: 0; } figure img, .missing { width: 100%; aspect-ratio: 1; object-fit: contain; background: #8881;
box-sizing: border-box; border: 1px solid #8884; border-radius: 4px; display: block; }
.missing { padding: .8rem; margin: 0; font-size: .8rem; overflow: hidden; overflow-wrap: anywhere; }
figcaption { font-size: .8rem; overflow-wrap: anywhere; margin-top: .2rem; } .kept img { outline: 3px solid #2a9d5c; }
.group { border-top: 1px solid #8885; padding: .7rem 0; } .none { opacity: .6; } .overview { overflow-x: auto; }
table { border-collapse: collapse; } td, th { padding: .15rem .9rem .15rem 0; text-align: left; }
td:nth-child(2), td:nth-child(3), th:nth-child(2), th:nth-child(3) { text-align: right;
font-variant-numeric: tabular-nums; }
@media (max-width: 34rem) { td:nth-child(4), th:nth-child(4) { display: none; } h1 { font-size: 1.5rem; } }
"""


def gallery_page(result: Audit, open_picture: OpenPicture, title: str = "Audit") -> str:
    """The page as HTML; it loads nothing from anywhere, and every name in it is escaped."""
    flagged = [name for name, count in result.counts().items() if count and not name.endswith("_duplicates")]
    sections = "".join(_issue_section(result, name, open_picture) for name in flagged)
    head = (
        f"<header><h1>{escape(title)}</h1><p>agenticiqa {escape(version('agenticiqa'))}. {len(result.rows):,} pictures."
        " A score runs from 0 (worst) to 1; below its threshold a picture is flagged.</p></header>"
    )
    return plain_page(
        title, _STYLE, f"{head}{_counts(result)}<main>{sections}{_duplicates(result, open_picture)}</main>"
    )


def card_html(result: Audit) -> str:
    """A small table of counts for a notebook."""
    return f"<div><p>{len(result.rows):,} pictures audited</p>{_counts(result)}</div>"


def _counts(result: Audit) -> str:
    rows = "".join(
        f"<tr{'' if count else ' class=none'}><td>{_linked(name, count)}</td><td>{count:,}</td>"
        f"<td>{result.thresholds[name]:g}</td><td>{escape(MEANINGS[name])}</td></tr>"
        for name, count in result.counts().items()
    )
    head = "<tr><th>Issue</th><th>Pictures</th><th>Threshold</th><th>Meaning</th></tr>"
    return f'<div class="overview"><table>{head}{rows}</table></div>'


def _linked(name: str, count: int) -> str:
    """The issue's name, as a link to its pictures where there are some."""
    place = "duplicates" if name.endswith("_duplicates") else name
    words = name.replace("_", " ")
    return f'<a href="#{place}">{words}</a>' if count else words


def _issue_section(result: Audit, name: str, open_picture: OpenPicture) -> str:
    cards = "".join(_card(row, f"score {row[f'{name}_score']:.2f}", open_picture) for row in result.worst(name, SHOWN))
    count = result.counts()[name]
    more = f"; the worst {SHOWN} are shown" if count > SHOWN else ""
    return (
        f'<section id="{name}"><h2>{name.replace("_", " ").capitalize()}</h2>'
        f'<p>{count:,} flagged, {escape(MEANINGS[name])}{more}.</p><div class="cards">{cards}</div></section>'
    )


def _duplicates(result: Audit, open_picture: OpenPicture) -> str:
    if not result.groups:
        return ""
    by_name = {row["name"]: row for row in result.rows}
    groups = "".join(_group(group, by_name, open_picture) for group in result.groups[:GROUPS_SHOWN])
    counted = f"{len(result.groups):,} group{'s' if len(result.groups) > 1 else ''}"
    more = f" The first {GROUPS_SHOWN} are shown." if len(result.groups) > GROUPS_SHOWN else ""
    return f'<section id="duplicates"><h2>Duplicates</h2><p>{counted}.{more}</p>{groups}</section>'


def _group(group: Group, by_name: dict[str, AuditRow], open_picture: OpenPicture) -> str:
    cards = "".join(
        _card(by_name[name], KEEP if name == group.keep else "", open_picture) for name in group.members[:MEMBERS_SHOWN]
    )
    more = len(group.members) - MEMBERS_SHOWN
    rest = f"<p>and {more} more</p>" if more > 0 else ""
    kind = "the same pixels" if group.kind == "exact" else "nearly the same"
    return (
        f'<div class="group"><p>{kind}, {len(group.members)} pictures</p><div class="cards">{cards}</div>{rest}</div>'
    )


def _card(row: AuditRow, note: str, open_picture: OpenPicture) -> str:
    facts = [f"{row['width']}×{row['height']}" if row["width"] else "", escape(note)]
    caption = f"{escape(str(row['name']))}<br>{' · '.join(filter(None, facts))}"
    label = ' class="kept"' if note == KEEP else ""
    return f"<figure{label}>{_thumbnail(row, open_picture)}<figcaption>{caption}</figcaption></figure>"


def _thumbnail(row: AuditRow, open_picture: OpenPicture) -> str:
    try:
        small: Any = Image.fromarray(open_picture(row).pixels)
    except AgenticIQAError as error:
        # Its name stands below.
        problem = str(error).removeprefix(f"{row['path']}: ")
        return f'<p class="missing">{escape(problem)}</p>'
    small.thumbnail((THUMBNAIL_PIXELS, THUMBNAIL_PIXELS))
    return f'<img alt="{escape(str(row["name"]), quote=True)}" src="{data_url(small)}">'
