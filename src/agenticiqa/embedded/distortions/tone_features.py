"""Traces of damage in tones and colours: histograms, clipping, missing values, casts and palettes."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.tools.metrics.planes import Plane, histogram, median, percentile
from agenticiqa.tools.tool import Pixels

Traces = dict[str, float]

QUANTILES = (1, 5, 25, 50, 75, 95, 99)
PALETTE_SAMPLE = 8192


def tone_traces(pixels: Pixels, luma: Plane) -> Traces:
    """Where the tones lie, how they fill their range, and what is clipped."""
    shares = histogram(np.asarray(cv2.convertScaleAbs(luma), np.uint8)) / luma.size
    levels = np.arange(256)
    mean = float(shares @ levels)
    deviation = float(np.sqrt(shares @ (levels - mean) ** 2)) + 0.1
    found = {f"tone.quantile_{q}": _quantile(shares, q) / 255 for q in QUANTILES}
    found |= {
        "tone.mean": mean / 255,
        "tone.deviation": float(np.log(deviation)),
        "tone.skew": float(shares @ (levels - mean) ** 3) / deviation**3,
        "tone.tails": float(np.log1p(shares @ (levels - mean) ** 4 / deviation**4)),
        "tone.entropy": float(-(shares[shares > 0] * np.log2(shares[shares > 0])).sum()),
        "tone.black": float(np.log(1e-4 + shares[:3].sum())),
        "tone.white": float(np.log(1e-4 + shares[253:].sum())),
        "tone.local": float(np.log(0.5 + _cell_deviation(luma))),
    }
    return found | _channel_traces(pixels)


def colour_traces(pixels: Pixels, luma: Plane, blue: Plane, red: Plane) -> Traces:
    """Mean colour, chroma, the colour of the darkest and brightest parts, and how many colours there are."""
    chroma = cv2.magnitude(blue, red)
    quartiles = percentile(chroma[1::3, 1::3], (5, 50, 95))
    means, deviations = zip(*((each.item() for each in cv2.meanStdDev(plane)) for plane in (blue, red)), strict=True)
    found = {
        "colour.blue": means[0],
        "colour.red": means[1],
        "colour.cast": float(np.hypot(*means)),
        "colour.chroma": float(np.log1p(cv2.mean(chroma)[0])),
        "colour.spread": float(np.log1p(np.hypot(*deviations))),
        "colour.neutral": np.count_nonzero(chroma < 3) / chroma.size,
        "colour.palette": _palette(pixels),
        "colour.axis": _axis(blue, red),
    }
    found |= {f"colour.chroma_{q}": float(np.log1p(value)) for q, value in zip((5, 50, 95), quartiles, strict=True)}
    low, high = percentile(luma[1::3, 1::3], (4, 96))
    for name, mask in (("dark", luma <= low), ("bright", luma >= high), ("calm", chroma <= max(quartiles[0], 0.5))):
        places = np.flatnonzero(mask)
        mean_blue, mean_red = (float(plane.ravel()[places].mean()) for plane in (blue, red))
        found[f"colour.{name}_blue"], found[f"colour.{name}_red"] = mean_blue, mean_red
        found[f"colour.{name}_cast"] = float(np.hypot(mean_blue, mean_red))
    return found


def _channel_traces(pixels: Pixels) -> Traces:
    """Per channel: ends of the range, clipping and gaps in the histogram, which stretching and coarse steps leave."""
    found: Traces = {}
    gaps, combs, quarters = [], [], []
    for channel, name in enumerate("rgb"):
        counts = histogram(pixels, channel)
        shares = counts / counts.sum()
        low, high = _quantile(shares, 0.5), _quantile(shares, 99.5)
        found[f"tone.{name}_low"], found[f"tone.{name}_high"] = low / 255, high / 255
        found[f"tone.{name}_black"] = float(np.log(1e-4 + shares[0]))
        found[f"tone.{name}_white"] = float(np.log(1e-4 + shares[255]))
        first = min(int(low), 251) + 1
        inner = counts[first : max(first + 3, int(high))]
        gaps.append(float((inner == 0).mean()))
        combs.append(_comb(inner))
        quarters.append(_quarters(counts))
    for number, (rough, empty) in enumerate(np.mean(quarters, axis=0)):
        found[f"tone.rough_{number}"], found[f"tone.empty_{number}"] = float(rough), float(empty)
    return found | {
        "tone.gaps": max(gaps),
        "tone.gaps_least": min(gaps),
        "tone.comb": max(combs),
        "tone.comb_least": min(combs),
    }


def _quarters(counts: npt.NDArray[np.float64]) -> list[tuple[float, float]]:
    """Roughness and empty values by quarter of the scale: bending tones opens gaps where it stretches them."""
    parts = counts.reshape(4, 64)
    return [(_comb(part), float((part == 0).mean())) for part in parts]


def _comb(counts: npt.NDArray[np.float64]) -> float:
    """How much neighbouring values differ in frequency: smooth histograms give little, combed ones much."""
    rough = np.abs(counts[1:-1] - (counts[:-2] + counts[2:]) / 2)
    return float(np.log((1 + rough.sum()) / (1 + counts.sum())))


def _quantile(shares: npt.NDArray[np.float64], percent: float) -> float:
    return float(np.searchsorted(np.cumsum(shares), percent / 100 - 1e-9))


def _cell_deviation(luma: Plane) -> float:
    """The mean deviation inside cells of 16 pixels: contrast in the small."""
    size = (max(1, luma.shape[1] // 16), max(1, luma.shape[0] // 16))
    mean, square = (cv2.resize(p, size, interpolation=cv2.INTER_AREA) for p in (luma, luma * luma))
    return float(np.sqrt(np.maximum(square - mean * mean, 0)).mean())


def _palette(pixels: Pixels) -> float:
    """The share of different colours among evenly spread pixels, as a logarithm."""
    flat = pixels.reshape(-1, 3)
    sample = flat[:: max(1, len(flat) // PALETTE_SAMPLE)].astype(np.int32)
    codes = (sample[:, 0] << 16) | (sample[:, 1] << 8) | sample[:, 2]
    different = 1 + np.count_nonzero(np.diff(np.sort(codes)))
    return float(np.log(different / len(codes)))


def _axis(blue: Plane, red: Plane) -> float:
    """How far all colours lie along one line of hue, 0 to 1."""
    spread = np.cov(np.stack([blue.ravel()[::7], red.ravel()[::7]])) + np.eye(2) * 0.1
    small, large = np.linalg.eigvalsh(spread)
    return float((large - small) / (large + small))


Floats = npt.NDArray[np.float32]

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
    sample = np.ascontiguousarray(rows[:: max(1, len(rows) // SAMPLE)])[None]
    channels = np.stack([histogram(sample, channel) for channel in range(3)]).astype(np.float32)
    channels /= sample.shape[1]
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


def _teeth_of_all(channels: Floats, sample: Pixels) -> Traces:
    """Regular teeth in the channels and in their differences: a range or colours multiplied by a factor."""
    red, green, blue = (channel.ravel().astype(np.intp) for channel in cv2.split(sample))
    differences = [np.bincount(other - green + 256, minlength=512) for other in (red, blue)]
    found = dict(zip(("teeth.tones", "teeth.tones_step"), _teeth(channels), strict=True))
    colours = _teeth(np.stack(differences).astype(np.float32) / np.float32(sample.shape[1]))
    return found | dict(zip(("teeth.colours", "teeth.colours_step"), colours, strict=True))


def _teeth(histograms: Floats) -> tuple[float, float]:
    """The strongest regular ripple the histograms share, as a logarithm, and its frequency."""
    bounded = histograms.copy()
    bounded[:, :2] = bounded[:, -2:] = 0
    ripples = np.abs(np.fft.rfft(bounded, axis=1)).mean(axis=0)
    first = int(TEETH * histograms.shape[1])
    best = first + int(np.argmax(ripples[first:]))
    height = ripples[best] / (median(ripples[first:]) + 1e-3)
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
