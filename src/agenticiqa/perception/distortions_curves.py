"""Traces a bent or stretched tone scale leaves in histograms: doubled and missing values, piles and cut ends."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Traces = dict[str, float]

# Powers of the tone scale that are tried, as stops; close enough that the pattern of missing values is met.
STOPS = np.concatenate([np.arange(-3.0, -0.2, 0.003), np.arange(0.2, 3.0, 0.003)])
# Values nobody may hold are never quite impossible: other damage may have touched the picture afterwards.
STRAY = 0.05
SMOOTH = 3.0
# Frequencies below this share belong to the shape of the histogram, not to its teeth.
TEETH = 0.12
# Pixels counted at least: as many as the pictures of training had, so that their histograms are as rough.
SAMPLE = 1 << 17


def curve_traces(pixels: Pixels) -> Traces:
    """What speaks for a changed tone curve, a stretched or squeezed range and scaled colour differences."""
    rows = pixels.reshape(-1, 3)
    sample = rows[:: max(1, len(rows) // SAMPLE)].astype(np.int32)
    channels = np.stack([np.bincount(sample[:, n], minlength=256) for n in range(3)]).astype(np.float32)
    channels /= len(sample)
    return _powers(channels) | _teeth_of_all(channels, sample) | _ends(channels)


def _powers(channels: Floats) -> Traces:
    """The best matching power of the tone scale on either side of none, and how well it matches."""
    inner = channels.copy()
    inner[:, :2] = inner[:, 254:] = 0
    support = (inner @ _templates().T).mean(axis=0)
    found: Traces = {}
    for name, side in (("brighter", STOPS < 0), ("darker", STOPS > 0)):
        best = int(np.argmax(support[side]))
        found[f"curve.{name}"] = float(support[side][best])
        found[f"curve.{name}_stops"] = float(abs(STOPS[side][best]) * np.clip(10 * support[side][best], 0, 1))
    return found


@lru_cache(maxsize=1)
def _templates() -> Floats:
    """For each power, the logarithm of how many old values end on each new one against their neighbourhood."""
    old = np.arange(256) / 255
    new = np.rint(255 * old ** (2.0 ** STOPS[:, None])).astype(int) + 256 * np.arange(len(STOPS))[:, None]
    counts = np.bincount(new.ravel(), minlength=256 * len(STOPS)).reshape(-1, 256).astype(np.float32)
    around = cv2.GaussianBlur(counts, (0, 0), sigmaX=SMOOTH, sigmaY=1e-6, borderType=cv2.BORDER_REFLECT)
    return np.asarray(np.log((counts + STRAY) / (around + STRAY)), np.float32)


def _teeth_of_all(channels: Floats, sample: npt.NDArray[np.int32]) -> Traces:
    """Regular teeth in the channels and in their differences: a range or colours multiplied by a factor."""
    differences = [np.bincount(sample[:, a] - sample[:, 1] + 256, minlength=512) for a in (0, 2)]
    found = dict(zip(("teeth.tones", "teeth.tones_step"), _teeth(channels), strict=True))
    colours = _teeth(np.stack(differences).astype(np.float32) / np.float32(len(sample)))
    return found | dict(zip(("teeth.colours", "teeth.colours_step"), colours, strict=True))


def _teeth(histograms: Floats) -> tuple[float, float]:
    """The strongest regular ripple the histograms share, as a logarithm, and its frequency."""
    bounded = histograms.copy()
    bounded[:, :2] = bounded[:, -2:] = 0
    ripples = np.abs(np.fft.rfft(bounded, axis=1)).mean(axis=0)
    first = int(TEETH * histograms.shape[1])
    best = first + int(np.argmax(ripples[first:]))
    height = ripples[best] / (np.median(ripples[first:]) + 1e-3)
    return float(np.log(1e-3 + ripples[best])), float(best / histograms.shape[1] * min(1.0, height / 8))


def _ends(channels: Floats) -> Traces:
    """Piles at the ends of the scale, and the ranges at either end that no channel or only some reach."""
    cumulated = np.cumsum(channels, axis=1)
    low = (cumulated < 2e-4).sum(axis=1) / 255
    high = (cumulated < 1 - 2e-4).sum(axis=1) / 255
    beside_black, beside_white = channels[:, 1:4].mean(axis=1), channels[:, 252:255].mean(axis=1)
    black = np.log((channels[:, 0] + 1e-4) / (beside_black + 1e-4))
    white = np.log((channels[:, 255] + 1e-4) / (beside_white + 1e-4))
    return {
        "ends.floor": float(low.min()),
        "ends.floor_apart": float(low.max() - low.min()),
        "ends.ceiling": float(high.max()),
        "ends.ceiling_apart": float(high.max() - high.min()),
        "ends.black_pile": float(black.max()),
        "ends.black_pile_least": float(black.min()),
        "ends.white_pile": float(white.max()),
        "ends.white_pile_least": float(white.min()),
    }
