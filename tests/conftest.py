"""What holds for every test: hypothesis is seeded and has no deadline, and a log set up by a test ends with it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Machines differ in speed.
settings.register_profile("agenticiqa", deadline=None, derandomize=True)
settings.load_profile("agenticiqa")


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
