"""Records of one version of the product, one line a picture, through its public names alone.

`record` runs this file with the version's own code, which may be an older one, so nothing else of this repository is
imported here. What is recorded already is not done again: a run can be stopped and taken up.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SEVERITIES = ("none", "slight", "moderate", "severe", "extreme")
COLUMNS = {
    "opinions": ("id", "score", "low", "high", "low80", "high80", "findings"),
    "pairs": ("id", "score", "tools"),
    "answers": ("id", "answer"),
    "places": ("id", "boxes"),
}
# The metrics a judgement of pairs stands beside.
TOOLS = ("MDSI", "HaarPSI", "VSI", "FSIM", "MS_GMSDc", "MS_SSIM")


def record(jobs: Iterable[Mapping[str, Any]], kind: str, target: Path, code: Path = ROOT / "src",
           terms: str = "research") -> None:  # fmt: skip
    """Append to the table what the version in the folder `code` says of each job that is not there yet."""
    done = set(read_records(target))
    wanted = [job for job in jobs if job["id"] not in done]
    if not wanted:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(code), "OMP_NUM_THREADS": "1", "AGENTICIQA_PIPELINE__TERMS": terms}
    command = [sys.executable, str(Path(__file__)), kind, str(target)]
    # Below the temporary folder no settings of the current one are picked up.
    subprocess.run(command, input=json.dumps(wanted), text=True, env=environment, cwd="/", check=True)


def read_records(path: Path) -> dict[str, dict[str, str]]:
    """The rows of a table by id; none where there is no table."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as lines:
        return {row["id"]: row for row in csv.DictReader(lines)}


def main() -> None:
    """Write one row per job read from the standard input."""
    kind, target = sys.argv[1], Path(sys.argv[2])
    jobs = json.load(sys.stdin)
    fresh = not target.exists()
    with target.open("a", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        if fresh:
            writer.writerow(COLUMNS[kind])
        for number, row in enumerate(RECORDERS[kind](jobs), 1):
            writer.writerow(row)
            lines.flush()
            if number % 50 == 0:
                print(f"{target.parent.name}/{target.stem}: {number} of {len(jobs)}", file=sys.stderr, flush=True)


def opinions(jobs: list[dict[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Score, intervals and findings of whole pictures."""
    from agenticiqa import Assessor

    assessor = Assessor()
    for job in jobs:
        # A second look at the evidence does not change the score.
        found = assessor.assess(job["path"], max_replan_iterations=0)
        low, high = found.interval or (None, None)
        low80, high80 = getattr(found, "likely_interval", None) or (None, None)
        severities = {f.type: SEVERITIES.index(f.severity) for f in found.distortions if f.severity}
        told = ";".join(f"{name}:{strength}" for name, strength in severities.items() if strength)
        yield job["id"], *map(_short, (found.score, low, high, low80, high80)), told


def pairs(jobs: list[dict[str, Any]]) -> Iterator[tuple[object, ...]]:
    """The judgement against a reference, by weights of these terms, and the metrics beside it."""
    from agenticiqa import load_settings, measure

    settings = {t: load_settings(overrides={"pipeline": {"terms": t}}) for t in _terms(jobs)}
    for job in jobs:
        found = measure(job["path"], tools=["AIQA_FR", *TOOLS], reference=job["reference"], align="resize",
                        settings=settings[job["terms"]])  # fmt: skip
        own = found.pop("AIQA_FR").raw
        yield job["id"], _short(own), ";".join(f"{name}:{value.raw:.6g}" for name, value in found.items())


def answers(jobs: list[dict[str, Any]]) -> Iterator[tuple[object, ...]]:
    """The chosen option of each question."""
    from agenticiqa import Assessor

    assessor = Assessor()
    for job in jobs:
        found = assessor.assess(job["path"], job["query"], reference=job.get("reference"), choices=job["choices"])
        yield job["id"], found.answer


def places(jobs: list[dict[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Where each thing asked for by name is, in shares of the picture's sides."""
    from PIL import Image

    from agenticiqa import Assessor

    assessor = Assessor()
    for job in jobs:
        found = assessor.assess(job["path"], regions=job["names"]).regions
        with Image.open(job["path"]) as picture:
            width, height = picture.size
        sides = {
            name: (box.left / width, box.top / height, box.right / width, box.bottom / height)
            for name, box in found.items()
            if box is not None
        }
        yield job["id"], ";".join(f"{name}:{' '.join(f'{s:.3f}' for s in box)}" for name, box in sides.items())


def _terms(jobs: list[dict[str, Any]]) -> set[str]:
    return {job["terms"] for job in jobs}


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


RECORDERS = {"opinions": opinions, "pairs": pairs, "answers": answers, "places": places}

if __name__ == "__main__":
    main()
