"""Every example runs, and so does the notebook."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
SAYS = {
    "one_image": "Blurs: ",
    "pair": "best: image 2",
    "folder": "4 answered, 0 failed",
    "custom_tool": "blurred: EDGE_ENERGY",
    "custom_backend": "darkened: Brightness change (severe)",
}


def test_every_example_is_listed_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*SAYS, "demo"}


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs_and_says_what_it_promises(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [name])

    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")

    assert SAYS[name] in capsys.readouterr().out


def test_the_notebook_runs_from_top_to_bottom() -> None:
    notebook = json.loads((EXAMPLES / "quality_tour.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {"__name__": "notebook"}

    for number, cell in enumerate(cells):
        exec(compile(cell, f"cell {number}", "exec"), names)

    assert names["ranking"].best.name == "image 2"
