"""SIGKILL at any moment: rerun, and the records are those of a run that nobody interrupted."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.batch.making import ids, results

ROOT = Path(__file__).parents[2]
COUNT = 80


def begin(output: Path, *death: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.batch.killed", str(output), str(COUNT), *death]
    return subprocess.Popen(command, cwd=ROOT)


def kill_when_it_has(output: Path, size: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None and (not output.exists() or output.stat().st_size < size):
        time.sleep(0.001)
    process.kill()


@pytest.mark.slow
def test_killed_five_times_a_batch_ends_with_the_records_of_an_uninterrupted_run(tmp_path: Path) -> None:
    chance, output, whole = random.Random(11), tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    assert begin(whole).wait() == 0

    # Halfway through a record, between a record and its flush, and twice from outside; then in the compaction.
    for death in (("write", "12"), ("sync", "15")):
        assert begin(output, *death).wait() == -signal.SIGKILL
    for _ in range(2):
        size = output.stat().st_size + chance.randrange(1, 5000)
        kill_when_it_has(output, size, killed := begin(output, "never", "0"))
        assert killed.wait() == -signal.SIGKILL
    assert begin(output, "replace", "1").wait() == -signal.SIGKILL
    assert begin(output).wait() == 0

    assert len(ids(output)) == len(set(ids(output))) == COUNT
    assert output.read_bytes().count(b"\n") == COUNT
    assert results(output) == results(whole)
