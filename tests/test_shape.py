"""The measurements of the code's shape that `make lint` prints."""

from __future__ import annotations

import ast
import runpy
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


def test_the_package_has_no_circle(shape: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    code = shape["main"]()

    assert code == 0
    assert "import cycles: 0" in capsys.readouterr().out
