"""Where a picture differs visibly from its reference, pixel by pixel at native resolution."""

from __future__ import annotations

import cv2
import numpy as np

from agenticiqa.embedded.overlay import painted
from agenticiqa.embedded.trunk import Floats, Pixels
from agenticiqa.tools.metrics.mdsi import mdsi_map
from agenticiqa.tools.metrics.planes import require_pair

SMALLEST_SIDE = 16
# Rows compared at once, and what their neighbours need to see beyond them: memory does not grow with the picture.
STRIP, MARGIN = 512, 16
# The loss of structure and colour that is shown at full strength: about what level 5 of a ladder reaches.
FULL_LOSS = 0.5
# A change of brightness, over a few pixels, that is shown at full strength, in grey levels.
FULL_TONE = 96.0
LEGEND = (
    "0 (black): no visible difference; 1 (brightest): structure, colour or brightness as different as in severe damage"
)
# Dark blue over red to pale yellow: rises in brightness throughout, so that it can be read without colour.
COLOURS = ((0, 0, 4), (87, 16, 110), (188, 55, 84), (249, 142, 9), (252, 255, 164))


def difference_map(reference: Pixels, test: Pixels) -> Floats:
    """The visible difference of every pixel, 0 to 1; 8-bit RGB of two sizes is an ImageSizeMismatchError."""
    require_pair(test, reference, SMALLEST_SIDE)
    shown = cv2.resize(visible_loss(test, reference), test.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    return np.asarray(np.clip(shown, 0, 1), np.float32)


def in_colours(differences: Floats) -> Pixels:
    """A map in colours, dark where nothing changed."""
    table = np.rint(painted(np.linspace(0, 1, 256), COLOURS)).astype(np.uint8)
    return np.asarray(table[np.rint(differences * 255).astype(np.uint8)], np.uint8)


def visible_loss(test: Pixels, reference: Pixels) -> Floats:
    """The loss from 0 to 1 at half the native resolution, strip by strip."""
    height = test.shape[0]
    strips = []
    for top in range(0, height, STRIP):
        above, below = max(0, top - MARGIN), min(height, top + STRIP + MARGIN)
        if below - above < 2 * MARGIN:
            # What is left at the bottom is thinner than a margin and was seen with the strip above.
            above = max(0, (below - 2 * MARGIN) // 2 * 2)
        strip = test[above:below], reference[above:below]
        structure = (1 - mdsi_map(*strip, factor=2)) / np.float32(FULL_LOSS)
        tone = _tone_change(*strip)[::2, ::2] / np.float32(FULL_TONE)
        loss = np.clip(np.maximum(structure, tone), 0, 1)
        strips.append(loss[(top - above) // 2 : (min(height, top + STRIP) - above + 1) // 2])
    return np.concatenate(strips)


def _tone_change(test: Pixels, reference: Pixels) -> Floats:
    first, second = (cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY) for image in (test, reference))
    change = cv2.blur(cv2.subtract(first, second, dtype=cv2.CV_32F), (7, 7))
    return np.asarray(np.abs(change), np.float32)
