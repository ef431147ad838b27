"""Exposure and colour of a whole picture, in CIE Lab: where light and shadow lie, what is clipped, and every cast.

The traces of damage (`tone_features`) ask whether somebody changed a picture; these ask how it was taken: how
bright the middle is, how much of it is burnt out and in how large a piece, what colour the light had.
"""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.embedded.distortions.tone_features import Traces
from agenticiqa.tools.metrics.planes import Plane, percentile, product_sum
from agenticiqa.tools.tool import Pixels

Mask = npt.NDArray[np.bool_]
# Lab of so many pixels says as much as of all.
ENOUGH = 120_000
LIGHTNESS = (1, 2, 5, 10, 25, 50, 75, 90, 95, 98, 99)
CHROMA = (5, 10, 25, 50, 75, 95, 99)
HUES = 12
# Side of the grid on which burnt-out and black patches are joined.
PATCHES = 64
_TO_LIGHT = ((np.arange(256) / 255) ** 2.2).astype(np.float32)


def light_traces(working: Pixels) -> Traces:
    """Named statistics of lightness, clipping, colour and contrast, in a fixed order."""
    thin = working if working.shape[0] * working.shape[1] <= ENOUGH else np.ascontiguousarray(working[::2, ::2])
    lab = cv2.cvtColor(thin.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    light, red, yellow = (np.asarray(plane) for plane in cv2.split(lab))
    darkest, brightest = _extremes(thin)
    quantiles = percentile(light, LIGHTNESS)
    return (
        _exposure(thin, light, quantiles, darkest, brightest)
        | _thirds(darkest, light, red, yellow)
        | _colours(light, red, yellow, quantiles)
        | _saturation(darkest, brightest)
        | _white_balance(thin)
        | _contrast(darkest, light)
    )


def _extremes(thin: Pixels) -> tuple[Pixels, Pixels]:
    """The smallest and the largest channel of each pixel."""
    first, second, third = cv2.split(thin)
    darkest, brightest = cv2.min(cv2.min(first, second), third), cv2.max(cv2.max(first, second), third)
    return np.asarray(darkest, np.uint8), np.asarray(brightest, np.uint8)


def _exposure(
    thin: Pixels, light: Plane, quantiles: npt.NDArray[np.float64], darkest: Pixels, brightest: Pixels
) -> Traces:
    found = {f"light.{q}": float(v) for q, v in zip(LIGHTNESS, quantiles, strict=True)}
    middle = _towards_the_middle(*light.shape)
    mean, deviation = (each.item() for each in cv2.meanStdDev(light))
    found |= {"light.mean": mean, "light.deviation": deviation, "light.middle": product_sum(light, middle)}
    found |= {f"light.over_{t}": _log_share(darkest >= t) for t in (200, 230, 245, 252)}
    found |= {f"light.any_over_{t}": _log_share(brightest >= t) for t in (245, 254)}
    found |= {f"light.under_{t}": _log_share(brightest <= t) for t in (8, 20, 40)}
    found["light.middle_over"] = float(((darkest >= 245) * middle).sum())
    found["light.middle_under"] = float(((brightest <= 25) * middle).sum())
    first, second, third = cv2.split(thin)
    pale = np.add(first, second, dtype=np.uint16) + third >= 3 * 235
    for name, mask in (("white", darkest >= 245), ("pale", pale), ("black", brightest <= 25)):
        found |= _largest_patch(name, mask)
    return found


def _towards_the_middle(height: int, width: int) -> Plane:
    """Weights that add up to one and are largest in the middle, where the subject mostly is."""
    sides = [np.exp(-((((np.arange(n) + 0.5) / n - 0.5) / 0.25) ** 2) / 2) for n in (height, width)]
    return np.outer(sides[0] / sides[0].sum(), sides[1] / sides[1].sum()).astype(np.float32)


def _log_share(mask: Mask) -> float:
    return float(np.log(1e-3 + _share(mask)))


def _share(mask: Mask) -> float:
    return float(np.count_nonzero(mask) / mask.size)


def _largest_patch(name: str, mask: Mask) -> Traces:
    """Size, height and number of the connected patches, and whether the largest touches the upper edge, as sky does."""
    coarse = cv2.resize(mask.astype(np.float32), (PATCHES, PATCHES), interpolation=cv2.INTER_AREA)
    count, _, boxes, centres = cv2.connectedComponentsWithStats((coarse > 0.6).astype(np.uint8))
    values = (0.0, 0.5, 0.0, 0.0)
    if count > 1:
        best = 1 + int(boxes[1:, cv2.CC_STAT_AREA].argmax())
        values = (
            float(boxes[best, cv2.CC_STAT_AREA]) / PATCHES**2,
            float(centres[best][1]) / PATCHES,
            float(boxes[best, cv2.CC_STAT_TOP] == 0),
            float(np.log1p(count - 1)),
        )
    parts = ("share", "height", "at_edge", "count")
    return {f"patch.{name}_{part}": value for part, value in zip(parts, values, strict=True)}


def _thirds(darkest: Pixels, light: Plane, red: Plane, yellow: Plane) -> Traces:
    """Lightness, clipping and colour of the upper, middle and lower third."""
    found: Traces = {}
    edges = [n * len(light) // 3 for n in range(4)]
    for name, (top, bottom) in zip(("top", "middle", "bottom"), pairwise(edges), strict=True):
        found[f"third.{name}_light"] = float(light[top:bottom].mean())
        found[f"third.{name}_white"] = _share(darkest[top:bottom] >= 245)
        found[f"third.{name}_red"] = float(red[top:bottom].mean())
        found[f"third.{name}_yellow"] = float(yellow[top:bottom].mean())
    return found


def _colours(light: Plane, red: Plane, yellow: Plane, quantiles: npt.NDArray[np.float64]) -> Traces:
    """The mean colour, its spread, chroma, the colour of lights, middle tones, shadows and greys, and the hues."""
    chroma = cv2.magnitude(red, yellow)
    means, spreads = zip(*((each.item() for each in cv2.meanStdDev(plane)) for plane in (red, yellow)), strict=True)
    cast = float(np.hypot(*means))
    found = {
        "cast.red": means[0],
        "cast.yellow": means[1],
        "cast.size": cast,
        "cast.red_spread": spreads[0],
        "cast.yellow_spread": spreads[1],
        "cast.against_spread": cast / (float(np.hypot(*spreads)) + 1),
    }
    levels = percentile(chroma, CHROMA)
    found |= {f"chroma.{q}": float(v) for q, v in zip(CHROMA, levels, strict=True)}
    masks = {
        "lights": light >= quantiles[8],
        "middle": (light > quantiles[4]) & (light < quantiles[6]),
        "shadows": light <= quantiles[2],
        "greys": chroma <= levels[1] + 1e-3,
    }
    for name, mask in masks.items():
        places = np.flatnonzero(mask)
        for tint, plane in (("red", red), ("yellow", yellow)):
            found[f"cast.{name}_{tint}"] = float(plane.ravel()[places].mean()) if len(places) else 0.0
    hue = ((np.arctan2(yellow, red) + np.pi) * (HUES / (2 * np.pi + 1e-3))).astype(np.int32).ravel()
    shares = np.bincount(hue, chroma.ravel(), HUES)
    return found | {f"hue.{n}": float(v) for n, v in enumerate(shares / (shares.sum() + 1e-3))}


def _saturation(darkest: Pixels, brightest: Pixels) -> Traces:
    saturation = (brightest.astype(np.float32) - darkest) / (brightest + np.float32(1))
    return {
        "saturation.mean": float(saturation.mean()),
        "saturation.95": float(percentile(saturation, 95)),
        "saturation.bright_pure": _share((darkest <= 2) & (brightest >= 200)),
        "saturation.pure": _share((saturation > 0.95) & (brightest > 60)),
    }


def _white_balance(thin: Pixels) -> Traces:
    """The colour of the light by three old assumptions: the brightest, the mean and the edges are grey."""
    light = np.asarray(cv2.LUT(thin, _TO_LIGHT), np.float32)
    square = light * light
    edges = np.abs(cv2.Sobel(cv2.GaussianBlur(light, (0, 0), 1), cv2.CV_32F, 1, 0))
    estimates = {
        "bright": _channel_means(square * square * square) ** (1 / 6) + 1e-5,
        "mean": _channel_means(light) + 1e-5,
        "edges": _channel_means(edges) + 1e-6,
    }
    found: Traces = {}
    for name, (red, green, blue) in estimates.items():
        found[f"balance.{name}_red"] = float(np.log(red / green))
        found[f"balance.{name}_blue"] = float(np.log(blue / green))
    return found


def _channel_means(planes: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    # Running sums in single precision, which is what the models were fitted on: better ones are ten times further off
    # than anything else here.
    sums = [np.add.accumulate(plane.ravel())[-1] for plane in cv2.split(planes)]
    return np.array(sums, np.float32) / np.float32(planes.shape[0] * planes.shape[1])


def _contrast(darkest: Pixels, light: Plane) -> Traces:
    """Haze (how dark the darkest channel gets) and the local contrast of fine, middle and coarse structure."""
    veil = cv2.erode(darkest, np.ones((7, 7), np.uint8))[::2, ::2]
    low, high = percentile(veil, (5, 95))
    found = {"veil.mean": float(veil.mean()), "veil.5": float(low), "veil.95": float(high)}
    size = (max(8, light.shape[1] // 4), max(8, light.shape[0] // 4))
    coarse = np.asarray(cv2.resize(light, size, interpolation=cv2.INTER_AREA), np.float32)
    for name, plane, sigma in (("fine", light, 1.5), ("middle", coarse, 2), ("coarse", coarse, 8)):
        mean = cv2.GaussianBlur(plane, (0, 0), sigma)
        square = cv2.GaussianBlur(plane * plane, (0, 0), sigma)
        found[f"local.{name}"] = float(np.log(0.05 + np.sqrt(np.maximum(square - mean * mean, 0)).mean()))
    return found
