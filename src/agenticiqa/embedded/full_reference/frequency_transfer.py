"""How much of each frequency of the reference is left in the test picture: blur and enlargement as measured quantities.

The gain of a ring of frequencies is the part of the test that follows the reference, divided by the reference; noise
and blocks do not follow it and show as lost coherence instead. A picture that was shrunk by a factor and enlarged
again keeps nothing above one over that factor, whatever it shows and however large it is.
"""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.trunk import Pixels

Floats = npt.NDArray[np.float64]
# A part of the native view, so that no cell crosses a seam.
SIDE = 96
MOST_CELLS = 16
RINGS = 32
# Edges of the bands that are told apart when kinds are recognised, in rings.
BANDS = (1, 2, 3, 5, 8, 12, 17, 24, 32)


def transfer_statistics(test: Pixels, reference: Pixels) -> dict[str, float]:
    """Gain and coherence by band, the share of frequencies left, how steep they end and how well what is left follows.

    `transfer.cutoff` is 1 where nothing was softened and about 1 / k after enlargement by k; `transfer.passband` is
    1 where the test picture is the reference through a filter and nothing else.
    """
    gain, coherence = transfer(test, reference)
    found = {}
    for number, (low, high) in enumerate(pairwise(BANDS)):
        found[f"transfer.gain_{number}"] = float(gain[low:high].mean())
        found[f"transfer.coherence_{number}"] = float(coherence[low:high].mean())
    # A change of contrast alone is no loss of frequencies.
    relative = gain / max(float(gain[1]), 0.05)
    half = crossing(relative, 0.5)
    found["transfer.cutoff"] = half
    found["transfer.steepness"] = crossing(relative, 0.8) / crossing(relative, 0.2)
    found["transfer.passband"] = float(coherence[1 : max(3, int(0.8 * half * RINGS))].mean())
    return found


def transfer(test: Pixels, reference: Pixels) -> tuple[Floats, Floats]:
    """Gain and coherence by ring, from 0 to half a cycle per pixel."""
    cross, own, other = np.zeros(RINGS), np.zeros(RINGS), np.zeros(RINGS)
    for spot in _cells(*test.shape[:2]):
        first, second = (_spectrum(image[spot]) for image in (test, reference))
        rows, columns = test[spot].shape[:2]
        radius = np.hypot(np.fft.fftfreq(rows)[:, None], np.fft.rfftfreq(columns)[None])
        rings = np.minimum((radius * 2 * RINGS).astype(np.intp), RINGS).ravel()
        powers = ((cross, first * second.conj()), (own, second * second.conj()), (other, first * first.conj()))
        for into, power in powers:
            into += np.bincount(rings, power.real.ravel(), RINGS + 1)[:RINGS]
    # A reference without detail in a ring says nothing about it: rounding to whole grey levels is all there is.
    floor = 1e-4 * own.max() / (1 + np.arange(RINGS)) ** 2 + 1e-6
    return (cross + floor) / (own + floor), (cross + floor) / np.sqrt((own + floor) * (other + floor))


def crossing(gain: Floats, level: float) -> float:
    """The share of the frequencies below which the gain stays above the level, by line between rings; 1 is all."""
    below = np.flatnonzero(gain[1:] < level) + 1
    if len(below) == 0:
        return 1.0
    ring = int(below[0])
    before, here = max(float(gain[ring - 1]), level), float(gain[ring])
    return float((ring - 0.5 + (before - level) / (before - here)) / RINGS)


def _cells(height: int, width: int) -> list[tuple[slice, slice]]:
    rows, columns = min(SIDE, height), min(SIDE, width)
    tops, lefts = range(0, height - rows + 1, rows), range(0, width - columns + 1, columns)
    cells = [(slice(top, top + rows), slice(left, left + columns)) for top in tops for left in lefts]
    step = max(1.0, len(cells) / MOST_CELLS)
    return [cells[int(number * step)] for number in range(min(MOST_CELLS, len(cells)))]


def _spectrum(cell: Pixels) -> npt.NDArray[np.complex64]:
    grey = cv2.cvtColor(np.ascontiguousarray(cell), cv2.COLOR_RGB2GRAY).astype(np.float32)
    grey -= float(grey.mean())
    window = np.outer(np.hanning(grey.shape[0]), np.hanning(grey.shape[1])).astype(np.float32)
    return np.asarray(np.fft.rfft2(grey * window), np.complex64)
