"""Recorded model outputs: levels and fusion worked out by hand, and halves that share no content."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.methods import best_tool
from agenticiqa.evaluation.recorded import (
    Recorded,
    choose,
    fit_temperature,
    fuse,
    level_probabilities,
    read_recorded,
    split_half,
    study_recorded,
)
from agenticiqa.evaluation.samples import OpinionScale, RatedPicture, RatedSet
from agenticiqa.evaluation.statistics import Resampling
from tests.support.agent import FixedTool, registry


def test_two_levels_become_a_binomial_worked_by_hand() -> None:
    # good − poor = ln 3, so p = 3/4; Binomial(4, 3/4) over 0 to 4 is (1, 12, 54, 108, 81)/256.
    values = np.array([[math.log(3) + 0.7, 0.7]])

    found = level_probabilities(values, "two-level")

    assert found[0] == pytest.approx(np.array([1, 12, 54, 108, 81]) / 256, abs=1e-12)
    assert (found @ np.arange(1, 6))[0] == pytest.approx(4.0, abs=1e-12)


def test_fusion_from_two_level_logits_is_worked_by_hand() -> None:
    # p = (1, 12, 54, 108, 81)/256; a tool mean of 3 with η = 1 weighs the levels by (e⁻⁴, e⁻¹, 1, e⁻¹, e⁻⁴).
    # Σ αpc = e⁻⁴ + 2·12e⁻¹ + 3·54 + 4·108e⁻¹ + 5·81e⁻⁴, and Σ αp = e⁻⁴ + 12e⁻¹ + 54 + 108e⁻¹ + 81e⁻⁴.
    values = np.array([[math.log(3), 0.0]])
    by_hand = (162 + 456 * math.exp(-1) + 406 * math.exp(-4)) / (54 + 120 * math.exp(-1) + 82 * math.exp(-4))

    found = fuse(np.array([3.0]), level_probabilities(values, "two-level"), 1.0)[0]

    assert found == pytest.approx(by_hand, abs=1e-9)


def test_fusion_from_five_level_log_probabilities_with_a_temperature_is_worked_by_hand() -> None:
    # At T = 2 the probabilities (1, 4, 9, 4, 1)/19 become their roots (1, 2, 3, 2, 1)/9; the tools say 4 with η = 1/2.
    # α = (e⁻⁴·⁵, e⁻², e⁻⁰·⁵, 1, e⁻⁰·⁵), so Σ αpc ∝ e⁻⁴·⁵ + 4e⁻² + 9e⁻⁰·⁵ + 8 + 5e⁻⁰·⁵.
    logs = np.log(np.array([[1, 4, 9, 4, 1]]) / 19)
    top = math.exp(-4.5) + 4 * math.exp(-2) + 14 * math.exp(-0.5) + 8
    by_hand = top / (math.exp(-4.5) + 2 * math.exp(-2) + 4 * math.exp(-0.5) + 2)

    found = fuse(np.array([4.0]), level_probabilities(logs, "five-level", 2.0), 0.5)[0]

    assert found == pytest.approx(by_hand, abs=1e-9)


def test_without_a_tool_the_fused_score_is_the_models() -> None:
    beliefs = level_probabilities(np.array([[1.0, 0.0]]), "two-level")

    assert fuse(np.array([math.nan]), beliefs, 1.0) == pytest.approx(beliefs @ np.arange(1, 6), abs=1e-12)


def test_the_temperature_that_made_the_opinions_is_found_again() -> None:
    gaps = np.linspace(-6, 6, 400)
    values = np.stack([gaps, np.zeros(400)], axis=1)
    opinions = level_probabilities(values, "two-level", 3.0) @ np.arange(1, 6)

    assert fit_temperature(values, "two-level", opinions) == pytest.approx(3.0, rel=0.1)


def test_no_content_is_on_both_sides_and_the_seed_fixes_the_halves() -> None:
    contents = [f"I{number % 6:02d}" for number in range(60)]

    fitting = split_half(contents, seed=1)

    sides = {(name, bool(side)) for name, side in zip(contents, fitting, strict=True)}
    assert len(sides) == 6
    assert fitting.sum() == 30
    assert (fitting == split_half(contents, seed=1)).all()


@pytest.mark.parametrize("form", ["csv", "jsonl", "nested"])
def test_outputs_are_joined_by_name_whatever_their_form_and_folder(form: str, tmp_path: Path) -> None:
    path = tmp_path / ("out.csv" if form == "csv" else "out.jsonl")
    if form == "csv":
        path.write_text("image,good,poor\nfolder/A.JPG,2.5,1.5\n")
    elif form == "jsonl":
        path.write_text(json.dumps({"img_path": "a.jpg", "logit_good": 2.5, "logit_poor": 1.5}) + "\n")
    else:
        path.write_text(json.dumps({"img_path": "a.jpg", "logits": {"good": 2.5, "poor": 1.5}}) + "\n")

    recorded = read_recorded(path)

    assert recorded.form == "two-level"
    assert recorded.table(["pictures/a.jpg", "b.jpg"])[0].tolist() == [2.5, 1.5]
    assert np.isnan(recorded.table(["b.jpg"])).all()


def test_five_levels_are_recognised_by_words_letters_or_numbers(tmp_path: Path) -> None:
    for number, names in enumerate((["excellent", "good", "fair", "poor", "bad"], list("ABCDE"), list("54321"))):
        path = tmp_path / f"{number}.csv"
        path.write_text(f"name,{','.join(names)}\na.jpg,-5,-4,-3,-2,-1\n")

        assert read_recorded(path).form == "five-level"
        assert read_recorded(path).table(["a.jpg"])[0].tolist() == [-1.0, -2.0, -3.0, -4.0, -5.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("picture,good,poor\na,1,2\n", "needs a column with the picture's name"),
        ("image,good,fair\na,1,2\n", "needs `good` and `poor`, or all five levels"),
        ("image,good,poor\na,1,\n", "lacks a number"),
        ("image,good,poor\na,1,nan\n", "below infinity"),
        ("image,good,poor\na,1,2\n,3,4\n", "a row lacks the picture's name"),
        ("image,good,poor\none/a.jpg,1,2\ntwo/A.jpg,3,4\n", "two rows say different things of a.jpg"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text(text)

    with pytest.raises(DatasetError, match=message):
        read_recorded(tmp_path / "out.csv")


def test_model_tools_and_fusion_stand_side_by_side_on_the_half_nothing_was_fitted_on(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    truth = random.uniform(1, 5, 200)
    samples = tuple(
        RatedPicture(f"{n}.png", tmp_path / f"{n}.png", float(truth[n]), group=f"g{n % 20}") for n in range(200)
    )
    rated = RatedSet("made", samples, OpinionScale(1, 5))
    noisy = truth + random.normal(0, 0.8, 200)
    rows = [f"{n}.png,{noisy[n] - 3:.6f},0" for n in range(200)]
    (tmp_path / "out.csv").write_text("image,good,poor\n" + "\n".join(rows))
    evidence = [
        {"tools": {"raw": {"GAUGE": float(np.clip(truth[n] + random.normal(0, 0.8), 1, 5))}}} for n in range(200)
    ]

    found = study_recorded(read_recorded(tmp_path / "out.csv"), rated, evidence, registry(FixedTool()), Resampling(200))

    by_name = {row.method.name: row.srcc.value for row in found.rows if row.srcc}
    assert list(by_name) == ["fused", "recorded model", "all-tools-mean", "best-tool"]
    assert by_name["fused"] > max(by_name["recorded model"], by_name["all-tools-mean"])
    assert (found.joined, found.held_out, found.choice.fitted_on) == (200, 100, 100)
    assert len(found.choice.fitted_groups) == 10


def test_a_tool_that_fails_on_some_pictures_is_judged_by_the_others() -> None:
    truth = np.linspace(1, 5, 20)
    values_of = {"GAUGE": 6 - truth, "OTHER": np.where(np.arange(20) % 5 == 0, np.nan, truth)}
    evidence = [
        {"tools": {"raw": {name: float(values[n]) for name, values in values_of.items() if np.isfinite(values[n])}}}
        for n in range(20)
    ]

    best = best_tool(evidence, truth, registry(FixedTool("GAUGE"), FixedTool("OTHER")), among=np.arange(20) < 10)

    assert best.title == "best single tool (OTHER, chosen on the fitting half)"


def test_pictures_of_one_content_cannot_be_split(tmp_path: Path) -> None:
    samples = tuple(RatedPicture(f"{n}.png", tmp_path / f"{n}.png", 1 + n / 4, group="same") for n in range(12))
    recorded = Recorded("two-level", {sample.name: (1.0, 0.0) for sample in samples})
    evidence = [{"tools": {"raw": {"GAUGE": 3.0}}}] * 12

    with pytest.raises(DatasetError, match="of one content"):
        study_recorded(
            recorded, RatedSet("made", samples, OpinionScale(1, 5)), evidence, registry(FixedTool()), Resampling(100)
        )


def test_what_is_chosen_does_not_depend_on_the_other_half() -> None:
    random = np.random.default_rng(1)
    truth = random.uniform(1, 5, 80)
    values = np.stack([truth - 3 + random.normal(0, 0.5, 80), np.zeros(80)], axis=1)
    contents = [f"g{n % 8}" for n in range(80)]
    fitting = split_half(contents)
    spoiled = np.where(fitting, truth, 6 - truth)

    first = choose(values, "two-level", truth, truth, fitting, contents)
    second = choose(values, "two-level", truth, spoiled, fitting, contents)

    assert first == second


ENTRIES = [{"image": f"{number}.png", "logits": {"good": number, "poor": -1.0}} for number in range(3)]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ENTRIES),
        json.dumps(ENTRIES, indent=2),
        "\n".join(map(json.dumps, ENTRIES)),
        "\n".join(json.dumps(entry, indent=2) for entry in ENTRIES),
        "".join(map(json.dumps, ENTRIES)),
        ",\n".join(json.dumps(entry) for entry in ENTRIES),
    ],
)
def test_recorded_outputs_are_read_however_json_is_laid_out(tmp_path: Path, text: str) -> None:
    (tmp_path / "outputs.json").write_text(text)

    assert read_recorded(tmp_path / "outputs.json").values == {
        f"{number}.png": (float(number), -1.0) for number in range(3)
    }
