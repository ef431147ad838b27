"""The code blocks of the documents, and how each kind is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
RUN = ("bash", "console", "python")
SHOWN = ("text", "yaml", "json", "toml", "http", "dockerfile", "mermaid")
"""Languages of blocks that show something and have nothing to run."""
NOT_RUN = re.compile(r"^\*Not run by the tests: (?P<reason>.+)\*$")
_FENCE = re.compile(r"^(?P<indent> *)(?P<marks>```+)(?P<language>[a-z]*)\s*$")


@dataclass(frozen=True)
class Block:
    """One fenced block: where it stands, its language, its lines, and why it is not run, if it is not."""

    document: str
    line: int
    language: str
    text: str
    not_run: str | None

    @property
    def place(self) -> str:
        return f"{self.document}:{self.line}"


def documents() -> list[Path]:
    """Everything a reader may copy commands from; generated tables and decisions have none."""
    kept = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")]
    return [path for path in (*kept, *sorted((ROOT / "docs").rglob("*.md"))) if path.is_file()]


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a document, in order; a visible line before one may say why it is not run."""
    lines = path.read_text(encoding="utf-8").splitlines()
    name, number, reason = str(path.relative_to(ROOT)), 0, None
    while number < len(lines):
        opened = _FENCE.match(lines[number])
        if opened is None:
            if lines[number].strip():
                said = NOT_RUN.match(lines[number].strip())
                reason = said["reason"] if said else None
            number += 1
            continue
        indent, body, start = opened["indent"], [], number + 1
        number += 1
        while number < len(lines) and lines[number].strip() != opened["marks"]:
            body.append(lines[number].removeprefix(indent))
            number += 1
        yield Block(name, start, opened["language"], "\n".join(body) + "\n", reason)
        reason, number = None, number + 1


def commands(text: str) -> Iterator[tuple[str, int]]:
    """The commands of a shell block, each with the exit code that a comment behind it announces."""
    for line in text.replace("\\\n", " ").splitlines():
        command, _, comment = line.strip().removeprefix("$ ").partition("  #")
        if command.strip() and not command.startswith("#"):
            announced = re.search(r"exit code (\d+)", comment)
            yield command.strip(), int(announced[1]) if announced else 0
