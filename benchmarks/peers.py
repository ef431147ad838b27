"""A folder of photographs of a megapixel through the agent and through everything one could use instead.

    python -m benchmarks.peers [--count 16]

Each row is a command of its own, run on one picture and on all of them, with one process and one thread: the first
gives what a single answer costs, the difference what a further picture does. CPU time, and memory of the largest
process. Peers that are not installed are left out and named; of pyiqa only metrics that need no download are here.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import cv2

from agenticiqa.tools.synthetic.ladder import photographs
from benchmarks.audit import PEER_SCRIPT, Used, run_measured

SIZE = (1152, 896)
SKIMAGE_PAIR = """
import sys; from pathlib import Path; from skimage import io; from skimage.metrics import structural_similarity
for path in sorted(Path(sys.argv[1], "pictures").iterdir()):
    print(structural_similarity(io.imread(path), io.imread(Path(sys.argv[1], "originals", path.name)), channel_axis=2))
"""
SKIMAGE_ALONE = """
import sys; from pathlib import Path; from skimage import io, measure, restoration
for path in sorted(Path(sys.argv[1], "pictures").iterdir()):
    pixels = io.imread(path)
    print(measure.blur_effect(pixels, channel_axis=2), restoration.estimate_sigma(pixels, channel_axis=2))
"""
PYIQA = """
import sys, torch; from pathlib import Path; from training.reference_values import complete_torchvision
torch.set_num_threads(1); complete_torchvision()
import pyiqa
metric = pyiqa.create_metric(sys.argv[2], device="cpu")
for path in sorted(Path(sys.argv[1], "pictures").iterdir()):
    pair = [str(path)] + ([str(Path(sys.argv[1], "originals", path.name))] if metric.metric_mode == "FR" else [])
    print(float(metric(*pair)))
"""


@dataclass(frozen=True)
class Way:
    """One way to learn something about the pictures of a folder, and the package it needs."""

    name: str
    tells: str
    command: Callable[[Path], list[str]]
    needs: str = "agenticiqa"


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=16)
    count = options.parse_args().count
    with tempfile.TemporaryDirectory() as name:
        # What an earlier row measured answers none of a later one.
        os.environ["XDG_CACHE_HOME"] = name
        one, many = Path(name, "one"), Path(name, "many")
        draw(one, 1)
        draw(many, count)
        print(f"| {count} photographs, {SIZE[0]} × {SIZE[1]} | tells | one | each further | of the agent's | memory |")
        print("|---|---|---|---|---|---|")
        agent = 0.0
        for way in WAYS:
            if find_spec(way.needs) is None:
                print(f"| {way.name} | not installed | | | | |")
                continue
            first, all_of_them = used_by(way, one), used_by(way, many)
            each = (all_of_them.cpu - first.cpu) / (count - 1)
            agent = agent or each
            figures = f"{first.cpu:.2f} s | {each:.3f} s | {each / agent:.2f} × | {all_of_them.megabytes:.0f} MB"
            print(f"| {way.name} | {way.tells} | {figures} |", flush=True)


def draw(folder: Path, count: int) -> None:
    """Photographs as PNG, and each as a JPEG of middling quality under the same name."""
    sources = [each.pixels for each in photographs().values()]
    for kind in ("pictures", "originals"):
        (folder / kind).mkdir(parents=True)
    for number in range(count):
        source, cut = sources[number % len(sources)], number // len(sources)
        pixels = cv2.resize(source[cut:, cut:, ::-1], SIZE, interpolation=cv2.INTER_CUBIC)
        coded = cv2.imdecode(cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 60])[1], cv2.IMREAD_COLOR)
        for kind, content in (("pictures", coded), ("originals", pixels)):
            cv2.imwrite(str(folder / kind / f"{number:03}.png"), content)


def used_by(way: Way, folder: Path) -> Used:
    """What the command took on one folder."""
    try:
        return run_measured(way.command(folder))
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{way.name} ended with {error.returncode}") from None


def ours(command: str, *words: str) -> Callable[[Path], list[str]]:
    """One of our commands on the pictures; FOLDER in its words is the folder, and what it writes goes there."""

    def build(folder: Path) -> list[str]:
        output = str(folder / f"{command}{len(words)}") + (".jsonl" if command == "batch" else "")
        given = [word.replace("FOLDER", str(folder)) for word in words]
        return [sys.executable, "-m", "agenticiqa", command, str(folder / "pictures"), "-o", output, "-q", *given]

    return build


def script(text: str, *words: str) -> Callable[[Path], list[str]]:
    """A peer's few lines."""
    return lambda folder: [sys.executable, "-c", text, str(folder), *words]


ALONE, AUDIT = ("--engine", "threads", "-j", "1"), ("-j", "1", "--no-gallery")
WAYS = (
    Way("agenticiqa batch", "score, level, flaws, reasons", ours("batch", *ALONE)),
    Way("agenticiqa batch, with originals", "the same of a pair",
        ours("batch", *ALONE, "--references", "FOLDER/originals")),
    Way("agenticiqa audit", "issues and copies", ours("audit", *AUDIT)),
    Way("agenticiqa audit --quick", "issues and copies", ours("audit", *AUDIT, "--quick")),
    Way("cleanvision", "issues and copies", lambda f: [sys.executable, "-c", PEER_SCRIPT, str(f / "pictures"), "1"],
        "cleanvision"),
    Way("scikit-image blur_effect, estimate_sigma", "two numbers", script(SKIMAGE_ALONE), "skimage"),
    Way("scikit-image SSIM", "a number of a pair", script(SKIMAGE_PAIR), "skimage"),
    *(Way(f"pyiqa {name}", "a number", script(PYIQA, name), "pyiqa") for name in ("piqe", "entropy")),
    *(Way(f"pyiqa {name}", "a number of a pair", script(PYIQA, name), "pyiqa") for name in ("ssim", "fsim", "vsi")),
)  # fmt: skip


if __name__ == "__main__":
    main()
