"""Logging as JSON Lines or readable text, with context fields and with secrets taken out."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

LogFormat = Literal["json", "text"]
CONTEXT_FIELDS = ("run", "sample", "node", "attempt")
REDACTED = "[redacted]"
# Controls of ASCII and Latin-1, those that turn the direction of writing, line separators of Unicode, and bytes of file
# names that are no text.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

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


def printable(name: object) -> str:
    """A file's name, or a line that holds one, with every control character spelled out.

    A name must neither steer the terminal it is shown on nor begin a line, which a build may take for a command.
    """
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), str(name))


def printable_lines(lines: Iterable[object]) -> str:
    """The lines, each of them printable."""
    return "\n".join(map(printable, lines))


def printable_json(text: str) -> str:
    """JSON with the control characters of its strings escaped; line feeds between its values stay."""
    return _CONTROLS.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


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


class _SecretKeeping(logging.Formatter):
    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._secrets = secrets


class JsonFormatter(_SecretKeeping):
    """One JSON object per line."""

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
        return printable_json(json.dumps(entry, ensure_ascii=False))


class TextFormatter(_SecretKeeping):
    """A line a person reads: time, level, logger, message, context."""

    def format(self, record: logging.LogRecord) -> str:
        clock = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        context = " ".join(f"{name}={value}" for name, value in context_of(record).items())
        line = f"{clock} {record.levelname:<7} {record.name}: {record.getMessage()}"
        if context:
            line += f" [{context}]"
        trace = self.formatException(record.exc_info).split("\n") if record.exc_info else []
        return redact(printable_lines([line, *trace]), self._secrets)


def context_of(record: logging.LogRecord) -> dict[str, str | int]:
    """The context fields of a record: those around the call, overridden by those in `extra`."""
    fields: dict[str, str | int] = dict(_context.get() or {})
    fields.update({name: getattr(record, name) for name in CONTEXT_FIELDS if hasattr(record, name)})
    return fields
