"""What changed between a picture and its reference, in plain statistics of their difference."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from agenticiqa.tools.metrics.planes import Plane, opponent_planes, percentile
from agenticiqa.tools.tool import Pixels

TINY = 1e-6
# The side of the part in which a grid of blocks is looked for.
GRID_WINDOW = 1024


def residual_statistics(test: Pixels, reference: Pixels) -> dict[str, float]:
    """Named numbers that tell kinds of damage apart; all are 0 or constant for an identical pair."""
    changed, original = (list(opponent_planes(image)) for image in (test, reference))
    difference = [a - b for a, b in zip(changed, original, strict=True)]
    return {
        **_energy(difference),
        **_tone(changed, original),
        **_grain(difference),
        **_bands(difference[0], changed[0], original[0]),
        **_places(difference, original[0]),
        **_shape_of_values(test, reference, difference[0]),
        **_colours(changed, original),
        **_edges(changed[0], original[0]),
        **_displacement(test, reference, original[0]),
    }


def grid_statistics(test: Pixels, reference: Pixels) -> dict[str, float]:
    """How much steeper the middle of the picture became on the borders of 8-pixel blocks; at its own resolution."""
    changed, original = (_grey_middle(image) for image in (test, reference))
    across, down = (_grid_step(changed, axis) - _grid_step(original, axis) for axis in (1, 0))
    return {"grid.across": across, "grid.down": down}


def _grey_middle(image: Pixels) -> Pixels:
    top, left = (max(0, (side - GRID_WINDOW) // 2) // 8 * 8 for side in image.shape[:2])
    middle = np.ascontiguousarray(image[top : top + GRID_WINDOW, left : left + GRID_WINDOW])
    return np.asarray(cv2.cvtColor(middle, cv2.COLOR_RGB2GRAY), np.uint8)


def _grid_step(plane: Pixels, axis: int) -> float:
    across = cv2.absdiff(plane[:, 1:], plane[:, :-1]) if axis else cv2.absdiff(plane[1:], plane[:-1])
    steps = cv2.reduce(across, 1 - axis, cv2.REDUCE_SUM, dtype=cv2.CV_32S).ravel() / across.shape[1 - axis]
    border = np.arange(len(steps)) % 8 == 7
    return float(np.log((steps[border].mean() + 0.1) / (steps[~border].mean() + 0.1)))


def _energy(difference: list[Plane]) -> dict[str, float]:
    planes = dict(zip(("y", "cb", "cr"), difference, strict=True))
    squares = {name: float(cv2.mean(plane * plane)[0]) for name, plane in planes.items()}
    found = {f"energy.{name}": float(np.log10(1 + square)) for name, square in squares.items()}
    found["energy.luma_share"] = squares["y"] / (sum(squares.values()) + TINY)
    found["energy.blue_share"] = squares["cb"] / (squares["cb"] + squares["cr"] + TINY)
    found |= {f"shift.{name}": float(plane.mean()) for name, plane in planes.items()}
    found["shift.size"] = abs(found["shift.y"])
    found["shift.share"] = found["shift.y"] ** 2 / (squares["y"] + TINY)
    return found


def _tone(changed: list[Plane], original: list[Plane]) -> dict[str, float]:
    """Gain and offset of luma and chroma, and how much of the change they explain."""
    found = {}
    planes = {
        "luma": (changed[0], original[0]),
        "chroma": (np.concatenate(changed[1:]), np.concatenate(original[1:])),
    }
    for name, (first, second) in planes.items():
        gain, left, correlation = _line(first, second)
        change = float(((first - second) ** 2).mean())
        found[f"tone.{name}_gain"] = gain
        found[f"tone.{name}_explained"] = 1 - left / (change + TINY) if change > TINY else 1.0
        found[f"tone.{name}_correlation"] = correlation
        found[f"tone.{name}_left"] = float(np.log10(1 + left))
        found[f"tone.{name}_spread"] = float(np.log((first.std() + 1) / (second.std() + 1)))
    found["tone.curve_left"] = _off_curve(changed[0], original[0])
    return found


def _line(first: Plane, second: Plane) -> tuple[float, float, float]:
    """Slope of the first plane on the second, mean square off that line, correlation."""
    a, b = first - first.mean(), second - second.mean()
    power, cross, own = float((b * b).mean()), float((a * b).mean()), float((a * a).mean())
    gain = cross / (power + TINY) if power > TINY else 1.0
    return gain, max(0.0, own - gain * cross), (cross + TINY) / (np.sqrt(own * power) + TINY)


def _off_curve(changed: Plane, original: Plane) -> float:
    """Mean square off the best tone curve: what no change of brightness or contrast explains."""
    bins = np.clip(original / 8, 0, 31).astype(np.intp).ravel()
    count = np.bincount(bins, minlength=32) + TINY

    def spread(values: Plane) -> npt.NDArray[np.float64]:
        mean = np.bincount(bins, values, 32) / count
        return np.asarray(np.bincount(bins, values * values, 32) / count - mean**2, np.float64)

    # Inside a bin the reference itself varies; that part is no damage.
    damage = spread(changed.ravel()) - spread(original.ravel())
    return float(np.log10(1 + max(0.0, float((count * damage).sum() / count.sum()))))


def _grain(difference: list[Plane]) -> dict[str, float]:
    """Correlation of the difference with itself a few pixels on, and between luma and chroma."""
    found = {}
    luma, blue, red = (plane - plane.mean() for plane in difference)
    power, blues, reds = (float((plane * plane).mean()) + TINY for plane in (luma, blue, red))
    for lag in (1, 2, 4, 8):
        found[f"grain.across_{lag}"] = float((luma[:, lag:] * luma[:, :-lag]).mean()) / power
        found[f"grain.down_{lag}"] = float((luma[lag:] * luma[:-lag]).mean()) / power
    found["grain.diagonal"] = float((luma[1:, 1:] * luma[:-1, :-1]).mean()) / power
    found["grain.chroma"] = float((red[:, 1:] * red[:, :-1]).mean()) / reds
    found["grain.chroma_4"] = float((red[:, 4:] * red[:, :-4]).mean()) / reds
    found["grain.red_blue"] = float((red * blue).mean()) / float(np.sqrt(reds * blues))
    found["grain.luma_red"] = float((luma * red).mean()) / float(np.sqrt(reds * power))
    return found


def _bands(difference: Plane, changed: Plane, original: Plane) -> dict[str, float]:
    """Octave by octave: share of the difference's energy, and the picture's energy against the reference's."""
    found = {}
    layers = [_octaves(plane) for plane in (difference, changed, original)]
    total = sum(layers[0]) + TINY
    for octave, (lost, now, before) in enumerate(zip(*layers, strict=True)):
        found[f"band.share_{octave}"] = lost / total
        found[f"band.size_{octave}"] = float(np.log10(1 + lost))
        found[f"band.gain_{octave}"] = float(np.log((now + 0.5) / (before + 0.5)))
    return found


