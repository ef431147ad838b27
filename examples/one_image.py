"""One photograph: its score with an interval, a question, and a multiple choice.

python examples/one_image.py [IMAGE]
"""

from __future__ import annotations

import sys

from agenticiqa import Assessor
from agenticiqa.images import ImageSource
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs


def main(image: ImageSource | None = None) -> None:
    """Prints three answers about the image; without one, about a blurred photograph of a cat."""
    shown = distort(photographs()["chelsea"].pixels, "defocus_blur", 4) if image is None else image
    assessor = Assessor()

    rated = assessor.assess(shown)
    sys.stdout.write(f"{rated.score:.2f} of 5, {rated.level_name}, 95 % interval {rated.interval}\n")
    for finding in rated.distortions:
        sys.stdout.write(f"  {finding.type}: {finding.severity}\n")

    asked = assessor.assess(shown, "What is wrong with this photo?")
    sys.stdout.write(f"{asked.answer}\n  {asked.reasoning}\n")

    chosen = assessor.assess(shown, "Which is worse?", choices={"A": "Noise", "B": "Blur"})
    sys.stdout.write(f"{chosen.answer}\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
