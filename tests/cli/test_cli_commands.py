"""Every command: each example of its help is carried out, and each bad input gets its sentence and exit code."""

from __future__ import annotations

import json
import logging
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from PIL import Image
from typer.core import TyperGroup
from typer.testing import CliRunner

from agenticiqa.assessor import Assessment, Ranking
from agenticiqa.assessor.ranking import rank
from agenticiqa.assessor.wording import likely_in_words, ranking_in_words, rating_in_words
from agenticiqa.cli import app
from agenticiqa.cli.doctor import tool_checks
from agenticiqa.cli.terminal import in_a_line
from agenticiqa.nodes.context import ProgressEvent
from tests.support.agent import FixedTool, picture, registry, script
from tests.support.photos import photo, save
from tests.support.results import assessment, record

runner = CliRunner()
HEAVY = ("numpy", "cv2", "PIL", "onnxruntime", "langgraph", "langchain_core", "pydantic", "rich", "asyncio")
PROGRAM = shutil.which("agenticiqa", path=str(Path(sys.executable).parent)) or "agenticiqa"


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """A command sets logging up for its process; the tests after it must not notice."""
    logger = logging.getLogger("agenticiqa")
    level, handlers = logger.level, list(logger.handlers)
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with every file the examples name; caches and overlays stay inside it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    pixels = photo("chelsea")[::2, ::2]
    save(tmp_path / "original.png", pixels)
    save(tmp_path / "photo.jpg", pixels, quality=95)
    save(tmp_path / "compressed.jpg", pixels, quality=8)
    lines = [{"image_path": name, "assessment": record()} for name in ("photo.jpg", "compressed.jpg")]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "keep.txt").write_text("photo.jpg\n")
    (tmp_path / "ratings.csv").write_text("image,rating\nphoto.jpg,4.5\ncompressed.jpg,1.5\n")
    (tmp_path / "photos").mkdir()
    save(tmp_path / "photos/photo.jpg", pixels, quality=95)
    for place in ("originals", "copies"):
        (tmp_path / place).mkdir()
    save(tmp_path / "originals/photo.png", pixels)
    save(tmp_path / "copies/photo.jpg", pixels, quality=50)
    (tmp_path / "samples.jsonl").write_text('{"image_path": "photo.jpg"}\n')
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/model_backends.yaml").write_text("pipeline:\n  max_replan_iterations: 1\n")
    return tmp_path


@pytest.fixture
def scripted_backend(folder: Path) -> str:
    """The name of a backend that answers C from a script."""
    (folder / "script.json").write_text(json.dumps(script(select_tools={"selected_tools": {}})))
    return "scripted.script.json"


def help_texts(command: Any, name: str = "agenticiqa") -> Iterator[tuple[str, str]]:
    """The help of every command that does something, by the words that call it."""
    if isinstance(command, TyperGroup):
        for word, inner in command.commands.items():
            yield from help_texts(inner, f"{name} {word}")
    else:
        yield name, command.help


def examples(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip().startswith("agenticiqa ")]


EXAMPLES = {name: examples(text) for name, text in help_texts(typer.main.get_command(app))}
# They serve until they are stopped, or need a key, a cluster or twenty pictures; other tests carry these commands out.
ONLY_READ = (
    "agenticiqa serve",
    "agenticiqa mcp",
    "agenticiqa batch samples.csv",
    "agenticiqa batch samples.parquet",
    "agenticiqa calibrate --from-accepted",
    "agenticiqa evaluate --compare",
)
ALL_EXAMPLES = [line for lines in EXAMPLES.values() for line in lines]
# What has to be made before an example can use it, by the example's first argument.
_KEPT = "audit photos/ --quick --keep"
NEEDED_FIRST = {
    "audit": (_KEPT,),
    "sorted/undo.jsonl": (_KEPT, "sort audit -o sorted --yes"),
}


def test_every_command_has_examples_of_itself() -> None:
    assert {"agenticiqa assess", "agenticiqa compare", "agenticiqa report", "agenticiqa cache clear"} <= set(EXAMPLES)
    for name, lines in EXAMPLES.items():
        assert lines, name
        assert all(line.startswith(name) for line in lines)


@pytest.mark.parametrize("example", [line for line in ALL_EXAMPLES if line.startswith(ONLY_READ)])
def test_examples_that_need_others_have_only_options_that_exist(example: str) -> None:
    words = shlex.split(example)[1:]

    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)

    context = group.commands[words[0]].make_context(words[0], words[1:])

    assert context.args == []


