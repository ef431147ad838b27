"""What uploaded files are called in results and messages: always as the one who asks called them.

Workers know files only as `image-1` and `reference`. Identical uploads of several clients share one piece of work, so
names are put in afterwards, for each client those of its own request.
"""

from __future__ import annotations

import copy
import unicodedata
from pathlib import PurePosixPath

from agenticiqa.server.workers.messages import Json, RunRequest
from agenticiqa.wording.findings import chosen_in_words

LONGEST_NAME = 120


def uploaded_name(name: str | None) -> str:
    """What an upload is called in results; browsers and curl write line ends and quotes in a form as %0D, %0A, %22."""
    return display_name((name or "").replace("%0D", "").replace("%0A", " ").replace("%22", '"'))


def display_name(name: str) -> str:
    """What a file is called in results: the last part of its name, without control characters."""
    last = PurePosixPath(name.replace("\\", "/")).name
    shown = "".join(sign for sign in last if unicodedata.category(sign)[0] != "C").strip()
    return shown[-LONGEST_NAME:] or "image"


def named_result(result: Json, request: RunRequest) -> Json:
    """A copy of a result with the files called as this request called them."""
    found = copy.deepcopy(result)
    if "assessment" in found:
        _name_images(found["assessment"], request, 1)
    if "ranking" in found:
        _name_ranking(found["ranking"], found["order"], request)
    return found


def named_problem(problem: Json, request: RunRequest) -> Json:
    """A copy of a problem whose sentence calls the files as this request called them."""
    detail = problem["detail"]
    for entry in request.files:
        detail = detail.replace(f"{entry.file}:", f"{entry.name}:")
    return {**problem, "detail": detail}


def _name_images(assessment: Json, request: RunRequest, place: int) -> None:
    reference = request.reference.name if request.reference else None
    names = {"test image": request.names[place - 1], "reference image": reference}
    for label, origin in assessment["provenance"]["images"].items():
        origin["path"] = names.get(label)


def _name_ranking(ranking: Json, order: list[int], request: RunRequest) -> None:
    """Entries and pairs by the names of the uploads; two of one name are told apart by their places."""
    shown = distinct_names(request.names)
    by_entry = {}
    for entry, place in zip(ranking["entries"], order, strict=True):
        by_entry[entry["name"]] = shown[place - 1]
        entry["name"] = shown[place - 1]
        _name_images(entry["assessment"], request, place)
    for pair in ranking["pairs"]:
        pair["first"], pair["second"] = by_entry[pair["first"]], by_entry[pair["second"]]
    if ranking.get("chosen"):
        ranking["chosen"] = [by_entry[name] for name in ranking["chosen"]]
        ranking["answer"] = chosen_in_words(ranking["chosen"])


def distinct_names(names: list[str]) -> list[str]:
    """The names, with their places where two are the same."""
    return [name if names.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(names, 1)]
