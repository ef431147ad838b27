"""How the full-reference model is fitted: splits that hold, and numbers that agree with another library."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import RBFInterpolator

from tests.support.photos import photo
from training.fr_data import Pairs
from training.fr_field import LADDERS, encode
from training.fr_fit import Recipe, fit_machine, fit_recogniser, out_of_fold_kinds
from training.fr_train import leave_one_kind_out, leave_one_photograph_out


def some_pairs(count: int = 60, photographs: int = 6) -> Pairs:
    random = np.random.default_rng(3)
    return Pairs(
        names=tuple(f"f{n}" for n in range(4)),
        features=random.normal(size=(count, 4)),
        metric_names=("PSNR",),
        metrics=random.normal(size=(count, 1)),
        group=np.array([f"photo{n % photographs}" for n in range(count)]),
        kind=np.array([("blur", "noise")[n // photographs % 2] for n in range(count)]),
        source=np.full(count, "rated"),
        level=np.ones(count, np.int_),
        score=random.normal(size=count),
    )


def test_every_photograph_is_left_out_once_with_all_its_pairs() -> None:
    pairs = some_pairs()

    folds = list(leave_one_photograph_out(pairs))

    assert np.array_equal(np.sum(folds, axis=0), np.ones(len(pairs)))
    assert all(len(set(pairs.group[out])) == 1 for out in folds)


def test_a_kind_seen_on_one_photograph_only_is_never_recognised_on_it() -> None:
    pairs = some_pairs()
    kind = np.where(pairs.group == "photo0", "secret", pairs.kind)
    planted = Pairs(**{**pairs.__dict__, "kind": kind})

    found = out_of_fold_kinds(planted.features, planted, ("blur", "noise", "secret"), Recipe())

    assert np.all(found[pairs.group == "photo0", 2] == 0)
    assert found.sum(axis=1) == pytest.approx(np.ones(len(pairs)))


def test_the_kernel_machine_is_the_smoothed_gaussian_interpolation_of_scipy() -> None:
    pairs = some_pairs()
    kinds = np.ones((len(pairs), 1))
    machine = fit_machine(pairs.features, kinds, pairs.score, np.full(len(pairs), 0.2), Recipe(widths=(0.8,)))
    elsewhere = np.random.default_rng(4).normal(size=(7, 4))

    # Our width counts the mean over four features, scipy's epsilon the sum.
    theirs = RBFInterpolator(
        pairs.features, pairs.score, kernel="gaussian", epsilon=np.sqrt(0.8 / 4), smoothing=0.2, degree=-1
    )

    assert machine(elsewhere, np.ones((7, 1))) == pytest.approx(theirs(elsewhere), abs=1e-8)


def test_kinds_far_apart_are_recognised_without_doubt() -> None:
    random = np.random.default_rng(5)
    features = np.vstack([random.normal(-3, 1, (40, 3)), random.normal(3, 1, (40, 3))])
    kind = np.repeat(["blur", "noise"], 40)

    recognise = fit_recogniser(features, kind, shrinkage=0.1)

    # Half-way between the two means both are equally likely.
    centre = (features[:40].mean(axis=0) + features[40:].mean(axis=0)) / 2
    assert recognise(centre[None]) == pytest.approx(np.array([[0.5, 0.5]]), abs=1e-6)
    assert recognise(features).argmax(axis=1).tolist() == [0] * 40 + [1] * 40


def test_a_kind_left_out_takes_all_its_pairs_and_both_ways_of_contrast() -> None:
    pairs = replace(some_pairs(), kind=np.array(["contrast_up", "contrast_down", "blur"] * 20))

    folds = list(leave_one_kind_out(pairs))

    assert [int(out.sum()) for out in folds] == [20, 40]
    assert np.array_equal(np.sum(folds, axis=0), np.ones(len(pairs)))


def test_every_coder_of_the_field_gives_a_picture_of_its_size_that_improves_with_quality() -> None:
    picture = np.ascontiguousarray(photo("coffee")[:128, :192])

    for coder, ladder in LADDERS.items():
        poor, good = (encode(picture, coder, ladder[end]) for end in (0, -1))
        assert poor.shape == picture.shape
        assert np.abs(good.astype(int) - picture).mean() < np.abs(poor.astype(int) - picture).mean()