@pytest.mark.parametrize("example", [line for line in ALL_EXAMPLES if not line.startswith(ONLY_READ)])
def test_every_other_example_of_every_help_text_works(folder: Path, example: str) -> None:
    if example.startswith("agenticiqa batch"):
        (folder / "results.jsonl").unlink()
    for command in NEEDED_FIRST.get("".join(shlex.split(example)[2:3]), ()):
        assert runner.invoke(app, shlex.split(command)).exit_code == 0

    result = runner.invoke(app, shlex.split(example)[1:])

    assert result.exit_code == 0, result.output
    assert result.stdout


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_stand_in_the_help_line_by_line(name: str) -> None:
    output = runner.invoke(app, [*name.split()[1:], "--help"]).output

    for example in EXAMPLES[name]:
        assert f"\n    {example}\n" in output


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["assess", "gone.jpg"], 2, "gone.jpg: no such file; check the path"),
        (["assess", "configs"], 2, "configs: is a folder; name an image file inside it"),
        (["assess", "text.jpg"], 1, "text.jpg: is not an image we can read; convert it"),
        (["assess", "photo.jpg", "-r", "small.png"], 1, "differ in size"),
        (["assess", "photo.jpg", "  "], 2, "the question is blank"),
        (["assess", "photo.jpg", "--backend", "nobody.knows"], 2, "nobody"),
        (["assess", "photo.jpg", "--backend", "openai.gpt-4o", "--offline"], 1, "offline"),
        (["compare", "photo.jpg"], 2, "at least two images"),
        (["compare", "photo.jpg", "gone.jpg"], 2, "gone.jpg: no such file"),
        (["measure", "photo.jpg", "--tools", "PSNR"], 1, "give the original too, or choose a tool that needs none"),
        (
            ["measure", "photo.jpg", "--tools", "SSIMM"],
            2,
            "did you mean: SSIM, MS_SSIM, FSIM; `agenticiqa tools` lists",
        ),
        (["measure", "photo.jpg", "--tools", "glamour"], 2, "named 'glamour'; `agenticiqa tools` lists all"),
        (["tools", "HaarSPI"], 2, "did you mean: HaarPSI"),
        (["calibrate", "--ladder", "NOTHING_LIKE_IT"], 2, "no IQA tool named 'NOTHING_LIKE_IT'"),
        (["report", "gone.jsonl"], 2, "gone.jsonl: cannot be read"),
        (["report", "text.jpg"], 2, "text.jpg: line 1 is not JSON"),
        (["report", "results.jsonl", "--no-maps", "-o", "nowhere/r.html"], 2, "nowhere/r.html: cannot be written"),
        (["graph", "-o", "nowhere/g.png"], 2, "nowhere/g.png: cannot be written"),
        (["graph", "-o", "graph.docx"], 2, "use .png, .svg or .mmd"),
        (["cache", "clear", "nonsense"], 2, "no part named 'nonsense'; there are: replies, tools"),
        (["config", "check", "text.jpg"], 2, "text.jpg: must hold sections"),
    ],
)
def test_bad_input_is_one_sentence_with_the_remedy(folder: Path, arguments: list[str], code: int, words: str) -> None:
    (folder / "text.jpg").write_text("only words")
    picture(folder, "small.png")

    result = runner.invoke(app, arguments)

    assert (result.exit_code, words in result.stderr) == (code, True), result.output
    assert "Traceback" not in result.output


def test_a_question_of_a_megabyte_is_refused(folder: Path) -> None:
    result = runner.invoke(app, ["assess", "photo.jpg", "-"], input="why? " * 200_000)

    assert result.exit_code == 2
    assert "1000000 characters, more than 20000; shorten it" in result.stderr


def test_a_question_may_come_from_standard_input(folder: Path, scripted_backend: str) -> None:
    arguments = ["assess", "photo.jpg", "-", "--json", "--backend", scripted_backend]

    result = runner.invoke(app, arguments, input="Rate it.")

    assert Assessment.model_validate_json(result.stdout).query == "Rate it."


