"""`agenticiqa batch`: what it prints, writes and exits with."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet
import pytest
from typer.testing import CliRunner, Result

from agenticiqa.cli import app
from agenticiqa.report.records import read_rows
from tests.batch.making import ids
from tests.support.agent import picture, script
from tests.wire.asking import GOOD, openai_body
from tests.wire.serving import Answer, ScriptedServer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pictures").mkdir()
    for number in range(4):
        picture(tmp_path / "pictures", f"{number}.png", seed=number)
    without_tools = {"tool_selection": False, "tool_execution": False}
    replies = script(select_tools={"selected_tools": {}})
    replies["plan"]["plan"] |= without_tools
    (tmp_path / "script.json").write_text(json.dumps(replies))
    return tmp_path


def run(folder: Path, *arguments: str, inputs: Sequence[str] = ()) -> Result:
    given = inputs or [str(folder / "pictures")]
    options = ["-o", str(folder / "out.jsonl"), "--backend", f"scripted.{folder / 'script.json'}"]
    return CliRunner().invoke(app, ["batch", *given, *options, *arguments])


def test_a_folder_is_assessed_and_the_same_command_again_has_nothing_to_do(folder: Path) -> None:
    first, second = run(folder), run(folder)

    assert (first.exit_code, second.exit_code) == (0, 0), first.output
    assert "4 answered, 0 failed" in first.stdout
    assert "4 were done before" in second.stdout
    assert ids(folder / "out.jsonl") == ["0.png", "1.png", "2.png", "3.png"]


def test_records_are_what_the_report_reads(folder: Path) -> None:
    run(folder, "--query", "Rate it.")

    rows = read_rows(folder / "out.jsonl")

    assert [row["id"] for row in rows] == ["0.png", "1.png", "2.png", "3.png"]
    assert rows[0]["image"] == str(folder / "pictures" / "0.png")
    assert rows[0]["query"] == "Rate it."


def test_a_dry_run_shows_the_plan_and_writes_nothing(folder: Path) -> None:
    before = sorted(folder.iterdir())

    shown = run(folder, "--dry-run")

    assert shown.exit_code == 0
    assert "4 samples" in shown.stdout
    assert "To do: 4 (4 new" in shown.stdout
    assert "Estimate: about 20 calls" in shown.stdout
    assert sorted(folder.iterdir()) == before
    assert json.loads(run(folder, "--dry-run", "--json").stdout)["plan"]["new"] == 4


def test_a_dry_run_with_the_embedded_backend_costs_nothing_and_assumes_no_tokens(folder: Path) -> None:
    shown = run(folder, "--dry-run", "--backend", "builtin.perception")

    assert "0.0000 USD (the embedded backend is free" in shown.stdout
    assert "tokens" not in shown.stdout


def test_a_missing_image_is_one_failed_record_and_exit_code_1(folder: Path) -> None:
    lines = [{"image_path": "pictures/0.png"}, {"image_path": "pictures/9.png"}]
    (folder / "m.jsonl").write_text("\n".join(map(json.dumps, lines)))

    shown = run(folder, "--json", inputs=[str(folder / "m.jsonl")])

    assert shown.exit_code == 1
    summary = json.loads(shown.stdout)
    assert (summary["answered"], summary["failed"], summary["remaining"]) == (1, 1, 1)
    assert "no such file" in json.loads((folder / "out.jsonl").read_text().splitlines()[1])["error"]


def test_files_that_can_never_work_are_counted_and_not_recommended_again(folder: Path) -> None:
    (folder / "pictures" / "text.png").write_text("no image")
    lines = [{"image_path": f"pictures/{name}.png"} for name in ("0", "9", "text")]
    (folder / "m.jsonl").write_text("\n".join(map(json.dumps, lines)))

    shown = run(folder, inputs=[str(folder / "m.jsonl")])

    assert (
        "2 of 3 samples failed and will be tried again next time; the files of 2 of them are missing or cannot be used:"
        in shown.stdout
    )
    assert f"{folder}/pictures/9.png: no such file" in shown.stdout
    assert f"{folder}/pictures/text.png: is not an image" in shown.stdout
    assert "run the same command again" not in shown.stdout


def test_files_that_can_never_work_leave_the_others_to_another_run(folder: Path) -> None:
    (folder / "m.jsonl").write_text("\n".join(json.dumps({"image_path": f"pictures/{n}.png"}) for n in (9, 0, 1, 2)))

    shown = run(folder, "--max-failures", "1", "-j", "1", inputs=[str(folder / "m.jsonl")])

    assert "of 4 samples remain; the file of 1 of them is missing or cannot be used" in shown.stdout
    assert "run the same command again for the others" in shown.stdout


def test_files_missing_from_another_list_are_not_counted(folder: Path) -> None:
    run(folder, inputs=[str(folder / "gone-1.png"), str(folder / "gone-2.png")])

    shown = run(folder, inputs=[str(folder / "gone-3.png"), str(folder / "gone-4.png")])

    assert "the files of 2 of them are missing" in shown.stdout
    assert "gone-1.png" not in shown.stdout


def test_a_typo_in_a_field_is_refused_with_its_line(folder: Path) -> None:
    (folder / "m.jsonl").write_text('{"image_path": "pictures/0.png", "qurey": "Is it sharp?"}\n')

    shown = run(folder, inputs=[str(folder / "m.jsonl")])

    assert shown.exit_code == 2
    assert "line 1: unknown field 'qurey'; did you mean query?" in shown.output
    assert not (folder / "out.jsonl").exists()


def test_the_manifest_itself_is_no_output(folder: Path) -> None:
    (folder / "out.jsonl").write_text('{"image_path": "pictures/0.png"}')

    shown = run(folder, "--force", inputs=[str(folder / "out.jsonl")])

    assert shown.exit_code == 2
    assert "is an input and would be written over" in shown.output
    assert (folder / "out.jsonl").read_text() == '{"image_path": "pictures/0.png"}'


def test_a_limit_on_calls_counts_those_that_are_paid_for(folder: Path) -> None:
    own = {"backend": f"scripted.{folder / 'script.json'}"}
    with ScriptedServer().script(Answer(openai_body(GOOD))).running() as server:
        hosted = {"backend": "compatible.hosted", "base_url": f"{server.url}/v1"}
        roles = {"planner": own, "executor": own, "summarizer": hosted}
        (folder / "roles.yaml").write_text(json.dumps({**roles, "pipeline": {"max_replan_iterations": 0}}))
        pictures, output = str(folder / "pictures"), str(folder / "out.jsonl")
        options = ["--config", str(folder / "roles.yaml"), "--max-calls", "3", "-j", "1"]
        shown = CliRunner().invoke(app, ["batch", pictures, "-o", output, *options])

    assert shown.exit_code == 1
    assert "3 paid calls were made and --max-calls is 3" in shown.stdout
    assert "1 of 4 samples remain; run the same command again" in shown.stdout
    assert len(server.seen) == 3


def test_calls_that_cost_nothing_are_not_limited(folder: Path) -> None:
    shown = run(folder, "--max-calls", "0", "-j", "1")

    assert (shown.exit_code, len(ids(folder / "out.jsonl"))) == (0, 4)


def test_a_score_below_the_bar_is_exit_code_3(folder: Path) -> None:
    assert run(folder, "--fail-under", "1").exit_code == 0
    assert run(folder, "--fail-under", "5").exit_code == 3


def test_records_are_also_written_as_tables(folder: Path) -> None:
    assert f"Table: {folder / 'out.csv'}" in run(folder, "--to", "csv").stdout
    run(folder, "--to", "parquet")

    with open(folder / "out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    table = pyarrow.parquet.read_table(folder / "out.parquet").to_pylist()
    assert [row["sample_id"] for row in rows] == [row["sample_id"] for row in table] == ids(folder / "out.jsonl")
    assert [float(row["score"]) for row in rows] == [row["score"] for row in table]


def test_a_table_never_takes_the_place_of_the_manifest(folder: Path) -> None:
    (folder / "out.csv").write_text("image_path\npictures/0.png\n")

    shown = run(folder, "--to", "csv", inputs=[str(folder / "out.csv")])

    assert shown.exit_code == 2
    assert "is an input and would be written over" in shown.output
    assert (folder / "out.csv").read_text() == "image_path\npictures/0.png\n"


def test_two_runs_on_one_output_are_refused(folder: Path) -> None:
    from agenticiqa.batch import Journal

    with Journal(folder / "out.jsonl"):
        shown = run(folder)

    assert shown.exit_code == 2
    assert "another run is writing to it" in shown.output


def test_ctrl_c_keeps_what_was_finished_and_says_how_to_go_on(folder: Path) -> None:
    lines = [{"sample_id": str(n), "image_path": "pictures/0.png"} for n in range(3000)]
    (folder / "m.jsonl").write_text("\n".join(map(json.dumps, lines)))
    program = [sys.executable, "-c", "from agenticiqa.cli import main; main()"]
    command = [*program, "batch", str(folder / "m.jsonl"), "-o", str(folder / "out.jsonl")]
    command += ["--backend", f"scripted.{folder / 'script.json'}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    while not (folder / "out.jsonl").exists() or not (folder / "out.jsonl").stat().st_size:
        time.sleep(0.01)
        assert process.poll() is None, process.communicate()

    os.kill(process.pid, signal.SIGINT)
    words, _ = process.communicate(timeout=120)

    assert process.returncode == 130
    assert "Stopped: interrupted" in words
    assert "run the same command again" in words
    assert 0 < len(ids(folder / "out.jsonl")) < 3000


def test_an_overwritten_picture_cannot_keep_the_score_that_passed(folder: Path) -> None:
    run(folder)
    picture(folder / "pictures", "1.png", seed=77)
    (folder / "pictures" / "3.png").unlink()

    shown = run(folder)

    assert "1 answered" in shown.stdout
    assert "1 had changed since and was judged again" in shown.stdout
    assert "1 is gone" in shown.stdout
    assert [row["id"] for row in read_rows(folder / "out.jsonl")] == ["0.png", "1.png", "2.png"]


def test_failures_have_names_on_the_terminal_in_json_junit_annotations_and_html(folder: Path) -> None:
    files = ["--junit", str(folder / "gate.xml"), "--html", str(folder / "page.html"), "--github"]

    shown = run(folder, "--fail-if", "PIQE > 0.01", *files)
    as_json = run(folder, "--fail-if", "PIQE > 0.01", "--json")

    assert (shown.exit_code, as_json.exit_code) == (3, 3)
    assert "0.png: score " in shown.stderr
    assert "fails by `PIQE > 0.01`" in shown.stderr
    assert "4 checked: 4 failed" in shown.stderr
    assert "::error file=" in shown.stdout
    failures = json.loads(as_json.stdout)["gate"]["failures"]
    assert [failure["sample_id"] for failure in failures] == ["0.png", "1.png", "2.png", "3.png"]
    assert "fails by `PIQE > 0.01`" in as_json.stderr
    assert '<failure message="PIQE &gt; 0.01: piqe is' in (folder / "gate.xml").read_text()
    assert "<code>PIQE &gt; 0.01</code>" in (folder / "page.html").read_text()


def test_beside_annotations_the_first_stream_stays_one_json_object(folder: Path) -> None:
    shown = run(folder, "--fail-if", "PIQE > 0.01", "--json", "--github")

    assert json.loads(shown.stdout)["gate"]["checked"] == 4
    assert shown.stderr.count("::error file=") == 4


def test_a_page_that_could_not_be_written_is_refused_before_the_work(folder: Path) -> None:
    (folder / "file").write_text("no folder")

    shown = run(folder, "--html", str(folder / "file" / "page.html"))

    assert shown.exit_code == 2
    assert not (folder / "out.jsonl").exists()


def test_a_table_has_a_number_per_category_tool_and_measurement(folder: Path) -> None:
    run(folder, "--to", "csv", "--fail-if", "PIQE > 101")

    with open(folder / "out.csv", newline="") as file:
        row = next(csv.DictReader(file))
    assert float(row["severity.Blurs"]) == 2.0
    assert float(row["severity.Noise"]) == 0.0
    assert 0 <= float(row["tool.PIQE"]) <= 100


def test_a_gate_whose_patterns_name_no_picture_is_exit_code_2(folder: Path) -> None:
    (folder / "t.toml").write_text('[gate."hero/*.png"]\nfail_under = 1\n')
    (folder / "empty.toml").write_text("")

    shown = run(folder, "--gate", str(folder / "t.toml"), "--json")
    empty = run(folder, "--gate", str(folder / "empty.toml"))

    assert (shown.exit_code, empty.exit_code) == (2, 2)
    assert json.loads(shown.stdout)["gate"]["checked"] == 0
    assert json.loads(shown.stdout)["gate"]["unused_sections"]
    assert "section `hero/*.png`" in shown.stderr
    assert "0 checked" in shown.stderr
    assert "holds no rule" in empty.stderr


def test_an_address_is_refused_as_one(folder: Path) -> None:
    shown = run(folder, inputs=["https://example.org/a.jpg"])

    assert shown.exit_code == 2
    assert "https://example.org/a.jpg: is an address; download the images" in shown.stderr
