"""The audit beside cleanvision: the same pictures with known faults, time, memory, precision and recall per issue.

    python -m benchmarks.audit PHOTOGRAPHS [--count 2000] [--peer PYTHON]
    python -m benchmarks.audit PHOTOGRAPHS --count 5000 --killed           killed twice, finished, compared
    python -m benchmarks.audit PHOTOGRAPHS --count 20000 --memory          the largest process, small pictures

PHOTOGRAPHS is a folder of ordinary photographs; PEER is the Python of an environment with cleanvision. Two fifths of
the pictures are left as they are, the rest get one fault each; among the first are pictures that are often called
blurry and are not: even surfaces, and photographs of many pixels.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]
SEED = 20260101
# Names of ours, and of cleanvision where it has the issue.
PEER_ISSUES = ("blurry", "dark", "light", "low_information", "odd_aspect_ratio", "odd_size", "grayscale",
               "exact_duplicates", "near_duplicates")  # fmt: skip
PEER_SCRIPT = """
import json, resource, sys
from cleanvision import Imagelab
if __name__ == "__main__":
    lab = Imagelab(data_path=sys.argv[1], verbose=False)
    lab.find_issues(n_jobs=int(sys.argv[2]), verbose=False)
    table = lab.issues
    flags = {c[3:-6]: [str(i).rsplit('/', 1)[-1] for i in table.index[table[c]]]
             for c in table.columns if c.startswith('is_')}
    memory = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print("RESULT" + json.dumps({"flags": flags, "megabytes": [m / 1024 for m in memory], "pictures": len(table)}))
"""


def blurred(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Out of focus, by an amount that anybody sees."""
    side = min(pixels.shape[:2])
    return np.asarray(cv2.GaussianBlur(pixels, (0, 0), side * rng.uniform(0.010, 0.020)), np.uint8)


