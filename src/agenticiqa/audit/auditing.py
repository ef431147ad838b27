"""An audit from its source to its result: measured once per picture, resumable, judged anew whenever it is read."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from agenticiqa.audit.duplicates import Group, exact_groups, near_groups
from agenticiqa.audit.issues import (
    DECISIONS,
    chosen_issues,
    chosen_thresholds,
    decide,
    decided,
    picture_scores,
    size_scores,
)
from agenticiqa.audit.picture_measurements import VERSION, AuditWith
from agenticiqa.audit.sources import open_source
from agenticiqa.batch import BatchOptions, BatchProgress, BatchSummary, Disk, run_batch
from agenticiqa.batch.journal import standing_records
from agenticiqa.batch.manifest import files_read
from agenticiqa.batch.results_table import write_rows
from agenticiqa.config import Settings, load_settings
from agenticiqa.errors import AgenticIQAError, require_extra
from agenticiqa.logs import printable_lines
from agenticiqa.outputs import refuse_overwriting, write_whole
from agenticiqa.weights import weight_set

MEASUREMENTS = "measurements.jsonl"
SUMMARY, GALLERY = "summary.json", "gallery.html"
# Everything an audit may write into its folder.
FILES = (MEASUREMENTS, SUMMARY, GALLERY, "table.csv", "table.parquet", "table.json", "data.json", "labels.json",
         *(f"{each}.txt" for each in DECISIONS))  # fmt: skip
# Pictures named behind each count.
NAMED = 3
AuditRow = dict[str, Any]
AuditTable = Literal["csv", "parquet", "json", "fiftyone"]


@dataclass(frozen=True)
class AuditOptions:
    """How an audit is run; `thresholds` by issue replace the defaults."""

    quick: bool = False
    thresholds: Mapping[str, float] = field(default_factory=dict)
    issues: Sequence[str] | None = None
    engine: Literal["auto", "threads", "processes", "ray"] = "auto"
    concurrency: int | None = None
    address: str | None = None
    force: bool = False


@dataclass(frozen=True)
class Audit:
    """The result: a row per picture with a score and a flag per issue, groups of duplicates, and what was run."""

    rows: list[AuditRow]
    groups: list[Group]
    thresholds: dict[str, float]
    issues: tuple[str, ...]
    summary: BatchSummary | None = None
    seconds: float = 0.0

    def counts(self) -> dict[str, int]:
        return {name: sum(bool(row[f"is_{name}_issue"]) for row in self.rows) for name in self.issues}

    def worst(self, issue: str, count: int = 12) -> list[AuditRow]:
        """The flagged pictures with the lowest scores of an issue."""
        flagged = [row for row in self.rows if row[f"is_{issue}_issue"]]
        return sorted(flagged, key=lambda row: row[f"{issue}_score"])[:count]

    def columns(self) -> list[str]:
        """The table's columns: cleanvision's names where it has the issue."""
        own = [column for name in self.issues for column in (f"{name}_score", f"is_{name}_issue")]
        return ["name", "path", "width", "height", "bytes", *own, "group", "keep", "decision", "reasons", "error"]

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame, by picture; needs pandas."""
        try:
            import pandas
        except ImportError as error:
            raise AgenticIQAError("a DataFrame needs pandas; install it with `pip install pandas`") from error
        return pandas.DataFrame(self.rows, columns=self.columns()).set_index("name")

    def __str__(self) -> str:
        """The counts as lines for a person, the most frequent issue first, each with its worst pictures by name."""
        counts = sorted(self.counts().items(), key=lambda item: -item[1])
        lines = [f"{len(self.rows)} pictures audited"]
        lines += [f"  {name}: {count} ({self._named(name, count)})" for name, count in counts if count]
        clean = sum(not any(row[f"is_{name}_issue"] for name in self.issues) for row in self.rows)
        return printable_lines([*lines, f"  without an issue: {clean}"])

    def _named(self, issue: str, count: int) -> str:
        names = [str(row["name"]) for row in self.worst(issue, NAMED)]
        return ", ".join(names) + (f" and {count - len(names)} more" if count > len(names) else "")

    def as_dict(self) -> dict[str, Any]:
        """Counts, thresholds and groups as JSON values."""
        return {
            "pictures": len(self.rows),
            "issues": self.counts(),
            "thresholds": self.thresholds,
            "decisions": {each: len(paths) for each, paths in decided(self.rows).items()},
            "duplicates": [{"kind": g.kind, "members": list(g.members), "keep": g.keep} for g in self.groups],
            "seconds": round(self.seconds, 3),
        }

    def _repr_html_(self) -> str:
        from agenticiqa.audit.gallery import card_html

        return card_html(self)


