"""Builds wheel and sdist, installs the wheel into an empty environment elsewhere, and measures what a user gets.

    python scripts/measure_install.py [--folder FOLDER] [--json FILE]

Prints a Markdown table: sizes, packages, cold start, and one assessment with the network switched off.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS = 3
OWN = ("pip", "setuptools", "_distutils_hack", "pkg_resources")
"""What a new environment holds before anything is installed."""
# Run before everything else in the interpreter where there is no `unshare`: a connection is then an error.
NO_SOCKETS = (
    "import socket\n"
    "def refuse(*_): raise OSError('the network is switched off')\n"
    "socket.socket.connect = refuse\n"
    "socket.getaddrinfo = refuse\n"
)


def main() -> int:
    """The exit code: 0 when everything could be built, installed and run."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--folder", type=Path, help="where to build and install; default: a temporary folder")
    options.add_argument("--json", type=Path, help="also write the figures to this file")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        figures = measure(given.folder or Path(temporary))
    sys.stdout.write(table(figures))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return 0


def measure(folder: Path) -> dict[str, str]:
    """The figures by name."""
    wheel, sdist = build(folder / "dist")
    python = install(wheel, folder / "venv")
    site = next((folder / "venv").glob("lib/python*/site-packages"))
    command = [str(python.parent / "agenticiqa")]
    shutil.copy(ROOT / "src/agenticiqa/tools/photographs/coffee.webp", folder / "photo.webp")
    assess = [*command, "assess", "photo.webp", "--offline", "--quiet"]
    offline, how = without_network(assess, site)
    answer = run(offline, folder).splitlines()
    return {
        "wheel": f"{megabytes(wheel):.1f} MB, {len(zipfile.ZipFile(wheel).namelist())} files",
        "sdist": f"{megabytes(sdist):.1f} MB, {len(tarfile.open(sdist).getnames())} files",
        "default install": installed(site),
        "packages": f"{len(packages(site))} (without pip and setuptools)",
        "import agenticiqa": seconds([str(python), "-c", "import agenticiqa"], folder),
        "agenticiqa --help": seconds([*command, "--help"], folder),
        "agenticiqa assess photo.webp": seconds(assess, folder),
        f"the same offline ({how})": answer[1],
    }


def packages(site: Path) -> list[Path]:
    """The installed distributions but those every new environment has."""
    return [path for path in site.glob("*.dist-info") if not path.name.startswith(OWN)]


def installed(site: Path) -> str:
    """How much the packages take, with the bytecode Python adds on first use beside it."""
    files = [path for path in site.rglob("*") if not path.relative_to(site).parts[0].startswith(OWN)]
    bytecode = sum(megabytes(path) for path in files if path.suffix == ".pyc")
    return f"{sum(map(megabytes, files)) - bytecode:.0f} MB and {bytecode:.0f} MB of bytecode"


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel and the source distribution."""
    run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], ROOT)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def install(wheel: Path, folder: Path) -> Path:
    """The interpreter of a new environment that holds the wheel and what it needs."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, "-c", str(ROOT / "constraints.txt"), str(wheel)], folder)
    # A folder used before may hold an older build of the same version.
    run([*pip, "--force-reinstall", "--no-deps", str(wheel)], folder)
    return python


def without_network(command: list[str], site: Path) -> tuple[list[str], str]:
    """The command in a network namespace of its own, or with sockets that refuse."""
    isolated = ["unshare", "--map-root-user", "--net"]
    if (
        shutil.which("unshare")
        and subprocess.run([*isolated, "true"], capture_output=True, check=False).returncode == 0
    ):
        return [*isolated, *command], "no network interface"
    (site / "no_sockets.pth").write_text(f"import sys; exec({NO_SOCKETS!r})\n", encoding="utf-8")
    return command, "sockets refuse"


def seconds(command: list[str], folder: Path) -> str:
    """The least CPU time of the command, which other work on the machine disturbs less, and its wall-clock time."""
    taken = []
    for _ in range(RUNS):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        run(command, folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        taken.append((cpu, time.perf_counter() - started))
    cpu, wall = min(taken)
    return f"{cpu:.2f} s of CPU time, {wall:.2f} s on the clock (least of {RUNS})"


def run(command: list[str], folder: Path) -> str:
    """The command's output; a failing one ends the measurement with what it said."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def megabytes(path: Path) -> float:
    """The file's size; 0 for a folder."""
    return path.stat().st_size / 1e6 if path.is_file() else 0.0


def table(figures: dict[str, str]) -> str:
    """The figures as Markdown."""
    rows = "\n".join(f"| {name} | {figure} |" for name, figure in figures.items())
    return f"| what | measured |\n|---|---|\n{rows}\n"


if __name__ == "__main__":
    raise SystemExit(main())
