"""A pair: how far a copy is from its original, and which of two copies is better.

python examples/pair.py
"""

from __future__ import annotations

import sys

from agenticiqa import Assessor
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs


def main() -> None:
    """Prints the judgement of one copy beside its original, and a ranking of two copies."""
    original = photographs()["coffee"].pixels
    mild, strong = distort(original, "jpeg", 2), distort(original, "jpeg", 5)
    assessor = Assessor()

    found = assessor.assess(strong, reference=original)
    sys.stdout.write(f"beside the original: {found.score:.2f} of 5, {found.level_name}\n")
    for reading in found.tools:
        sys.stdout.write(f"  {reading.tool}: {reading.calibrated}\n")

    ranking = assessor.compare([strong, mild], reference=original)
    pair = ranking.pairs[0]
    sys.stdout.write(
        f"best: {ranking.entries[0].name}; {pair.first} is {pair.verdict} (probability {pair.probability:.2f})\n"
    )


if __name__ == "__main__":
    main()
