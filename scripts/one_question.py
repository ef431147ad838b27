"""Counts the files and calls of our own code that one question crosses, the first time it is asked in a process.

Also how often the question was understood: once is enough. The picture is a cat.

python scripts/one_question.py
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import agenticiqa
from agenticiqa.question.read import read_question
from agenticiqa.tools.synthetic.ladder import photographs

PACKAGE = str(Path(agenticiqa.__file__).parent)
QUERY = "Is the cat blurry?"


class Crossing:
    """The files entered, the calls made and the questions read while the profiler is on."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.calls = 0
        self.understood = 0

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """Counts a call into our own code."""
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and code.co_name != "<module>":
            self.files.add(code.co_filename)
            self.calls += 1
            self.understood += code is read_question.__code__

    def __enter__(self) -> Crossing:
        threading.setprofile(self.note)
        sys.setprofile(self.note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)


def ask() -> tuple[str, Crossing]:
    """The answer to the question, and what it crossed."""
    picture = photographs()["chelsea"].pixels
    assessor = agenticiqa.Assessor()
    with Crossing() as crossing:
        answer = assessor.assess(picture, QUERY).answer
    return str(answer), crossing


def main() -> None:
    """Asks one question and prints what it crossed."""
    answer, crossing = ask()
    sys.stdout.write(f"{QUERY} {answer}\n")
    sys.stdout.write(f"{len(crossing.files)} files, {crossing.calls} calls, understood {crossing.understood} times\n")
    if "--list" in sys.argv:
        sys.stdout.writelines(f"{Path(name).relative_to(PACKAGE)}\n" for name in sorted(crossing.files))


if __name__ == "__main__":
    main()
