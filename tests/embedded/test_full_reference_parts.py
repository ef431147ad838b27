"""The parts of the full-reference judgement, against other libraries and values worked out by hand."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from scipy.fft import dctn

from agenticiqa.embedded.full_reference.consensus import (
    tone_change,
)
from agenticiqa.embedded.full_reference.difference_statistics import grid_statistics, residual_statistics
from agenticiqa.embedded.full_reference.frequency_transfer import transfer_statistics
from agenticiqa.embedded.full_reference.judge import find_disagreement
from agenticiqa.embedded.full_reference.pair_features import measure_pair
from agenticiqa.embedded.full_reference.pair_model import KernelMachine, KindRecogniser, distances, load_model
from agenticiqa.embedded.full_reference.pair_preparation import aligned, view_pair
from agenticiqa.embedded.full_reference.visible_error import _cosines
from agenticiqa.embedded.trunk import load_backbone
from agenticiqa.errors import ModelFileError
from agenticiqa.tools.calibration import Calibration, Curve
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.weights import read_arrays
from tests.support.photos import photo
from training.fr_fit import fit_consensus


def picture() -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.ascontiguousarray(photo("chelsea")[:192, :256])


def blurred(
    image: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], sigma: float
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma), np.uint8)


def test_the_cosines_of_a_block_are_those_of_scipy() -> None:
    plane = np.random.default_rng(0).random((8, 16)).astype(np.float32) * 255

    blocks = _cosines(plane)

    expected = np.stack([dctn(plane[:, :8], norm="ortho"), dctn(plane[:, 8:], norm="ortho")])
    assert blocks == pytest.approx(expected, abs=1e-3)


def test_the_residual_of_a_brighter_picture_is_its_shift() -> None:
    reference = np.clip(picture(), 0, 235)

    found = residual_statistics((reference + 20).astype(np.uint8), reference)

    assert found["shift.y"] == pytest.approx(20, abs=0.01)
    assert found["tone.luma_gain"] == pytest.approx(1, abs=1e-4)
    assert found["tone.luma_left"] == pytest.approx(0, abs=1e-3)
    assert found["energy.y"] == pytest.approx(math.log10(401), abs=1e-3)


def test_half_the_contrast_is_a_gain_of_one_half() -> None:
    reference = picture()
    halved = np.rint(64 + 0.5 * reference.astype(np.float64)).astype(np.uint8)

    found = residual_statistics(halved, reference)

    assert found["tone.luma_gain"] == pytest.approx(0.5, abs=0.01)
    assert found["tone.chroma_gain"] == pytest.approx(0.5, abs=0.03)


def test_independent_noise_has_no_neighbour_correlation_and_blocks_have_a_grid() -> None:
    reference = picture()

    noisy = residual_statistics(distort(reference, "white_noise", 3), reference)
    blocky = grid_statistics(distort(reference, "jpeg", 5), reference)

    assert abs(noisy["grain.across_1"]) < 0.05
    assert blocky["grid.across"] > 0.3
    assert blocky["grid.down"] > 0.3


def test_features_come_in_one_order_and_are_finite_for_strange_pairs() -> None:
    backbone = load_backbone()
    reference = picture()
    black = np.zeros_like(reference)

    first = measure_pair(distort(reference, "jpeg", 2), reference, backbone)
    strange = measure_pair(reference, black, backbone)

    assert first.names == strange.names == load_model().opened.names
    assert all(math.isfinite(value) for value in strange.values.values())


def test_a_picture_displaced_both_ways_is_brought_back() -> None:
    whole = picture()
    test, reference = whole[3:, 2:], whole[:-3, :-2]

    moved, still, notes = aligned(np.ascontiguousarray(test), np.ascontiguousarray(reference))

    assert np.array_equal(moved, still)
    assert "-2 × -3" in notes[0]


def test_a_change_of_tone_alone_is_told_from_damage() -> None:
    names = load_model().opened.names
    backbone = load_backbone()
    reference = np.clip(picture(), 20, 200)
    pairs = [(reference + 30).astype(np.uint8), distort(reference, "white_noise", 4)]

    rows = np.array([list(measure_pair(test, reference, backbone).values.values()) for test in pairs])
    tone = tone_change(rows, names)

    assert tone.weight[0] == 1
    assert tone.weight[1] == 0
    # 30 grey levels lie half-way between 22 (level 2) and 38 (level 3), at 0.55 per level.
    assert tone.score[0] == pytest.approx(5 - 0.55 * 2.5, abs=0.02)


def test_the_consensus_reads_quantiles() -> None:
    losses = np.tile(np.linspace(0.1, 1.0, 901)[:, None], (1, 5))

    members = fit_consensus(losses).members(np.array([[0.0] * 5, [0.1] * 5, [0.55] * 5, [1.0] * 5, [9.0] * 5]))

    assert members[:, 0] == pytest.approx([5.0, 4.6, 2.8, 1.0, 1.0], abs=1e-6)


def test_a_pair_unlike_all_that_was_rated_is_left_to_metrics_and_structure_alone() -> None:
    reference = picture()
    darker = np.asarray(reference // 2, np.uint8)
    values = measure_pair(darker, reference, load_backbone()).values
    model = load_model("research")
    assert model.rated is not None
    features = np.array([[values[name] for name in model.opened.names]])
    # What the network sees is moved as far as it counts; metrics and tone stay as measured.
    stages = [place for place, name in enumerate(model.opened.names) if name.startswith("stage")]
    features[:, stages] = 1e6

    found = model.predict_rows(features)[0]

    score, agreed = model.opened.consensus.describe(features, model.opened.names)[0, :2]
    assert found.strange == 1
    assert abs(score - agreed) > 0.2
    # All structure is lost, which is the worst score of the third member.
    assert found.score == pytest.approx(float(np.interp((2 * agreed + 1) / 3, *model.rated.scale)))


def test_enlargement_leaves_the_frequencies_its_factor_says() -> None:
    reference = np.ascontiguousarray(photo("coffee")[:384, :576])
    small = cv2.resize(reference, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    enlarged = np.asarray(cv2.resize(small, (576, 384), interpolation=cv2.INTER_CUBIC), np.uint8)

    found = transfer_statistics(enlarged, reference)

    assert found["transfer.cutoff"] == pytest.approx(1 / 4, abs=0.03)
    assert found["transfer.passband"] > 0.97
    assert transfer_statistics(reference, reference)["transfer.cutoff"] == 1


def test_blur_is_measured_alike_in_a_soft_and_in_a_sharp_picture() -> None:
    sharp = np.ascontiguousarray(photo("coffee")[:384, :576])
    soft = np.asarray(cv2.resize(sharp, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), np.uint8)

    left = [transfer_statistics(blurred(image, 2.0), image)["transfer.cutoff"] for image in (sharp, soft)]

    # A Gaussian of 2 pixels halves what is at sqrt(ln 2 / 2) / (2 pi) cycles per pixel; all is half a cycle.
    assert left == pytest.approx([2 * math.sqrt(math.log(2) / 2) / (2 * math.pi)] * 2, abs=0.03)


def test_noise_is_no_loss_of_frequencies_and_less_contrast_neither() -> None:
    reference = picture()

    noisy, paler = distort(reference, "white_noise", 3), distort(reference, "contrast_down", 3)

    assert transfer_statistics(noisy, reference)["transfer.cutoff"] > 0.9
    assert transfer_statistics(paler, reference)["transfer.cutoff"] > 0.9
    assert transfer_statistics(noisy, reference)["transfer.passband"] < 0.95


def test_the_parts_of_a_large_pair_are_damaged_as_the_whole_is() -> None:
    reference = np.asarray(cv2.resize(photo("coffee"), (1920, 1280), interpolation=cv2.INTER_CUBIC), np.uint8)
    test = reference.copy()
    test[:, 960:] = distort(np.ascontiguousarray(reference[:, 960:]), "white_noise", 4)

    view = view_pair(test, reference)

    apart = np.abs(view.test.astype(np.float64) - view.reference).mean(axis=2) > 2
    whole = np.abs(test.astype(np.float64) - reference).mean(axis=2) > 2
    assert view.test.shape == (384, 384, 3)
    assert apart.mean() == pytest.approx(whole.mean(), abs=0.08)


def test_a_small_pair_is_compared_whole_and_a_screen_shrinks_a_large_one() -> None:
    small, large = picture(), np.zeros((1000, 1500, 3), np.uint8)

    assert view_pair(small, small).share == 1
    assert view_pair(large, large, "screen").scale == pytest.approx(math.sqrt(640 * 480 / 1.5e6))


def test_a_kernel_machine_is_a_weighted_sum_of_bumps() -> None:
    machine = KernelMachine(
        support=np.array([[0.0, 0.0], [2.0, 0.0]]),
        support_kinds=np.array([[1.0, 0.0], [0.0, 1.0]]),
        weights=np.array([[1.0, 2.0]]),
        widths=np.array([0.5]),
        sharing=0.5,
    )

    found = machine(np.array([[0.0, 0.0]]), np.array([[1.0, 0.0]]))

    # The second support pair is at mean square distance 2 and of another kind: half of 2·exp(−1).
    assert found == pytest.approx([1 + math.exp(-1)])
    assert distances(np.array([[0.0, 0.0]]), np.array([[2.0, 0.0]])) == pytest.approx(np.array([[2.0]]))


def test_kind_probabilities_sum_to_one_for_any_features() -> None:
    recognise = KindRecogniser(("a", "b"), np.array([[1000.0, -1000.0]]), np.zeros(2))

    assert recognise(np.array([[5.0], [-5.0]])) == pytest.approx(np.array([[1.0, 0.0], [0.0, 1.0]]))


def straight(spread: float) -> Calibration:
    return Calibration(method="ratings", data="by hand", overall=Curve(knots=((0.0, 1.0), (1.0, 5.0)), spread=spread))


def test_metrics_that_contradict_each_other_are_named_with_the_one_to_trust() -> None:
    calibrations = {"VSI": straight(0.2), "SSIM": straight(0.5), "FSIM": straight(0.3)}

    found = find_disagreement({"VSI": 0.9, "SSIM": 0.1, "FSIM": 0.85}, {"jpeg": 0.9}, calibrations)

    assert found is not None
    assert found.trusted.name == "VSI"
    assert [metric.name for metric in found.contradicting] == ["SSIM"]
    assert (found.kind, found.trusted.spread, found.contradicting[0].spread) == ("jpeg", 0.2, 0.5)


def test_metrics_within_their_spreads_do_not_disagree() -> None:
    calibrations = {"VSI": straight(0.3), "SSIM": straight(0.5)}

    assert find_disagreement({"VSI": 0.6, "SSIM": 0.5}, {}, calibrations) is None


def test_an_unknown_weight_file_is_an_error_with_the_way_out() -> None:
    with pytest.raises(ModelFileError, match="reinstall"):
        read_arrays("fr_other.npz")
