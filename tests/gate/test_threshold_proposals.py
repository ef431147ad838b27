"""Thresholds proposed from accepted and rejected pictures."""

from __future__ import annotations

import tomllib
from pathlib import Path
from statistics import NormalDist

import cv2
import numpy as np
import pytest
from scipy.stats import beta
from typer.testing import CliRunner

from agenticiqa.cli import app
from agenticiqa.cli.calibrate import proposals_in_words
from agenticiqa.errors import UsageError
from agenticiqa.gate import parse_rule
from agenticiqa.gate.threshold_proposals import as_toml, propose, upper_bound
from tests.support.photos import photo, save

GOOD = [3.0 + number / 50 for number in range(50)]
BAD = [1.0 + number / 50 for number in range(50)]


def test_a_limit_between_good_and_bad_is_found_and_its_errors_are_not_called_zero() -> None:
    (found,) = propose({"score": GOOD}, {"score": BAD}, {"score": True})

    assert 1.98 < found.limit < 3.0
    assert found.rule.startswith("score < 2.")
    # None of fifty fails, which is believable of up to 5.8 %.
    assert found.false_rejects == found.false_accepts == pytest.approx(1 - 0.05 ** (1 / 50))


def test_a_measurement_where_less_is_better_turns_the_rule_around() -> None:
    (found,) = propose(
        {"BLUR_RADIUS": [0.1 * n for n in range(20)]}, {"BLUR_RADIUS": [5.0] * 10}, {"BLUR_RADIUS": False}
    )

    assert found.rule.startswith("BLUR_RADIUS > ")
    assert 1.9 <= found.limit < 5.0


def test_without_rejected_pictures_the_limit_is_as_strict_as_allowed() -> None:
    (found,) = propose({"score": GOOD}, {}, {"score": True}, most_false_rejects=0.10)

    assert 0.05 < found.expected_false_rejects <= 0.10
    assert found.false_rejects > 0.10
    assert found.false_accepts is None


def test_the_expected_share_of_false_rejects_is_what_new_pictures_show() -> None:
    rng = np.random.default_rng(0)
    told, seen = [], []
    for _ in range(400):
        (found,) = propose({"score": rng.normal(3, 1, 40).tolist()}, {}, {"score": True}, most_false_rejects=0.1)
        told.append(found.expected_false_rejects)
        seen.append(float(np.mean(rng.normal(3, 1, 400) < found.limit)))

    assert np.mean(seen) == pytest.approx(np.mean(told), abs=0.02)


@pytest.mark.parametrize(("failed", "total"), [(0, 15), (0, 10), (1, 20), (7, 50), (30, 400)])
def test_the_bound_is_that_of_clopper_and_pearson(failed: int, total: int) -> None:
    assert upper_bound(failed, total) == pytest.approx(beta.ppf(0.95, failed + 1, total - failed), abs=1e-9)
    assert upper_bound(total, total) == 1.0


def test_the_bound_holds_for_nineteen_of_twenty_sets_of_few_pictures() -> None:
    rng = np.random.default_rng(1)
    held = []
    for _ in range(600):
        (found,) = propose({"score": rng.normal(3, 1, 15).tolist()}, {}, {"score": True})
        held.append(NormalDist(3, 1).cdf(found.limit) <= found.false_rejects)

    assert 0.93 <= np.mean(held) <= 0.97


def test_the_useful_measurement_comes_first_and_the_rules_can_be_read_back() -> None:
    bad = {"score": BAD, "PIQE": [50.0] * 50}
    proposals = propose({"PIQE": [50.0 + n for n in range(50)], "score": GOOD}, bad, {"PIQE": False, "score": True})

    assert proposals[0].measurement == "score"
    assert [parse_rule(text) for text in tomllib.loads(as_toml(proposals))["gate"]["fail_if"]]


def test_too_few_accepted_pictures_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 10"):
        propose({"score": [3.0] * 5}, {}, {"score": True})


def test_proposals_are_told_as_what_they_do_to_good_and_bad_pictures() -> None:
    # Ten accepted pictures of which none fails: 26 %, since 0.74 to the tenth power is 5 %; 59 would do for 5 %.
    few = propose({"score": GOOD[:10]}, {}, {"score": True}, 0.05)
    both = propose({"score": GOOD, "PIQE": BAD}, {"score": BAD, "PIQE": BAD}, {"score": True, "PIQE": False}, 0.05)

    alone, told = list(proposals_in_words(few, 0.05)), list(proposals_in_words(both, 0.05))

    assert alone[1] == '  --fail-if "score < 3" fails up to 26% of good ones'
    assert alone[2] == "Too few to promise at most 5% of good ones; 59 accepted pictures would do."
    assert "--rejected" in alone[3]
    assert told[0].startswith("From 50 pictures you accept and 50 you reject")
    assert "lets up to 6% of bad ones pass" in told[1]
    assert told[2].endswith("of bad ones pass; of no use here")


def test_a_rule_that_lets_the_only_rejected_pictures_pass_is_of_no_use_however_few_they_are() -> None:
    (found,) = propose({"score": GOOD}, {"score": [4.9, 5.0]}, {"score": True}, 0.05)

    assert found.false_accepts == 1.0
    assert found.is_useless
    assert "of no use here" in list(proposals_in_words([found], 0.05))[1]


@pytest.mark.parametrize("rising", [True, False])
def test_a_limit_as_it_is_written_does_not_fail_the_worst_accepted_picture(rising: bool) -> None:
    values = [2.345678 + number / 3 if rising else 2.345478 - number / 7 for number in range(12)]

    (found,) = propose({"value": values}, {}, {"value": rising})

    limit = float(found.rule.split()[-1])
    assert all(value >= limit if rising else value <= limit for value in values)


def test_equal_values_are_not_counted_as_rejected() -> None:
    # Of a hundred accepted pictures sixty measure nothing; a limit among them rejects none of them.
    (found,) = propose({"score": [1.0] * 60 + [2.0 + n for n in range(40)]}, {}, {"score": True}, 0.05)

    assert found.rule == "score < 1"
    assert found.expected_false_rejects == pytest.approx(1 / 101)


def test_of_equally_good_rules_the_one_on_the_score_comes_first() -> None:
    good, bad = {"BLOCKINESS": [0.1] * 10, "score": GOOD[:10]}, {"BLOCKINESS": [0.9] * 3, "score": [1.0] * 3}

    assert propose(good, bad, {"BLOCKINESS": False, "score": True})[0].measurement == "score"


def test_the_command_proposes_limits_from_two_folders(tmp_path: Path) -> None:
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
    for number in range(10):
        sharp = np.ascontiguousarray(photo("chelsea")[number * 8 : number * 8 + 96, 150:278])
        save(tmp_path / "good" / f"{number}.png", sharp)
        save(tmp_path / "bad" / f"{number}.png", np.asarray(cv2.GaussianBlur(sharp, (0, 0), 4), np.uint8))

    shown = CliRunner().invoke(
        app, ["calibrate", "--from-accepted", str(tmp_path / "good"), "--rejected", str(tmp_path / "bad")]
    )

    assert shown.exit_code == 0, shown.output
    assert "From 10 pictures you accept and 10 you reject" in shown.output
    assert "[gate]\nfail_if = [" in shown.output
    assert tomllib.loads(shown.output.partition("agenticiqa.toml:\n")[2])["gate"]["fail_if"]
