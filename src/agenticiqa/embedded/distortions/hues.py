"""The name of a colour by its direction in CIE Lab, for a cast."""

from __future__ import annotations

import math

# Hue angles at which a colour's name begins, in degrees.
HUE_NAMES = (
    (-20, "red"), (45, "orange"), (75, "yellow"), (105, "green"), (170, "cyan"), (235, "blue"), (303, "violet"),
    (318, "magenta"),
)  # fmt: skip


def hue_name(red: float, yellow: float) -> str:
    """The name of a colour by its Lab coordinates: a towards red, b towards yellow."""
    angle = math.degrees(math.atan2(yellow, red))
    angle += 360 if angle < HUE_NAMES[0][0] else 0
    return [name for start, name in HUE_NAMES if angle >= start][-1]
