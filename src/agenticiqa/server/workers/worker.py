"""A worker process: takes one run after the other, says what it is doing, hands back result or problem."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenticiqa.batch.workers import WorkerSetup
from agenticiqa.config import ROLES, Settings
from agenticiqa.errors import AgenticIQAError
from agenticiqa.server.problems import Problem, details_of
from agenticiqa.server.workers import memory

if TYPE_CHECKING:
    from agenticiqa.assessor import Assessment, Assessor
    from agenticiqa.nodes.context import ProgressEvent
    from agenticiqa.server.workers.messages import RunRequest, RunResult

logger = logging.getLogger("agenticiqa.server.worker")

Json = dict[str, Any]
Tell = Callable[[str, Json], None]
NICENESS = 5
READY, EVENT, RESULT, PROBLEM = "ready", "event", "result", "problem"


def work(connection: Connection, settings: Settings, setup: WorkerSetup) -> None:
    """Serves runs until the other end of the connection closes."""
    # The service decides when a worker stops: a Ctrl-C reaches the whole group of processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    setup.apply()
    assessor = frugal_assessor(settings)
    warm_up(assessor)
    # The service has to answer while its workers compute; loading is short and holds up everybody who waits.
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    connection.send((READY, {}))
    while True:
        try:
            task: Json = connection.recv()
        except EOFError:
            return
        connection.send(_outcome(assessor, task, lambda kind, data: connection.send((EVENT, {"type": kind, **data}))))


def frugal_assessor(settings: Settings) -> Assessor:
    """An assessor for a process that lives long and may not grow."""
    from agenticiqa.assessor import Assessor
    from agenticiqa.weights import give_memory_back

    give_memory_back()
    memory.keep_little()
    return Assessor(settings)


def warm_up(assessor: Assessor) -> None:
    """Loads the embedded models, so that the first client does not wait for them; others cost money to ask."""
    roles = (assessor.parts.settings.role(name) for name in ROLES)
    if all(role.backend.startswith("builtin.") for role in roles):
        import numpy as np

        grey = np.random.default_rng(0).integers(96, 160, (96, 96, 3), np.uint8)
        assessor.assess(grey)


def _outcome(assessor: Assessor, task: Json, tell: Tell) -> tuple[str, Json]:
    try:
        from agenticiqa.server.workers.messages import RunRequest

        return RESULT, carry_out(assessor, RunRequest.model_validate(task), tell).as_json()
    except (AgenticIQAError, Problem) as error:
        return PROBLEM, details_of(error)
    except Exception as error:
        logger.exception("run failed")
        return PROBLEM, details_of(error)
    finally:
        memory.return_freed()


def carry_out(assessor: Assessor, run: RunRequest, tell: Tell) -> RunResult:
    """The result of a run whose files lie in its folder, under the files' own names there."""
    from agenticiqa.server.workers.messages import RunResult
    from agenticiqa.server.workers.without_agent import WITHOUT_AGENT

    # Relative names keep the service's folders out of results and messages.
    os.chdir(run.folder)
    if run.kind not in ("assess", "compare"):
        return WITHOUT_AGENT[run.kind](assessor.parts, run)
    places = range(1, len(run.images) + 1)
    found = [_assess(assessor, run, place, tell) for place in places]
    maps = [_pictures(run, place, assessor) for place in places] if run.pictures else []
    if run.kind == "assess":
        return RunResult(maps=maps, assessment=found[0])
    # Ranked under their places: two uploads may have the same name.
    files, names = [image.file for image in run.images], [str(place) for place in places]
    ranking = assessor.rank(files, found, run.query, names=names)
    return RunResult(maps=maps, ranking=ranking, order=[int(entry.name) for entry in ranking.entries])


def _assess(assessor: Assessor, run: RunRequest, place: int, tell: Tell) -> Assessment:
    from agenticiqa.assessor.ranking import query_for_each

    longest = assessor.parts.settings.pipeline.limits.max_query_characters
    found = assessor.assess(
        run.images[place - 1].file,
        query_for_each(run.query, longest) if run.kind == "compare" else run.query,
        reference=run.reference_file,
        choices=run.choices,
        align=run.align,
        max_replan_iterations=run.max_replan_iterations,
        on_event=lambda event: tell(*_told(event, place)),
    )
    if found.error is not None:
        # The agent says "Unable to determine" when its model cannot be used; kept as a result, an outage would be
        # handed to everybody who asks the same later.
        raise Problem("backend", found.error)
    if run.kind == "compare":
        tell("image", {"image": place, "score": found.score, "level": found.level})
    return found


def _told(event: ProgressEvent, place: int) -> tuple[str, Json]:
    data = {**asdict(event), "image": place}
    if event.subtask is None:
        del data["subtask"]
    return "node" if event.subtask is None else "subtask", data


def _pictures(run: RunRequest, place: int, assessor: Assessor) -> Json | None:
    from agenticiqa.server.workers.pictures import draw_pictures, draw_preview

    reference = Path(run.reference_file) if run.reference_file else None
    if place == 1 and reference is not None:
        draw_preview(reference, Path("reference.webp"), assessor.parts.settings)
    return draw_pictures(Path(run.images[place - 1].file), place, assessor.parts.settings, reference)
