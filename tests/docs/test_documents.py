"""Every command and every line of Python in the documents runs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.blocks import ROOT, RUN, SHOWN, Block, blocks, documents
from tests.docs.running import lay_out, run_block

MOST_NOT_RUN = 15
# These need a service or a client of their own, and are run where there is one.
ELSEWHERE = {
    "docs/service.md": "server/test_documented.py",
    "docs/mcp.md": "server/test_documented.py",
    "docs/how-to/use-the-service.md": "server/test_documented.py",
}
PATHS = [
    path
    for path in documents()
    if str(path.relative_to(ROOT)) not in ELSEWHERE and any(block.language in RUN for block in blocks(path))
]


def every_block() -> Iterator[Block]:
    for path in documents():
        yield from blocks(path)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_code_of_a_document_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTICIQA_PIPELINE__CACHE__DIRECTORY", str(tmp_path / "cache"))
    names: dict[str, Any] = {"__name__": "__main__"}

    for block in blocks(path):
        if block.language in RUN and block.not_run is None:
            run_block(block, tmp_path, names)


def test_every_block_says_in_which_language_it_is() -> None:
    ours = [block for block in every_block() if block.document not in ELSEWHERE]
    unknown = [block.place for block in ours if block.language not in (*RUN, *SHOWN)]

    assert unknown == []


@pytest.mark.parametrize(("document", "test"), ELSEWHERE.items())
def test_a_document_run_elsewhere_is_read_there(document: str, test: str) -> None:
    assert f'"{Path(document).name}"' in (ROOT / "tests" / test).read_text(encoding="utf-8")


def test_no_command_hides_in_a_block_that_is_only_shown() -> None:
    shown = [block for block in every_block() if block.language == "text"]

    assert [block.place for block in shown if block.text.startswith(("agenticiqa ", "python ", "make ", "$ "))] == []


def test_yaml_that_is_shown_can_be_read() -> None:
    for block in every_block():
        if block.language == "yaml":
            assert yaml.safe_load(block.text) is not None, block.place


def test_toml_that_is_shown_can_be_read() -> None:
    for block in every_block():
        if block.language == "toml":
            assert tomllib.loads(block.text), block.place


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    left_out = {block.place: block.not_run for block in every_block() if block.not_run}

    assert len(left_out) <= MOST_NOT_RUN, left_out
