"""Turning an exception into a sentence for the state."""

from __future__ import annotations

import logging

from agenticiqa.errors import AgenticIQAError

logger = logging.getLogger("agenticiqa.nodes")


def report(where: str, error: Exception) -> str:
    """Why it failed, in words for the state; logged, with the traceback if nobody foresaw it."""
    if isinstance(error, AgenticIQAError):
        logger.error("%s failed: %s", where, error)
        return str(error)
    logger.error("%s failed unexpectedly", where, exc_info=error)
    return f"unexpected {type(error).__name__}: {error}"
