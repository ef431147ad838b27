"""A sample of the attacks on loader and reader; `python -m tests.chaos --only NAME` runs each at length."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.chaos.pictures import hostile_pictures, try_pictures, worst_pictures
from tests.chaos.service import fill_the_disk, kill_at_random, press_retention


@pytest.mark.parametrize("attack", ["fuzz-loader", "fuzz-reader"])
def test_mutated_files_and_words_break_nothing(attack: str) -> None:
    # In a process of its own: peak memory is the process's, whatever ran in this one before.
    command = [sys.executable, "-m", "tests.chaos", "--only", attack, "--minutes", "0.05"]

    run = subprocess.run(command, capture_output=True, text=True)

    assert run.returncode == 0, run.stdout + run.stderr
    assert "cases: 0" not in run.stdout


def test_the_hostile_pictures_hold_every_format_and_every_shape() -> None:
    found = " ".join(name for name, _ in hostile_pictures(100, seed=1))

    for wanted in ("JPEG 8x20000", "TIFF 20000x8", "AVIF 512x8", "WEBP 8x512", "claims 8x6000000"):
        assert wanted in found


def test_a_worker_stays_under_a_gigabyte(tmp_path: Path) -> None:
    found = try_pictures(tmp_path / "pictures", worst_pictures(), minutes=5)

    assert found.broken == []
    assert found.figures["hostile pictures"] == 4


@pytest.mark.slow
def test_kills_little_room_and_a_full_disk_lose_nothing(tmp_path: Path) -> None:
    for name in ("kills", "retention", "disk"):
        (tmp_path / name).mkdir()

    assert kill_at_random(tmp_path / "kills", minutes=0.5).broken == []
    assert press_retention(tmp_path / "retention").broken == []
    assert fill_the_disk(tmp_path / "disk").broken == []
