"""Names made by strangers: no control character of them reaches a terminal, a log of a build or a spreadsheet."""

from __future__ import annotations

import csv
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from agenticiqa.cli import app
from agenticiqa.errors import ManifestError
from agenticiqa.logs import printable, printable_json
from agenticiqa.outputs import csv_text, spreadsheet_row
from tests.support.photos import photo, save

# It begins a line with a workflow command, clears the screen and turns the direction of writing.
NAME = "a\n::error file=x::owned\r\x1b[2J\u202e\x9b31m.png"
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
FORMULA = "=HYPERLINK(1).png"


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """A command sets logging up for its process; the tests after it must not notice."""
    logger = logging.getLogger("agenticiqa")
    level, handlers = logger.level, list(logger.handlers)
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with pictures of such names; one of them is no picture at all."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "pictures").mkdir()
    pixels = np.ascontiguousarray(photo("chelsea")[:64, :96])
    save(tmp_path / "pictures" / NAME, pixels // 8)
    save(tmp_path / "pictures" / FORMULA, pixels)
    (tmp_path / "pictures" / f"broken {NAME}").write_bytes(b"\x89PNG\r\n\x1a\n")
    return tmp_path


EMBEDDED = ("--offline", "-q")
ONE = f"pictures/{NAME}"
COMMANDS = {
    "audit": ("audit", "pictures", "-o", "out", "-q", "--quick"),
    "batch": ("batch", "pictures", "-o", "out.jsonl", "--fail-under", "5", "--github", *EMBEDDED),
    "batch --json": ("batch", "pictures", "-o", "out.jsonl", "--fail-under", "5", "--json", *EMBEDDED),
    "batch, nothing there": ("batch", f"missing {NAME}", "-o", "out.jsonl"),
    "batch, a bad line": ("batch", "bad.jsonl", "-o", "out.jsonl"),
    "encode": ("encode", "pictures", "-o", "out", "--min-score", "1.5", "--step", "25", "-j", "1", "-q"),
    "assess": ("assess", ONE, "--fail-under", "5", "--offline"),
    "assess --json": ("assess", ONE, "--json", *EMBEDDED),
    "assess, not there": ("assess", f"missing {NAME}", *EMBEDDED),
    "assess, broken": ("assess", f"pictures/broken {NAME}", *EMBEDDED),
    "compare": ("compare", ONE, f"pictures/{FORMULA}", "--offline"),
    "calibrate": ("calibrate", "--from-accepted", "pictures"),
    "config": ("config", "check", f"missing {NAME}"),
    "measure": ("measure", ONE, "--tools", "PIQE", "--map", f"missing {NAME}/map.png"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_the_control_characters_of_a_name(folder: Path, command: str) -> None:
    (folder / "bad.jsonl").write_text(json.dumps({"image_path": "x.png", "query": "", NAME: 1}) + "\n")

    shown = CliRunner().invoke(app, [*COMMANDS[command]])

    said = shown.stdout + shown.stderr
    assert "owned" in said or command.startswith("assess --json"), said
    assert CONTROLS.findall(said) == []
    ours = [line for line in said.splitlines() if line.lstrip().startswith("::")]
    assert not [line for line in ours if line.startswith("::error file=x")]
    assert len(ours) == (3 if command == "batch" else 0), ours
    assert shown.exception is None or isinstance(shown.exception, SystemExit), shown.exception


def test_what_is_logged_stays_on_its_line(folder: Path) -> None:
    shown = CliRunner().invoke(app, ["batch", "pictures", "-o", "out.jsonl", "--offline", "-v"])

    assert "owned" in shown.stderr
    assert not [line for line in shown.stderr.splitlines() if line.startswith("::")]


@pytest.mark.parametrize("command", ["audit", "batch"])
def test_no_cell_of_a_table_is_a_formula(folder: Path, command: str) -> None:
    table = folder / "out" / "table.csv" if command == "audit" else folder / "out.csv"
    arguments = ["audit", "pictures", "-o", "out", "--quick"]
    if command == "batch":
        arguments = ["batch", "pictures", "-o", "out.jsonl", "--to", "csv", "--offline"]

    CliRunner().invoke(app, [*arguments, "-q"])

    with open(table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = {row["name" if command == "audit" else "sample_id"] for row in rows}
    assert f"'{FORMULA}" in names
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "@", "\t", "\r"))]


@given(st.text())
def test_a_printable_name_has_no_control_character_and_plain_names_stay(name: str) -> None:
    shown = printable(name)

    assert CONTROLS.findall(shown.replace("\n", "\x00")) == []
    assert shown.encode("utf-8").decode() == shown
    if name.isascii() and name.isprintable():
        assert shown == name


@given(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.dictionaries(st.text(), inner)))
def test_printable_json_is_the_same_json(value: object) -> None:
    text = printable_json(json.dumps(value, ensure_ascii=False, indent=1))

    assert json.loads(text) == value
    assert CONTROLS.findall(text) == []


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_text_that_begins_like_a_formula_gets_an_apostrophe_and_a_number_none(begin: str) -> None:
    row = spreadsheet_row({"name": f"{begin}x", "score": -1.5, "number": "-1.5", "plain": "x=1"})

    assert row == {"name": f"'{begin}x", "score": -1.5, "number": "-1.5", "plain": "x=1"}


def test_a_comparison_of_reports_holds_no_formula_either() -> None:
    assert csv_text([{"method": "=1+1", "p": -0.5}]) == "method,p\n'=1+1,-0.5\n"


def test_an_error_with_several_lines_keeps_them_apart() -> None:
    error = ManifestError("list.txt: correct these lines:")
    error.details = ("line 1: no", "line 2: no")

    assert str(error) == "list.txt: correct these lines:\n  line 1: no\n  line 2: no"
