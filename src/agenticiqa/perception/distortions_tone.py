"""Traces of damage in tones and colours: histograms, clipping, missing values, casts and palettes."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.perception.opponent import Pixels, Plane

Traces = dict[str, float]

QUANTILES = (1, 5, 25, 50, 75, 95, 99)
PALETTE_SAMPLE = 8192


def tone_traces(pixels: Pixels, luma: Plane) -> Traces:
    """Where the tones lie, how they fill their range, and what is clipped."""
    grey = np.clip(np.rint(luma), 0, 255).astype(np.uint8)
    shares = np.bincount(grey.ravel(), minlength=256) / grey.size
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
    quartiles = np.percentile(chroma[1::3, 1::3], (5, 50, 95))
    found = {
        "colour.blue": float(blue.mean()),
        "colour.red": float(red.mean()),
        "colour.cast": float(np.hypot(blue.mean(), red.mean())),
        "colour.chroma": float(np.log1p(chroma.mean())),
        "colour.spread": float(np.log1p(np.hypot(blue.std(), red.std()))),
        "colour.neutral": float((chroma < 3).mean()),
        "colour.palette": _palette(pixels),
        "colour.axis": _axis(blue, red),
    }
    found |= {f"colour.chroma_{q}": float(np.log1p(value)) for q, value in zip((5, 50, 95), quartiles, strict=True)}
    low, high = np.percentile(luma[1::3, 1::3], (4, 96))
    for name, mask in (("dark", luma <= low), ("bright", luma >= high), ("calm", chroma <= max(quartiles[0], 0.5))):
        found[f"colour.{name}_blue"] = float(blue[mask].mean())
        found[f"colour.{name}_red"] = float(red[mask].mean())
        found[f"colour.{name}_cast"] = float(np.hypot(blue[mask].mean(), red[mask].mean()))
    return found


def _channel_traces(pixels: Pixels) -> Traces:
    """Per channel: ends of the range, clipping and gaps in the histogram, which stretching and coarse steps leave."""
    found: Traces = {}
    gaps, combs, quarters = [], [], []
    for name, channel in zip("rgb", cv2.split(pixels), strict=True):
        counts = np.bincount(np.asarray(channel).ravel(), minlength=256)
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


def _quarters(counts: npt.NDArray[np.intp]) -> list[tuple[float, float]]:
    """Roughness and empty values by quarter of the scale: bending tones opens gaps where it stretches them."""
    parts = counts.reshape(4, 64)
    return [(_comb(part), float((part == 0).mean())) for part in parts]


def _comb(counts: npt.NDArray[np.intp]) -> float:
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
    return float(np.log(len(np.unique(codes)) / len(codes)))


def _axis(blue: Plane, red: Plane) -> float:
    """How far all colours lie along one line of hue, 0 to 1."""
    spread = np.cov(np.stack([blue.ravel()[::7], red.ravel()[::7]])) + np.eye(2) * 0.1
    small, large = np.linalg.eigvalsh(spread)
    return float((large - small) / (large + small))
