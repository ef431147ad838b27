"""The measurements of the code's shape that `make lint` prints."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "shape.py"


@pytest.fixture(scope="module")
def shape() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def test_a_circle_of_imports_is_found_and_a_diamond_is_none(shape: dict[str, Any]) -> None:
    diamond = {"top": {"left", "right"}, "left": {"bottom"}, "right": {"bottom"}, "bottom": set()}
    circle = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}

    assert shape["circles"](diamond) == []
    assert shape["circles"](circle) == [["a", "b", "c"]]


def test_imports_for_type_checkers_and_inside_functions_do_not_count(shape: dict[str, Any]) -> None:
    source = "import a\nif TYPE_CHECKING:\n    import b\ndef f():\n    import c\nfrom d import e\n"

    found = set(shape["loaded"](ast.parse(source).body, {"a", "b", "c", "d", "d.e"}))

    assert found == {"a", "d.e"}


def test_a_size_above_its_budget_is_told_and_one_that_fills_it_is_not(shape: dict[str, Any]) -> None:
    told = shape["above_budget"]({"lines": 1_201, "files": 30}, {"lines": 1_200, "files": 30})

    assert told == ["lines: 1,201, 1 more than 1,200"]


def test_only_the_yaml_of_questions_and_answers_counts_as_words(shape: dict[str, Any], tmp_path: Path) -> None:
    for room, lines in {"question": 2, "wording": 3, "tools": 5}.items():
        (tmp_path / room).mkdir()
        (tmp_path / room / "words.yaml").write_text("a: b\n" * lines)

    assert shape["lines_of_words"](tmp_path) == 5


def test_the_package_has_no_circle_and_keeps_its_budget() -> None:
    # A process of its own: files that an earlier test made ready would not be crossed.
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
    assert "import cycles: 0" in done.stdout
    assert "files one question crosses: " in done.stdout
