"""The table that documents quote: what others made first, then what was made here, wins and losses alike.

README shows the rows of `FRONT`, docs/benchmarks-field.md all of them, each between two marks in its text.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.field.ledger import LEDGER, Entry, FieldLedger

VERSIONS = ("0.1.0", "0.2.0")
ROOT = LEDGER.parents[1]
KINDS = ("Blurs", "Brightness change", "Noise", "Compression", "Contrast", "Color distortions")
README, WHOLE = ROOT / "README.md", ROOT / "docs" / "benchmarks-field.md"
FROM, TO = "<!-- the ledger's table -->\n", "<!-- end of the ledger's table -->"


@dataclass(frozen=True)
class Section:
    """A part of the table: its heading, and the figures in it as (name in the ledger, what a reader calls it)."""

    title: str
    figures: tuple[tuple[str, str], ...]


SECTIONS = (
    Section("Agreement with people's ratings, no reference, rank correlation (pictures and ratings by others)", (
        ("koniq SRCC", "KonIQ-10k, sample of 200 photographs"),
        ("spaq SRCC", "SPAQ, sample of 200 phone photographs"),
        ("avt SRCC", "AVT, video stills 240p to UHD"),
        ("biq2021-test SRCC", "BIQ2021, sample of its test split"),
        ("tid2013 SRCC", "TID2013 (part), reference hidden"),
        ("ai SRCC", "AVT, generated pictures"),
        ("mmp2k left out SRCC", "MMP-2K, macro photographs, left out of the fit"),
        ("mmp2k by folds SRCC", "MMP-2K, by folds"),
        ("biq2021 by folds SRCC", "BIQ2021, photographs left out of the fit"),
        ("pcuid left out SRCC", "PCUID, underwater photographs, left out"),
        ("pcuid by folds SRCC", "PCUID, by folds"),
        ("fsqd left out SRCC", "FSQD, enlarged faces, left out"),
        ("fsqd by folds SRCC", "FSQD, by folds"),
        ("hecd left out SRCC", "HECD, recoloured photographs, left out"),
        ("hecd by folds SRCC", "HECD, by folds"),
    )),
    Section("Agreement with people's ratings, with reference, rank correlation", (
        ("tid2013 with reference SRCC", "TID2013 (part), nothing of it in the fit"),
        ("tid2013 with reference, beside its best tool", "… beside its best tool"),
        ("fsqd with reference SRCC", "FSQD, left out of the fit"),
        ("fsqd with reference, beside its best tool", "… beside its best tool"),
        ("hecd with reference SRCC", "HECD, left out of the fit"),
        ("hecd with reference, beside its best tool", "… beside its best tool"),
    )),
    Section("Beside a vision-language model of 32 billion parameters (its recorded scores, η fixed beforehand)", tuple(
        (f"{source} {who} ({prompt}) SRCC", f"{title}, {prompt} prompt, {words}")
        for source, title in (("koniq", "KonIQ-200"), ("spaq", "SPAQ-200"))
        for prompt in ("direct", "reasoned", "skills", "router")
        for who, words in (("model", "the model"), ("fused", "fused with ours"))
    )),
    Section("People's ratings of attributes beside findings, rank correlation", tuple(
        (f"spaq {name} by findings SRCC", f"SPAQ-200, {name}")
        for name in ("sharpness", "contrast", "brightness", "noisiness", "colorfulness")
    )),
    Section("Ratings inside the interval, and its width on the scale of 1 to 5", tuple(
        (f"{source} {what} {level}", f"{title}, {what} {level}")
        for source, title in (
            ("koniq", "KonIQ-200"), ("spaq", "SPAQ-200"), ("avt", "AVT stills"), ("tid2013", "TID2013 (part)"),
            ("biq2021-test", "BIQ2021 test"), ("ai", "generated pictures"), ("mmp2k left out", "MMP-2K left out"),
            ("pcuid left out", "PCUID left out"), ("fsqd left out", "FSQD left out"),
            ("hecd left out", "HECD left out"),
        )
        for level in ("95 %", "80 %")
        for what in ("covered by", "width of")
    )),
    Section("Flaws labelled by the raters of MMP-2K", tuple(
        (f"mmp2k {kind} {what}", f"{kind}, {what}")
        for kind in ("Blurs", "Brightness change", "Noise")
        for what in ("found", "false alarms")
    )),
    Section("Labels, questions, boxes and damage made here", (
        *((f"{source} {kind} {what}", f"{title}, {kind.lower()}, {what}")
          for source, title in (
              ("looks", "BIQ2021 test"), ("looks-imagenet", "ImageNet sample"), ("looks-bsds", "BSDS500"),
          )
          for kind in KINDS
          for what in ("found", "false alarms")),
        ("multiple choice right", "multiple choice about known damage"),
        *((f"questions {language} {what}", f"locked questions, {language}, {what}")
          for language in ("en", "zh", "other") for what in ("right", "wrong")),
        ("objects located by name", "things located by name"),
        ("ladders SRCC", "damage of bundled photographs in order"),
    )),
    Section("Copies of 16 well-rated photographs that 0.2.0 had rules for: mean change of the score", tuple(
        (f"copies: {kind}", kind) for kind in (
            "mean score untouched", "black and white, change", "dark, values x 0.2, change",
            "flat, contrast x 0.25, change", "enlarged x 4, change", "shrunk to a quarter and enlarged, change",
            "strong colour cast, change", "light JPEG, quality 88, change", "night smeared by motion, change",
            "blurred at 48 megapixels, change", "grain in one channel, change",
        )
    )),
)  # fmt: skip


FRONT = frozenset((
    "koniq SRCC", "spaq SRCC", "avt SRCC", "biq2021-test SRCC", "tid2013 SRCC", "ai SRCC",
    "mmp2k left out SRCC", "pcuid left out SRCC", "fsqd left out SRCC", "hecd left out SRCC",
    "tid2013 with reference SRCC", "tid2013 with reference, beside its best tool",
    *(f"{source} {who} (direct) SRCC" for source in ("koniq", "spaq") for who in ("model", "fused")),
    *(f"{source} covered by 95 %" for source in ("koniq", "spaq", "avt", "biq2021-test", "ai")),
    *(f"{source} width of 95 %" for source in ("koniq", "spaq", "avt", "biq2021-test", "ai")),
    *(f"looks {kind} {what}" for kind in KINDS for what in ("found", "false alarms")),
    "multiple choice right", *(f"questions {language} {what}" for language in ("en", "zh", "other")
                               for what in ("right", "wrong")),
    "objects located by name", "ladders SRCC",
))  # fmt: skip


def markdown(ledger: FieldLedger, wanted: Container[str] | None = None) -> str:
    """The figures wanted, or all, by section; one that was never recorded has no row."""
    lines = [f"| | n | now [95 %] | {' | '.join(VERSIONS)} | apart from the best of these |", f"|{'---|' * 6}"]
    for section in SECTIONS:
        rows = list(_rows(section, ledger, wanted))
        lines += [f"| **{section.title}** | | | | | |", *rows] if rows else []
    return "\n".join(lines) + "\n"


def quoted(page: Path) -> str:
    """The table as the page has it, between its marks; raises ValueError where there are none."""
    text = page.read_text(encoding="utf-8")
    start = text.index(FROM) + len(FROM)
    return text[start : text.index(TO, start)]


def write_tables(ledger: FieldLedger) -> None:
    """Put the table into the pages that quote it."""
    for page, table in ((README, markdown(ledger, FRONT)), (WHOLE, markdown(ledger))):
        text = page.read_text(encoding="utf-8")
        if FROM in text:
            page.write_text(text.replace(FROM + quoted(page), FROM + table), encoding="utf-8")


def _rows(section: Section, ledger: FieldLedger, wanted: Container[str] | None) -> Iterator[str]:
    for prefix, mark in (("", ""), ("open: ", " (`open` weights)")):
        for name, title in section.figures:
            entry = ledger.figures.get(prefix + name)
            if entry and (wanted is None or prefix + name in wanted):
                yield row(title + mark, entry)


def row(title: str, entry: Entry) -> str:
    """One figure with its interval, the earlier versions beside it, and whether it won or lost."""
    value = f"{entry.value:.3f} [{entry.low:.3f}, {entry.high:.3f}]"
    known = dict(entry.earlier)
    if entry.version in VERSIONS:
        known[entry.version], value = entry.value, ""
    beside = " | ".join(f"{known[name]:.3f}" if name in known else "" for name in VERSIONS)
    return f"| {title} | {entry.n} | {value} | {beside} | {_apart(entry)} |"


def _apart(entry: Entry) -> str:
    # A recorded model's own scores, and what did not change at all.
    if entry.apart is None or not any(entry.apart):
        return ""
    value, low, high = entry.apart
    better, worse = (low > 0, high < 0) if entry.better == "higher" else (high < 0, low > 0)
    word = "" if entry.better == "neither" else ", better" if better else ", worse" if worse else ""
    return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]{word}"
