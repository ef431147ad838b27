"""A worker process: takes one run after the other, says what it is doing, hands back result or problem."""

from __future__ import annotations

import logging
import os
import re
import signal
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from agenticiqa.assessor import Assessment, Assessor
from agenticiqa.assessor.ranking import query_for_each
from agenticiqa.assessor.tool_measurements import Measured, measure_with, measuring_tools
from agenticiqa.audit import audit
from agenticiqa.batch.workers import WorkerSetup
from agenticiqa.config import ROLES, Settings
from agenticiqa.encode import Encoding, encode
from agenticiqa.encode.searching import shipped_judge
from agenticiqa.errors import AgenticIQAError
from agenticiqa.nodes.context import ProgressEvent
from agenticiqa.parts import Parts
from agenticiqa.server.display_names import distinct_names
from agenticiqa.server.problems import Problem, problem_of
from agenticiqa.server.workers import memory
from agenticiqa.server.workers.messages import AuditedImage, AuditResult, Duplicates, Json, Kind, RunRequest, RunResult
from agenticiqa.server.workers.pictures import draw_pictures, draw_preview
from agenticiqa.weights import give_memory_back

logger = logging.getLogger("agenticiqa.server.worker")

Tell = Callable[[str, Json], None]
# The service has to answer while its workers compute.
NICENESS = 5
READY, EVENT, RESULT, PROBLEM = "ready", "event", "result", "problem"
# The file of a run of kind encode.
COPY = "copy"


def work(connection: Connection, settings: Settings, setup: WorkerSetup) -> None:
    """Serves runs until the other end of the connection closes."""
    # The service decides when a worker stops: a Ctrl-C reaches the whole group of processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    setup.apply()
    assessor = frugal_assessor(settings)
    warm_up(assessor)
    # Only now: loading is short and holds up everybody who waits.
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    connection.send((READY, {}))
    while True:
        try:
            kind, folder, request = connection.recv()
        except EOFError:
            return

        def tell(event: str, data: Json) -> None:
            connection.send((EVENT, {"type": event, **data}))

        connection.send(outcome_of(assessor, kind, folder, request, tell))


def frugal_assessor(settings: Settings) -> Assessor:
    """An assessor for a process that lives long and may not grow."""
    give_memory_back()
    memory.keep_little()
    return Assessor(settings)


def warm_up(assessor: Assessor) -> None:
    """Loads the embedded models, so that the first client does not wait for them; others cost money to ask."""
    roles = (assessor.parts.settings.role(name) for name in ROLES)
    if all(role.backend.startswith("builtin.") for role in roles):
        assessor.assess(np.random.default_rng(0).integers(96, 160, (96, 96, 3), np.uint8))


def outcome_of(assessor: Assessor, kind: Kind, folder: Path, request: RunRequest, tell: Tell) -> tuple[str, Json]:
    """What comes of a run whose files lie in that folder: RESULT or PROBLEM, and its JSON values."""
    try:
        # Relative names keep the service's folders out of results and messages.
        os.chdir(folder)
        return RESULT, carry_out(assessor, kind, request, tell).as_json()
    except Exception as error:
        if not isinstance(error, AgenticIQAError | Problem):
            logger.exception("run failed")
        return PROBLEM, problem_of(error).as_details()
    finally:
        memory.return_freed()


def carry_out(assessor: Assessor, kind: Kind, run: RunRequest, tell: Tell) -> RunResult:
    """The result of a run whose files lie in the working folder, under the files' own names there."""
    if kind == "measure":
        return _measure(assessor.parts, run)
    if kind == "audit":
        return _audit(assessor.parts, run)
    if kind == "encode":
        return _encode(assessor.parts, run)
    places = range(1, len(run.images) + 1)
    query = run.query
    if kind == "compare":
        query = query_for_each(query, assessor.parts.settings.pipeline.limits.max_query_characters)
    found = []
    for place in places:
        found.append(_assess(assessor, run, query, place, tell))
        if kind == "compare":
            tell("image", {"image": place, "score": found[-1].score, "level": found[-1].level})
    maps = [_pictures(run, place, assessor.parts.settings) for place in places] if run.pictures else []
    if kind == "assess":
        return RunResult(maps=maps, assessment=found[0])
    # Ranked under their places: two uploads may have the same name.
    files, names = [image.file for image in run.images], [str(place) for place in places]
    ranking = assessor.rank(files, found, run.query, names=names)
    return RunResult(maps=maps, ranking=ranking, order=[int(entry.name) for entry in ranking.entries])


def _assess(assessor: Assessor, run: RunRequest, query: str | None, place: int, tell: Tell) -> Assessment:
    def on_event(event: ProgressEvent) -> None:
        data = {name: value for name, value in asdict(event).items() if name != "subtask" or value is not None}
        tell("node" if event.subtask is None else "subtask", {**data, "image": place})

    found = assessor.assess(
        run.images[place - 1].file,
        query,
        reference=run.reference_file,
        choices=run.choices,
        align=run.align,
        max_replan_iterations=run.max_replan_iterations,
        on_event=on_event,
    )
    if found.error is not None:
        # The agent says "Unable to determine" when its model cannot be used; kept as a result, an outage would be
        # handed to everybody who asks the same later.
        raise Problem("backend", found.error)
    return found


def _pictures(run: RunRequest, place: int, settings: Settings) -> Json | None:
    reference = Path(run.reference_file) if run.reference_file else None
    if place == 1 and reference is not None:
        draw_preview(reference, Path("reference.webp"), settings)
    return draw_pictures(Path(run.images[place - 1].file), place, settings, reference)


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
    names = dict(zip(files, distinct_names(run.names), strict=True))

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