def audit(
    source: Any,
    output: str | Path = "audit",
    options: AuditOptions | None = None,
    *,
    settings: Settings | None = None,
    stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[BatchProgress], None] | None = None,
    **changes: Any,
) -> Audit:
    """Audits the pictures of a folder, list, zip or data set; measurements are kept in the folder `output`.

    The same call again finishes what was interrupted and measures changed pictures anew. `changes` are fields of
    AuditOptions. Raises ManifestError for a source without pictures.
    """
    options = replace(options or AuditOptions(), **changes)
    chosen_thresholds(options.thresholds)
    chosen_issues(options.issues, options.quick)
    settings = settings or load_settings()
    store = settings.image_store()
    found, started = open_source(source, store), time.monotonic()
    records = Path(output) / MEASUREMENTS
    given = [source] if isinstance(source, str | Path) else []
    refuse_overwriting((Path(output) / name for name in FILES), (*given, *files_read(found.manifest)))
    weights = weight_set(settings.pipeline.terms)
    looked_with = {} if options.quick else {"weights": weights}
    summary = run_batch(
        found.manifest,
        records,
        _batch_options(options, found.in_memory),
        settings=settings,
        prepare=AuditWith(found.opener, store, options.quick, weights),
        identity={"audit": VERSION, "quick": options.quick, **looked_with, **found.identity},
        disk=SparingDisk(),
        stop=stop,
        on_progress=on_progress,
    )
    judged = judge(records, options.thresholds, options.quick, options.issues)
    return replace(judged, summary=summary, seconds=time.monotonic() - started)


def judge(
    records: Path,
    thresholds: Mapping[str, float] | None = None,
    quick: bool = False,
    issues: Sequence[str] | None = None,
) -> Audit:
    """The result of measurements made before, with these thresholds; nothing is measured again."""
    chosen, limits = chosen_issues(issues, quick), chosen_thresholds(thresholds)
    limits = {name: limits[name] for name in chosen}
    found: dict[str, Mapping[str, Any]] = {}
    paths: dict[str, str] = {}
    for record in standing_records(records):
        name = record.sample_id
        paths[name] = record.image_path or ""
        found[name] = record.assessment or {"corrupt": record.error, "kind": "failed"}
    exact = exact_groups(found)
    groups = [*exact, *near_groups(found, exact)]
    sizes = size_scores(
        [None if "corrupt" in each else (int(each["width"]), int(each["height"])) for each in found.values()]
    )
    rows = [
        _row(name, paths[name], each, size, limits) for (name, each), size in zip(found.items(), sizes, strict=True)
    ]
    _mark_duplicates(rows, groups, chosen)
    decide(rows, limits)
    return Audit(rows, groups, limits, chosen)


def _row(name: str, path: str, found: Mapping[str, Any], size: float | None, limits: Mapping[str, float]) -> AuditRow:
    scores = {**picture_scores(found), "odd_size": size, "exact_duplicates": 1.0, "near_duplicates": 1.0}
    row: AuditRow = {"name": name, "path": path, **{key: found.get(key) for key in ("width", "height", "bytes")}}
    for issue, limit in limits.items():
        score = scores[issue]
        row[f"{issue}_score"] = score
        row[f"is_{issue}_issue"] = score is not None and score < limit
    return {**row, "group": None, "keep": None, "error": found.get("corrupt")}


