"""What holds for every test: hypothesis is seeded, a log set up by a test ends with it, who waits longest begins."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Machines differ in speed.
settings.register_profile("agenticiqa", deadline=None, derandomize=True)
settings.load_profile("agenticiqa")

# Files of tests that wait: for kills, for crowds, for a language model. Begun first, they end while others compute.
WAITING = (
    "chaos/test_attacks.py", "wire/test_agent.py", "server/test_load.py", "server/test_jobs.py",
    "browser/test_page_service.py", "docs/test_documents.py",
)  # fmt: skip
# Their files share a service and a browser as long as they follow one another.
SHARING = ("server", "browser", "wire", "mcp")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests in the order that keeps all processors busy to the end; within a file nothing changes."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> tuple[int, int]:
    place = item.path.relative_to(Path(__file__).parent)
    if place.as_posix() in WAITING:
        return 0, WAITING.index(place.as_posix())
    return (1, SHARING.index(place.parts[0])) if place.parts[0] in SHARING else (2, 0)


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    """Level and handlers of our log, and of the root's, which Ray sets up for itself."""
    loggers = logging.getLogger("agenticiqa"), logging.getLogger()
    before = [(log, log.level, list(log.handlers), log.propagate) for log in loggers]
    yield
    for log, level, handlers, propagate in before:
        log.setLevel(level)
        log.handlers[:] = handlers
        log.propagate = propagate
