"""What a worker outside this process needs before it loads anything: where its log goes, one core, and its end."""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agenticiqa.config import LoggingSettings, Settings
from agenticiqa.logs import configure_logging

# The environment is one for all threads of the process.
_starting = threading.Lock()


@contextmanager
def without_working_folder() -> Iterator[None]:
    """Python processes started inside take no module from the folder one happens to stand in.

    The variable is taken back at the end: programs that use this package may start Python processes of their own.
    """
    with _starting:
        before = os.environ.get("PYTHONSAFEPATH")
        os.environ["PYTHONSAFEPATH"] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ["PYTHONSAFEPATH"]
            else:
                os.environ["PYTHONSAFEPATH"] = before


@dataclass(frozen=True)
class Surroundings:
    """The log of the process that began the batch, to be set up again in a worker."""

    level: str
    logging: LoggingSettings
    secrets: tuple[str, ...]

    def enter(self) -> None:
        """Makes them those of this process."""
        import cv2

        end_with_parent()
        # There is a worker for every core; more threads would only get in each other's way.
        cv2.setNumThreads(1)
        file = Path(self.logging.file) if self.logging.file else None
        configure_logging(self.level, self.logging.format, file, self.secrets)


def end_with_parent() -> None:
    """Has this process end as soon as the one that started it has, however that happened."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


def surroundings_of(settings: Settings) -> Surroundings:
    """Those of this process."""
    level = logging.getLogger("agenticiqa").getEffectiveLevel()
    return Surroundings(logging.getLevelName(level), settings.pipeline.logging, settings.secrets())
