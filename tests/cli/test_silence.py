"""What a run says to the network and where it writes, seen from outside: nothing, and only in its own cache."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.support.photos import photo

# What `agenticiqa` on the path starts; -P because a script's folder, not the working folder, is first on its path.
COMMAND = [sys.executable, "-P", "-c", "from agenticiqa.cli import main; main()"]
TRAP = "import pathlib; pathlib.Path({mark!r}).write_text('ran'); raise SystemExit('trap')"


@pytest.fixture
def hostile_folder(tmp_path: Path) -> Path:
    """A working folder with pictures, and with modules named like those a new Python process imports first."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    Image.fromarray(photo("coffee")[:96, :96]).save(folder / "a.png")
    for module in ("multiprocessing", "pickle", "numpy", "sitecustomize"):
        (folder / f"{module}.py").write_text(TRAP.format(mark=str(tmp_path / f"{module}.ran")))
    return folder


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_a_batch_with_a_spawned_worker_looks_up_no_name_and_writes_only_into_its_own_cache(
    hostile_folder: Path, tmp_path: Path
) -> None:
    trace, home = tmp_path / "trace", tmp_path / "home"
    watched = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,openat", "-o", str(trace)]
    command = [*watched, *COMMAND, "batch", ".", "-o", str(tmp_path / "out.jsonl"), "--engine", "processes"]

    run = subprocess.run(
        [*command, "--concurrency", "1"], cwd=hostile_folder, env=_environment(home), capture_output=True, text=True
    )

    calls = trace.read_text(errors="replace")
    assert run.returncode == 0, run.stderr
    assert "onnxruntime" in calls
    assert not re.findall(r"resolv\.conf|sa_family=AF_INET6?", calls)
    written = [file for file in home.rglob("*") if file.is_file()]
    assert {file.relative_to(home).parts[:2] for file in written} <= {("cache", "agenticiqa")}


def test_no_module_of_the_working_folder_is_run(hostile_folder: Path, tmp_path: Path) -> None:
    # As installed: the script's own folder is first on its path, and nothing but our code guards the workers.
    script = tmp_path / "agenticiqa-script.py"
    script.write_text("from agenticiqa.cli import main\nif __name__ == '__main__':\n    main()")
    command = [sys.executable, str(script), "batch", ".", "-o", str(tmp_path / "out.jsonl"), "--engine", "processes"]

    run = subprocess.run(
        [*command, "--concurrency", "1"],
        cwd=hostile_folder,
        env=_environment(tmp_path / "home"),
        capture_output=True,
        text=True,
    )

    assert run.returncode == 0, run.stderr
    assert list(tmp_path.glob("*.ran")) == []


def test_using_the_package_leaves_other_python_processes_their_working_folder(tmp_path: Path) -> None:
    (tmp_path / "own_module.py").write_text("print('found')")
    program = (
        "import subprocess, sys, agenticiqa\n"
        "from agenticiqa.batch.workers import worker_environment\n"
        "with worker_environment(): pass\n"
        "subprocess.run([sys.executable, '-m', 'own_module'], check=True)"
    )

    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)

    assert (run.returncode, run.stdout.strip()) == (0, "found"), run.stderr


def _environment(home: Path) -> dict[str, str]:
    names = ("PATH", "PYTHONPATH", "LANG")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return {**kept, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "OMP_NUM_THREADS": "1"}
