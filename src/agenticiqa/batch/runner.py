"""Running a batch: what is left of the manifest goes through an engine, and every record is kept at once.

`preview_batch` says beforehand what would be done; nothing is asked, nothing is written.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from agenticiqa.batch import cost
from agenticiqa.batch import existing_output as existing
from agenticiqa.batch.cost import Budget, Engine, Limits
from agenticiqa.batch.journal import Disk, Journal, LineStream, is_stream, read_records
from agenticiqa.batch.manifest import Manifest, ManifestCheck, check_manifest, files_read
from agenticiqa.batch.processes import ProcessPool
from agenticiqa.batch.samples import AssessWith, BatchRecord, Prepare, Sample, Spent
from agenticiqa.batch.workers import ThreadPool, WorkerPool, carry_out, worker_setup_of
from agenticiqa.config import ROLES, Settings, load_settings
from agenticiqa.images import Align

logger = logging.getLogger("agenticiqa.batch")

INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class BatchOptions:
    """How a batch is run; `force` goes on although settings or samples changed.

    `measure` names tools that every picture is measured with besides, for rules that need them.
    """

    engine: Literal["auto", "threads", "processes", "ray"] = "auto"
    concurrency: int | None = None
    address: str | None = None
    query: str | None = None
    align: Align | None = None
    force: bool = False
    limits: Limits = field(default_factory=Limits)
    measure: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()


@dataclass(frozen=True)
class BatchProgress:
    """Where a run stands."""

    samples: int
    done_before: int
    answered: int
    failed: int
    calls: int
    cost_usd: float | None
    seconds: float

    @property
    def rate(self) -> float:
        """Samples finished per second in this run."""
        return (self.answered + self.failed) / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At this rate."""
        rest = self.samples - self.done_before - self.answered - self.failed
        return rest / self.rate if self.rate > 0 else None


