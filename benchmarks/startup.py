"""Cold start and memory: CPU seconds, clock seconds and peak memory of whole processes, beside a peer's.

    python -m benchmarks.startup

The peers are SSIM of scikit-image, the plainest metric one could call instead, and of pyiqa where it is installed:
a metric that needs no file from a model hub. The package's modules are compiled first, as an installer leaves them.
"""

from __future__ import annotations

import compileall
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 3
COMMAND = str(Path(sys.executable).with_name("agenticiqa"))
# In a process of its own: what this one holds in memory would count as its children's.
PICTURES = (
    "from PIL import Image; from agenticiqa.tools.synthetic.ladder import photographs; "
    "image = Image.fromarray(photographs()['coffee'].pixels); "
    "image.save('photo.png'); image.save('copy.jpg', quality=20)"
)
SSIM = (
    "import numpy as np; from PIL import Image; from skimage.metrics import structural_similarity as ssim; "
    "a = np.asarray(Image.open('photo.png')); b = np.asarray(Image.open('copy.jpg')); "
    "print(ssim(a, b, channel_axis=2))"
)
PYIQA = (
    "from training.reference_values import complete_torchvision; complete_torchvision(); "
    "import pyiqa; print(pyiqa.create_metric('ssim', device='cpu')('copy.jpg', 'photo.png'))"
)
ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Prints one row per command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compileall.compile_dir(ROOT / "src", quiet=1)
        subprocess.run([sys.executable, "-c", PICTURES], cwd=folder, check=True)
        print("| process | CPU time | on the clock | peak memory |\n|---|---|---|---|")
        for said, command in processes():
            cpu, wall, memory = min(measured(command, folder) for _ in range(RUNS))
            print(f"| {said} | {cpu:.2f} s | {wall:.2f} s | {memory:.0f} MB |")


def processes() -> list[tuple[str, list[str]]]:
    """What is measured: words for the table and the command."""
    python = [sys.executable, "-c"]
    offline = ["--quiet", "--offline"]
    found = [
        ("Python alone", [*python, "pass"]),
        ("`import agenticiqa`", [*python, "import agenticiqa"]),
        ("`agenticiqa --help`", [COMMAND, "--help"]),
        ("`agenticiqa measure copy.jpg photo.png --tools SSIM,PSNR,BLUR_RADIUS`",
         [COMMAND, "measure", "copy.jpg", "photo.png", "--tools", "SSIM,PSNR,BLUR_RADIUS"]),
        ("`agenticiqa assess photo.png`", [COMMAND, "assess", "photo.png", *offline]),
        ("`agenticiqa assess copy.jpg --reference photo.png`",
         [COMMAND, "assess", "copy.jpg", "--reference", "photo.png", *offline]),
        ("peer: SSIM of the pair with scikit-image", [*python, SSIM]),
    ]  # fmt: skip
    if importlib.util.find_spec("pyiqa"):
        found.append(("peer: SSIM of the pair with pyiqa", [*python, PYIQA]))
    return found


def surroundings() -> dict[str, str]:
    """The variables of a measured process: one thread, nothing answered from memory, this checkout's code."""
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "AGENTICIQA_PIPELINE__CACHE__ENABLED": "false",
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
    }


def measured(command: list[str], folder: Path) -> tuple[float, float, float]:
    """CPU seconds, clock seconds and peak megabytes of one run."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=surroundings(), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
