"""The report of an evaluation and the command that writes it."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from agenticiqa.cli import app
from agenticiqa.evaluation.evaluating import Evaluation, evaluate_ratings
from agenticiqa.evaluation.recorded import Recorded
from agenticiqa.evaluation.report import write_report
from agenticiqa.evaluation.report.comparison import compare_reports
from agenticiqa.evaluation.report.sections import beside_ours, published
from agenticiqa.evaluation.report.text_reports import as_json, latex_table, render_csv
from agenticiqa.evaluation.statistics import Resampling
from tests.evaluation import copies
from tests.evaluation.sets import agent_parts, rated_set, store_in
from tests.wire.serving import Answer, ScriptedServer

runner = CliRunner()


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    folder = tmp_path_factory.mktemp("set")
    parts = agent_parts()
    return evaluate_ratings(
        rated_set(folder),
        parts,
        ablations=["best-tool", "model-alone"],
        sampling=Resampling(100),
        store=store_in(folder, parts),
        command="agenticiqa evaluate --dataset <b>made</b>",
        seen="the weights have seen it",
    )


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A settings file whose caches and overlay stay in the test's folder."""
    path = tmp_path / "settings.yaml"
    pipeline = {"cache": {"directory": str(tmp_path / "cache")}, "tools_overlay": str(tmp_path / "tools.yaml")}
    path.write_text(yaml.safe_dump({"pipeline": pipeline}))
    return path


def test_the_page_holds_everything_and_asks_for_nothing(evaluation: Evaluation, tmp_path: Path) -> None:
    write_report(evaluation, tmp_path)

    page = (tmp_path / "report.html").read_text()
    for title in (
        "Methods",
        "Score and opinion",
        "By distortion type",
        "By level",
        "Largest disagreements",
        "Provenance",
    ):
        assert f"<h2>{title}</h2>" in page
    assert page.count("<svg") >= 5
    assert "data:image/jpeg;base64," in page
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    assert "<script" not in page
    assert "&lt;b&gt;made&lt;/b&gt;" in page
    assert "<b>made</b>" not in page


def test_a_page_about_recorded_outputs_has_no_empty_section(tmp_path: Path) -> None:
    parts, rated = agent_parts(), rated_set(tmp_path)
    outputs: dict[str, tuple[float, ...]] = {sample.name.lower(): (sample.opinion, 3.0) for sample in rated.samples}
    found = evaluate_ratings(
        rated, parts, sampling=Resampling(100), recorded=Recorded("two-level", outputs), store=store_in(tmp_path, parts)
    )

    write_report(found, tmp_path)

    page = (tmp_path / "report.html").read_text()
    assert "<h2>Methods</h2>" in page
    assert "<h2>Score and opinion</h2>" not in page


def test_markdown_and_json_say_the_same_as_the_page(evaluation: Evaluation, tmp_path: Path) -> None:
    write_report(evaluation, tmp_path)

    words, content = (tmp_path / "report.md").read_text(), json.loads((tmp_path / "report.json").read_text())
    best = content["methods"][1]
    assert f"{best['srcc']['value']:.3f} [{best['srcc']['low']:.3f}, {best['srcc']['high']:.3f}]" in words
    assert "Not held out: the weights have seen it" in words
    assert content["provenance"]["seed"] == 0
    assert content["provenance"]["command"] in words
    assert len(content["scores"]) == 12


def test_published_figures_carry_their_source() -> None:
    entries = published("tid2013")

    agent = next(entry for entry in entries if entry["method"].startswith("AgenticIQA (GPT-4o)"))
    assert (agent["srcc"], agent["plcc"], agent["source"]) == (".9165", ".9215", "arXiv 2509.26006v2")
    assert all(entry["source"] for entry in entries)
    assert published("made") == []


def test_a_published_metric_stands_beside_what_was_measured_here(evaluation: Evaluation) -> None:
    lines = beside_ours(replace(evaluation, rated=replace(evaluation.rated, name="tid2013")))

    assert any(line[0] == "FSIMc" and line[1] == ".851" for line in lines)
    assert beside_ours(evaluation) == []


def test_our_line_beside_published_figures_says_when_it_is_not_held_out(evaluation: Evaluation) -> None:
    tid2013 = replace(evaluation, rated=replace(evaluation.rated, name="tid2013"), rows=evaluation.rows[1:])

    assert beside_ours(tid2013)[0][-1] == "this evaluation, not held out"
    assert beside_ours(replace(tid2013, seen=""))[0][-1] == "this evaluation"