@pytest.mark.parametrize(("bar", "code"), [(1.0, 0), (5.0, 3)])
def test_a_score_below_the_bar_is_exit_code_3(folder: Path, scripted_backend: str, bar: float, code: int) -> None:
    result = runner.invoke(app, ["assess", "photo.jpg", "--backend", scripted_backend, "--fail-under", str(bar)])

    assert result.exit_code == code, result.output
    assert re.match(r"\d\.\d\d? of 5, [A-Z][a-z]+, probably [A-Z]", result.stdout)


def test_a_rule_that_is_met_is_exit_code_3_and_named(folder: Path, scripted_backend: str) -> None:
    arguments = ["assess", "photo.jpg", "--backend", scripted_backend, "--fail-if"]

    met = runner.invoke(app, [*arguments, "PIQE > 0.01"])
    kept = runner.invoke(app, [*arguments, "PIQE > 101"])
    unknown = runner.invoke(app, [*arguments, "SHRAPNESS < 0.1"])

    assert (met.exit_code, kept.exit_code, unknown.exit_code) == (3, 0, 2)
    assert "fails by `PIQE > 0.01` (piqe is " in met.stderr
    assert "nothing measures 'shrapness'; did you mean sharpness?" in unknown.stderr
    assert "did you mean blur?" in runner.invoke(app, [*arguments, "motion blur > 3"]).stderr
    assert "did you mean blur?" in runner.invoke(app, [*arguments, "blurr >= moderate"]).stderr
    assert runner.invoke(app, [*arguments, "unicorn: blurred"]).exit_code == 2


def test_good_for_a_use_is_told_with_its_limit_in_few_words(folder: Path) -> None:
    asked = runner.invoke(app, ["assess", "photo.jpg", "good enough for a passport photo?", "--offline", "--quiet"])

    assert asked.exit_code == 0, asked.output
    assert re.search(r"^Why: .+ This speaks of technical quality only", asked.stdout, re.MULTILINE)


def test_measuring_needs_no_agent(folder: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "agenticiqa", "measure", "compressed.jpg", "original.png"]

    done = subprocess.run(
        [*command, "--tools", "SSIM,psnr", "--json", "--map", "map.png"], capture_output=True, text=True, check=True
    )

    values = {each["tool"]: each["value"] for each in json.loads(done.stdout)}
    assert 0 < values["SSIM"] < 1 < values["PSNR"]
    assert "langgraph" not in done.stderr
    assert "onnxruntime" not in done.stderr
    with Image.open("map.png") as drawn, Image.open("original.png") as original:
        assert drawn.size == original.size


def test_a_second_picture_is_not_taken_for_a_question(folder: Path) -> None:
    shown = runner.invoke(app, ["assess", "photo.jpg", "other.png"])

    assert shown.exit_code == 2
    assert "agenticiqa compare photo.jpg other.png" in shown.stderr
    assert "--reference other.png" in shown.stderr


def test_a_page_in_a_folder_that_is_not_there_is_refused_before_the_work(folder: Path, scripted_backend: str) -> None:
    arguments = ["assess", "photo.jpg", "--backend", scripted_backend, "--html", "nowhere/page.html"]

    shown = runner.invoke(app, arguments)

    assert shown.exit_code == 2
    assert "there is no folder" in shown.stderr
    assert "planner" not in shown.stderr


@pytest.mark.parametrize(
    ("score", "level", "name", "shown"),
    [
        (3.84, "B", "Good", "3.8 of 5, Good"),
        (3.46, "C", "Fair", "3.46 of 5, Fair"),
        (3.5, "B", "Good", "3.5 of 5, Good"),
    ],
)
def test_a_rating_reads_as_people_say_it(score: float, level: str, name: str, shown: str) -> None:
    assert rating_in_words(assessment(score, level=level, level_name=name)) == shown


@pytest.mark.parametrize(
    ("shares", "shown"),
    [
        ((0, 0.9, 0.1, 0, 0), "probably Good"),
        # Either neighbour would do; the likelier one is told.
        ((0.35, 0.46, 0.35 - 0.16, 0, 0), "probably Good or Excellent"),
        ((0.1, 0.5, 0.4, 0, 0), "probably Fair or Good"),
        ((0.3, 0.35, 0.2, 0.15, 0), "probably Fair to Excellent"),
        (None, None),
    ],
)
def test_the_levels_people_probably_give_are_the_fewest_that_hold_80_of_100(
    shares: tuple[float, ...] | None, shown: str | None
) -> None:
    levels = None if shares is None else dict(zip("ABCDE", shares, strict=True))
    found = likely_in_words(assessment(3.9, level="B", level_name="Good", level_probabilities=levels))

    assert found == shown


