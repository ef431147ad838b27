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

from agenticiqa.batch.worker import Surroundings
from agenticiqa.config import ROLES, Settings
from agenticiqa.errors import AgenticIQAError
from agenticiqa.server.problems import details_of

if TYPE_CHECKING:
    from agenticiqa.assessor import Assessment, Assessor
    from agenticiqa.nodes.progress import ProgressEvent

logger = logging.getLogger("agenticiqa.server.worker")

Json = dict[str, Any]
Tell = Callable[[str, Json], None]
NICENESS = 5
READY, EVENT, RESULT, PROBLEM = "ready", "event", "result", "problem"


def work(connection: Connection, settings: Settings, surroundings: Surroundings) -> None:
    """Serves runs until the other end of the connection closes."""
    # The service decides when a worker stops: a Ctrl-C reaches the whole group of processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # The service has to answer while its workers compute.
    os.nice(NICENESS)
    surroundings.enter()
    from agenticiqa.assessor import Assessor

    assessor = Assessor(settings)
    warm_up(assessor)
    connection.send((READY, {}))
    while True:
        try:
            task: Json = connection.recv()
        except EOFError:
            return
        connection.send(_outcome(assessor, task, lambda kind, data: connection.send((EVENT, {"type": kind, **data}))))


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
    except AgenticIQAError as error:
        return PROBLEM, _with_names(details_of(error), task)
    except Exception as error:
        logger.exception("run failed")
        return PROBLEM, details_of(error)


def carry_out(assessor: Assessor, task: Json, tell: Tell) -> Json:
    """The result of a run whose files lie in `task["folder"]`."""
    # Relative names keep the service's folders out of results and messages.
    os.chdir(task["folder"])
    found = [_assess(assessor, task, place, tell) for place in range(1, len(task["images"]) + 1)]
    result: Json = {"maps": []}
    if task["kind"] == "compare":
        result |= _ranked([entry["name"] for entry in task["images"]], found)
    else:
        result["assessment"] = found[0].model_dump(mode="json")
    if task["pictures"]:
        result["maps"] = [_pictures(task, place, assessor) for place in range(1, len(found) + 1)]
    return result


def _assess(assessor: Assessor, task: Json, place: int, tell: Tell) -> Assessment:
    image, reference = task["images"][place - 1], task["reference"]
    found = assessor.assess(
        image["file"],
        task["query"],
        reference["file"] if reference else None,
        task["choices"],
        task["max_replan_iterations"],
        lambda event: tell(*_told(event, place)),
        align=task["align"],
    )
    if task["kind"] == "compare":
        tell("image", {"image": place, "score": found.score, "level": found.level})
    return _under_names(found, image["name"], reference["name"] if reference else None)


def _told(event: ProgressEvent, place: int) -> tuple[str, Json]:
    data = {**asdict(event), "image": place}
    if event.subtask is None:
        del data["subtask"]
    return "node" if event.subtask is None else "subtask", data


def _under_names(found: Assessment, image: str, reference: str | None) -> Assessment:
    """The assessment with the files called as the client called them."""
    names = {"test image": image, "reference image": reference}
    images = {
        label: origin.model_copy(update={"path": names.get(label)}) for label, origin in found.provenance.images.items()
    }
    return found.model_copy(update={"provenance": found.provenance.model_copy(update={"images": images})})


def _with_names(problem: Json, task: Json) -> Json:
    files = [*task["images"], *([task["reference"]] if task["reference"] else [])]
    for entry in files:
        problem = problem | {"detail": problem["detail"].replace(f"{entry['file']}:", f"{entry['name']}:")}
    return problem


def _ranked(names: list[str], found: list[Assessment]) -> Json:
    from agenticiqa.assessor import rank

    # Ranked under their places first: two uploads may have the same name.
    ranking = rank([str(place) for place in range(1, len(found) + 1)], found).model_dump(mode="json")
    order = [int(entry["name"]) for entry in ranking["entries"]]
    shown = {str(place): name for place, name in enumerate(_distinct(names), 1)}
    for entry in ranking["entries"]:
        entry["name"] = shown[entry["name"]]
    for pair in ranking["pairs"]:
        pair["first"], pair["second"] = shown[pair["first"]], shown[pair["second"]]
    return {"ranking": ranking, "order": order}


def _distinct(names: list[str]) -> list[str]:
    return [name if names.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(names, 1)]


def _pictures(task: Json, place: int, assessor: Assessor) -> Json | None:
    from agenticiqa.server.pictures import draw_pictures, draw_preview

    if place == 1 and task["reference"]:
        draw_preview(Path(task["reference"]["file"]), Path("reference.webp"), assessor.parts.settings)
    return draw_pictures(Path(task["images"][place - 1]["file"]), place, assessor.parts.settings)
