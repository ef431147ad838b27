"""Makes the photographs of the demonstration: free ones as they are, or through the simulated camera of `training`.

    PYTHONPATH=src:. python scripts/demo_photographs.py

Writes examples/photographs/; NOTICE there says whose each is. Needs scikit-image, whose pictures these are.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import skimage
from PIL import Image

from training.camera import Shot, take

FOLDER = Path(__file__).parents[1] / "examples/photographs"
SOURCES = Path(skimage.__file__).parent / "data"
# Name, source, what the camera did wrong; the clock was really photographed with a moving camera.
SHOTS: tuple[tuple[str, str, Shot], ...] = (
    ("clock-moved", "clock_motion.png", Shot()),
    ("cat-out-of-focus", "chelsea.png", Shot(defocus=5.0, noise=2.0)),
    ("coffee-too-dark", "coffee.png", Shot(stops=-3.2, noise=3.0)),
    ("astronaut-burnt-out", "astronaut.png", Shot(stops=2.6, noise=2.0)),
    ("motorcycle-noisy", "motorcycle_left.png", Shot(noise=34.0, blotches=0.7)),
    ("coffee-fine", "coffee.png", Shot()),
)


def main() -> None:
    """Writes every photograph as a JPEG of good quality, as a camera would."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for seed, (name, source, shot) in enumerate(SHOTS):
        with Image.open(SOURCES / source) as image:
            scene = np.asarray(image.convert("RGB"))
        pixels = scene if shot == Shot() else take(scene, shot, seed).pixels
        Image.fromarray(pixels).save(FOLDER / f"{name}.jpg", quality=92)


if __name__ == "__main__":
    main()
