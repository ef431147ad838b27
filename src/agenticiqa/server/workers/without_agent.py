"""Runs that ask no agent: measuring an image, auditing several, finding the smallest copy of one."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from agenticiqa.assessor.tool_measurements import Measured, measure_with, measuring_tools
from agenticiqa.audit import audit
from agenticiqa.encode import Encoding, encode
from agenticiqa.encode.searching import shipped_judge
from agenticiqa.parts import Parts
from agenticiqa.server.display_names import told_apart
from agenticiqa.server.workers.messages import AuditedImage, AuditResult, Duplicates, Kind, RunRequest, RunResult

COPY = "copy"
"""The file of a run of kind encode."""


def _measure(parts: Parts, run: RunRequest) -> RunResult:
    registry = measuring_tools(parts.settings, run.metrics)
    store = parts.settings.image_store()
    found = measure_with(registry, store, run.images[0].file, run.reference_file, run.metrics, run.align)
    return RunResult(measurements=[Measured.of(registry, one) for one in found.values()])


def _audit(parts: Parts, run: RunRequest) -> RunResult:
    files = [image.file for image in run.images]
    with tempfile.TemporaryDirectory() as kept:
        # One worker is one process: the service decides how many of them compute at once.
        found = audit(files, kept, settings=parts.settings, engine="threads", concurrency=1)
    names = dict(zip(files, told_apart(run.names), strict=True))

    def named(text: str) -> str:
        without_folder = text.replace(f"{Path.cwd()}/", "")
        return re.sub(r"\bimage-\d+\b", lambda file: names.get(file[0], file[0]), without_folder)

    rows = {row["name"]: row for row in found.rows}
    images = [
        AuditedImage(
            name=names[file],
            issues=[name for name in found.issues if rows[file][f"is_{name}_issue"]],
            decision=rows[file]["decision"],
            reasons=[named(reason) for reason in rows[file]["reasons"]],
            error=None if rows[file]["error"] is None else named(rows[file]["error"]),
        )
        for file in files
    ]
    duplicates = [
        Duplicates(kind=group.kind, members=[names[one] for one in group.members], keep=names[group.keep])
        for group in found.groups
    ]
    return RunResult(audit=AuditResult(images=images, counts=found.counts(), duplicates=duplicates))


def _encode(parts: Parts, run: RunRequest) -> RunResult:
    judge = shipped_judge(parts.settings.pipeline.terms)
    file = run.images[0].file
    # Opened for the service's limits: the encoder's own are wider.
    parts.settings.image_store().open(file)
    found = encode(file, run.format, run.min_score, max_bytes=run.max_bytes, judge=judge)
    Path(COPY).write_bytes(found.data)
    return RunResult(encoding=Encoding.of(found))


WITHOUT_AGENT: Mapping[Kind, Callable[[Parts, RunRequest], RunResult]] = {
    "measure": _measure,
    "audit": _audit,
    "encode": _encode,
}
