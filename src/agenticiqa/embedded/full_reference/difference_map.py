"""Where a picture differs visibly from its reference, pixel by pixel at native resolution."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.tools.metrics.mdsi import mdsi_map
from agenticiqa.tools.metrics.planes import require_pair

Pixels = npt.NDArray[np.uint8]
Plane = npt.NDArray[np.float32]
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
STOPS = (0.0, 0.25, 0.5, 0.75, 1.0)
COLOURS = ((0, 0, 4), (87, 16, 110), (188, 55, 84), (249, 142, 9), (252, 255, 164))


@dataclass(frozen=True)
class DifferenceMap:
    """The visible difference of every pixel from 0 to 1, and how to read it."""

    array: Plane
    legend: str = LEGEND

    @property
    def mean(self) -> float:
        """The difference of the whole picture."""
        return float(self.array.mean())

    def picture(self, longest: int | None = None) -> Pixels:
        """The map in colours, dark where nothing changed; shrunk to this longest side if it is given."""
        shown = self.array
        if longest is not None and max(shown.shape) > longest:
            scale = longest / max(shown.shape)
            shown = cv2.resize(shown, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA).astype(np.float32)
        table = np.stack([np.interp(np.linspace(0, 1, 256), STOPS, ends) for ends in zip(*COLOURS, strict=True)], 1)
        return np.asarray(np.rint(table).astype(np.uint8)[np.rint(shown * 255).astype(np.uint8)], np.uint8)


def difference_map(reference: Pixels, test: Pixels) -> DifferenceMap:
    """The map of a pair of 8-bit RGB pictures of one size; ImageSizeMismatchError for others."""
    require_pair(test, reference, SMALLEST_SIDE)
    halved = visible_loss(test, reference)
    array = cv2.resize(halved, test.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    return DifferenceMap(np.asarray(np.clip(array, 0, 1), np.float32))


def visible_loss(test: Pixels, reference: Pixels) -> Plane:
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


def _tone_change(test: Pixels, reference: Pixels) -> Plane:
    first, second = (cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY) for image in (test, reference))
    change = cv2.blur(cv2.subtract(first, second, dtype=cv2.CV_32F), (7, 7))
    return np.asarray(np.abs(change), np.float32)