def _octaves(plane: Plane) -> list[float]:
    energies = []
    for _ in range(5):
        smaller = cv2.pyrDown(plane)
        detail = plane - cv2.pyrUp(smaller, dstsize=plane.shape[::-1])
        energies.append(float((detail * detail).mean()))
        plane = smaller
    return [*energies, float(plane.var())]


def _places(difference: list[Plane], original: Plane) -> dict[str, float]:
    """Whether the change is everywhere or in places, and whether it follows texture or brightness."""
    size = np.sqrt(sum(plane * plane for plane in difference))
    found = {}
    for side in (8, 32):
        cells = _cells(size, side)
        mean = float(cells.mean()) + TINY
        found[f"place.spread_{side}"] = float(cells.std()) / mean
        found[f"place.peak_{side}"] = float(percentile(cells, 99)) / mean
        found[f"place.untouched_{side}"] = float((cells < 0.5).mean())
        found[f"place.calm_{side}"] = float((cells < 0.25 * mean).mean())
    texture = np.log(1 + np.sqrt(np.maximum(_cells(original**2, 8) - _cells(original, 8) ** 2, 0)))
    strength = np.log(1 + _cells(size, 8))
    found["place.texture"] = _correlation(strength, texture)
    found["place.brightness"] = _correlation(strength, np.log(8 + _cells(original, 8)))
    # Regions where the change is strong count once more by size: a damaged corner is seen before a soft whole.
    found["place.worst"] = float(np.log1p(np.sort(strength.ravel())[-max(1, strength.size // 20) :].mean()))
    rows, columns = difference[0].mean(axis=1), difference[0].mean(axis=0)
    power = float(difference[0].var()) + TINY
    return found | {"place.rows": float(rows.var()) / power, "place.columns": float(columns.var()) / power}


def _cells(plane: Plane, side: int) -> Plane:
    rows, columns = max(1, plane.shape[0] // side), max(1, plane.shape[1] // side)
    whole = plane[: rows * side, : columns * side]
    return np.asarray(cv2.resize(whole, (columns, rows), interpolation=cv2.INTER_AREA), np.float32)


def _correlation(first: Plane, second: Plane) -> float:
    a, b = first - first.mean(), second - second.mean()
    return float((a * b).mean() / (np.sqrt((a * a).mean() * (b * b).mean()) + TINY))


def _shape_of_values(test: Pixels, reference: Pixels, luma: Plane) -> dict[str, float]:
    """Outliers, asymmetry, clipping and the number of values and colours left."""
    centred = luma - luma.mean()
    deviation = float(centred.std()) + 0.05
    size, square = np.abs(luma), centred * centred
    most, much = percentile(size, (99.9, 90))
    found = {
        "value.skew": float((square * centred).mean()) / deviation**3,
        "value.tails": float(np.log1p((square * square).mean() / deviation**4)),
        "value.untouched": _share(size < 0.5),
        "value.outliers": _share(size > 60),
        "value.peak": float(np.log1p(most)) - float(np.log1p(much)),
        "value.up": _share(luma > 1) - _share(luma < -1),
    }
    for name, low, high in (("black", 0, 3), ("white", 252, 255)):
        here, there = (_counts(image)[:, low : high + 1].sum() / image.size for image in (test, reference))
        found[f"value.{name}"] = float(here - there)
    found["value.levels"] = float(np.log((_levels(test) + 1) / (_levels(reference) + 1)))
    found["value.colours"] = float(np.log((_palette(test) + 1) / (_palette(reference) + 1)))
    return found


def _share(mask: npt.NDArray[np.bool_]) -> float:
    return float(np.count_nonzero(mask) / mask.size)


def _counts(image: Pixels) -> npt.NDArray[np.float32]:
    """How often each channel takes each value."""
    return np.stack([cv2.calcHist([image], [channel], None, [256], [0, 256]).ravel() for channel in range(3)])


def _levels(image: Pixels) -> int:
    return int(np.count_nonzero(_counts(image) > 4))


def _palette(image: Pixels) -> int:
    red, green, blue = (np.asarray(channel >> 3, np.uint16) for channel in cv2.split(image))
    met = np.zeros(1 << 15, np.bool_)
    met[(red << 10) | (green << 5) | blue] = True
    return int(np.count_nonzero(met))


def _colours(changed: list[Plane], original: list[Plane]) -> dict[str, float]:
    """Saturation gained or lost, hue turned, and distance in colour after blur."""
    now, before = (cv2.magnitude(planes[1], planes[2]) for planes in (changed, original))
    cross = original[1] * changed[2] - original[2] * changed[1]
    along = original[1] * changed[1] + original[2] * changed[2]
    turn = np.arctan2(cross, along + TINY)
    weight = before * (before > 6)
    soft = [cv2.GaussianBlur(a - b, (0, 0), 4.0) for a, b in zip(changed, original, strict=True)]
    return {
        "colour.saturation": float(np.log((now.mean() + 1) / (before.mean() + 1))),
        "colour.saturation_shift": float(np.log1p(np.abs(now.mean() - before.mean()))),
        "colour.hue": float((np.abs(turn) * weight).sum() / (weight.sum() + 1)),
        "colour.soft_luma": float(np.log10(1 + (soft[0] ** 2).mean())),
        "colour.soft_chroma": float(np.log10(1 + (soft[1] ** 2 + soft[2] ** 2).mean())),
        "colour.vividness": float(np.log1p(before.mean())),
    }


def _edges(changed: Plane, original: Plane) -> dict[str, float]:
    """Whether edges became softer, steeper or new ones appeared on flat ground."""
    now, before = (2 * cv2.magnitude(*_slopes(plane)) for plane in (changed, original))
    calm, steep = (float(value) for value in percentile(before, (30, 90)))
    flat, strong = before < max(2.0, calm), before > steep
    return {
        "edge.gain": float(np.log((now.mean() + 0.5) / (before.mean() + 0.5))),
        "edge.strong": float(np.log((now[strong].mean() + 1) / (before[strong].mean() + 1))) if strong.any() else 0.0,
        "edge.new": float(np.log1p(now[flat].mean()) - np.log1p(before[flat].mean())) if flat.any() else 0.0,
        "edge.flat": _share(now < 0.5) - _share(before < 0.5),
        "edge.busy": float(np.log1p(before.mean())),
    }


def _slopes(plane: Plane) -> tuple[Plane, Plane]:
    return cv2.Sobel(plane, cv2.CV_32F, 1, 0, scale=0.125), cv2.Sobel(plane, cv2.CV_32F, 0, 1, scale=0.125)


def _displacement(test: Pixels, reference: Pixels, luma: Plane) -> dict[str, float]:
    """How far the red, green and blue planes moved, by least squares on the reference's slopes."""
    slopes = np.stack([slope.ravel() for slope in _slopes(luma)])
    normal = slopes @ slopes.T + np.eye(2, dtype=np.float32)
    difference = (test.astype(np.float32) - reference).reshape(-1, 3)
    projected = slopes @ difference
    moves = -np.linalg.solve(normal, projected)
    explained = -float((moves * projected).sum()) / (float((difference**2).sum()) + TINY)
    apart = moves[:, 0] - moves[:, 2]
    return {
        "move.size": float(np.log1p(np.hypot(*moves.mean(axis=1)))),
        "move.apart": float(np.log1p(np.hypot(*apart))),
        "move.explained": explained,
    }
