"""A folder encoded: one file per picture, its loss map, a resumable journal and a page about all."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np
from PIL import Image, ImageDraw

from agenticiqa.batch import Assess, BatchOptions, BatchProgress, BatchSummary, Sample, open_manifest, run_batch
from agenticiqa.batch.journal import standing_records
from agenticiqa.config import Settings
from agenticiqa.encode import searching
from agenticiqa.encode.originals import Format, Pixels
from agenticiqa.encode.searching import Encoded, Judge, Metric
from agenticiqa.errors import ManifestError, OutputError
from agenticiqa.images import ImageSource, ImageStore
from agenticiqa.logs import printable, printable_lines
from agenticiqa.outputs import replacing, write_whole
from agenticiqa.report.page import plain_page
from agenticiqa.report.pictures import data_url

# What a later run goes on from, out of the way of the encoded files.
JOURNAL = Path(".encode") / "records.jsonl"
MAP_SUFFIX = ".loss.png"
MAP_SIDE = 220
LEGEND_WIDTH, LEGEND_BAR = 330, 10
# Differences below this share of severe damage are not made bright: nobody sees them.
FAINTEST = 0.02
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; } body { margin: 1rem auto; max-width: 78rem; }
table { border-collapse: collapse; } td, th { padding: .25rem .9rem .25rem 0; text-align: right; }
td:first-child, th:first-child { text-align: left; overflow-wrap: anywhere; } img { display: block; max-width: 14rem; }
"""


@dataclass(frozen=True)
class CopyOptions:
    """What copies are to be like, as `encode` takes it; `maps` also draws where each differs."""

    format: Format | Literal["best"]
    min_score: float | None = None
    maps: bool = False
    step: int = 1
    background: str | None = None
    strip: bool = False
    metric: Metric = "score"
    max_bytes: int | None = None
    max_side: int | None = None

    def encode(self, image: ImageSource, judge: Judge, on_try: searching.OnTry | None = None) -> Encoded:
        """The smallest such copy of an image; raises EncodingError."""
        return searching.encode(
            image, self.format, self.min_score, judge=judge, step=self.step, max_bytes=self.max_bytes,
            max_side=self.max_side, background=self.background, strip=self.strip, on_try=on_try,
        )  # fmt: skip

    def suffixes(self) -> list[str]:
        """Those a copy may get."""
        return [suffix for format, suffix in searching.SUFFIXES.items() if self.format in (format, "best")]

    def in_words(self) -> str:
        """What every copy reaches, for a person."""
        wanted = []
        if self.min_score is not None:
            measure = "scores" if self.metric == "score" else f"has {searching.METRIC_NAMES[self.metric]}"
            wanted.append(f"{measure} {self.min_score:g} or more against its original")
        if self.max_bytes is not None:
            wanted.append(f"has at most {self.max_bytes:,} bytes")
        return " and ".join(wanted)


@dataclass(frozen=True)
class EncodeWith:
    """Prepares the encoding of samples into a folder; can be sent to another process."""

    output: str
    options: CopyOptions
    terms: str
    names: Mapping[str, str]
    """What each sample's copy is called, from the output folder on; its suffix is that of the format found."""
    store: ImageStore
    dry_run: bool = False

    def __call__(self) -> Assess:
        judge = searching.judge_by(self.options.metric, self.terms)
        return lambda sample: self.encode(sample, judge)

    def encode(self, sample: Sample, judge: Judge) -> Mapping[str, Any]:
        """Writes the sample's file, and says what came of it."""
        started = time.perf_counter()
        original = self.store.open(sample.image_path)
        found = self.options.encode(sample.image_path, judge)
        target = (Path(self.output) / self.names[sample.sample_id]).with_suffix(searching.SUFFIXES[found.format])
        drawn = loss_map(found.original, found.pixels)
        if not self.dry_run:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, found.data)
            if self.options.maps:
                with replacing(target.with_suffix(MAP_SUFFIX)) as spare:
                    drawn.save(spare, "PNG")
        return {
            "file": str(target),
            "format": found.format,
            "quality": found.quality,
            "score": found.score,
            "bytes": len(found.data),
            "original_bytes": searching.original_bytes(original),
            "tried": {str(quality): score for quality, score in found.tried.items()},
            "took": round(time.perf_counter() - started, 3),
            # Small, for the page; with it here, a page can be asked for afterwards.
            "map": _thumbnail(drawn),
            "error": None,
        }


def loss_map(original: Pixels, copy: Pixels) -> Image.Image:
    """Where the copy differs visibly, with a legend below; the strongest difference of the picture is brightest.

    The losses of a good copy are a few hundredths of severe damage: unscaled, its map would be black.
    """
    from agenticiqa.embedded.full_reference.difference_map import difference_map, in_colours

    found = difference_map(original, copy)
    strongest = max(float(np.percentile(found, 99.5)), FAINTEST)
    scaled = in_colours(np.clip(found / np.float32(strongest), 0, 1))
    ramp = np.tile(np.linspace(0, 1, LEGEND_WIDTH, dtype=np.float32), (LEGEND_BAR, 1))
    bar = Image.fromarray(in_colours(ramp))
    sheet = Image.new("RGB", (max(scaled.shape[1], LEGEND_WIDTH), scaled.shape[0] + LEGEND_BAR + 16), "white")
    sheet.paste(Image.fromarray(scaled), (0, 0))
    sheet.paste(bar, (0, scaled.shape[0] + 2))
    text = f"0: none visible   brightest: {strongest:.2f} (1 is severe damage)"
    ImageDraw.Draw(sheet).text((2, scaled.shape[0] + LEGEND_BAR + 3), text, fill="black")
    return sheet


