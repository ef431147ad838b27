"""Work done by several threads or processes on the same files, and by the same process many times over."""

from __future__ import annotations

import gc
import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from agenticiqa.batch import BatchRecord, Journal
from agenticiqa.cache import Cache
from agenticiqa.errors import OutputInUseError

NAMESPACE = "shared"
VALUE = "measured " * 20


def write_and_read(arguments: tuple[str, int, int]) -> tuple[int, int]:
    """Puts and gets texts in a cache that others use too; (answers that were another's, answers that were found)."""
    path, seed, rounds = arguments
    cache, rng, wrong, found = Cache(Path(path), max_bytes=400_000), random.Random(seed), 0, 0
    for _ in range(rounds):
        key = str(rng.randrange(200))
        cache.put(NAMESPACE, key, f"{key}: {VALUE}")
        got = cache.get(NAMESPACE, str(rng.randrange(200)))
        found += got is not None
        wrong += got is not None and not got.endswith(VALUE)
    cache.close()
    return wrong, found


def keep_records(arguments: tuple[str, int, int]) -> int:
    """Appends records to a journal that others want too, and says how often it was in use."""
    path, seed, records = arguments
    turned_away = 0
    for number in range(records):
        while True:
            try:
                with Journal(Path(path)) as journal:
                    journal.append(BatchRecord(sample_id=f"{seed}-{number}", assessment={}))
                break
            except OutputInUseError:
                turned_away += 1
                time.sleep(0.001)
    return turned_away


def damage(path: Path, rng: random.Random) -> str:
    """Harms the cache's file in one of several ways, and says in which."""
    size = path.stat().st_size
    kind = rng.choice(("header", "pages", "cut", "empty", "text"))
    with path.open("r+b") as file:
        if kind == "cut":
            file.truncate(size // 2)
        elif kind == "empty":
            file.truncate(0)
        elif kind == "text":
            file.truncate(0)
            file.write(b"not a database\n" * 500)
        else:
            file.seek(0 if kind == "header" else min(size - 1, 4096))
            file.write(rng.randbytes(64 if kind == "header" else min(4096 * 4, max(size - 4096, 1))))
    return kind


def resident_kilobytes() -> int:
    """The memory this process holds now."""
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


def open_files() -> int:
    """The file descriptors this process holds now."""
    return len(os.listdir("/proc/self/fd"))


def soak(work: Callable[[int], object], runs: int, warm: int) -> dict[str, int]:
    """Memory and descriptors after the warm-up and at the end of many runs."""
    for number in range(warm):
        work(number)
    gc.collect()
    memory, files = resident_kilobytes(), open_files()
    for number in range(warm, runs):
        work(number)
    gc.collect()
    return {"runs": runs, "kilobytes_grown": resident_kilobytes() - memory, "files_grown": open_files() - files}


def soak_the_agent(folder: Path, runs: int) -> dict[str, int]:
    """Whole runs of the embedded agent on small pictures of changing content, with its cache on disk."""
    from agenticiqa.assessor import Assessor
    from tests.support import agent

    settings = agent.settings(pipeline={"cache": {"enabled": True, "directory": str(folder)}})
    assessor = Assessor(settings)

    def work(number: int) -> object:
        return assessor.assess(agent.picture(folder, size=(64, 64), seed=number)).to_json()

    return soak(work, runs, warm=max(4, runs // 5))


def score_of(threads: int, folder: Path) -> float:
    """The embedded backend's score of one photograph, with this many threads for the numerical libraries."""
    import cv2

    from agenticiqa.assessor import Assessor
    from tests.support import agent
    from tests.support.photos import photo, save

    cv2.setNumThreads(threads)
    picture = save(folder / "determinism.png", photo("chelsea")[:200, :240])
    found = Assessor(agent.settings(pipeline={"cache": {"enabled": False}})).assess(str(picture))
    assert found.score is not None
    return found.score


if __name__ == "__main__":
    task, folder, number = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    outcome: object = score_of(number, folder) if task == "score" else soak_the_agent(folder, number)
    sys.stdout.write(json.dumps(outcome))
