"""What a batch would do, without doing it: nothing is asked, nothing is written."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agenticiqa.batch.cost import Engine, backends_of, choose_engine, expected_spending, require_prices
from agenticiqa.batch.journal import read_records
from agenticiqa.batch.manifest import Manifest, ManifestCheck, check_manifest
from agenticiqa.batch.output_settings import (
    header_digest,
    header_of,
    refuse_other_settings,
    refuse_unsuitable_output,
    stored_header,
)
from agenticiqa.batch.planning import Known, Plan, make_plan, refuse_changes, with_query
from agenticiqa.batch.records import Spent
from agenticiqa.batch.runner import BatchOptions
from agenticiqa.config import ROLES, Settings


@dataclass(frozen=True)
class Preview:
    """A batch before it is run; `measured` says that calls and cost come from records, not from an assumption."""

    manifest: ManifestCheck
    plan: Plan
    backends: dict[str, str]
    engine: Engine
    concurrency: int
    per_sample: Spent
    measured: bool

    @property
    def total(self) -> Spent:
        """What the samples left over will take."""
        cost = self.per_sample.cost_usd
        return Spent(self.plan.to_do * self.per_sample.calls, None if cost is None else self.plan.to_do * cost)

    def as_dict(self) -> dict[str, Any]:
        """The preview as JSON values."""
        return {**asdict(self), "total": asdict(self.total)}


def preview_batch(manifest: Manifest, output: Path, options: BatchOptions, settings: Settings) -> Preview:
    """What `run_batch` would do with the same arguments; raises what it would refuse."""
    asked = with_query(manifest, options.query)
    refuse_unsuitable_output(output, [asked.file] if asked.file else [], options.force)
    check = check_manifest(asked)
    engine, width = choose_engine(options.engine, backends_of(settings), options.concurrency, settings)
    if options.limits.max_cost is not None:
        require_prices(settings)
    header = header_of(settings, {"query": options.query, "align": options.align})
    known = Known(
        read_records(output) if output.is_file() else (), header_digest(header), header_digest(stored_header(output))
    )
    if len(known) and not options.force:
        refuse_other_settings(output, header)
        refuse_changes(asked, known, output)
    measured = known.mean_spending()
    return Preview(
        manifest=check,
        plan=make_plan(asked, known),
        backends={role: settings.role(role).backend for role in ROLES},
        engine=engine,
        concurrency=width,
        per_sample=measured or expected_spending(settings),
        measured=measured is not None,
    )
