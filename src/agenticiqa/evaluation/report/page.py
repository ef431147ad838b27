"""An evaluation as one self-contained page, with no request to anywhere and no script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

import numpy as np

from agenticiqa.evaluation.evaluating import Evaluation
from agenticiqa.evaluation.report import plots
from agenticiqa.evaluation.report.sections import headline, sections_of, worst_pictures
from agenticiqa.report.page import asset, plain_page
from agenticiqa.report.pictures import picture_of


def render_page(found: Evaluation) -> str:
    style = asset("page.css") + asset("page.css", "agenticiqa.evaluation.report")
    title = f"Evaluation on {found.rated.name}"
    lines = "".join(
        f'<p class="{"held-out" if line.startswith("Not held out") else "soft"}">{escape(line)}</p>'
        for line in headline(found)
    )
    head = f"<header><h1>{escape(title)}</h1>{lines}</header>"
    return plain_page(title, style, f"{head}<main>{''.join(_sections(found))}</main>")


def _sections(found: Evaluation) -> list[str]:
    drawn = {
        "By distortion type": plots.bars(found.kinds),
        "By level": plots.bars(found.levels),
        "Largest disagreements": _worst(found),
    }
    shown = []
    for each in sections_of(found):
        body = drawn.get(each.title) or html_table(each.headings, each.rows)
        body += "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in each.lines) + "</ul>" if each.lines else ""
        shown.append(_section(each.title, body, wide=not each.title.startswith("By ")))
        if each.title == "Methods":
            shown.append(_section("Score and opinion", _plots(found)))
    whole = escape(json.dumps(found.provenance, indent=2, ensure_ascii=False))
    again = f"<p>To run it again:</p><pre>{escape(str(found.provenance['command']))}</pre>"
    rest = f"<details><summary>Everything else</summary><pre>{whole}</pre></details>"
    return [*shown, _section("Provenance", again + rest)]


def _plots(found: Evaluation) -> str:
    if not found.rows:
        return ""
    row = found.rows[0]
    if row.fit is None:
        return "<p>Too few pictures have a score.</p>"
    known = np.isfinite(row.method.scores)
    scores, opinions = row.method.scores[known], found.rated.opinions[known]
    names = [sample.name for sample, chosen in zip(found.rated.samples, known, strict=True) if chosen]
    shown = {
        "The curve is the five-parameter logistic fit, the band ± 1.96 residual deviations.": plots.scatter(
            scores, opinions, row.fit, names
        ),
        "Tenths of the scores with one deviation of the opinions; dashed: a score means what it says.": (
            plots.calibration(scores, found.rated.common[known])
        ),
        "What the fit leaves over.": plots.residuals(scores, opinions, row.fit, names),
    }
    framed = (f'<div>{picture}<p class="legend">{escape(words)}</p></div>' for words, picture in shown.items())
    return f'<div class="plots">{"".join(framed)}</div>'


def _worst(found: Evaluation) -> str:
    figures = [
        f"<figure>{_thumbnail(one.image)}<figcaption><strong>{escape(one.name)}</strong><br>opinion {one.opinion:.3g}, "
        f"score after the fit {one.fitted:.3g}<br>{escape(one.why)}</figcaption></figure>"
        for one in worst_pictures(found)
    ]
    return f'<div class="worst">{"".join(figures)}</div>'


def _thumbnail(image: object) -> str:
    picture = picture_of(str(image), with_map=False)
    return f'<img alt="" src="{picture.thumbnail}">' if picture.thumbnail else ""


def html_table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table that scrolls by itself when the window is narrow; empty text without lines."""
    if not lines:
        return ""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in headings)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in lines)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(headings[0])}">{table}</div>'


def _section(title: str, body: str, wide: bool = True) -> str:
    return f"<section{' class=wide' if wide else ''}><h2>{escape(title)}</h2>{body}</section>" if body else ""
