"""Every command with every output on every input: nothing that is read is written over, and no file is left half."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import click
import numpy as np
import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from agenticiqa.assessor.regions import AssessedRegion, crop_files
from agenticiqa.cli import app
from agenticiqa.encode.folders import copy_names
from agenticiqa.errors import OutputError
from agenticiqa.outputs import refuse_overwriting, replacing, write_whole
from tests.support.photos import photo, save
from tests.support.results import record


@dataclass(frozen=True)
class Command:
    """How a command is called: what it reads stands in `arguments`, what it can write in `outputs`."""

    arguments: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


SETTINGS = ("--config", "settings.yaml")
COMMANDS = {
    "assess": Command(
        ("photo.png", "-r", "original.png", "--gate", "gate.toml", *SETTINGS),
        ("photo.png", "original.png", "gate.toml", "settings.yaml"),
        ("--html", "--crop-dir"),
    ),
    "measure": Command(
        ("photo.png", "original.png", *SETTINGS), ("photo.png", "original.png", "settings.yaml"), ("--map",)
    ),
    "batch": Command(
        ("samples.csv", "--references", "originals", "--gate", "gate.toml", *SETTINGS),
        ("samples.csv", "pictures/one.png", "originals/one.png", "gate.toml", "settings.yaml"),
        ("--output", "--html", "--junit"),
    ),
    "audit": Command(("list.txt", *SETTINGS), ("list.txt", "pictures/one.png", "settings.yaml"), ("--output",)),
    "encode": Command(
        ("pictures", "--min-score", "3", *SETTINGS), ("pictures/one.png", "settings.yaml"), ("--output", "--html")
    ),
    "report": Command(("results.jsonl",), ("results.jsonl", "pictures/one.png"), ("--output",)),
    "evaluate": Command(
        ("--manifest", "ratings.csv", "--recorded", "recorded.jsonl", *SETTINGS),
        ("ratings.csv", "recorded.jsonl", "pictures/one.png", "settings.yaml"),
        ("--output",),
    ),
    "calibrate": Command(
        ("--manifest", "ratings.csv", *SETTINGS), ("ratings.csv", "pictures/one.png", "settings.yaml"), ("--overlay",)
    ),
    "sort": Command(("results.jsonl", "--yes"), ("results.jsonl", "pictures/one.png"), ("--output",)),
    "graph": Command((), (), ("--output",)),
}
# Options and arguments of the type Path that are read, and those of a service that keeps its own folder.
READ = {"image", "reference", "gate_file", "config", "references", "source", "results", "root", "manifest", "recorded",
        "accepted", "rejected", "images", "allow_folder", "token_file", "file", "result"}  # fmt: skip
KEPT_BY_A_SERVICE = {("serve", "folder")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with everything the commands read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    pixels = np.ascontiguousarray(photo("chelsea")[:64, :96])
    for place in ("photo.png", "original.png", "pictures/one.png", "originals/one.png"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        save(tmp_path / place, pixels)
    line = {"sample_id": "one", "image_path": str(tmp_path / "pictures/one.png"), "assessment": record()}
    (tmp_path / "results.jsonl").write_text(json.dumps(line) + "\n")
    (tmp_path / "samples.csv").write_text("sample_id,image_path\none.png,pictures/one.png\n")
    (tmp_path / "list.txt").write_text("pictures/one.png\n")
    (tmp_path / "ratings.csv").write_text("image,rating\npictures/one.png,4.5\noriginals/one.png,2\n")
    (tmp_path / "recorded.jsonl").write_text("")
    (tmp_path / "settings.yaml").write_text("pipeline:\n  offline: true\n")
    (tmp_path / "gate.toml").write_text("[gate]\nfail_under = 1\n")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    """Every file's bytes by its name, but for caches."""
    files = (path for path in folder.rglob("*") if path.is_file() and "cache" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


CASES = [(name, output, given) for name, each in COMMANDS.items() for output in each.outputs for given in each.inputs]


@pytest.mark.parametrize(("name", "output", "given"), CASES)
def test_no_output_of_any_command_takes_the_place_of_an_input(folder: Path, name: str, output: str, given: str) -> None:
    target = folder / given
    others = ["--output", "fresh.jsonl"] if name in ("batch", "encode") and output != "--output" else []
    before = contents(folder)

    shown = CliRunner().invoke(app, [name, *COMMANDS[name].arguments, *others, output, str(target)])

    assert shown.exit_code == 2, shown.output
    assert str(target) in shown.stderr.replace("\n", "")
    assert contents(folder) == before


@pytest.mark.parametrize("way", ["symlink_to", "hardlink_to"])
def test_a_link_to_an_input_is_that_input(tmp_path: Path, way: str) -> None:
    (tmp_path / "photo.png").write_bytes(b"a picture")
    getattr(tmp_path / "page.html", way)(tmp_path / "photo.png")

    with pytest.raises(OutputError, match=r"page\.html: is an input and would be written over"):
        refuse_overwriting([tmp_path / "page.html"], [tmp_path / "photo.png"])


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [(name, *pair) for name, each in COMMANDS.items() for pair in combinations(each.outputs, 2)],
)
def test_two_results_are_never_written_to_one_place(folder: Path, name: str, first: str, second: str) -> None:
    others = ["--output", "fresh.jsonl"] if name == "batch" and first != "--output" else []
    command = [name, *COMMANDS[name].arguments, *others, first, "same.out", second, "./same.out"]

    shown = CliRunner().invoke(app, command)

    assert shown.exit_code == 2, shown.output
    assert "two results would be written to it" in shown.stderr