def test_quiet_shows_no_warnings_unless_verbose_asks_for_the_log(tmp_path: Path) -> None:
    # Too small for the tool that is chosen first, which is worth a warning.
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (20, 20, 3), np.uint8)).save(tmp_path / "tiny.png")
    arguments = ["assess", str(tmp_path / "tiny.png"), "Is it noisy?", "--quiet"]

    quiet, verbose = runner.invoke(app, arguments), runner.invoke(app, [*arguments, "--verbose"])

    assert quiet.exit_code == 0
    assert quiet.stderr == ""
    assert "WARNING" in verbose.stderr


def test_a_reference_of_another_size_is_refused_with_the_flag_that_helps(tmp_path: Path) -> None:
    for side in (32, 48):
        Image.new("RGB", (side, side), "grey").save(tmp_path / f"{side}.png")
    names = [str(tmp_path / "48.png"), "--reference", str(tmp_path / "32.png"), "--quiet"]

    single = runner.invoke(app, ["assess", *names])
    several = runner.invoke(app, ["compare", str(tmp_path / "48.png"), *names])
    scaled = runner.invoke(app, ["compare", str(tmp_path / "48.png"), *names, "--align", "resize"])

    told = "use images of the same size, or --align resize to scale the reference\n"
    assert (single.exit_code, several.exit_code, scaled.exit_code) == (1, 1, 0)
    assert single.stderr.endswith(told)
    assert several.stderr.endswith(told)


def test_the_steps_are_plain_lines_on_the_error_stream_when_asked_for(folder: Path, scripted_backend: str) -> None:
    arguments = ["assess", "photo.jpg", "--backend", scripted_backend]

    plain, loud, quiet = (runner.invoke(app, [*arguments, *more]) for more in ((), ("--verbose",), ("--quiet",)))

    lines = [line for line in loud.stderr.splitlines() if " INFO " not in line]
    assert lines[0] == "planner started"
    assert "planner" not in plain.stderr
    assert any(line.startswith("executor: distortion_detection finished (") for line in lines)
    assert lines[-1].startswith("summarizer finished (")
    assert "planner" not in quiet.stderr
    assert " of 5, " in loud.stdout.splitlines()[0]


