"""Turning an exception into a sentence for the state."""

from __future__ import annotations

import logging

from agenticiqa.errors import AgenticIQAError

logger = logging.getLogger("agenticiqa.nodes")


def describe(where: str, error: Exception) -> str:
    """What failed and why, also logged; an error nobody foresaw is logged with its traceback."""
    if isinstance(error, AgenticIQAError):
        logger.error("%s failed: %s", where, error)
        return f"{where}: {error}"
    logger.error("%s failed unexpectedly", where, exc_info=error)
    return f"{where}: unexpected {type(error).__name__}: {error}"
