"""Batches: killed and rerun, waiting backends, processes, Ray, memory. Every figure stands beside its target.

    python -m benchmarks.batch                      all of it: 300 images, 200 samples at 500 ms, 5,000 samples
    python -m benchmarks.batch --quick              the same with a tenth of the samples
    python -m benchmarks.batch kills waiting        some parts only (kills, waiting, processes, ray, memory, sizes)

Speeds are ratios of runs on one machine; another busy process spoils them, so the load is printed beside them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np
from PIL import Image

from agenticiqa.batch import BatchOptions, BatchProgress, Disk, open_manifest, read_records, run_batch
from agenticiqa.config import ROLES, load_settings
from agenticiqa.logs import configure_logging
from agenticiqa.tools.synthetic.ladder import photographs

SECONDS_PER_CALL = 0.5
CONCURRENCY = 32
WARM = 10
"""Records after which a run counts as started."""


def main() -> int:
    """The number of targets missed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    options.add_argument("--quick", action="store_true")
    options.add_argument("--job", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.job:
        print(json.dumps(run_job(json.loads(given.job))))
        return 0
    share = 0.1 if given.quick else 1.0
    missed = 0
    for name in given.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            missed += not PARTS[name](Path(folder), share)
    return missed


def kills(folder: Path, share: float) -> bool:
    """300 images, SIGKILL at five random moments, one of them in the middle of a record."""
    count, chance = int(300 * share), random.Random(5)
    draw_pictures(folder / "pictures", count)
    job = {"pictures": str(folder / "pictures"), "output": str(folder / "out.jsonl")}
    run(job | {"output": str(folder / "whole.jsonl")})
    deaths = [sorted(chance.sample(range(1, max(2, count // 6)), 1))[0] for _ in range(5)]
    killed = [begin(job | {"dies_after": after, "halfway": number == 0}).wait() for number, after in enumerate(deaths)]
    run(job)
    ours, whole = comparable(folder / "out.jsonl"), comparable(folder / "whole.jsonl")
    unique = len({record["sample_id"] for record in ours})
    print(f"kills: {killed.count(-signal.SIGKILL)} of 5 runs killed; {len(ours)} records, {unique} unique, of {count}")
    return verdict("equal to the uninterrupted run apart from times", ours == whole and unique == count)


def waiting(folder: Path, share: float) -> bool:
    """200 samples at concurrency 32 with a service that answers after 500 ms, tools off."""
    count = max(CONCURRENCY, int(200 * share))
    draw_pictures(folder / "pictures", count)
    with stand_in(SECONDS_PER_CALL) as url:
        job = {"pictures": str(folder / "pictures"), "output": str(folder / "out.jsonl"), "url": url}
        found = run(job | {"engine": "threads", "concurrency": CONCURRENCY})
    calls = found["calls"] / count
    ideal = math.ceil(count / CONCURRENCY) * calls * SECONDS_PER_CALL
    ratio = found["seconds"] / ideal
    print(f"waiting: {count} samples, {calls:g} calls each, {found['seconds']:.2f} s, {ratio:.2f} times {ideal:.2f} s")
    return verdict("at most 1.05 times", ratio <= 1.05)


def processes(folder: Path, share: float) -> bool:
    """Two processes against one with the embedded backend, beside two batches that know nothing of each other."""
    draw_pictures(folder / "pictures", int(300 * share))
    one, two = (engine_rate(folder, "processes", width) for width in (1, 2))
    apart = apart_rate(folder)
    print(f"processes: one {one:.2f}/s, two {two:.2f}/s, ratio {two / one:.2f}")
    print(f"  two batches of one process at once: {apart:.2f}/s, ratio {apart / one:.2f}: what this machine allows")
    return verdict("at least 1.9", two / one >= 1.9)


def ray(folder: Path, share: float) -> bool:
    """Ray against the local engine on 300 images, after start-up."""
    draw_pictures(folder / "pictures", int(300 * share))
    local, far = (engine_rate(folder, engine, 2) for engine in ("processes", "ray"))
    print(f"ray: processes {local:.2f}/s, ray {far:.2f}/s, ratio {far / local:.2f}")
    return verdict("at least 0.7", far / local >= 0.7)


def memory(folder: Path, share: float) -> bool:
    """Growth from sample 500 (a tenth) to the end of 5,000 samples with the scripted client."""
    count = int(5000 * share)
    draw_pictures(folder / "pictures", count)
    job = {"pictures": str(folder / "pictures"), "output": str(folder / "out.jsonl"), "backend": "scripted"}
    found = run(job | {"engine": "threads", "concurrency": 4, "watch_from": count // 10})
    print(f"memory: {count} samples, {found['grown_mb']:.1f} MB more at the end than after {count // 10}")
    return verdict("less than 100 MB", found["grown_mb"] < 100)


def sizes(folder: Path, share: float) -> bool:
    """Photographs of 512 × 512 and of 12 million pixels, one process: pictures per second and core."""
    rates = []
    for name, size, count in (("512 x 512", (512, 512), 60), ("12 megapixels", (4000, 3000), 20)):
        place = folder / name.replace(" ", "")
        place.mkdir()
        draw_photographs(place / "pictures", size, max(WARM + 2, int(count * share)))
        rates.append(engine_rate(place, "processes", 1))
        print(f"sizes: {name}: {rates[-1]:.2f} pictures per second and core")
    return verdict("both sizes finished", all(rate > 0 for rate in rates))


PARTS: dict[str, Callable[[Path, float], bool]] = {
    "kills": kills, "waiting": waiting, "processes": processes, "ray": ray, "memory": memory, "sizes": sizes,
}  # fmt: skip


def engine_rate(folder: Path, engine: str, width: int) -> float:
    """Samples per second after start-up."""
    job = {"pictures": str(folder / "pictures"), "output": str(folder / f"{engine}{width}.jsonl")}
    found = run(job | {"engine": engine, "concurrency": width})
    return float(found["warm_rate"])


def apart_rate(folder: Path) -> float:
    """Samples per second, after start-up, of two batches at once."""
    job = {"pictures": str(folder / "pictures"), "engine": "processes", "concurrency": 1}
    both = [begin(job | {"output": str(folder / f"apart{number}.jsonl")}) for number in range(2)]
    return sum(float(found_by(each)["warm_rate"]) for each in both)


def verdict(target: str, met: bool) -> bool:
    """Prints whether the target is met, with the load that may have spoiled it."""
    print(f"  target: {target}: {'met' if met else 'MISSED'} (load {os.getloadavg()[0]:.1f})", flush=True)
    return met


def comparable(path: Path) -> list[Any]:
    """The records without times."""
    return [without_times(record.values()) for record in read_records(path)]


def without_times(value: Any) -> Any:
    """The value without what a clock said."""
    if isinstance(value, dict):
        return {name: without_times(item) for name, item in value.items() if name != "seconds"}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def draw_photographs(folder: Path, size: tuple[int, int], count: int) -> None:
    """The bundled photographs at this size as JPEG, each copy cut a little differently."""
    folder.mkdir()
    sources = [Image.fromarray(each.pixels) for each in photographs().values()]
    for number in range(count):
        source, cut = sources[number % len(sources)], number // len(sources)
        part = source.crop((cut, cut, source.width, source.height))
        part.resize(size, Image.Resampling.LANCZOS).save(folder / f"{number:03}.jpg", quality=92)


def draw_pictures(folder: Path, count: int) -> None:
    """Small pictures, no two alike."""
    folder.mkdir(exist_ok=True)
    for number in range(count):
        pixels = np.random.default_rng(number).integers(0, 256, (64, 96, 3), np.uint8)
        Image.fromarray(pixels).resize((96, 64), Image.Resampling.BILINEAR).save(folder / f"{number:05}.png")


@contextmanager
def stand_in(seconds: float) -> Iterator[str]:
    """The address of a service in a process of its own."""
    command = [sys.executable, "-m", "tests.batch.waiting_server", str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.kill()


def begin(job: dict[str, Any]) -> subprocess.Popen[str]:
    """A batch in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.batch", "--job", json.dumps(job)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def run(job: dict[str, Any]) -> dict[str, Any]:
    """What a batch in a process of its own measured."""
    return found_by(begin(job))


def found_by(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The same of one that has begun."""
    output, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"the batch ended with {process.returncode}")
    found: dict[str, Any] = json.loads(output)
    return found


class MortalDisk(Disk):
    """Kills the process at its nth record, on request halfway through."""

    def __init__(self, dies_after: int | None, halfway: bool) -> None:
        self._left, self._halfway = dies_after, halfway

    def write(self, descriptor: int, content: bytes) -> int:
        if self._left is not None and content.startswith(b'{"sample_id"'):
            self._left -= 1
            if self._left == 0:
                if self._halfway:
                    super().write(descriptor, content[: len(content) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
        return super().write(descriptor, content)


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    """Runs one batch and measures it from inside."""
    roles: dict[str, Any] = {"backend": job.get("backend", "builtin.perception")}
    if job.get("url"):
        roles = {"backend": "compatible.stand-in", "base_url": job["url"]}
    pipeline = {"cache": {"enabled": False}, "logging": {"level": "ERROR"}}
    pipeline |= {"max_replan_iterations": 0} if job.get("url") else {}
    settings = load_settings(overrides={**dict.fromkeys(ROLES, roles), "pipeline": pipeline})
    configure_logging("ERROR")
    watch = Watch(job.get("watch_from", 0))
    summary = run_batch(
        open_manifest(job["pictures"]),
        Path(job["output"]),
        BatchOptions(job.get("engine", "auto"), job.get("concurrency")),
        settings=settings,
        disk=MortalDisk(job.get("dies_after"), job.get("halfway", False)),
        on_progress=watch,
    )
    return {**summary.as_dict(), **watch.found()}


class Watch:
    """Notes when the run was warm, and how much memory it had then and at the end."""

    def __init__(self, watch_from: int) -> None:
        self._watch_from = watch_from
        self._warm = (0, 0.0)
        self._last = (0, 0.0)
        self._memory = 0.0

    def __call__(self, progress: BatchProgress) -> None:
        finished = progress.answered + progress.failed
        self._last = (finished, time.monotonic())
        if finished == WARM:
            self._warm = self._last
        if finished == self._watch_from:
            self._memory = resident_megabytes()

    def found(self) -> dict[str, float]:
        """Samples per second after the first few, and the growth in megabytes."""
        count, seconds = (end - start for end, start in zip(self._last, self._warm, strict=True))
        return {"warm_rate": count / seconds if seconds else 0.0, "grown_mb": resident_megabytes() - self._memory}


def resident_megabytes() -> float:
    """Memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    sys.exit(main())
