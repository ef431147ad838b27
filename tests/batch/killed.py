"""A batch in a process of its own that may kill itself in the middle of what it does to the disk.

python -m tests.batch.killed OUTPUT COUNT [OPERATION NUMBER]
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from agenticiqa.batch import BatchOptions, Disk, run_batch
from tests.batch.making import Judging, batch_settings, manifest


class DeadlyDisk(Disk):
    """Kills the process at one operation: halfway through a write, before a sync, before a file is replaced."""

    def __init__(self, operation: str = "", number: int = 0) -> None:
        self._operation, self._left = operation, number

    def write(self, descriptor: int, content: bytes) -> int:
        if self._is_time_for("write"):
            super().write(descriptor, content[: len(content) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return super().write(descriptor, content)

    def sync(self, descriptor: int) -> None:
        if self._is_time_for("sync"):
            os.kill(os.getpid(), signal.SIGKILL)
        super().sync(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        if self._is_time_for("replace"):
            os.kill(os.getpid(), signal.SIGKILL)
        super().replace(source, target)

    def _is_time_for(self, operation: str) -> bool:
        self._left -= operation == self._operation
        return operation == self._operation and self._left == 0


def main(output: str, count: str, operation: str = "", number: str = "0") -> None:
    """Runs the batch; the first sample fails while a death is planned, so that lines are superseded."""
    prepare = Judging(seconds=0.005, failing=("s000",) if operation else ())
    run_batch(
        manifest(int(count)),
        Path(output),
        BatchOptions(engine="threads", concurrency=4),
        settings=batch_settings(),
        prepare=prepare,
        disk=DeadlyDisk(operation, int(number)),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
