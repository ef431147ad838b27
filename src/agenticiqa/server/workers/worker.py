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

from agenticiqa.batch.engines.workers import WorkerSetup
from agenticiqa.config import ROLES, Settings
from agenticiqa.errors import AgenticIQAError
from agenticiqa.server.problems import Problem, details_of
from agenticiqa.server.workers import memory

if TYPE_CHECKING:
    from agenticiqa.assessor import Assessment, Assessor
    from agenticiqa.nodes.context import ProgressEvent

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
    from agenticiqa.weights.loader import give_memory_back

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
        return RESULT, carry_out(assessor, task, tell)
    except (AgenticIQAError, Problem) as error:
        return PROBLEM, details_of(error)
    except Exception as error:
        logger.exception("run failed")
        return PROBLEM, details_of(error)
    finally:
        memory.return_freed()


def carry_out(assessor: Assessor, task: Json, tell: Tell) -> Json:
    """The result of a run whose files lie in `task["folder"]`, under the files' own names there."""
    # Relative names keep the service's folders out of results and messages.
    os.chdir(task["folder"])
    found = [_assess(assessor, task, place, tell) for place in range(1, len(task["images"]) + 1)]
    result: Json = {"maps": []}
    if task["kind"] == "compare":
        result |= _ranked(assessor, task, found)
    else:
        result["assessment"] = found[0].model_dump(mode="json")
    if task["pictures"]:
        result["maps"] = [_pictures(task, place, assessor) for place in range(1, len(found) + 1)]
    return result


def _assess(assessor: Assessor, task: Json, place: int, tell: Tell) -> Assessment:
    from agenticiqa.assessor.ranking import query_for_each

    image, reference = task["images"][place - 1], task["reference"]
    found = assessor.assess(
        image["file"],
        query_for_each(task["query"]) if task["kind"] == "compare" else task["query"],
        reference=reference["file"] if reference else None,
        choices=task["choices"],
        align=task["align"],
        max_replan_iterations=task["max_replan_iterations"],
        on_event=lambda event: tell(*_told(event, place)),
    )
    if found.error is not None:
        # The agent says "Unable to determine" when its model cannot be used; kept as a result, an outage would be
        # handed to everybody who asks the same later.
        raise Problem("backend", found.error)
    if task["kind"] == "compare":
        tell("image", {"image": place, "score": found.score, "level": found.level})
    return found


def _told(event: ProgressEvent, place: int) -> tuple[str, Json]:
    data = {**asdict(event), "image": place}
    if event.subtask is None:
        del data["subtask"]
    return "node" if event.subtask is None else "subtask", data


def _ranked(assessor: Assessor, task: Json, found: list[Assessment]) -> Json:
    files = [entry["file"] for entry in task["images"]]
    # Ranked under their places: two uploads may have the same name.
    names = [str(place) for place in range(1, len(found) + 1)]
    ranking = assessor.rank(files, found, task["query"], names=names).model_dump(mode="json")
    return {"ranking": ranking, "order": [int(entry["name"]) for entry in ranking["entries"]]}


def _pictures(task: Json, place: int, assessor: Assessor) -> Json | None:
    from agenticiqa.server.workers.pictures import draw_pictures, draw_preview

    if place == 1 and task["reference"]:
        draw_preview(Path(task["reference"]["file"]), Path("reference.webp"), assessor.parts.settings)
    reference = Path(task["reference"]["file"]) if task["reference"] else None
    return draw_pictures(Path(task["images"][place - 1]["file"]), place, assessor.parts.settings, reference)
