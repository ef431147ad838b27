"""What the default install needs, and what it can do without."""

from __future__ import annotations

import subprocess
import sys

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
