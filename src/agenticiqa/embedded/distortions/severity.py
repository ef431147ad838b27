"""Severity in five words: the level a picture would have if this were its only flaw.

Strength is the loss of quality on the 1–5 scale, so a strength of 0 keeps level 5 and 4 ends at level 1.
The words are the five levels, with halves rounded as levels are: none is a loss under 0.5, slight under
1.5, moderate under 2.5, severe under 3.5, extreme from there.
"""

from __future__ import annotations

LARGEST_LOSS = 4.0
# Where the mean deviation similarity index of a damaged photograph begins to be seen, and where nothing is left.
BARELY_SEEN, RUINED = 0.18, 0.55


def loss_of(deviation: float) -> float:
    """The loss of quality, 0 to 4, that a mean deviation similarity index (0 for an identical pair) stands for."""
    share = (deviation - BARELY_SEEN) / (RUINED - BARELY_SEEN)
    return LARGEST_LOSS * min(1.0, max(0.0, share))
