"""What the default install needs, and what it can do without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

BLOCK = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Refuse())
"""


def run_without(blocked: tuple[str, ...], code: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter in which these modules cannot be imported."""
    return subprocess.run([sys.executable, "-c", BLOCK.format(blocked=blocked) + code], capture_output=True, text=True)


def test_an_assessment_with_and_without_a_reference_needs_no_scipy() -> None:
    run = run_without(
        ("scipy",),
        "import numpy as np, agenticiqa\n"
        "picture = np.random.default_rng(1).integers(0, 255, (96, 128, 3), np.uint8)\n"
        "print(agenticiqa.assess(picture, 'Is it noisy?').answer)\n"
        "print(round(agenticiqa.assess(picture, reference=picture).score, 3))\n",
    )

    assert run.returncode == 0, run.stderr
    assert "5.0" in run.stdout


def test_a_file_is_assessed_and_reported_where_os_has_no_posix_names(tmp_path: Path) -> None:
    picture = np.random.default_rng(1).integers(0, 255, (96, 128, 3), np.uint8)
    Image.fromarray(picture).save(tmp_path / "picture.png")
    code = (
        "import os, sys\n"
        "for name in ('O_NONBLOCK', 'O_CLOEXEC', 'O_DIRECTORY', 'O_NOFOLLOW', 'pread', 'fchmod', 'nice'):\n"
        "    delattr(os, name)\n"
        "os.supports_dir_fd.discard(os.open)\n"
        "import agenticiqa\n"
        "from agenticiqa.config import load_settings\n"
        "from agenticiqa.report.page import write_report\n"
        "settings = load_settings(overrides={'pipeline': {'allowed_root': sys.argv[1]}})\n"
        "found = agenticiqa.Assessor(settings).assess('picture.png', 'Is it noisy?')\n"
        "write_report([found.model_dump(mode='json')], __import__('pathlib').Path('report.html'))\n"
        "print(found.answer)\n"
    )

    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("Yes")
    assert (tmp_path / "report.html").stat().st_mode & 0o777 == 0o644


def test_every_module_imports_where_posix_modules_are_missing() -> None:
    run = run_without(
        ("fcntl", "resource", "pwd", "grp"),
        "import importlib, pkgutil, agenticiqa\n"
        "skipped = ('agenticiqa.__main__', 'agenticiqa.mcp.', 'agenticiqa.cli.mcp')\n"
        "for module in pkgutil.walk_packages(agenticiqa.__path__, 'agenticiqa.'):\n"
        # The MCP library looks at the platform's name, which cannot be blocked.
        "    if not module.name.startswith(skipped):\n"
        "        importlib.import_module(module.name)\n",
    )

    assert run.returncode == 0, run.stderr
