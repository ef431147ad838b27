"""Feature extraction, done once per picture into a cache outside the repository."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.biq2021 import read_photographs
from training.pictures import read_pixels, resize
from training.trunk import open_start_network


def extract_biq2021(data: Path, cache: Path, part: int, parts: int) -> None:
    """Write features and stage-5 map of every training photograph; rows already there are kept."""
    photographs = [p for p in read_photographs(data) if p.split == "train"]
    network = open_start_network(cache)
    arrays = open_arrays(cache, "biq2021", len(photographs))
    for row in range(part, len(photographs), parts):
        if arrays["pooled"][row].any():
            continue
        pixels = square(read_pixels(data / "Images" / photographs[row].name))
        seen = network.run(pixels)
        arrays["stage5"][row], arrays["pooled"][row] = seen[4], seen[-1]
    for array in arrays.values():
        array.flush()


def square(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The picture at 512 × 512; eleven of BIQ2021's photographs are smaller than the rest."""
    return pixels if pixels.shape[:2] == (512, 512) else resize(pixels, 512, 512)


def open_arrays(
    cache: Path, source: str, count: int, more: dict[str, tuple[int, ...]] | None = None
) -> dict[str, np.memmap[tuple[int, ...], np.dtype[np.generic]]]:
    """The cached arrays of one source of 512 × 512 photographs, made empty where they are not there yet."""
    shapes: dict[str, tuple[int, ...]] = {"pooled": (1568,), "stage5": (112, 32, 32)} | (more or {})
    opened = {}
    for name, shape in shapes.items():
        path = cache / f"{source}_{name}.npy"
        kind = np.float16 if name == "stage5" else np.float32
        if not path.exists():
            np.lib.format.open_memmap(path, "w+", kind, (count, *shape)).flush()
        opened[name] = np.lib.format.open_memmap(path, "r+")
    return opened


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--parts", type=int, default=1)
    given = parser.parse_args()
    extract_biq2021(given.data, given.cache, given.part, given.parts)
