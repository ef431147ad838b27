"""What the heads of the quality model are taught with, and the arithmetic that joins and calibrates them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("torch")
pytest.importorskip("pandas")

import pandas as pd
import torch
from skimage import data

from agenticiqa.embedded.quality.quality_head import QualityHead
from training.quality_heads.correct import Correction
from training.quality_heads.fit import _joined, _linear_units, _spoilt_groups, network_outputs, stored
from training.quality_heads.free import list_free, read_ratings
from training.quality_heads.intervals import calibrate
from training.quality_heads.ladders import KINDS, share_left, spoil


@pytest.fixture(scope="module")
def photograph() -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(data.coffee()[:160, :160])


@pytest.mark.parametrize("kind", KINDS)
def test_every_ladder_moves_away_from_the_photograph_and_leaves_less(
    kind: str, photograph: npt.NDArray[np.uint8]
) -> None:
    steps = [spoil(photograph, kind, level, 5).astype(float) for level in range(1, 6)]

    errors = [float(((step - photograph) ** 2).mean()) for step in steps]
    assert errors[0] < errors[2] < errors[4]
    assert all(share_left(kind, level) > share_left(kind, level + 1) for level in range(1, 5))
    np.testing.assert_array_equal(spoil(photograph, kind, 3, 5), steps[2])


def test_photographs_of_the_fold_kept_apart_teach_nothing() -> None:
    kinds = ["none", *["jpeg"] * 5, *["dark"] * 5, *["noise"] * 5, "rewritten"]
    table = pd.DataFrame({"fold": [0] * 17 + [3] * 17, "kind": kinds * 2})

    apart, taught = _spoilt_groups(table, 0), _spoilt_groups(table, 17)

    assert apart == []
    # A fine file stands between the photograph and the first poor one.
    assert list(taught[0].rows) == [17, 33, 18, 19, 20, 21, 22]
    assert list(taught[1].rows) == [17, 23, 24, 25, 26, 27]


def test_old_and_new_units_in_one_network_add_up() -> None:
    random = np.random.default_rng(0)
    published = {
        "first_weight": random.normal(size=(1568, 4)), "first_bias": random.normal(size=4),
        "last_weight": random.normal(size=(4, 3)), "last_bias": random.normal(size=3),
    }  # fmt: skip
    correction = Correction(2592).eval()
    torch.nn.init.normal_(correction.last.weight)
    rows = random.normal(size=(3, 2592)).astype(np.float32)

    joined = network_outputs(
        _joined(published, correction, np.zeros(2592, np.float32), np.ones(2592, np.float32)), rows
    )

    old = np.maximum(rows[:, :1568] @ published["first_weight"] + published["first_bias"], 0) @ published["last_weight"]
    with torch.no_grad():
        new = correction(torch.from_numpy(rows)).numpy()
    np.testing.assert_allclose(joined, old + published["last_bias"] + new, rtol=1e-4, atol=1e-3)


def test_linear_units_give_the_line_and_keep_the_judge_of_damage() -> None:
    random = np.random.default_rng(1)
    published = {
        "centre": random.normal(size=6), "spread": random.uniform(1, 2, 6), "first_weight": random.normal(size=(6, 5)),
        "first_bias": random.normal(size=5), "last_weight": random.normal(size=(5, 3)), "last_bias": np.zeros(3),
    }  # fmt: skip
    line, gate = (random.normal(size=6), 0.3), (random.normal(size=6), -0.2)
    centre, spread, rows = random.normal(size=6), random.uniform(1, 2, 6), random.normal(size=(4, 6)).astype(np.float32)

    outputs = network_outputs(_linear_units(published, centre, spread, line, gate), rows)

    scaled = (rows - centre) / spread
    np.testing.assert_allclose(outputs[:, 0], scaled @ line[0] + 0.3)
    np.testing.assert_allclose(outputs[:, 2], scaled @ gate[0] - 0.2)
    hidden = np.maximum(
        (rows - published["centre"]) / published["spread"] @ published["first_weight"] + published["first_bias"], 0
    )
    np.testing.assert_allclose(outputs[:, 1], hidden @ published["last_weight"][:, 1])


def test_points_stored_as_bytes_come_back_within_half_a_step() -> None:
    points = np.random.default_rng(2).normal(size=(50, 3))

    kept = stored({"authentic_points": points})

    assert kept["authentic_points"].dtype == np.int8
    back = kept["authentic_points"] * kept["authentic_step"]
    assert (np.abs(back - points) <= kept["authentic_step"] / 2 + 1e-6).all()


def test_intervals_cover_sources_of_one_make_also_when_one_is_left_out() -> None:
    random = np.random.default_rng(3)
    sources = {
        name: (np.c_[np.ones(2000), np.zeros((2000, 5))], random.normal(0, 0.5, 2000)) for name in ("a", "b", "c")
    }

    arrays = calibrate(sources)

    terms, residuals = sources["a"]
    error = QualityHead(arrays).error(terms, "a")
    below, above = arrays["interval_factors_without_a"]
    # 97 % on either side of residuals of one kind
    assert np.mean((residuals > -below * error) & (residuals < above * error)) == pytest.approx(0.94, abs=0.015)


def test_ratings_are_on_the_scale_and_need_no_photographs_to_be_read() -> None:
    ratings = read_ratings()

    assert len(ratings) == 413
    assert all(1 <= crop.rating <= 5 for crop in ratings)
    assert list_free(Path("nowhere")) == []
