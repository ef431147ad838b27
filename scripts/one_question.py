"""Counts the files and calls of our own code that one question crosses, the first time it is asked in a process.

python scripts/one_question.py
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import agenticiqa
from agenticiqa.tools.synthetic.ladder import photographs

PACKAGE = str(Path(agenticiqa.__file__).parent)


class Crossing:
    """The files entered and the calls made while the profiler is on."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.calls = 0

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """Counts a call into our own code."""
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE) and frame.f_code.co_name != "<module>":
            self.files.add(frame.f_code.co_filename)
            self.calls += 1


def main() -> None:
    """Asks one question and prints what it crossed."""
    picture = photographs()["coffee"].pixels
    assessor, crossing = agenticiqa.Assessor(), Crossing()
    threading.setprofile(crossing.note)
    sys.setprofile(crossing.note)
    answer = assessor.assess(picture, "Is it blurry?").answer
    sys.setprofile(None)
    sys.stdout.write(f"{answer}\n{len(crossing.files)} files, {crossing.calls} calls\n")


if __name__ == "__main__":
    main()
