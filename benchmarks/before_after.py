"""What another version answers to the same questions about the same pictures, and every difference between the two.

python -m benchmarks.before_after answers OUT.json [--source OTHER/src]
python -m benchmarks.before_after compare BEFORE.json AFTER.json

60 pictures and pairs of bundled photographs, clean and damaged, with twelve questions each. `--source` asks the
version in another folder, in a process of its own. A difference is a changed answer, level or set of findings; words
of reasons may change freely.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

KINDS = (
    "gaussian_blur", "motion_blur", "white_noise", "jpeg", "darken", "brighten", "contrast_down", "color_cast",
    "saturation_up", "over_sharpen", "upscale",
)  # fmt: skip
LEVELS = (2, 4)
PAIRED = ("gaussian_blur", "jpeg", "white_noise", "darken")
QUESTIONS = (
    "Is it blurry?",
    "Is the picture sharp?",
    "Is there any noise?",
    "Is it too dark or badly exposed?",
    "How strong is the blur?",
    "What is wrong with this picture?",
    "Is the quality acceptable?",
    "Rate it from 0 to 10.",
    "Which describes it best? A) sharp B) blurry C) noisy D) compressed",
    "Where is it worst?",
    "How can I fix it?",
    "Is it out of focus?",
)
ABOUT_PAIRS = {"Where is it worst?": "Is it worse than the reference?", "How can I fix it?": "What has changed?"}
COMPARED = ("answer", "level", "found")


def main() -> None:
    """Answers or compares, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    answers = commands.add_parser("answers")
    answers.add_argument("out", type=Path)
    answers.add_argument("--source", type=Path)
    answers.set_defaults(run=lambda given: _answers(given.out, given.source))
    compare = commands.add_parser("compare")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    compare.set_defaults(run=lambda given: _compare(given.before, given.after))
    given = parser.parse_args()
    given.run(given)


def _answers(out: Path, source: Path | None) -> None:
    if source is not None:
        own = Path(__file__).resolve().parent.parent
        environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{own}", "PYTHONSAFEPATH": "1"}
        command = [sys.executable, "-m", "benchmarks.before_after", "answers", str(out)]
        subprocess.run(command, check=True, env=environment, cwd=own)
        return
    from agenticiqa.assessor import Assessor

    found: dict[str, Any] = {}
    for name, image, reference in _pictures():
        assessor = Assessor()
        for query in QUESTIONS:
            asked = ABOUT_PAIRS.get(query, query) if reference is not None else query
            found[f"{name} | {asked}"] = _record(assessor.assess(image, asked, reference=reference))
        out.write_text(json.dumps(found, indent=1, ensure_ascii=False))
        print(f"{len(found)} answers", file=sys.stderr, flush=True)


def _pictures() -> Any:
    """Clean and damaged copies of the bundled photographs, and some of them beside their originals."""
    import cv2

    from agenticiqa.tools.synthetic.kinds import distort
    from agenticiqa.tools.synthetic.ladder import photographs

    small = {name: cv2.resize(each.pixels, (384, 288)) for name, each in photographs().items()}
    names = list(small)
    for name in names:
        yield name, small[name], None
    for number, kind in enumerate(KINDS):
        for level in LEVELS:
            for name in (names[number % len(names)], names[(number + 1) % len(names)]):
                damaged = distort(small[name], kind, level)
                yield f"{name} {kind} {level}", damaged, None
                if kind in PAIRED and level == LEVELS[-1]:
                    yield f"{name} {kind} {level} beside its original", damaged, small[name]
    for kind in PAIRED:
        yield f"original beside {kind}", small[names[0]], distort(small[names[0]], kind, LEVELS[-1])


def _record(found: Any) -> dict[str, Any]:
    there = sorted(f"{each.type} {each.severity}" for each in found.distortions if each.severity not in (None, "none"))
    score = None if found.score is None else round(found.score, 2)
    return {"answer": found.answer, "level": found.level, "score": score, "found": there, "why": found.reasoning}


def _compare(before: Path, after: Path) -> None:
    old, new = (json.loads(path.read_text()) for path in (before, after))
    counts: Counter[str] = Counter()
    for key in old:
        changed = [part for part in COMPARED if old[key][part] != new[key][part]]
        counts.update(changed or ["same"])
        for part in changed:
            print(f"{key}\n  {part}: {old[key][part]} -> {new[key][part]}")
    print(f"{len(old)} answers: {dict(counts)}")


if __name__ == "__main__":
    main()
