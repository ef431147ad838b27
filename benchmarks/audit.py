"""The audit beside cleanvision: the same pictures with known faults, time, memory, precision and recall per issue.

    python -m benchmarks.audit PHOTOGRAPHS [--count 2000] [--peer PYTHON]
    python -m benchmarks.audit PHOTOGRAPHS --count 5000 --killed [--quick]   killed twice, finished, compared
    python -m benchmarks.audit PHOTOGRAPHS --count 400 --duplicates [--peer PYTHON]   copies of 8 kinds, found and false
    python -m benchmarks.audit PHOTOGRAPHS --count 20000 --memory            quick; the largest process, small pictures

PHOTOGRAPHS is a folder of ordinary photographs; PEER is the Python of an environment with cleanvision. Two fifths of
the pictures are left as they are, the rest get one fault each; among the first are pictures that are often called
blurry and are not: even surfaces, and photographs of many pixels.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.audit_pictures import TRAPS, build_duplicates, build_set, build_small

PEER_SCRIPT = """
import json, sys
from cleanvision import Imagelab
if __name__ == "__main__":
    lab = Imagelab(data_path=sys.argv[1], verbose=False)
    lab.find_issues(n_jobs=int(sys.argv[2]), verbose=False)
    table = lab.issues
    flags = {c[3:-6]: [str(i).rsplit('/', 1)[-1] for i in table.index[table[c]]]
             for c in table.columns if c.startswith('is_')}
    groups = [[str(i).rsplit('/', 1)[-1] for i in names] for kind in ('exact_duplicates', 'near_duplicates')
              for names in lab.info.get(kind, {}).get('sets', [])]
    print("RESULT" + json.dumps({"flags": flags, "pictures": len(table), "groups": groups}))
"""


class Used(NamedTuple):
    """What a command took, with every process it started, and what it printed."""

    seconds: float
    cpu: float
    megabytes: float
    shown: str

    def as_dict(self) -> dict[str, float]:
        """The figures; megabytes are those of the largest process."""
        return {"seconds": self.seconds, "cpu": self.cpu, "megabytes": self.megabytes}


def run_measured(command: Sequence[str]) -> Used:
    """Runs a command to its end; raises CalledProcessError where it fails."""
    with tempfile.TemporaryFile("w+") as shown:
        started = time.perf_counter()
        running = subprocess.Popen(command, stdout=shown, stderr=subprocess.DEVNULL)
        # What getrusage says of children is the largest of all that ever ran, of earlier commands too.
        _, status, used = os.wait4(running.pid, 0)
        seconds = time.perf_counter() - started
        running.returncode = os.waitstatus_to_exitcode(status)
        if running.returncode:
            raise subprocess.CalledProcessError(running.returncode, command)
        shown.seek(0)
        return Used(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, shown.read())


def run_ours(folder: Path, quick: bool, jobs: int) -> dict[str, Any]:
    """One audit by the command, measured as a whole from outside."""
    with tempfile.TemporaryDirectory() as output:
        command = [sys.executable, "-m", "agenticiqa", "audit", str(folder), "-o", output, "-j", str(jobs)]
        command += ["-q", "--to", "json", "--no-gallery"]
        used = run_measured([*command, *(["--quick"] if quick else [])])
        rows = json.loads((Path(output) / "table.json").read_text())
        summary = json.loads((Path(output) / "summary.json").read_text())
    issues = [name[3:-6] for name in rows[0] if name.startswith("is_")]
    flags = {issue: [row["name"] for row in rows if row[f"is_{issue}_issue"]] for issue in issues}
    groups = [group["members"] for group in summary["duplicates"]]
    return {**used.as_dict(), "flags": flags, "pictures": len(rows), "groups": groups}


def readable(folder: Path, labels: dict[str, set[str]]) -> Path:
    """A folder with the same pictures but those that cannot be opened: cleanvision ends at the first of them."""
    target = folder / "readable"
    target.mkdir(exist_ok=True)
    for file in (folder / "pictures").iterdir():
        if file.name not in labels["corrupt"] | labels["truncated"]:
            shutil.copy(file, target)
    return target


def run_peer(python: str, folder: Path, jobs: int) -> dict[str, Any]:
    """cleanvision with all its checks."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(PEER_SCRIPT)
        script.flush()
        used = run_measured([python, script.name, str(folder), str(jobs)])
    line = next(line for line in used.shown.splitlines() if line.startswith("RESULT"))
    result: dict[str, Any] = json.loads(line.removeprefix("RESULT"))
    return {**result, **used.as_dict()}