def darkened(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Under-exposed by two and a half to four stops."""
    return np.asarray(np.clip(pixels * rng.uniform(0.06, 0.2), 0, 255), np.uint8)


def overexposed(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Over-exposed until most of the light parts are white."""
    return np.asarray(np.clip(pixels.astype(np.float32) * rng.uniform(2.0, 3.0) + 90, 0, 255), np.uint8)


def noised(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Independent noise."""
    return np.asarray(np.clip(pixels + rng.normal(0, rng.uniform(22, 45), pixels.shape), 0, 255), np.uint8)


def flattened(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Hardly any contrast left."""
    mean = pixels.mean()
    return np.asarray(np.clip(mean + (pixels - mean) * rng.uniform(0.08, 0.18), 0, 255), np.uint8)


def tinted(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """A strong cast of a colour."""
    gains = np.array([[1.0, 0.75, 0.35], [0.4, 0.75, 1.0], [0.5, 1.0, 0.5], [1.0, 0.5, 0.9]])[rng.integers(4)]
    return np.asarray(np.clip(pixels * gains, 0, 255), np.uint8)


def emptied(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """One colour, or nearly."""
    flat = np.full_like(pixels, rng.integers(40, 220, 3))
    return np.asarray(np.clip(flat + rng.integers(-1, 2, pixels.shape), 0, 255), np.uint8)


def strip(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """A strip cut from it."""
    return np.ascontiguousarray(pixels[: max(16, pixels.shape[1] // 8)])


def resized(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """A twelfth of its size."""
    height, width = (max(24, side // 12) for side in pixels.shape[:2])
    return np.asarray(cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def greyed(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Without colour."""
    return np.asarray(cv2.cvtColor(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB), np.uint8)


def even_surface(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """A sharp photograph of which nine tenths are even sky: nothing in it is blurred."""
    height, width = pixels.shape[:2]
    top, bottom = rng.integers(120, 220, 3), rng.integers(180, 250, 3)
    ramp = np.linspace(0, 1, height)[:, None, None]
    sky = np.broadcast_to(top * (1 - ramp) + bottom * ramp, pixels.shape) + rng.normal(0, 1, pixels.shape)
    picture = np.clip(sky, 0, 255).astype(np.uint8)
    part = cv2.resize(pixels, (width // 3, height // 3), interpolation=cv2.INTER_AREA)
    picture[-part.shape[0] :, : part.shape[1]] = part
    return picture


def many_pixels(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Six times as wide, with grain: sharp at any size it is looked at, soft from pixel to pixel."""
    height, width = pixels.shape[:2]
    large = cv2.resize(pixels, (width * 6, height * 6), interpolation=cv2.INTER_LANCZOS4)
    return np.asarray(np.clip(large + rng.normal(0, 2, large.shape), 0, 255), np.uint8)


FAULTS: dict[str, Callable[[Pixels, np.random.Generator], Pixels]] = {
    "blurry": blurred, "dark": darkened, "light": overexposed, "noisy": noised, "low_contrast": flattened,
    "colour_cast": tinted, "low_information": emptied, "odd_aspect_ratio": strip, "odd_size": resized,
    "grayscale": greyed,
}  # fmt: skip
TRAPS = {"even": even_surface, "many": many_pixels}


def build_set(photographs: Path, folder: Path, count: int) -> dict[str, set[str]]:
    """Writes the pictures, and returns the names of those with each fault; traps are under `trap`."""
    rng = np.random.default_rng(SEED)
    files = sorted(p for p in photographs.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png"))
    chosen = [files[index] for index in rng.permutation(len(files))[:count]]
    kinds = [*FAULTS, "corrupt", "truncated", "exact_duplicates", "near_duplicates", *TRAPS]
    labels: dict[str, set[str]] = {kind: set() for kind in (*kinds, "trap")}
    written, number = 0, 0
    while written < count:
        pixels = _fitted(chosen[number % len(chosen)], rng, fresh=number < len(chosen))
        # Two fifths stay as they are.
        kind = kinds[number // 2 % len(kinds)] if number % 2 else None
        written += _write(folder, f"{number:06}", pixels, kind, rng, labels)
        number += 1
    return labels


def _fitted(path: Path, rng: np.random.Generator, fresh: bool) -> Pixels:
    with Image.open(path) as image:
        picture = image.convert("RGB")
    picture.thumbnail((512, 512))
    pixels = np.asarray(picture)
    if fresh:
        return pixels
    # A source used again is cropped and mirrored, so that it is another picture and no near duplicate.
    height, width = pixels.shape[:2]
    top, left = int(rng.integers(height // 3 + 1)), int(rng.integers(width // 3 + 1))
    return np.ascontiguousarray(pixels[top : top + height * 2 // 3, left : left + width * 2 // 3][:, ::-1])


def _write(
    folder: Path, name: str, pixels: Pixels, kind: str | None, rng: np.random.Generator, labels: dict[str, set[str]]
) -> int:
    """Writes one picture, or two where they are duplicates, and says how many."""
    data = _jpeg(pixels)
    if kind in ("exact_duplicates", "near_duplicates"):
        twin = data if kind == "exact_duplicates" else _jpeg(_slightly_changed(pixels, rng), 70)
        for suffix, content in (("a", data), ("b", twin)):
            (folder / f"{name}{suffix}.jpg").write_bytes(content)
            labels[kind].add(f"{name}{suffix}.jpg")
        return 2
    file = f"{name}.jpg"
    if kind == "corrupt":
        data = rng.bytes(len(data))
    elif kind == "truncated":
        data = data[: int(len(data) * rng.uniform(0.4, 0.8))] if rng.random() < 0.5 else _jpeg(_banded(pixels, rng))
    elif kind is not None:
        file = f"{name}.png" if kind == "low_information" else file
        changed = (FAULTS | TRAPS)[kind](pixels, rng)
        data = _png(changed) if kind == "low_information" else _jpeg(changed)
    (folder / file).write_bytes(data)
    if kind is not None:
        labels[kind].add(file)
        labels["trap"].update([file] if kind in TRAPS else [])
    return 1


def _banded(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """What a decoder makes of a file that ended early, saved again."""
    changed = pixels.copy()
    changed[int(pixels.shape[0] * rng.uniform(0.5, 0.9)) :] = 128
    return changed


def _slightly_changed(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Smaller, a little cropped and a little brighter, as copies on the web are."""
    cut = pixels[2:-2, 2:-2]
    small = cv2.resize(cut, None, fx=0.8, fy=0.8, interpolation=cv2.INTER_AREA)
    return np.asarray(np.clip(small.astype(np.float32) * rng.uniform(0.95, 1.05), 0, 255), np.uint8)


def _jpeg(pixels: Pixels, quality: int = 92) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=quality)
    return stream.getvalue()


def _png(pixels: Pixels) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def run_ours(folder: Path, quick: bool, jobs: int) -> dict[str, Any]:
    """One audit by the command, measured as a whole from outside."""
    with tempfile.TemporaryDirectory() as output:
        command = [sys.executable, "-m", "agenticiqa", "audit", str(folder), "-o", output, "-j", str(jobs)]
        command += ["-q", "--to", "json", "--no-gallery"]
        started, before = time.perf_counter(), _processor_seconds()
        subprocess.run([*command, *(["--quick"] if quick else [])], check=True, capture_output=True)
        seconds, cpu = time.perf_counter() - started, _processor_seconds() - before
        rows = json.loads((Path(output) / "table.json").read_text())
    issues = [name[3:-6] for name in rows[0] if name.startswith("is_")]
    flags = {issue: [row["name"] for row in rows if row[f"is_{issue}_issue"]] for issue in issues}
    megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"seconds": seconds, "cpu": cpu, "flags": flags, "megabytes": [megabytes], "pictures": len(rows)}


def _processor_seconds() -> float:
    """What all processes that were started and have ended took of a processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
        command, before = [python, script.name, str(folder), str(jobs)], _processor_seconds()
        started = time.perf_counter()
        shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seconds, cpu = time.perf_counter() - started, _processor_seconds() - before
    line = next(line for line in shown.splitlines() if line.startswith("RESULT"))
    result: dict[str, Any] = json.loads(line.removeprefix("RESULT"))
    return {**result, "seconds": seconds, "cpu": cpu}


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


def run_killed(folder: Path, jobs: int) -> bool:
    """An audit killed twice, each time with everything it started, then finished: nothing lost, nothing doubled."""
    with tempfile.TemporaryDirectory() as output:
        records = Path(output) / "measurements.jsonl"
        command = [sys.executable, "-m", "agenticiqa", "audit", str(folder), "-o", output, "-j", str(jobs), "-q"]
        command += ["--quick", "--no-gallery", "--to", "json"]
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
    whole = len(names) == len(set(names)) == total
    print(f"{total} pictures, killed with {kept[0]} and {kept[1]} records, then: {shown.splitlines()[-2]}")
    print(f"{len(names)} records, {len(set(names))} different: {'nothing lost or doubled' if whole else 'WRONG'}")
    return whole


def run_many(folder: Path, jobs: int) -> None:
    """The memory of an audit of many small pictures."""
    found = run_ours(folder, True, jobs)
    rate = found["pictures"] / found["seconds"]
    print(f"{found['pictures']} pictures, {rate:.0f} per second, largest process {max(found['megabytes']):.0f} MB")


def build_small(photographs: Path, folder: Path, count: int) -> None:
    """Pictures of 96 pixels, no two alike, cut from photographs."""
    rng = np.random.default_rng(SEED)
    files = sorted(p for p in photographs.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png"))[:200]
    sources = [_fitted(file, rng, fresh=True) for file in files]
    for number in range(count):
        pixels = sources[number % len(sources)]
        top, left = (int(rng.integers(max(1, side - 96))) for side in pixels.shape[:2])
        (folder / f"{number:06}.jpg").write_bytes(_jpeg(np.ascontiguousarray(pixels[top : top + 96, left : left + 96])))


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
            f" {max(run['megabytes']):.0f} |"
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
            sys.exit(0 if run_killed(folder / "pictures", given.jobs) else 1)
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