def test_on_a_terminal_progress_is_one_moving_line_that_goes_away(folder: Path, scripted_backend: str) -> None:
    reader, terminal = pty.openpty()
    command = [PROGRAM, "assess", "photo.jpg", "--backend", scripted_backend]

    result = subprocess.run(command, stderr=terminal, stdout=subprocess.PIPE, text=True, check=True,
                            env={**os.environ, "TERM": "xterm"})  # fmt: skip
    os.close(terminal)
    shown = os.read(reader, 1_000_000).decode()
    os.close(reader)

    # Which steps are seen depends on how often the line is drawn.
    assert re.search(r"starting|reading the question|looking at the picture|answering", shown)
    assert "\x1b[2K" in shown
    assert " of 5, " in result.stdout.splitlines()[0]
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize(("said", "goes_on"), [(b"n\n", False), (b"y\n", True)])
def test_on_a_terminal_a_person_is_asked_before_the_folder_sends_pictures_away(
    folder: Path, said: bytes, goes_on: bool
) -> None:
    (folder / "configs").mkdir(exist_ok=True)
    (folder / "configs" / "model_backends.yaml").write_text("planner:\n  backend: openai.gpt-4o\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name not in ("OPENAI_API_KEY", "TERM")}
    reader, terminal = pty.openpty()
    os.write(reader, said)

    result = subprocess.run([PROGRAM, "assess", "photo.jpg"], stdin=terminal, stderr=terminal, stdout=subprocess.PIPE,
                            env=environment, check=False)  # fmt: skip
    os.close(terminal)
    shown = os.read(reader, 1_000_000).decode()
    os.close(reader)

    assert "would send pictures away" in shown
    assert "Send them? [y/N]" in shown
    assert ("add --trust-folder" not in shown) is goes_on
    assert goes_on or result.returncode == 2


def test_a_log_file_that_cannot_be_written_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTICIQA_PIPELINE__LOGGING__FILE", "nowhere/log.jsonl")

    result = runner.invoke(app, ["assess", "photo.jpg"])

    assert result.exit_code == 2
    assert "nowhere/log.jsonl: cannot be written" in result.stderr


def test_a_second_pass_is_named_in_the_progress() -> None:
    event = ProgressEvent("executor", "tool_execution", "finished", iteration=1, seconds=0.251)

    assert in_a_line(event) == "executor: tool_execution (pass 2) finished (0.25 s)"


def test_the_ranking_says_who_is_better_and_where_there_is_no_clear_difference() -> None:
    found = [assessment(4.0, (3.5, 4.5)), assessment(3.9, (3.4, 4.4)), assessment(2.0, (1.5, 2.5))]

    lines = ranking_in_words(rank(["a", "b", "c"], found)).splitlines()

    assert lines[0].startswith("1. a: 4.00 of 5")
    # Standard error of the gap 0.3608: Φ(0.1 / 0.3608) = .609.
    assert lines[3] == "a and b: no clear difference (probability that the first is better: 61 %)"
    assert lines[4] == "a is better than c (probability > 99 %)"


def test_the_compressed_photograph_is_ranked_below_the_original_one(folder: Path) -> None:
    result = runner.invoke(app, ["compare", "compressed.jpg", "photo.jpg", "-r", "original.png", "--json"])

    ranking = Ranking.model_validate_json(result.stdout)
    assert [entry.name for entry in ranking.entries] == ["photo.jpg", "compressed.jpg"]


def test_the_learned_tools_are_listed(folder: Path) -> None:
    rows = json.loads(runner.invoke(app, ["tools", "--json"]).stdout)

    assert {"AIQA_NR", "AIQA_FR"} <= {row["name"] for row in rows}


def test_doctor_gives_the_command_for_tools_that_do_not_run_or_vote() -> None:
    missing = "LATER needs an optional dependency; install it with: pip install 'agenticiqa[pyiqa]'"
    tools = registry(FixedTool("MUTE", calibrated=False), FixedTool("LATER", missing=missing), FixedTool("FINE"))

    first, later, mute = tool_checks(tools)

    assert (first.ok, first.detail) == (True, "2 of 3 run here, 1 vote")
    assert (later.name, later.remedy) == ("tools LATER", "pip install 'agenticiqa[pyiqa]'")
    assert (mute.name, mute.remedy) == ("tool MUTE", "agenticiqa calibrate --manifest RATINGS")


def test_the_cache_is_counted_and_emptied(folder: Path) -> None:
    from agenticiqa.config import load_settings
    from agenticiqa.tools.catalogue import open_cache

    cache = open_cache(load_settings())
    cache.put("replies", "key", "value")
    cache.put("tools", "key", "value")
    cache.close()

    before = json.loads(runner.invoke(app, ["cache", "stats", "--json"]).stdout)
    cleared = runner.invoke(app, ["cache", "clear", "replies"])
    after = json.loads(runner.invoke(app, ["cache", "stats", "--json"]).stdout)

    assert before["file"].startswith(str(folder))
    assert {name: held["entries"] for name, held in before["namespaces"].items()} == {"replies": 1, "tools": 1}
    assert cleared.stdout.startswith("1 entries forgotten")
    assert set(after["namespaces"]) == {"tools"}


@pytest.fixture
def heeded_interrupts() -> Iterator[None]:
    """Programs started here heed SIGINT, also where these tests run in the background and it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded_interrupts")
def test_an_interrupt_ends_with_a_sentence_and_code_130(folder: Path) -> None:
    save(folder / "large.png", photo("hubble_deep_field"))
    command = [PROGRAM, "assess", "large.png", "--html", "page.html", "--verbose"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = [process.stderr.readline(), process.stderr.readline()]
    assert "planner started\n" in said

    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 130, errors
    assert "Interrupted; what was finished is kept." in errors
    assert not list(folder.glob("*page.html*"))


@pytest.mark.usefixtures("heeded_interrupts")
@pytest.mark.parametrize(
    "arguments",
    [
        ("calibrate", "--from-accepted", "many"),
        ("encode", "many", "-o", "encoded", "--min-score", "4.3", "-j", "1"),
    ],
)
def test_an_interrupt_of_a_long_command_names_what_is_left(folder: Path, arguments: tuple[str, ...]) -> None:
    (folder / "many").mkdir()
    for number in range(40):
        save(folder / "many" / f"{number:02}.png", np.roll(photo("coffee"), number, axis=0))
    process = subprocess.Popen([PROGRAM, *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    wait_for_work(folder, process, arguments[0])

    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)

    assert process.returncode == 130, errors
    assert "left: " in errors
    assert "39.png" in errors or ", …" in errors
    assert "Traceback" not in errors
    written = [file.name for file in (folder / "encoded").glob("*")] if arguments[0] == "encode" else []
    assert not [name for name in written if name.startswith(".") and name != ".encode"]


def wait_for_work(folder: Path, process: subprocess.Popen[str], command: str) -> None:
    """Returns once the command has begun: the encoder has written a copy, the other has opened its cache."""
    begun = "encoded/*.webp" if command == "encode" else "cache/agenticiqa/*"
    while process.poll() is None and not list(folder.glob(begun)):
        time.sleep(0.05)


def test_a_reader_who_has_enough_is_no_failure(folder: Path) -> None:
    command = f"set -o pipefail; {shlex.quote(PROGRAM)} tools --json | head -1; exit ${{PIPESTATUS[0]}}"
    for line in (command, command.replace(" --json", "")):
        ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True)

        assert ended.returncode == 0, ended.stderr


def test_a_name_that_no_file_can_have_is_said_in_a_sentence(folder: Path) -> None:
    for arguments in (["batch", "x" * 300, "-o", "out.jsonl"], ["encode", "x" * 300, "-o", "out", "--min-score", "3"]):
        shown = runner.invoke(app, arguments)

        assert shown.exit_code in (1, 2)
        assert shown.stderr.startswith("Error: ")
        assert isinstance(shown.exception, SystemExit)


def test_help_loads_nothing_heavy() -> None:
    program = "from agenticiqa.cli import main; import sys; sys.argv[1:] = ['--help']\n"
    program += "try: main()\nexcept SystemExit: pass\n"
    program += f"print('loaded', [m for m in {HEAVY!r} if m in sys.modules])"

    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert output.splitlines()[-1] == "loaded []"


def test_a_command_is_started_without_the_others() -> None:
    program = "from agenticiqa.cli import main; import sys; sys.argv[1:] = ['tools', '--help']\n"
    program += "try: main()\nexcept SystemExit: pass\n"
    program += "print([m for m in ('tools', 'batch', 'serve', 'cache') if f'agenticiqa.cli.{m}' in sys.modules])"

    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert "Usage:" in output
    assert output.splitlines()[-1] == "['tools']"


def test_completion_is_offered_for_shells() -> None:
    output = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout

    assert "--install-completion" in output


def test_the_json_of_one_picture_has_the_verdict_of_the_gate(folder: Path, scripted_backend: str) -> None:
    asked = ["assess", "photo.jpg", "--backend", scripted_backend, "--json"]

    plain = runner.invoke(app, asked)
    judged = runner.invoke(app, [*asked, "--fail-under", "5"])

    gate = json.loads(judged.stdout)["gate"]
    assert judged.exit_code == 3
    assert (gate["checked"], gate["passed"]) == (1, 0)
    assert [(each["sample_id"], each["rule"]) for each in gate["failures"]] == [("photo.jpg", "score < 5")]
    assert "fails by `score < 5`" in judged.stderr
    assert "gate" not in json.loads(plain.stdout)


def test_a_gate_file_that_does_not_name_the_picture_is_said(folder: Path, scripted_backend: str) -> None:
    (folder / "agenticiqa.toml").write_text('[gate."hero/*.jpg"]\nfail_under = 4.9\n')
    asked = ["assess", "photo.jpg", "--backend", scripted_backend]

    lying_there = runner.invoke(app, asked)
    given = runner.invoke(app, [*asked, "--gate", "agenticiqa.toml"])

    assert (lying_there.exit_code, given.exit_code) == (0, 2)
    assert "section `hero/*.jpg` of agenticiqa.toml names no picture" in lying_there.stderr
    assert "0 checked" in lying_there.stderr


def test_a_batch_makes_the_folders_of_its_records_and_of_its_page_alike(folder: Path, scripted_backend: str) -> None:
    arguments = ["batch", "photo.jpg", "--backend", scripted_backend, "-o", "deep/r.jsonl", "--html", "pages/page.html"]

    shown = runner.invoke(app, [*arguments, "--junit", "xml/gate.xml", "--engine", "threads", "-q"])

    assert shown.exit_code in (0, 1), shown.output
    assert all((folder / name).is_file() for name in ("deep/r.jsonl", "pages/page.html"))
