"""The table of what proves the specification is complete and true."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "docs" / "spec-coverage.md"
DOCUMENTS = ROOT.parent / "shared" / "spec"
HEADING = re.compile(r"^(?:#{3,4} (Requirement: .+|Scenario: .+)|### (\d+\. .+))$", re.MULTILINE)


def rows() -> list[tuple[str, str, str]]:
    """Document, first and second cell of every row of the table."""
    found, document = [], ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            document = line.removeprefix("## ")
        elif line.startswith("| ") and not line.startswith(("| heading", "| part")):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            found.append((document, cells[0], " | ".join(cells[1:])))
    return found


@cache
def functions_of(file: str) -> frozenset[str]:
    path = ROOT / "tests" / file
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_no_row_is_empty() -> None:
    assert len(rows()) > 100
    for document, heading, proof in rows():
        assert heading, document
        assert proof, f"{document}: {heading}"


def test_every_named_test_exists() -> None:
    proven = [row for row in rows() if row[0].endswith(".md") or row[0].startswith("Departures")]

    for document, heading, proof in proven:
        named = re.findall(r"`([\w/]*test_\w+\.py)::(test_\w+)`", proof)
        assert named, f"{document}: {heading} names no test"
        for file, name in named:
            assert name in functions_of(file), f"{document}: {heading}: {file} has no {name}"


@pytest.mark.skipif(not DOCUMENTS.is_dir(), reason="the documents are not at hand")
def test_every_heading_of_the_documents_has_a_row() -> None:
    listed = {(document, heading) for document, heading, _ in rows()}

    for path in sorted(DOCUMENTS.glob("*.md")):
        for match in HEADING.finditer(path.read_text(encoding="utf-8")):
            heading = (match.group(1) or match.group(2)).strip()
            assert (path.name, heading) in listed, f"{path.name}: {heading} has no row"


def test_the_replan_limit_is_explained_in_the_documentation() -> None:
    text = (ROOT / "docs" / "replanning.md").read_text(encoding="utf-8")

    assert "max_replan_iterations" in text
    assert "replans once" in text