def _mark_duplicates(rows: Sequence[AuditRow], groups: Sequence[Group], chosen: Sequence[str]) -> None:
    """Flags the members of each group; one row with each number of a group has `keep`.

    Copies with the same pixels, one of which is in a group of near duplicates, get the number of that group.
    """
    by_name = {row["name"]: row for row in rows}
    copies: dict[str, tuple[str, ...]] = {}
    for number, group in enumerate(groups, 1):
        issue = f"{group.kind}_duplicates"
        if issue not in chosen:
            continue
        for member in group.members:
            by_name[member][f"{issue}_score"], by_name[member][f"is_{issue}_issue"] = 0.0, True
            for name in (member, *copies.get(member, ())):
                by_name[name]["group"], by_name[name]["keep"] = number, name == group.keep
        if group.kind == "exact":
            copies[group.keep] = group.members


def _batch_options(options: AuditOptions, in_memory: bool) -> BatchOptions:
    # A data set in memory is shared by threads; a folder's pictures are shared out to processes.
    engine = "threads" if in_memory and options.engine == "auto" else options.engine
    width = options.concurrency or (os.cpu_count() if engine == "threads" else None)
    return BatchOptions(engine=engine, concurrency=width, address=options.address, force=options.force)


class SparingDisk(Disk):
    """Waits for the disk once a second: a killed process loses nothing, a power failure at most that second."""

    _synced = 0.0

    def sync(self, descriptor: int) -> None:
        """Waits until what was written is on the disk, unless it did so just now."""
        now = time.monotonic()
        if now - self._synced >= 1.0:
            super().sync(descriptor)
            self._synced = now


def write_summary(result: Audit, path: Path) -> None:
    """The counts, thresholds and groups as JSON."""
    write_whole(path, json.dumps(result.as_dict(), indent=2) + "\n")


def require_format(kind: AuditTable) -> None:
    """Raises MissingExtraError before the work when such a table cannot be written."""
    if kind == "parquet":
        require_extra("writing Parquet", "parquet", "pyarrow")


def table_paths(output: Path, kind: AuditTable) -> list[Path]:
    """Where the table goes; for FiftyOne the files it imports a folder by."""
    return [output / "data.json", output / "labels.json"] if kind == "fiftyone" else [output / f"table.{kind}"]


def write_fiftyone(result: Audit, output: Path) -> None:
    """The pictures' places and their decision and issues as labels: FiftyOne's layout for image classification.

    Nothing is copied: data.json names the files where they are.
    """
    places, labels = table_paths(output, "fiftyone")
    found = {
        row["name"]: [row["decision"], *(name for name in result.issues if row[f"is_{name}_issue"])]
        for row in result.rows
    }
    files = {row["name"]: str(Path(row["path"]).absolute()) for row in result.rows}
    write_whole(places, json.dumps(files, indent=1, ensure_ascii=False) + "\n")
    write_whole(labels, json.dumps({"labels": found}, indent=1, ensure_ascii=False) + "\n")


def write_table(result: Audit, path: Path, kind: AuditTable) -> None:
    if kind == "fiftyone":
        write_fiftyone(result, path.parent)
    elif kind == "json":
        write_whole(path, json.dumps(result.rows, indent=1) + "\n")
    else:
        columns = result.columns()
        rows: Iterator[AuditRow] = ({name: row.get(name) for name in columns} for row in result.rows)
        if kind == "csv":
            rows = ({**row, "reasons": "; ".join(row["reasons"])} for row in rows)
        write_rows(rows, path, {name: _type(name) for name in columns})


def _type(column: str) -> type:
    if column.startswith("is_") or column == "keep":
        return bool
    if column.endswith("_score"):
        return float
    return {"reasons": list, **dict.fromkeys(("width", "height", "bytes", "group"), int)}.get(column, str)