def test_the_command_evaluates_a_manifest_and_writes_the_report(config: Path, tmp_path: Path) -> None:
    rated = rated_set(tmp_path / "set", 6)
    lines = [f"{sample.name},{sample.opinion},{sample.group}" for sample in rated.samples]
    manifest = tmp_path / "set/ratings.csv"
    manifest.write_text("image,rating,group\n" + "\n".join(lines))
    options = ["--manifest", str(manifest), "--range", "1", "5", "--repetitions", "100", "--config", str(config)]

    said = runner.invoke(app, ["evaluate", *options, "-o", str(tmp_path / "out"), "--ablation", "best-tool", "--quiet"])

    assert said.exit_code == 0, said.output
    assert "MOS 1 to 5, higher is better" in said.output
    assert "best single tool" in said.output
    forms = {"report.html", "report.md", "report.tex", "report.csv", "report.json"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == forms


def test_the_command_answers_questions(config: Path, tmp_path: Path) -> None:
    copies.agenticiqa_eval(tmp_path / "set")
    options = ["--dataset", "agenticiqa-eval", "--root", str(tmp_path / "set"), "--rotate", "--config", str(config)]

    said = runner.invoke(app, ["evaluate", *options, "--repetitions", "100", "-o", str(tmp_path / "out"), "--quiet"])

    # The set's pictures are too small to be judged: all is reported, and nothing was answered.
    assert said.exit_code == 1, said.output
    assert "task executor_distortion" in said.output
    assert "Unable to determine" in said.output
    content = json.loads((tmp_path / "out/report.json").read_text())
    assert len(content["answers"]["row 1"]["given"]) == 2
    assert "human" in (tmp_path / "out/report.md").read_text()


@pytest.mark.parametrize(
    "rows", ["image,rating\na.png,4\nb.png,2\n", "image,question,options,answer\na.png,Why?,A. x | B. y,A\n"]
)
def test_an_evaluation_in_which_nothing_was_answered_is_exit_code_1(rows: str, config: Path, tmp_path: Path) -> None:
    for name, shade in (("a.png", 1), ("b.png", 9)):
        copies.picture(tmp_path / name, shade)
    (tmp_path / "table.csv").write_text(rows)
    options = ["--manifest", str(tmp_path / "table.csv"), "--config", str(config), "--repetitions", "100", "--quiet"]

    values = yaml.safe_load(config.read_text())
    values["pipeline"]["transport"] = {"attempts": 1}

    with ScriptedServer().script(Answer({"error": {"message": "broken"}}, 500)).running() as server:
        role = {"backend": "compatible.broken", "base_url": server.url}
        config.write_text(yaml.safe_dump({**values, **dict.fromkeys(("planner", "executor", "summarizer"), role)}))
        said = runner.invoke(app, ["evaluate", *options])

    assert server.seen
    assert said.exit_code == 1, said.output


def test_the_help_and_the_page_name_every_set_the_default_weights_were_fitted_on() -> None:
    page = (Path(__file__).parents[2] / "docs/evaluation.md").read_text()
    told = runner.invoke(app, ["evaluate", "--help"]).output
    card = (Path(__file__).parents[2] / "docs/model-card.md").read_text()
    fitted = {line.split("|")[1].split(",")[0].strip() for line in card.splitlines() if "| likeness, curve" in line}

    assert fitted == {"MMP-2K", "PCUID"}
    for name in fitted | {"TID2013", "BIQ2021"}:
        assert name in page
        assert name.lower() in told.lower()


def test_a_folder_in_place_of_a_table_is_called_one(tmp_path: Path) -> None:
    said = runner.invoke(app, ["evaluate", "--manifest", str(tmp_path)])

    assert (said.exit_code, "is a folder; expected" in said.output) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "name either a data set with --dataset and --root, or a table with --manifest"),
        (["--dataset", "csiq"], "--root is missing"),
        (["--dataset", "csiq", "--root", "/nowhere"], "https://s2.smu.edu"),
        (["--dataset", "none", "--root", "."], "no data set named 'none'"),
        (["--dataset", "csiq", "--root", ".", "--ablation", "x"], "no ablation named 'x'"),
        (["--dataset", "csiq", "--root", ".", "--range", "0", "1"], "--range is for a table of your own"),
    ],
)
def test_a_request_that_cannot_be_is_refused_with_the_way_out(options: list[str], message: str) -> None:
    said = runner.invoke(app, ["evaluate", *options])

    assert said.exit_code == 2
    assert message in said.output


def test_an_option_that_would_change_nothing_is_refused(config: Path, tmp_path: Path) -> None:
    copies.picture(tmp_path / "a.png")
    (tmp_path / "ratings.csv").write_text("image,rating\na.png,4\n")
    (tmp_path / "questions.csv").write_text("image,question,options,answer\na.png,Why?,A. x | B. y,A\n")
    recorded = ["--recorded", "out.csv", "--ablation", "all"]

    for table, options, message in (
        ("ratings.csv", ["--rotate"], "ratings holds ratings; leave out --rotate"),
        ("ratings.csv", recorded, "leave out --ablation"),
        ("questions.csv", ["--split", "test", "--jobs", "2"], "questions holds questions; leave out --split, --jobs"),
    ):
        said = runner.invoke(app, ["evaluate", "--manifest", str(tmp_path / table), "--config", str(config), *options])

        assert said.exit_code == 2
        assert message in said.output


def test_a_table_for_latex_escapes_what_latex_would_take_for_its_own() -> None:
    text = latex_table(("method", "SRCC"), [[["A_1 & 50 %", "0.9"]], [["PSNR", "0.5"]]], "On {x}")

    assert "A\\_1 \\& 50 \\% & 0.9 \\\\" in text
    assert text.count("\\midrule") == 2
    assert "\\caption{On \\{x\\}}" in text