# What one fault brings about besides is neither right nor wrong: a strip is small, an empty picture has one tone.
IMPLIED = {
    "odd_size": ("odd_aspect_ratio", "many"),
    "dark": ("low_information", "low_contrast"),
    "light": ("low_information",),
    "low_contrast": ("low_information", "dark", "light", "blurry"),
    "low_information": ("dark", "light", "low_contrast", "even"),
    "grayscale": ("low_information",),
    "blurry": ("low_information", "low_contrast", "dark"),
    "near_duplicates": ("exact_duplicates",),
}


def run_killed(folder: Path, jobs: int, quick: bool) -> bool:
    """An audit killed twice, each time with everything it started, then finished: nothing lost, nothing doubled."""
    with tempfile.TemporaryDirectory() as output:
        records = Path(output) / "measurements.jsonl"
        command = [sys.executable, "-m", "agenticiqa", "audit", str(folder), "-o", output, "-j", str(jobs), "-q"]
        command += ["--no-gallery", "--to", "json", *(["--quick"] if quick else [])]
        total, kept = len(list(folder.iterdir())), list[int]()
        for share in (0.2, 0.6):
            running = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
            while running.poll() is None and _lines(records) < total * share:
                time.sleep(0.2)
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
            kept.append(_lines(records))
        shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        names = [json.loads(line)["sample_id"] for line in records.read_text().splitlines()]
        rows = len(json.loads((Path(output) / "table.json").read_text()))
    whole = len(names) == len(set(names)) == rows == total
    print(f"{total} pictures, killed with {kept[0]} and {kept[1]} records, then: {shown.splitlines()[-2]}")
    print(f"{len(names)} records, {len(set(names))} different, {rows} rows in the table:", end=" ")
    print("nothing lost or doubled" if whole else "WRONG")
    return whole


def run_many(folder: Path, jobs: int) -> None:
    """The memory of an audit of many small pictures."""
    found = run_ours(folder, True, jobs)
    rate = found["pictures"] / found["seconds"]
    print(f"{found['pictures']} pictures, {rate:.0f} per second, largest process {found['megabytes']:.0f} MB")


def duplicates_report(runs: dict[str, dict[str, Any]], copies: dict[str, tuple[str, str]]) -> str:
    """The copies of each kind that are in a group with their original, and the pairs of groups that show others."""
    kinds = list(dict.fromkeys(kind for kind, _ in copies.values()))
    lines = [f"| copies | {' | '.join(runs)} |", "|---" * (len(runs) + 1) + "|"]
    for kind in kinds:
        made = [(copy, original) for copy, (each, original) in copies.items() if each == kind]
        cells = [f"{sum(_together(run['groups'], *pair) for pair in made)} of {len(made)}" for run in runs.values()]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    false = [", ".join("+".join(pair) for pair in _false_pairs(run["groups"], copies)) for run in runs.values()]
    counts = [str(len(_false_pairs(run["groups"], copies))) for run in runs.values()]
    lines.append(f"| pairs of different photographs | {' | '.join(counts)} |")
    return "\n".join([*lines, "", *(f"{name}: {pairs}" for name, pairs in zip(runs, false, strict=True) if pairs)])


def _together(groups: list[list[str]], one: str, other: str) -> bool:
    return any(one in group and other in group for group in groups)


