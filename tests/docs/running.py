"""Running what a document tells its reader to run."""

from __future__ import annotations

import doctest
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from typer.testing import CliRunner

from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs
from tests.docs.blocks import ROOT, Block, commands

SIDE = 256
# What a plain call of our own command looks like; anything else goes to a real shell.
_SHELL = set("|&;<>$`*~")


def lay_out(folder: Path) -> None:
    """The photographs the documents speak of."""
    clean = {name: Image.fromarray(image.pixels).resize((SIDE, SIDE)) for name, image in sorted(photographs().items())}
    cat, coffee = clean["chelsea"], clean["coffee"]
    coffee.save(folder / "photo.jpg", quality=95)
    coffee.save(folder / "original.png")
    cat.save(folder / "first.jpg", quality=95)
    damaged(cat, "gaussian_blur", 4).save(folder / "second.jpg", quality=95)
    damaged(cat, "defocus_blur", 4).save(folder / "blurred.png")
    for name in ("copy.jpg", "compressed.jpg"):
        coffee.save(folder / name, quality=15)
    rows = ["image,rating"]
    (folder / "photos").mkdir()
    (folder / "rated").mkdir()
    for name, image in clean.items():
        image.save(folder / "photos" / f"{name}.jpg", quality=90)
        image.save(folder / "rated" / f"{name}.jpg", quality=90)
        damaged(image, "gaussian_blur", 4).save(folder / "rated" / f"{name}-soft.jpg", quality=90)
        # Not opinions, only a table to read: sharp pictures above soft ones.
        rows += [f"rated/{name}.jpg,{4.9 - len(rows) / 20:.2f}", f"rated/{name}-soft.jpg,{1.9 - len(rows) / 20:.2f}"]
    asked = [{"image_path": "photo.jpg"}, {"image_path": "copy.jpg", "reference_path": "original.png"}]
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in asked), encoding="utf-8")
    (folder / "ratings.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def damaged(image: Image.Image, kind: str, level: int) -> Image.Image:
    """A copy with known damage."""
    import numpy as np

    return Image.fromarray(distort(np.asarray(image), kind, level))


def run_block(block: Block, folder: Path, names: dict[str, Any]) -> None:
    """Runs one block in the folder; AssertionError says what failed and where."""
    if block.language == "python":
        run_python(block, names)
        return
    if any(command.endswith("&") for command, _ in commands(block.text)):
        code, said = run_shell(f"set -e\n{block.text}", folder)
        assert code == 0, f"{block.place} ended with {code}:\n{said}"
        return
    for command, wanted in commands(block.text):
        code, said = run_command(command, folder)
        assert code == wanted, f"{block.place}: `{command}` ended with {code}, not {wanted}:\n{said}"


def run_python(block: Block, names: dict[str, Any]) -> None:
    """Runs a block as a module would be, or as a session when it has prompts."""
    if ">>>" not in block.text:
        exec(compile(block.text, block.place, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, block.place, block.document, block.line)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, "".join(said)


def run_command(command: str, folder: Path) -> tuple[int, str]:
    """Exit code and output; our own command runs in this process, which spares it its start."""
    words = shlex.split(command)
    if words[0] == "make":
        return run_shell(f"make --dry-run --directory {shlex.quote(str(ROOT))} {' '.join(words[1:])}", folder)
    if words[0] == "agenticiqa" and not _SHELL & set(_unquoted(command)):
        from agenticiqa.cli import app

        done = CliRunner().invoke(app, words[1:], prog_name="agenticiqa")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.output
    return run_shell(command, folder)


def run_shell(command: str, folder: Path) -> tuple[int, str]:
    """Exit code and output in a real shell, with this environment's commands first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def _unquoted(command: str) -> str:
    """The command without what stands in quotes."""
    kept, quote = [], ""
    for sign in command:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        else:
            kept.append(sign)
    return "".join(kept)
