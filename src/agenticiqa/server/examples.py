"""Images to try at once: bundled photographs, some of them damaged on purpose."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from PIL import Image


@dataclass(frozen=True)
class Exhibit:
    """A photograph, what is done to it and what is asked about it."""

    id: str
    title: str
    photograph: str
    damage: tuple[str, int] | None
    question: str
    with_reference: bool = False

    @property
    def original(self) -> str | None:
        """The file of the undamaged original, where it is shown beside."""
        return f"{self.id}-original.png" if self.with_reference else None


EXHIBITS = (
    Exhibit("blurred", "A blurred cat", "chelsea", ("defocus_blur", 4), "Is the cat blurry?"),
    Exhibit("noisy", "A noisy cup", "coffee", ("white_noise", 4), "Which is worse? A. Noise B. Blur C. Compression"),
    Exhibit("compressed", "A compressed portrait", "astronaut", ("jpeg", 4), "What's wrong with this photo?"),
    Exhibit("dark", "A dark cup", "coffee", ("darken", 4), "这张照片太暗了吗？"),
    Exhibit("clean", "A clean photograph", "chelsea", None, "Rate the perceptual quality of this image."),
    Exhibit("pair", "Blurred, with its original", "astronaut", ("gaussian_blur", 4), "Is it sharper?", True),
)
CREDITS = {
    "astronaut": ("Photograph by NASA", "public domain"),
    "chelsea": ("Photograph by Stefan van der Walt", "CC0 1.0"),
    "coffee": ("Photograph by Rachel Michetti for Pikolo Espresso Bar", "CC0 1.0"),
}


class Gallery:
    """Draws the examples into a folder when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def file(self, name: str) -> Path | None:
        """The picture of that name, as PNG; None for a name that is not there."""
        exhibit = next((entry for entry in EXHIBITS if name in (f"{entry.id}.png", entry.original)), None)
        if exhibit is None:
            return None
        target = self._folder / name
        with self._lock:
            if not target.is_file():
                self._folder.mkdir(parents=True, exist_ok=True)
                _draw(exhibit, target)
        return target


def _draw(exhibit: Exhibit, target: Path) -> None:
    from agenticiqa.tools.synthetic.kinds import distort
    from agenticiqa.tools.synthetic.ladder import photographs

    pixels = photographs()[exhibit.photograph].pixels
    if exhibit.damage and target.name != exhibit.original:
        pixels = distort(pixels, *exhibit.damage)
    unfinished = target.with_suffix(".part")
    Image.fromarray(pixels).save(unfinished, "PNG")
    unfinished.replace(target)