def _false_pairs(groups: list[list[str]], copies: dict[str, tuple[str, str]]) -> list[tuple[str, str]]:
    found = set[tuple[str, str]]()
    for group in groups:
        originals = sorted({copies[name][1] if name in copies else name for name in group})
        found.update(pairwise(originals))
    return sorted(found)


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def precision_recall(flagged: Sequence[str], issue: str, labels: dict[str, set[str]]) -> tuple[float, float]:
    """How many of the flagged are meant, and how many of the meant are flagged."""
    wanted = labels[issue]
    beside = set[str]().union(*(labels[other] for other in IMPLIED.get(issue, ()))) - wanted
    counted = set(flagged) - beside
    hits = len(wanted & counted)
    return hits / len(counted) if counted else 1.0, hits / len(wanted) if wanted else 1.0


def times(runs: dict[str, dict[str, Any]]) -> str:
    """How long each run took, from start to end of its command, as Markdown; beside cleanvision where it ran."""
    lines = [
        "| run | pictures | seconds | processor seconds | of cleanvision's | MB (largest process) |",
        "|---" * 6 + "|",
    ]
    peer = runs.get("cleanvision", {}).get("cpu")
    for name, run in runs.items():
        each = run["cpu"] / run["pictures"]
        ratio = f"{each / (peer / runs['cleanvision']['pictures']):.2f}" if peer else "–"
        lines.append(
            f"| {name} | {run['pictures']} | {run['seconds']:.1f} | {run['cpu']:.1f} | {ratio} |"
            f" {run['megabytes']:.0f} |"
        )
    return "\n".join(lines)


def report(runs: dict[str, dict[str, Any]], labels: dict[str, set[str]]) -> str:
    """The runs as Markdown."""
    lines = [times(runs)]
    lines += ["", f"| issue (pictures) | {' | '.join(f'{name}: precision, recall' for name in runs)} |"]
    lines.append("|---" * (len(runs) + 1) + "|")
    for issue in (name for name in labels if name not in (*TRAPS, "trap")):
        cells = [_cell(run, issue, labels) for run in runs.values()]
        lines.append(f"| {issue} ({len(labels[issue])}) | {' | '.join(cells)} |")
    traps = [
        f"{len(labels['trap'] & set(run['flags'].get('blurry', [])))} of {len(labels['trap'])}" for run in runs.values()
    ]
    return "\n".join([*lines, f"| even or large, called blurry | {' | '.join(traps)} |"])


def _cell(run: dict[str, Any], issue: str, labels: dict[str, set[str]]) -> str:
    if issue not in run["flags"]:
        return "–"
    precision, recall = precision_recall(run["flags"][issue], issue, labels)
    return f"{precision:.2f}, {recall:.2f}"


def main() -> None:
    """Builds the set, runs everybody once, prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("photographs", type=Path)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--peer", help="Python of an environment with cleanvision")
    parser.add_argument("--killed", action="store_true")
    parser.add_argument("--quick", action="store_true", help="the quick audit alone, not the full one")
    parser.add_argument("--duplicates", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--keep", type=Path, help="keep the pictures and their labels in this folder")
    given = parser.parse_args()
    folder = given.keep or Path(tempfile.mkdtemp())
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    if given.killed or given.memory:
        build_small(given.photographs, folder / "pictures", given.count)
        if given.memory:
            run_many(folder / "pictures", given.jobs)
        else:
            sys.exit(0 if run_killed(folder / "pictures", given.jobs, given.quick) else 1)
        return
    if given.duplicates:
        copies = build_duplicates(given.photographs, folder / "pictures", given.count)
        runs = {"quick": run_ours(folder / "pictures", True, given.jobs)}
        if given.peer:
            runs["cleanvision"] = run_peer(given.peer, folder / "pictures", given.jobs)
        if not given.quick:
            runs["full"] = run_ours(folder / "pictures", False, given.jobs)
        print(times(runs), duplicates_report(runs, copies), sep="\n\n")
        return
    labels = build_set(given.photographs, folder / "pictures", given.count)
    (folder / "labels.json").write_text(json.dumps({name: sorted(files) for name, files in labels.items()}))
    runs = {"quick": run_ours(folder / "pictures", True, given.jobs)}
    if given.peer:
        runs["cleanvision"] = run_peer(given.peer, readable(folder, labels), given.jobs)
    runs["full"] = run_ours(folder / "pictures", False, given.jobs)
    print(report(runs, labels))
    if not given.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
