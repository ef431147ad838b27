"""Logging: two formats, context, and nothing secret in either."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenticiqa.logs import configure_logging, log_context, redact

KEY = "sk-proj-abcdefghijklmnop"
logger = logging.getLogger("agenticiqa.test")


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    root = logging.getLogger("agenticiqa")
    handlers, level = list(root.handlers), root.level
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers, root.level = handlers, level
    root.setLevel(level)


def entries(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_file_gets_one_json_object_per_record_with_its_context(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    configure_logging("INFO", file=path)

    with log_context(run="r1", sample="s7"), log_context(node="planner"):
        logger.info("first\nsecond", extra={"attempt": 2})
    logger.debug("too quiet")

    (entry,) = entries(path)
    assert entry["message"] == "first\nsecond"
    assert [entry[name] for name in ("level", "logger", "run", "sample", "node", "attempt")] == [
        "INFO", "agenticiqa.test", "r1", "s7", "planner", 2,
    ]  # fmt: skip


def test_context_ends_with_its_block(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    configure_logging("INFO", file=path)

    with log_context(node="planner"):
        pass
    logger.info("after")

    assert "node" not in entries(path)[0]


def test_a_terminal_gets_readable_text(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("INFO")

    with log_context(node="executor"):
        logger.warning("tool failed")

    assert "WARNING agenticiqa.test: tool failed [node=executor]" in capsys.readouterr().err


def test_configuring_twice_does_not_log_twice(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("INFO")
    configure_logging("INFO")

    logger.warning("once")

    assert capsys.readouterr().err.count("once") == 1


def test_records_reach_the_root_logger(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "agenticiqa"):
        logger.info("hello")

    assert "hello" in caplog.text


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {KEY}",
        "authorization: bearer eyJhbGciOi.J9abc.def",
        f"https://example.org/v1?key={KEY}&x=1",
        f'{{"api_key": "{KEY}"}}',
        f"x-api-key: {KEY}",
        f"Incorrect API key provided: {KEY}.",
        "https://user:hunter22@example.org/",
        "AIzaSyA1234567890abcdefghij",
    ],
)
def test_secrets_are_taken_out_of_any_text(text: str) -> None:
    cleaned = redact(text)

    assert "[redacted]" in cleaned
    for secret in (KEY, "eyJhbGciOi.J9abc.def", "hunter22", "AIzaSyA1234567890abcdefghij"):
        assert secret not in cleaned


def test_ordinary_text_is_left_alone() -> None:
    text = "key distortions: Blurs; tokens used 512; the token was fine"

    assert redact(text) == text


@pytest.mark.parametrize("fmt", ["json", "text"])
def test_known_keys_are_redacted_even_inside_a_traceback(tmp_path: Path, fmt: str) -> None:
    path = tmp_path / "log"
    configure_logging("INFO", "json" if fmt == "json" else "text", path, secrets=("plainlooking-key",))

    try:
        raise RuntimeError(f"server said plainlooking-key and {KEY}")
    except RuntimeError:
        logger.exception("call with %s failed", "plainlooking-key")

    written = path.read_text()
    assert "RuntimeError" in written
    assert "plainlooking-key" not in written
    assert KEY not in written
