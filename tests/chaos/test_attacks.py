"""A sample of the attacks on loader and reader; `python -m tests.chaos --only NAME` runs each at length."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.fuzzing import fuzz_loader, fuzz_reader
from tests.chaos.pictures import hostile_pictures
from tests.chaos.service import fill_the_disk, kill_at_random, press_retention


def test_mutated_files_and_words_break_nothing() -> None:
    loader, reader = fuzz_loader(0.05, seed=3), fuzz_reader(0.05, seed=3)

    assert loader.broken == []
    assert reader.broken == []
    assert loader.figures["loader: cases"] != 0


def test_the_hostile_pictures_hold_every_format_and_every_shape() -> None:
    found = " ".join(name for name, _ in hostile_pictures(100, seed=1))

    for wanted in ("JPEG 8x20000", "TIFF 20000x8", "AVIF 512x8", "WEBP 8x512", "claims 8x6000000"):
        assert wanted in found


@pytest.mark.slow
def test_kills_little_room_and_a_full_disk_lose_nothing(tmp_path: Path) -> None:
    for name in ("kills", "retention", "disk"):
        (tmp_path / name).mkdir()

    assert kill_at_random(tmp_path / "kills", minutes=0.5).broken == []
    assert press_retention(tmp_path / "retention").broken == []
    assert fill_the_disk(tmp_path / "disk").broken == []
