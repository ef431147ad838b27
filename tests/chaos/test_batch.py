"""The batch under fire, a small one; `make chaos` runs 500 samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.batch import besiege


@pytest.mark.slow
def test_a_batch_that_is_killed_and_starved_ends_with_one_right_record_per_sample(tmp_path: Path) -> None:
    siege = besiege(tmp_path, samples=12, kills=1, seconds=(0.3, 1.0), endings=("half a write", "disk full"))

    assert list(siege.problems()) == []
    assert siege.endings["half a write"] == siege.endings["disk full"] == siege.endings["random"] == 1
    assert siege.kills >= 1
