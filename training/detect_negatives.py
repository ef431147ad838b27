"""Pictures meant to look as they do: what a distortion model must not call broken.

Some are photographs chosen by their subject (snow, close-ups, pages of print); the others are made from
clean photographs or drawn by code, after the way such pictures come about.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Random = np.random.Generator

# Subjects of the ImageNet sample whose photographs are hard by nature.
SUBJECTS: dict[str, tuple[str, ...]] = {
    "snow": (
        "alp", "ski", "snowmobile", "snowplow", "dogsled", "bobsled", "ice_bear", "Arctic_fox", "white_wolf",
        "ptarmigan", "Samoyed", "king_penguin", "Siberian_husky", "malamute",
    ),
    "macro": (
        "ladybug", "bee", "fly", "ant", "leaf_beetle", "weevil", "dragonfly", "damselfly", "lycaenid", "lacewing",
        "mantis", "leafhopper", "daisy", "monarch", "admiral", "garden_spider", "barn_spider", "tick", "snail",
        "tree_frog", "hummingbird", "cabbage_butterfly", "sulphur_butterfly", "ringlet", "earthstar", "agaric",
    ),
    "night": (
        "spotlight", "stage", "jellyfish", "planetarium", "jack-o'-lantern", "candle", "torch", "theater_curtain",
        "cinema", "fountain", "beacon", "volcano", "lampshade", "table_lamp",
    ),
    "fog": ("geyser", "seashore", "sandbar", "promontory", "lakeside", "breakwater", "albatross", "grey_whale"),
    "flat graphics": (
        "web_site", "comic_book", "crossword_puzzle", "menu", "book_jacket", "maze", "digital_clock", "scoreboard",
    ),
}  # fmt: skip


def subject_of(photograph: str) -> str | None:
    """The hard subject a photograph of the ImageNet sample shows, if any."""
    name = Path(photograph).stem.partition("_")[2]
    return next((subject for subject, names in SUBJECTS.items() if name in names), None)


def is_kept_for_testing(photograph: str) -> bool:
    """Every second photograph of a hard subject is never trained on."""
    return subject_of(photograph) is not None and zlib.crc32(Path(photograph).name.encode()) % 2 == 0


def bokeh(clean: Pixels, random: Random) -> Pixels:
    """A sharp subject before a background far out of focus."""
    height, width = clean.shape[:2]
    rows, columns = np.mgrid[0:height, 0:width]
    middle = random.uniform(0.35, 0.65, 2) * (height, width)
    reach = random.uniform(0.2, 0.36, 2) * (height, width)
    distance = np.hypot((rows - middle[0]) / reach[0], (columns - middle[1]) / reach[1])
    return _focused(clean, np.clip((distance - 1) * 4, 0, 1), random.uniform(4, 10))


def macro(clean: Pixels, random: Random) -> Pixels:
    """A close-up: a narrow plane in focus, blur growing with the distance from it."""
    height, width = clean.shape[:2]
    rows, columns = np.mgrid[0:height, 0:width]
    angle, place = random.uniform(-0.6, 0.6), random.uniform(0.35, 0.65)
    distance = np.abs((rows / height - place) + np.tan(angle) * (columns / width - 0.5))
    return _focused(clean, np.clip(distance * 4 - 0.5, 0, 1), random.uniform(3, 8))


def black_and_white(clean: Pixels, random: Random) -> Pixels:
    """A photograph without colour, with a mild tone curve."""
    grey = cv2.cvtColor(clean, cv2.COLOR_RGB2GRAY).astype(np.float32) / 255
    bent = grey + random.uniform(-0.1, 0.3) * grey * (1 - grey) * (2 * grey - 1) * 2
    return _rounded(np.repeat(255 * bent[..., None], 3, axis=2))


def film_grain(clean: Pixels, random: Random) -> Pixels:
    """Grain in the brightness alone, strongest in the middle tones, sometimes without colour or in sepia."""
    picture = clean.astype(np.float32)
    choice = random.random()
    if choice < 0.6:
        grey = cv2.cvtColor(clean, cv2.COLOR_RGB2GRAY).astype(np.float32)[..., None]
        picture = grey * np.array([1.07, 1.0, 0.86] if choice < 0.25 else [1, 1, 1], np.float32)
    grain = cv2.GaussianBlur(
        random.standard_normal(clean.shape[:2]).astype(np.float32), (0, 0), random.uniform(0.45, 0.8)
    )
    light = picture.mean(axis=2) / 255
    weight = random.uniform(2.5, 6.0) * 4 * light * (1 - light) / grain.std()
    return _rounded(picture + (weight * grain)[..., None])


def night(clean: Pixels, random: Random) -> Pixels:
    """A dark scene with lamps."""
    height, width = clean.shape[:2]
    light = (
        255
        * (clean.astype(np.float32) / 255) ** 1.6
        * random.uniform(0.12, 0.3)
        * np.array([0.85, 0.95, 1.1], np.float32)
    )
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    for _ in range(int(random.integers(5, 18))):
        top, left = random.uniform(0, 1, 2) * (height, width)
        distance = np.hypot(rows - top, columns - left)
        glow = random.uniform(180, 340) * np.exp(-((distance / random.uniform(1.5, 5)) ** 2))
        glow += random.uniform(20, 60) * np.exp(-distance / random.uniform(8, 28))
        light += glow[..., None] * np.array([1.0, random.uniform(0.75, 1), random.uniform(0.4, 0.95)], np.float32)
    return _rounded(light)


def snow(clean: Pixels, random: Random) -> Pixels:
    """Ground and sky near white, the subject as it is."""
    light = clean.astype(np.float32)
    height = clean.shape[0]
    skyline = _skyline(clean.shape[1], random, random.uniform(0.3, 0.6)) * height
    below = np.clip((np.arange(height)[:, None] - skyline) / 6, 0, 1)[..., None].astype(np.float32)
    grey = cv2.GaussianBlur(light, (0, 0), 1.0).mean(axis=2, keepdims=True)
    white = 218 + 0.14 * grey + np.array([-3, 0, 4], np.float32)
    dark = np.clip((70 - light.mean(axis=2, keepdims=True)) / 30, 0, 1)
    cover = below * (1 - dark) * random.uniform(0.75, 0.95)
    return _rounded(light * (1 - cover) + white * cover)


def fog(clean: Pixels, random: Random) -> Pixels:
    """Haze that thickens with distance, up the picture."""
    height = clean.shape[0]
    depth = np.linspace(random.uniform(1.2, 2.6), random.uniform(0.1, 0.5), height, dtype=np.float32)
    kept = np.exp(-depth)[:, None, None]
    air = random.uniform(185, 225) + np.array([-2, 0, 3], np.float32)
    return _rounded(clean * kept + air * (1 - kept))


def backlight(clean: Pixels, random: Random) -> Pixels:
    """A dark foreground against a glowing sky with the sun in it."""
    height, width = clean.shape[:2]
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    horizon = _skyline(width, random, random.uniform(0.5, 0.75)) * height
    warm, cold = np.array([255, random.uniform(150, 215), random.uniform(80, 160)]), np.array([90, 120, 175])
    rise = (rows / height)[..., None]
    sky = rise * warm + (1 - rise) * cold
    distance = np.hypot(rows - random.uniform(0.25, 0.6) * height, columns - random.uniform(0.2, 0.8) * width)
    sky = sky + (220 * np.exp(-distance / random.uniform(15, 45)))[..., None] + random.normal(0, 0.7, clean.shape)
    below = np.clip(rows - horizon, 0, 1)[..., None]
    return _rounded(sky * (1 - below) + clean * random.uniform(0.08, 0.22) * below)


def flat_graphics(clean: Pixels, random: Random) -> Pixels:
    """Drawn by code: panels, bars, curves and words in few colours; nothing of the photograph is used."""
    height, width = clean.shape[:2]
    canvas = np.empty((height, width, 3), np.uint8)
    canvas[:] = random.integers(225, 256, 3) if random.random() < 0.7 else random.integers(0, 60, 3)
    for _ in range(int(random.integers(3, 12))):
        _draw(canvas, int(random.integers(4)), [int(v) for v in random.integers(0, 256, 3)], random)
    return canvas


def page_of_print(clean: Pixels, random: Random) -> Pixels:
    """Lines of words in one size on paper, or light on dark; nothing of the photograph is used."""
    height, width = clean.shape[:2]
    paper, ink = (int(random.integers(*limits)) for limits in ((235, 256), (0, 60)))
    if random.random() < 0.15:
        paper, ink = ink, paper
    page = np.full((height, width, 3), paper, np.uint8)
    size = float(random.uniform(0.3, 0.9))
    for line in range(int(30 * size), height, int(34 * size)):
        words = "".join(random.choice(list("abcdefghijklmnopqrstuvwxyz    "), 60))
        cv2.putText(page, words, (int(12 * size), line), int(random.integers(4)), size, (ink,) * 3, 1, cv2.LINE_AA)
    return page


MAKERS: dict[str, Callable[[Pixels, Random], Pixels]] = {
    "bokeh": bokeh,
    "macro": macro,
    "black and white": black_and_white,
    "film grain": film_grain,
    "night": night,
    "snow": snow,
    "fog": fog,
    "backlight": backlight,
    "flat graphics": flat_graphics,
    "page of print": page_of_print,
}


def _draw(canvas: Pixels, shape: int, colour: list[int], random: Random) -> None:
    height, width = canvas.shape[:2]
    x, y = int(random.integers(width)), int(random.integers(height))
    size = int(random.integers(12, width // 2))
    if shape == 0:
        cv2.rectangle(canvas, (x - size // 2, y - size // 3), (x + size // 2, y + size // 3), colour, -1)
    elif shape == 1:
        cv2.circle(canvas, (x, y), size // 3, colour, int(random.choice([-1, 2, 4])), cv2.LINE_AA)
    elif shape == 2:
        for line in range(int(random.integers(1, 6))):
            text = "".join(random.choice(list("abcdefghij klmnop"), 14))
            cv2.putText(canvas, text, (x - size, y + 16 * line), cv2.FONT_HERSHEY_SIMPLEX, 0.45, colour, 1, cv2.LINE_AA)
    else:
        ends = np.stack([np.linspace(0, width, 12), y + random.normal(0, size / 6, 12).cumsum()], axis=1)
        cv2.polylines(canvas, [ends.astype(np.int32)], False, colour, 2, cv2.LINE_AA)


def _skyline(width: int, random: Random, height: float) -> Floats:
    steps = cv2.GaussianBlur(random.normal(0, 1, (1, width)).cumsum(axis=1).astype(np.float32), (0, 0), 3)[0]
    spread = (steps - steps.mean()) / (np.abs(steps - steps.mean()).max() + 1e-6)
    return np.asarray(height + 0.12 * spread, np.float32)


def _focused(clean: Pixels, away: npt.NDArray[np.float64], radius: float) -> Pixels:
    """The picture with three steps of lens blur mixed by distance from the plane in focus."""
    steps = [clean.astype(np.float32)] + [_disc(clean, radius * share) for share in (0.35, 0.7, 1.0)]
    place = (away * 3)[..., None].astype(np.float32)
    return _rounded(np.sum([np.clip(1 - np.abs(place - n), 0, 1) * step for n, step in enumerate(steps)], axis=0))


def _disc(clean: Pixels, radius: float) -> Floats:
    reach = int(np.ceil(radius))
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disc = np.clip(radius + 0.5 - np.hypot(rows, columns), 0, 1)
    return np.asarray(cv2.filter2D(clean.astype(np.float32), -1, disc / disc.sum(), borderType=cv2.BORDER_REFLECT))


def _rounded(values: npt.NDArray[np.floating]) -> Pixels:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)