def encode_folder(
    source: Path,
    output: Path,
    options: CopyOptions,
    *,
    settings: Settings,
    concurrency: int | None = None,
    force: bool = False,
    dry_run: Path | None = None,
    stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[BatchProgress], None] | None = None,
) -> BatchSummary:
    """Encodes every picture of a folder into another; the same call again finishes the rest.

    `force` encodes again what was encoded with other settings, and writes over files that were there before. `dry_run`
    names a folder for the journal alone: copies are made and judged, and thrown away. Raises OutputError where a copy
    would take the place of an original, of another copy or of a file of somebody else.
    """
    if not source.is_dir():
        raise ManifestError(f"{source}: is no folder")
    if output.resolve().is_relative_to(source.resolve()):
        raise OutputError(f"{output}: lies in the folder of the originals; choose a folder outside {source}")
    manifest, wanted = open_manifest(source), vars(options)
    names = copy_names((sample.sample_id for sample in manifest), options.suffixes()[0])
    if not force and not (output / JOURNAL).exists():
        copies = (output / Path(name).with_suffix(each) for name in names.values() for each in options.suffixes())
        there = next(filter(os.path.lexists, copies), None)
        if there is not None:
            # A folder that was never encoded to holds files of somebody else.
            raise OutputError(f"{there}: was there before; choose another output, or add --force to write over it")
    return run_batch(
        manifest,
        (dry_run or output) / JOURNAL,
        BatchOptions(concurrency=concurrency, force=force),
        settings=settings,
        prepare=EncodeWith(
            str(output.absolute()), options, settings.pipeline.terms, names, settings.image_store(), dry_run is not None
        ),
        identity={"encode": options.format, **{name: wanted[name] for name in wanted if name != "format"}},
        stop=stop,
        on_progress=on_progress,
    )


def copy_names(originals: Iterable[str], suffix: str) -> dict[str, str]:
    """What the copy of each original is called: its name with another suffix, after its own suffix where two would
    have the same name.

    >>> copy_names(["a.jpg", "b.jpg", "b.png"], ".webp")
    {'a.jpg': 'a.webp', 'b.jpg': 'b.jpg.webp', 'b.png': 'b.png.webp'}
    """
    short = {name: str(PurePosixPath(name).with_suffix(suffix)) for name in originals}
    # Systems that take A and a for the same name count too.
    uses = Counter(name.casefold() for name in short.values())
    names = {each: name if uses[name.casefold()] == 1 else f"{each}{suffix}" for each, name in short.items()}
    doubled = [name for name, count in Counter(map(str.casefold, names.values())).items() if count > 1]
    if doubled:
        raise OutputError(f"{doubled[0]}: the copies of two originals would be called so; rename one of them")
    return names


def encoded_rows(output: Path) -> Iterator[dict[str, Any]]:
    """What came of each picture, with `name` and, where it failed, `error`."""
    for record in standing_records(output / JOURNAL):
        yield {**(record.assessment or {}), "name": record.sample_id, "error": record.error}


def report_page(output: Path, options: CopyOptions) -> str:
    """A page with every picture's quality, score, saving and loss map."""
    rows = list(encoded_rows(output))
    before = sum(row.get("original_bytes") or 0 for row in rows)
    after = sum(row.get("bytes") or 0 for row in rows)
    headings = ("Picture", "Quality", searching.METRIC_NAMES[options.metric], "Before", "After", "Where it differs")
    sizes = f"{size_in_words(before)} became {size_in_words(after)}"
    head = f"<tr>{''.join(f'<th>{each}</th>' for each in headings)}</tr>"
    return plain_page(
        "Encoded pictures",
        _STYLE,
        f"<h1>Encoded pictures</h1><p>{len(rows):,} pictures, each as the smallest file that {options.in_words()}: "
        f"{sizes}. The brightest place of each map is the strongest difference of that picture.</p>"
        f"<table>{head}{''.join(map(_row, rows))}</table>",
    )


def _row(row: Mapping[str, Any]) -> str:
    name = escape(row["name"])
    if row["error"] is not None:
        return f'<tr><td>{name}</td><td colspan="5">{escape(row["error"])}</td></tr>'
    picture = f'<img alt="" src="{escape(row["map"], quote=True)}">'
    cells = [
        f"{row['format']} {row['quality']}",
        f"{row['score']:.4g}",
        size_in_words(row["original_bytes"]),
        size_in_words(row["bytes"]),
        picture,
    ]
    return f"<tr><td>{name}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def before_and_after(rows: Iterable[Mapping[str, Any]], metric: Metric = "score") -> str:
    """A table for the terminal: each picture's size before and after, what was saved, the setting and the score."""
    cells = [("picture", "before", "after", "saved", "setting", searching.METRIC_NAMES[metric])]
    failed, before, after = list[str](), 0, 0
    for row in rows:
        if row["error"] is not None:
            failed.append(f"{row['name']}: {row['error']}")
            continue
        old, new = row["original_bytes"], row["bytes"]
        sizes = (size_in_words(old), size_in_words(new), f"{1 - new / old:.0%}")
        cells.append((printable(row["name"]), *sizes, f"{row['format']} {row['quality']}", f"{row['score']:.4g}"))
        before, after = before + old, after + new
    share = f" ({after / before:.0%})" if before else ""
    total = f"{len(cells) - 1} encoded: {size_in_words(before)} became {size_in_words(after)}{share}"
    return printable_lines([*aligned(cells), *failed, total])


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows of cells as lines, the first cell of each to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _thumbnail(drawn: Image.Image) -> str:
    small = drawn.convert("RGB")
    small.thumbnail((MAP_SIDE, MAP_SIDE))
    return data_url(small)


def size_in_words(count: int) -> str:
    """Bytes as kB or MB."""
    return f"{count / 1e6:.2f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
