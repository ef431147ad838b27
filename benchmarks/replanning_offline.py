"""What replanning does with the embedded model: 84 damaged photographs, each judged with and without a second pass.

    python -m benchmarks.replanning_offline

Four bundled photographs, seven kinds of damage at three strengths. A changed answer is better if its score is nearer to
what the comparison with the undamaged photograph (AIQA_FR) says.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter

from agenticiqa import Assessor
from agenticiqa.images import load_image
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs

KINDS = ("gaussian_blur", "white_noise", "darken", "brighten", "jpeg", "contrast_down", "color_cast")
STRENGTHS = (1, 3, 5)
QUESTION = "Rate the quality of this image."


class Warnings(logging.Handler):
    """Counts what is logged as a warning or worse."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Counts one."""
        self.count += 1


def main() -> None:
    """Prints the counts."""
    heard = Warnings()
    logging.getLogger("agenticiqa").addHandler(heard)
    assessor, counts = Assessor(), Counter[str]()
    for original in photographs().values():
        for kind in KINDS:
            for strength in STRENGTHS:
                image, before = distort(original.pixels, kind, strength), heard.count
                found = assessor.assess(image, QUESTION)
                counts["runs"] += 1
                counts["warnings"] += heard.count - before
                counts["replans"] += len(found.replan_history) and found.iterations
                once = assessor.assess(image, QUESTION, max_replan_iterations=0)
                if (
                    found.score is None
                    or once.score is None
                    or (found.answer, found.score) == (once.answer, once.score)
                ):
                    continue
                truth = assessor.parts.tools.raw("AIQA_FR", load_image(image), original)
                counts["changed"] += 1
                counts["better" if abs(found.score - truth) < abs(once.score - truth) else "worse"] += 1
    names = ("runs", "replans", "changed", "better", "worse", "warnings")
    sys.stdout.write(", ".join(f"{name} {counts[name]}" for name in names) + "\n")


if __name__ == "__main__":
    main()
