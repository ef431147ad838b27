"""A folder encoded: one file per picture, its loss map, a resumable journal and a page about all."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any

from PIL import Image

from agenticiqa.batch import Assess, BatchOptions, BatchProgress, BatchSummary, Sample, open_manifest, run_batch
from agenticiqa.batch.journal import standing_records
from agenticiqa.config import Settings
from agenticiqa.encode.originals import Format
from agenticiqa.encode.searching import SUFFIXES, Encoded, Judge, encode, original_bytes, shipped_judge
from agenticiqa.errors import ManifestError, OutputError
from agenticiqa.images import ImageSource, ImageStore
from agenticiqa.outputs import replacing, write_whole
from agenticiqa.report.page import source_hash
from agenticiqa.report.pictures import data_url

# What a later run goes on from, out of the way of the encoded files.
JOURNAL = Path(".encode") / "records.jsonl"
MAP_SUFFIX = ".loss.png"
MAP_SIDE = 220
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; } body { margin: 1rem auto; max-width: 78rem; }
table { border-collapse: collapse; } td, th { padding: .25rem .9rem .25rem 0; text-align: right; }
td:first-child, th:first-child { text-align: left; overflow-wrap: anywhere; } img { display: block; max-width: 14rem; }
"""


@dataclass(frozen=True)
class CopyOptions:
    """What copies are to be like, as `encode` takes it; `maps` also draws where each differs."""

    format: Format
    min_score: float
    maps: bool = False
    step: int = 1
    background: str | None = None
    strip: bool = False

    def encode(self, image: ImageSource, judge: Judge) -> Encoded:
        """The smallest such copy of an image; raises EncodingError."""
        return encode(
            image, self.format, self.min_score, judge=judge, step=self.step,
            background=self.background, strip=self.strip,
        )  # fmt: skip


@dataclass(frozen=True)
class EncodeWith:
    """Prepares the encoding of samples into a folder; can be sent to another process."""

    output: str
    options: CopyOptions
    terms: str
    names: Mapping[str, str]
    """What each sample's copy is called, from the output folder on."""
    store: ImageStore

    def __call__(self) -> Assess:
        """The way with a sample."""
        judge = shipped_judge(self.terms)
        return lambda sample: self.encode(sample, judge)

    def encode(self, sample: Sample, judge: Judge) -> Mapping[str, Any]:
        """Writes the sample's file, and says what came of it."""
        started = time.perf_counter()
        original = self.store.open(sample.image_path)
        found = self.options.encode(sample.image_path, judge)
        target = Path(self.output) / self.names[sample.sample_id]
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, found.data)
        drawn = loss_map(found.original, found.pixels)
        if self.options.maps:
            with replacing(target.with_suffix(MAP_SUFFIX)) as spare:
                drawn.save(spare, "PNG")
        return {
            "file": str(target),
            "quality": found.quality,
            "score": found.score,
            "bytes": len(found.data),
            "original_bytes": original_bytes(original),
            "tried": {str(quality): score for quality, score in found.tried.items()},
            "took": round(time.perf_counter() - started, 3),
            # Small, for the page; with it here, a page can be asked for afterwards.
            "map": _thumbnail(drawn),
            "error": None,
        }


def loss_map(original: Any, copy: Any) -> Image.Image:
    """Where the copy differs visibly, dark where it does not."""
    from agenticiqa.embedded.full_reference.difference_map import difference_map

    return Image.fromarray(difference_map(original, copy).picture())


def encode_folder(
    source: Path,
    output: Path,
    options: CopyOptions,
    *,
    settings: Settings,
    concurrency: int | None = None,
    force: bool = False,
    stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[BatchProgress], None] | None = None,
) -> BatchSummary:
    """Encodes every picture of a folder into another; the same call again finishes the rest.

    `force` encodes again what was encoded with other settings, and writes over files that were there before. Raises
    OutputError where a copy would take the place of an original, of another copy or of a file of somebody else.
    """
    if not source.is_dir():
        raise ManifestError(f"{source}: is no folder")
    if output.resolve().is_relative_to(source.resolve()):
        raise OutputError(f"{output}: lies in the folder of the originals; choose a folder outside {source}")
    manifest, wanted = open_manifest(source), vars(options)
    names = copy_names((sample.sample_id for sample in manifest), SUFFIXES[options.format])
    if not force and not (output / JOURNAL).exists():
        _refuse_strangers(output, names.values())
    return run_batch(
        manifest,
        output / JOURNAL,
        BatchOptions(concurrency=concurrency, force=force),
        settings=settings,
        prepare=EncodeWith(str(output.absolute()), options, settings.pipeline.terms, names, settings.image_store()),
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


def _refuse_strangers(output: Path, names: Iterable[str]) -> None:
    """Raises OutputError where a folder that was never encoded to holds files of the copies' names."""
    there = next((output / name for name in names if os.path.lexists(output / name)), None)
    if there is not None:
        raise OutputError(f"{there}: was there before; choose another output, or add --force to write over it")


def encoded_rows(output: Path) -> Iterator[dict[str, Any]]:
    """What came of each picture, with `name` and, where it failed, `error`."""
    for record in standing_records(output / JOURNAL):
        yield {**(record["assessment"] or {}), "name": record["sample_id"], "error": record["error"]}


def report_page(output: Path, format: Format, min_score: float) -> str:
    """A page with every picture's quality, score, saving and loss map."""
    rows = list(encoded_rows(output))
    before = sum(row.get("original_bytes") or 0 for row in rows)
    after = sum(row.get("bytes") or 0 for row in rows)
    style = f"style-src '{source_hash(_STYLE)}'"
    policy = f"default-src 'none'; img-src data:; {style}; base-uri 'none'; form-action 'none'"
    headings = ("Picture", "Quality", "Score", "Before", "After", "Where it differs")
    head = f"<tr>{''.join(f'<th>{each}</th>' for each in headings)}</tr>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}"><title>Encoded pictures</title>'
        f'<link rel="icon" href="data:,"><style>{_STYLE}</style></head><body><h1>Encoded pictures</h1>'
        f"<p>{len(rows):,} pictures as {format}, each at the lowest quality that scores {min_score:g} or more against "
        f"its original: {_size(before)} became {_size(after)}.</p>"
        f"<table>{head}{''.join(map(_row, rows))}</table></body></html>\n"
    )


def _row(row: Mapping[str, Any]) -> str:
    name = escape(row["name"])
    if row["error"] is not None:
        return f'<tr><td>{name}</td><td colspan="5">{escape(row["error"])}</td></tr>'
    picture = f'<img alt="" src="{escape(row["map"], quote=True)}">'
    cells = [str(row["quality"]), f"{row['score']:.2f}", _size(row["original_bytes"]), _size(row["bytes"]), picture]
    return f"<tr><td>{name}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _thumbnail(drawn: Image.Image) -> str:
    small = drawn.convert("RGB")
    small.thumbnail((MAP_SIDE, MAP_SIDE))
    return data_url(small)


def _size(count: int) -> str:
    return f"{count / 1e6:.2f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