def test_every_option_that_names_a_file_is_tried_here() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)

    named = {
        (name, parameter.name)
        for name, command in group.commands.items()
        for parameter in command.params
        if isinstance(parameter.type, click.Path) or "Path" in type(parameter.type).__name__
    }
    tried = {
        (name, option.removeprefix("--").replace("-", "_"))
        for name, each in COMMANDS.items()
        for option in each.outputs
    }
    tried = {(name, "map_to" if option == "map" else option) for name, option in tried}

    assert {each for each in named if each[1] not in READ} - KEPT_BY_A_SERVICE == tried


@pytest.mark.parametrize(
    ("name", "text"),
    [("table.csv", "image_path\nphoto.png\n"), ("measurements.jsonl", '{"image_path": "photo.png"}\n')],
)
def test_an_audit_does_not_write_over_a_list_that_is_named_like_its_own_files(
    folder: Path, name: str, text: str
) -> None:
    (folder / name).write_text(text)
    before = contents(folder)

    shown = CliRunner().invoke(app, ["audit", name, "-o", ".", "--quick"])

    assert shown.exit_code == 2, shown.output
    assert contents(folder) == before


@pytest.mark.parametrize("output", ["pictures", "pictures/inside", "link"])
def test_encode_never_writes_into_the_folder_of_the_originals(folder: Path, output: str) -> None:
    (folder / "link").symlink_to(folder / "pictures", target_is_directory=True)
    save(folder / "pictures" / "two.jpg", np.asarray(photo("coffee")[:64, :96]), quality=95)
    before = contents(folder)

    shown = CliRunner().invoke(app, ["encode", "pictures", "-o", output, "--min-score", "2", "--format", "jpeg"])

    assert shown.exit_code == 2, shown.output
    assert "lies in the folder of the originals" in shown.stderr
    assert contents(folder) == before


def test_pictures_that_differ_only_in_their_suffix_get_a_copy_each(folder: Path) -> None:
    save(folder / "pictures" / "one.jpg", np.asarray(photo("coffee")[:64, :96]), quality=95)
    save(folder / "pictures" / "two.png", np.asarray(photo("coffee")[:64, :96]))

    shown = CliRunner().invoke(
        app, ["encode", "pictures", "-o", "out", "--min-score", "2", "--step", "25", "-j", "1", "-q"]
    )

    assert shown.exit_code == 0, shown.output
    copies = {path.name for path in (folder / "out").iterdir() if path.is_file()}
    assert copies == {"one.jpg.webp", "one.png.webp", "two.webp"}


def test_encode_leaves_files_alone_that_it_did_not_make(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "one.webp").write_bytes(b"somebody's")
    command = ["encode", "pictures", "-o", "out", "--min-score", "2", "--step", "25", "-j", "1", "-q"]

    refused = CliRunner().invoke(app, command)

    assert refused.exit_code == 2, refused.output
    assert "was there before" in refused.stderr
    assert (folder / "out" / "one.webp").read_bytes() == b"somebody's"


def test_copies_that_cannot_be_told_apart_are_refused() -> None:
    assert copy_names(["A.png", "a.jpg", "b.gif"], ".webp") == {
        "A.png": "A.png.webp", "a.jpg": "a.jpg.webp", "b.gif": "b.webp",
    }  # fmt: skip
    with pytest.raises(OutputError, match="two originals would be called so"):
        copy_names(["x.jpg", "x.png", "x.jpg.png"], ".webp")


def test_the_name_of_a_region_leads_nowhere_else() -> None:
    region = AssessedRegion(left=0, top=0, right=1, bottom=1)

    files = crop_files({"../../etc/passwd": region, "top left": region, "gone": None}, Path("crops"), "photo")

    assert list(map(str, files.values())) == ["crops/photo-_etc_passwd.png", "crops/photo-top_left.png"]


FULL = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); sys.argv[0] = 'agenticiqa'; "


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("assess", "photo.png", "--html", "old.out"), "old.out"),
        (("measure", "photo.png", "--tools", "PIQE", "--map", "old.out"), "old.out"),
        (("report", "results.jsonl", "-o", "old.out"), "old.out"),
        (("encode", "photo.png", "--min-score", "2", "-o", "old.webp"), "old.webp"),
        (("graph", "-o", "old.svg"), "old.svg"),
        (("graph", "-o", "old.png"), "old.png"),
    ],
)
def test_a_full_disk_leaves_the_old_file_and_no_half_one(folder: Path, arguments: tuple[str, ...], output: str) -> None:
    (folder / output).write_bytes(b"the old one")
    before = contents(folder)
    program = f"{FULL} from agenticiqa.cli import main; sys.argv[1:] = {list(arguments)!r}; main()"
    environment = {**os.environ, "AGENTICIQA_PIPELINE__CACHE__ENABLED": "false"}

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)

    assert ended.returncode == 2, ended.stderr
    assert f"{output}: cannot be written (File too large)" in ended.stderr
    assert contents(folder) == before


def test_a_device_is_written_to_and_stays_a_device(tmp_path: Path) -> None:
    write_whole(Path("/dev/null"), "words")
    refuse_overwriting([Path("/dev/null"), tmp_path / "new"], ["/dev/null", tmp_path / "missing"])

    assert not Path("/dev/null").is_file()


def test_an_interruption_leaves_nothing_beside_the_output(tmp_path: Path) -> None:
    def interrupted() -> None:
        with replacing(tmp_path / "page.html") as spare:
            spare.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert list(tmp_path.iterdir()) == []