def test_the_csv_has_every_figure_with_the_ends_of_its_interval(evaluation: Evaluation, tmp_path: Path) -> None:
    write_report(evaluation, tmp_path)

    with open(tmp_path / "report.csv", newline="") as file:
        lines = {line["method"]: line for line in csv.DictReader(file)}
    first = evaluation.rows[0]
    assert first.srcc is not None
    told = lines[first.method.name]
    assert [float(told[name]) for name in ("srcc", "srcc_low", "srcc_high")] == [
        first.srcc.value, first.srcc.low, first.srcc.high,
    ]  # fmt: skip
    assert set(lines) == {row.method.name for row in (*evaluation.rows, *evaluation.tools)}


def test_the_csv_holds_no_formulas(evaluation: Evaluation) -> None:
    tool = evaluation.tools[0]
    hostile = replace(tool, method=replace(tool.method, name="=1+1"))

    lines = render_csv(replace(evaluation, tools=[hostile])).splitlines()

    assert lines[-1].startswith("'=1+1,")


def test_hidden_references_leave_the_groups_and_say_so(tmp_path: Path) -> None:
    rated = rated_set(tmp_path, references=True)
    ungrouped = replace(rated, samples=tuple(replace(sample, group=None) for sample in rated.samples))

    hidden, alone = rated.without_references(), ungrouped.without_references()

    assert (rated.has_references, hidden.has_references) == (True, False)
    assert hidden.clusters == rated.clusters
    assert set(alone.clusters) == {"original.png"}
    assert "references hidden" in hidden.notes[-1]


def written(folder: Path, evaluation: Evaluation, noise: float, seed: int) -> Path:
    """A report in which the agent's scores are the opinions with so much noise."""
    random, content = np.random.default_rng(seed), as_json(evaluation)
    for number in range(90):
        opinion = 1 + 4 * number / 90
        content["scores"][f"p{number}"] = {"opinion": opinion, "full": opinion + noise * random.normal()}
        content["groups"][f"p{number}"] = f"g{number // 2}"
    folder.mkdir()
    (folder / "report.json").write_text(json.dumps(content))
    return folder


def test_two_runs_are_compared_with_a_test_that_finds_a_real_difference_only(
    evaluation: Evaluation, tmp_path: Path
) -> None:
    good, poor = written(tmp_path / "good", evaluation, 0.1, 1), written(tmp_path / "poor", evaluation, 2.0, 2)
    likewise = written(tmp_path / "likewise", evaluation, 0.1, 3)

    better, same = compare_reports(good, poor).rows[0], compare_reports(good, likewise).rows[0]

    assert better.difference.low > 0
    assert better.difference.p_value < 0.01
    assert same.difference.low < 0 < same.difference.high
    assert better.difference.value == pytest.approx(better.first.value - better.second.value)


def test_the_command_writes_the_comparison_as_markdown_latex_and_csv(evaluation: Evaluation, tmp_path: Path) -> None:
    good, poor = written(tmp_path / "good", evaluation, 0.1, 1), written(tmp_path / "poor", evaluation, 2.0, 2)

    said = runner.invoke(app, ["evaluate", "--compare", str(good), str(poor), "-o", str(tmp_path / "out")])

    assert said.exit_code == 0, said.output
    assert "first less second" in said.output
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        f"comparison.{kind}" for kind in ("md", "tex", "csv")
    }
    with open(tmp_path / "out" / "comparison.csv", newline="") as file:
        assert float(next(csv.DictReader(file))["difference"]) > 0


def test_a_comparison_as_json_has_every_figure_and_writes_its_files(evaluation: Evaluation, tmp_path: Path) -> None:
    good, poor = written(tmp_path / "good", evaluation, 0.1, 1), written(tmp_path / "poor", evaluation, 2.0, 2)

    said = runner.invoke(app, ["evaluate", "--compare", str(good), str(poor), "-o", str(tmp_path / "out"), "--json"])

    shown = json.loads(said.stdout)
    expected = compare_reports(good, poor)
    assert shown["rows"][0]["difference"]["value"] == expected.rows[0].difference.value
    assert (shown["dataset"], shown["groups"]) == (expected.dataset, expected.groups)
    assert (tmp_path / "out/comparison.md").is_file()


def test_reports_of_other_pictures_and_other_files_are_not_compared(evaluation: Evaluation, tmp_path: Path) -> None:
    good = written(tmp_path / "good", evaluation, 0.1, 1)
    content = json.loads((good / "report.json").read_text())
    content["scores"] = {f"other {name}": value for name, value in content["scores"].items()}
    (tmp_path / "other.json").write_text(json.dumps(content))

    for second, words in ((tmp_path / "other.json", "only 0 pictures"), (tmp_path / "none", "cannot be read")):
        said = runner.invoke(app, ["evaluate", "--compare", str(good), str(second)])
        assert (said.exit_code, words in said.output) == (2, True)
