"""Logging as JSON Lines or readable text, with context fields and with secrets taken out."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

LogFormat = Literal["json", "text"]
CONTEXT_FIELDS = ("run", "sample", "node", "attempt")
REDACTED = "[redacted]"
_BIDIRECTIONAL = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_CONTROLS = frozenset(map(chr, (*range(32), *range(127, 160)))) - {"\n", "\t"} | {*_BIDIRECTIONAL}

# Read and replaced as a whole, never changed in place: each thread and task sees its own.
_context: ContextVar[dict[str, str | int] | None] = ContextVar("agenticiqa_log_context", default=None)

_SECRET_PATTERNS = (
    re.compile(r"(?i)(bearer\s+)[A-Za-z0-9._~+/=-]{6,}"),
    re.compile(r"(?i)((?:api[-_]?key|x-api-key|x-goog-api-key|access[-_]?token|token|secret|password|key)"
               r"[\"']?\s*[:=]\s*[\"']?)[^\s\"'&,;}]{6,}"),
    re.compile(r"()\b(?:sk|pk|rk)-[A-Za-z0-9_-]{8,}"),
    re.compile(r"()\bAIza[0-9A-Za-z_-]{16,}"),
    re.compile(r"(://)[^/\s:@]+:[^/\s@]+(?=@)"),
)  # fmt: skip


def redact(text: str, secrets: tuple[str, ...] = ()) -> str:
    """The text with known secrets, keys, bearer tokens and URL credentials replaced."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, REDACTED)
    for pattern in _SECRET_PATTERNS:
        text = pattern.sub(rf"\g<1>{REDACTED}", text)
    return text


def printable(text: str) -> str:
    """The text with control characters spelled out: a file's name must not steer the terminal it is shown on."""
    return "".join(_spelled(character) if character in _CONTROLS else character for character in text)


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode()


@contextmanager
def log_context(**fields: str | int) -> Iterator[None]:
    """Adds context fields (run, sample, node, attempt) to every record logged inside."""
    token = _context.set({**(_context.get() or {}), **fields})
    try:
        yield
    finally:
        _context.reset(token)


def configure_logging(
    level: str = "WARNING",
    fmt: LogFormat | None = None,
    file: Path | None = None,
    secrets: tuple[str, ...] = (),
) -> logging.Handler:
    """Sends `agenticiqa.*` records to a file (JSON Lines by default) or to stderr (text by default)."""
    handler: logging.Handler = (
        logging.FileHandler(file, encoding="utf-8") if file else logging.StreamHandler(sys.stderr)
    )
    chosen = fmt or ("json" if file else "text")
    handler.setFormatter(JsonFormatter(secrets) if chosen == "json" else TextFormatter(secrets))
    root = logging.getLogger("agenticiqa")
    for old in [h for h in root.handlers if getattr(h, "_agenticiqa", False)]:
        root.removeHandler(old)
        old.close()
    handler._agenticiqa = True  # type: ignore[attr-defined]
    root.addHandler(handler)
    root.setLevel(level)
    return handler


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redact(record.getMessage(), self._secrets),
            **context_of(record),
        }
        if record.exc_info:
            entry["exception"] = redact(self.formatException(record.exc_info), self._secrets)
        return json.dumps(entry, ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """A line a person reads: time, level, logger, message, context."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        clock = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        context = " ".join(f"{name}={value}" for name, value in context_of(record).items())
        line = f"{clock} {record.levelname:<7} {record.name}: {record.getMessage()}"
        if context:
            line += f" [{context}]"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return redact(printable(line), self._secrets)


def context_of(record: logging.LogRecord) -> dict[str, str | int]:
    """The context fields of a record: those around the call, overridden by those in `extra`."""
    fields: dict[str, str | int] = dict(_context.get() or {})
    fields.update({name: getattr(record, name) for name in CONTEXT_FIELDS if hasattr(record, name)})
    return fields