@dataclass(frozen=True)
class BatchSummary(BatchProgress):
    """What a run did; `remaining` samples still have no answer, `stopped` says why it ended before the last one."""

    remaining: int
    stopped: str | None
    engine: Engine
    concurrency: int
    judged_again: int = 0
    """Answers that no longer held: of changed pictures, questions, settings or models."""
    gone: int = 0
    """Records marked gone by this run: their pictures were deleted or overwritten, and it was not asked about them."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


OnProgress = Callable[[BatchProgress], None]
OnRecord = Callable[[BatchRecord], None]


def run_batch(
    manifest: Manifest,
    output: Path,
    options: BatchOptions | None = None,
    *,
    settings: Settings | None = None,
    prepare: Prepare | None = None,
    identity: Mapping[str, Any] | None = None,
    disk: Disk | None = None,
    stop: Callable[[], bool] = lambda: False,
    on_progress: OnProgress | None = None,
    on_record: OnRecord | None = None,
) -> BatchSummary:
    """Assesses every sample that has no answer in `output` that still holds, and returns what was done.

    An answer holds for the same picture, question, settings and model. `-`, a pipe or a device as `output` receives
    the records as lines and remembers nothing. `prepare` replaces the assessor, `identity` adds what its records
    depend on; `on_record` is given every new record; once `stop` says so, no new sample is begun. Raises
    ManifestError, OutputError, SettingsError and the like before anything is paid for, JournalError when a record
    cannot be kept.
    """
    options, settings = options or BatchOptions(), settings or load_settings()
    request = _checked(manifest, output, options, settings, identity or {})
    asked, engine, width = request.asked, request.engine, request.width
    with LineStream(output) if is_stream(output) else Journal(output, disk) as journal:
        known = _agreed(asked, journal, request.header, options.force)
        plan = existing.make_plan(asked, known)
        budget = Budget(options.limits, cost.expected_spending(settings))
        run = _Run(plan, budget, stop, on_progress, existing.header_digest(request.header))
        gone = _mark_gone(asked, journal)
        if plan.to_do:
            with closing(_open_pool(engine, width, options, settings, prepare)) as pool:
                run.work(pool, existing.left_over(asked, known), journal, on_record)
        journal.compact(sample.sample_id for sample in asked)
        return replace(run.summary(engine, width), gone=gone)


@dataclass(frozen=True)
class Preview:
    """A batch before it is run; `measured` says that calls and cost come from records, not from an assumption."""

    manifest: ManifestCheck
    plan: existing.Plan
    backends: dict[str, str]
    engine: Engine
    concurrency: int
    per_sample: Spent
    measured: bool

    @property
    def total(self) -> Spent:
        """What the samples left over will take."""
        each = self.per_sample.cost_usd
        return Spent(self.plan.to_do * self.per_sample.calls, None if each is None else self.plan.to_do * each)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "total": asdict(self.total)}


def preview_batch(manifest: Manifest, output: Path, options: BatchOptions, settings: Settings) -> Preview:
    """What `run_batch` would do with the same arguments; raises what it would refuse."""
    request = _checked(manifest, output, options, settings, {})
    records = read_records(output) if output.is_file() else ()
    known = existing.KnownRecords(
        records, existing.header_digest(request.header), existing.header_digest(existing.stored_header(output))
    )
    if not options.force:
        _refuse_changes(request.asked, known, output, request.header)
    measured = known.mean_spending()
    return Preview(
        manifest=request.check,
        plan=existing.make_plan(request.asked, known),
        backends={role: settings.role(role).backend for role in ROLES},
        engine=request.engine,
        concurrency=request.width,
        per_sample=measured or cost.expected_spending(settings),
        measured=measured is not None,
    )


@dataclass(frozen=True)
class _Request:
    """A batch that may be run: its samples with their questions, its engine, and what its records depend on."""

    asked: Manifest
    check: ManifestCheck
    engine: Engine
    width: int
    header: existing.Header


def _checked(
    manifest: Manifest, output: Path, options: BatchOptions, settings: Settings, identity: Mapping[str, Any]
) -> _Request:
    """The request behind these arguments; raises what can be refused before the output is opened."""
    asked = existing.with_query(manifest, options.query)
    existing.refuse_unsuitable_output(output, files_read(asked), options.force)
    check = check_manifest(asked)
    engine, width = cost.choose_engine(options.engine, cost.backends_of(settings), options.concurrency, settings)
    if options.limits.max_cost is not None:
        cost.require_prices(settings)
    header = existing.header_of(settings, {"query": options.query, "align": options.align, **identity})
    return _Request(asked, check, engine, width, header)


def _agreed(
    asked: Manifest, journal: Journal | LineStream, header: existing.Header, force: bool
) -> existing.KnownRecords:
    """What the output's records say, after its settings were compared with this run's."""
    if isinstance(journal, LineStream):
        return existing.KnownRecords()
    stored = existing.stored_header(journal.path)
    made_with, made_before = existing.header_digest(header), existing.header_digest(stored)
    known = existing.KnownRecords(journal.records(), made_with, made_before)
    if not force:
        _refuse_changes(asked, known, journal.path, header)
    if stored != header:
        existing.store_header(journal.path, header)
    return known


def _refuse_changes(asked: Manifest, known: existing.KnownRecords, output: Path, header: existing.Header) -> None:
    if len(known):
        existing.refuse_other_settings(output, header)
        existing.refuse_changes(asked, known, output)


def _mark_gone(asked: Manifest, journal: Journal | LineStream) -> int:
    """How many records of deleted or overwritten pictures were marked; they stay in the file and count no more."""
    if isinstance(journal, LineStream):
        return 0
    # Of a file that a crash left with several lines per id, the last one counts.
    last = {record.sample_id: record for record in existing.gone_records(asked, read_records(journal.path))}
    for record in last.values():
        journal.append(record)
    return len(last)


class _Run:
    """One run's counts, from the first sample to the summary."""

    def __init__(
        self,
        plan: existing.Plan,
        budget: Budget,
        stop: Callable[[], bool],
        on_progress: OnProgress | None,
        made_with: str | None,
    ) -> None:
        self._plan, self._budget, self._made_with = plan, budget, made_with
        self._stop, self._report_progress = stop, on_progress or (lambda progress: None)
        self._started = time.monotonic()
        self._stopped: str | None = None

    def work(
        self, pool: WorkerPool, samples: Iterator[Sample], journal: Journal | LineStream, on_record: OnRecord | None
    ) -> None:
        """Sends the samples through the pool and keeps every record; the time it took to load is not counted."""
        self._started = time.monotonic()
        self._report_progress(self.progress())
        for found in carry_out(pool, lambda under_way: self._next(samples, under_way)):
            record = found.model_copy(update={"made_with": self._made_with})
            journal.append(record)
            self._budget.book(record)
            if record.error is not None:
                logger.warning("%s failed: %s", record.sample_id, record.error)
            self._report_progress(self.progress())
            if on_record is not None:
                on_record(record)

    def progress(self) -> BatchProgress:
        budget = self._budget
        return BatchProgress(
            samples=self._plan.samples,
            done_before=self._plan.done,
            answered=self._answered,
            failed=budget.failures,
            calls=budget.spent.calls,
            cost_usd=budget.spent.cost_usd,
            seconds=round(time.monotonic() - self._started, 3),
        )

    def summary(self, engine: Engine, width: int) -> BatchSummary:
        # A limit that ended the run with nothing left over stopped nothing.
        stopped = self._stopped if self._budget.finished < self._plan.to_do else None
        return BatchSummary(
            **vars(self.progress()),
            remaining=self._plan.to_do - self._answered,
            stopped=stopped,
            engine=engine,
            concurrency=width,
            judged_again=self._plan.judged_again,
        )

    @property
    def _answered(self) -> int:
        return self._budget.finished - self._budget.failures

    def _next(self, samples: Iterator[Sample], under_way: int) -> Sample | None:
        self._stopped = INTERRUPTED if self._stop() else self._budget.exhausted(under_way)
        return None if self._stopped else next(samples, None)


def _open_pool(
    engine: Engine, width: int, options: BatchOptions, settings: Settings, prepare: Prepare | None
) -> WorkerPool:
    def loading(lanes: int, processes: int = 1) -> Prepare:
        return prepare or AssessWith(
            cost.settings_per_process(settings, lanes, processes), options.align, options.measure, options.regions
        )

    if engine == "threads":
        return ThreadPool(loading(width), width)
    if engine == "processes":
        return ProcessPool(loading(1, width), width, worker_setup_of(settings))
    from agenticiqa.batch.ray import RayPool

    actors, lanes = cost.actors_for(width, cost.backends_of(settings))
    return RayPool(loading(lanes, actors), actors, lanes, options.address, worker_setup_of(settings))
