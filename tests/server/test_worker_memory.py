"""What a worker holds: previews without a second copy of the picture, and freed memory given back."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from agenticiqa.images import ImageLimits, load_image
from agenticiqa.server.workers import memory
from agenticiqa.server.workers.pictures import SIDE, _preview

PIECES = """
import gc
from pathlib import Path
import numpy as np
from agenticiqa.server.workers import memory

def megabytes():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) // 1024

memory.keep_little()
before = megabytes()
kept, blocks = [], []
for _ in range(200):
    blocks.append(np.ones(200_000))
    kept.append(np.ones(20))
full = megabytes()
blocks.clear()
gc.collect()
memory.return_freed()
print(before, full, megabytes())
"""


@pytest.mark.parametrize(
    ("size", "shown"), [((3200, 1600), (1600, 800)), ((40, 6000), (11, 1600)), ((300, 200), (300, 200))]
)
def test_a_preview_is_shrunk_to_fit_and_never_enlarged(size: tuple[int, int], shown: tuple[int, int]) -> None:
    ramp = np.linspace(0, 255, size[0]).astype(np.uint8)
    picture = load_image(
        np.broadcast_to(ramp[None, :, None], (size[1], size[0], 3)).copy(), limits=ImageLimits(max_ratio=200)
    )

    preview = _preview(picture)

    assert preview.size == shown
    assert max(preview.size) <= SIDE
    assert abs(int(np.asarray(preview).mean()) - 127) <= 2


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_freed_memory_goes_back_to_the_system() -> None:
    run = subprocess.run([sys.executable, "-c", PIECES], capture_output=True, text=True, check=True)
    before, full, after = map(int, run.stdout.split())

    assert full - before > 250
    assert after - before < 30


def test_without_glibc_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    memory._glibc.cache_clear()

    memory.keep_little()
    memory.return_freed()

    assert memory._glibc() is None
    memory._glibc.cache_clear()
