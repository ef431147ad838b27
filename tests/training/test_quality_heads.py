"""What the heads of the quality model are taught with, and the arithmetic that joins and calibrates them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("sklearn")

from skimage import data

from benchmarks.field.recording import read_records
from training.quality_heads.fit import (
    DAMAGE_MIDDLE,
    DAMAGE_SHARE,
    FITTED,
    WIDER,
    Kernel,
    calibrated,
    middle,
    published_kernel,
    published_network,
    width_without_score,
    write_records,
)
from training.quality_heads.free import list_free, read_ratings
from training.quality_heads.ladders import KINDS, share_left, spoil
from training.rated_sources import ranks


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


def test_points_stored_as_bytes_come_back_within_half_a_step() -> None:
    points = np.random.default_rng(2).normal(size=(50, 3))

    kept = Kernel(np.eye(3), points, np.ones(50), 0.0, 1.0).arrays("likeness")

    assert kept["likeness_points"].dtype == np.int8
    back = kept["likeness_points"] * kept["likeness_step"]
    assert (np.abs(back - points) <= kept["likeness_step"] / 2 + 1e-6).all()


def test_published_units_become_one_output() -> None:
    random = np.random.default_rng(1)
    given = {
        "centre": np.zeros(6), "spread": np.ones(6), "first_weight": random.normal(size=(6, 5)),
        "first_bias": random.normal(size=5), "last_weight": random.normal(size=(5, 3)),
        "last_bias": random.normal(size=3),
    }  # fmt: skip
    hidden = np.maximum(random.normal(size=(4, 6)) @ given["first_weight"] + given["first_bias"], 0)

    joined = published_network(given)

    authentic, damage, _ = (hidden @ given["last_weight"] + given["last_bias"]).T
    wanted = authentic + DAMAGE_SHARE / 2 * (damage - DAMAGE_MIDDLE)
    np.testing.assert_allclose(hidden @ joined["last_weight"] + joined["last_bias"], wanted, rtol=1e-5)


def test_a_published_regression_keeps_its_distances_on_another_standard_scale() -> None:
    random = np.random.default_rng(4)
    given = {
        "centre": random.normal(size=4), "spread": random.uniform(1, 2, 4),
        "synthetic_centre": random.normal(size=3), "synthetic_spread": random.uniform(1, 2, 3),
        "synthetic_projection": random.normal(size=(3, 2)), "synthetic_points": random.normal(size=(5, 2)),
        "synthetic_weights": np.ones(5), "synthetic_mean": np.array(3.0), "synthetic_width": np.array(0.8),
    }  # fmt: skip
    row = random.normal(size=4)

    kernel = published_kernel(given, "synthetic", 0.5, 4.0)

    own = (row[:3] - given["synthetic_centre"]) / given["synthetic_spread"] @ given["synthetic_projection"]
    moved = (row - given["centre"]) / given["spread"] @ kernel.projection
    np.testing.assert_allclose(moved - kernel.points, own - given["synthetic_points"])
    assert kernel.mean == pytest.approx(-0.5)


def test_the_curve_rises_and_intervals_hold_more_at_home_than_they_promise_elsewhere() -> None:
    random = np.random.default_rng(3)
    said = {name: random.normal(0, 1, 4000) for name in FITTED}
    wanted = {name: np.clip(3 + 0.8 * z + random.normal(0, 0.4, 4000), 1, 5) for name, z in said.items()}

    arrays = calibrated(said, wanted, FITTED)

    assert (np.diff(arrays["scale_to"]) >= 0).all()
    score = np.interp(said["biq2021"], arrays["scale_from"], arrays["scale_to"])
    for name, level in (("reach95", 0.95), ("reach80", 0.8)):
        below, above = arrays[name]
        held = (wanted["biq2021"] > score - below) & (wanted["biq2021"] < score + above)
        assert held.mean() == pytest.approx(WIDER[level], abs=0.02)


def test_small_and_large_sources_count_alike_in_what_lies_in_the_middle() -> None:
    # A thousand opinions of 1 and ten of 5 are half and half, so a tenth at either end cuts neither off.
    assert middle([np.full(1000, 1.0), np.full(10, 5.0)], 0.8) == (1.0, 5.0)


def test_an_interval_without_a_score_is_as_wide_as_the_opinions_it_has_to_hold() -> None:
    even = np.linspace(1, 5, 401)

    assert width_without_score([even], even, 0.5) == pytest.approx(2, abs=0.05)
    assert width_without_score([even], np.full(9, 4.5), 1.0) == pytest.approx(3, abs=0.05)


def test_what_was_said_of_a_source_left_out_is_written_as_the_ledger_reads_it(tmp_path: Path) -> None:
    arrays = {
        "scale_from": np.array([-1.0, 1.0]), "scale_to": np.array([1.0, 5.0]),
        "reach95": np.array([2.0, 1.0]), "reach80": np.array([1.0, 0.5]),
    }  # fmt: skip

    write_records(tmp_path, "mmp2k", np.array(["a.jpg", "b.jpg"]), np.array([0.0, 0.9]), arrays)

    rows = read_records(tmp_path / "mmp2k-left-out.csv")
    assert rows["a.jpg"] == {"id": "a.jpg", "score": "3.0000", "low": "1.0000", "high": "4.0000", "low80": "2.0000",
                             "high80": "3.5000"}  # fmt: skip
    assert rows["b.jpg"]["high"] == "5.0000"


def test_opinions_count_by_their_order_within_a_source() -> None:
    # The middle of three is the median of a normal curve; the outer ones lie at its sixths.
    np.testing.assert_allclose(ranks(np.array([70.0, 1.0, 2.0])), [0.9674, -0.9674, 0.0], atol=1e-4)


def test_ratings_are_on_the_scale_and_need_no_photographs_to_be_read() -> None:
    ratings = read_ratings()

    assert len(ratings) == 413
    assert all(1 <= crop.rating <= 5 for crop in ratings)
    assert list_free(Path("nowhere")) == []
