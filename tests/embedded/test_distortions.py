"""Which distortion, how severe: the shipped models on real photographs that no model was fitted on."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenticiqa.embedded.distortions.distortion_detector import Findings, find_changes, find_distortions, in_context
from agenticiqa.embedded.distortions.distortion_model import DistortionModel, load_distortion_model
from agenticiqa.embedded.distortions.feature_vector import measure_traces
from agenticiqa.embedded.distortions.measurements import measure_readings
from agenticiqa.embedded.distortions.tile_features import cut_tiles
from agenticiqa.embedded.distortions.tone_features import curve_traces
from agenticiqa.embedded.full_reference.pair_features import measure_pair
from agenticiqa.embedded.trunk import load_backbone, to_working_size
from agenticiqa.errors import ModelFileError
from agenticiqa.state import DISTORTION_CATEGORIES, SEVERITIES, Region
from agenticiqa.tools.metrics.mdsi import mdsi
from agenticiqa.tools.synthetic.kinds import KINDS, distort
from agenticiqa.values import Distortion, severity_of
from tests.support.photos import photo
from training.detect_severity import loss_of

Pixels = npt.NDArray[np.uint8]


@lru_cache(maxsize=4)
def view(name: str) -> Pixels:
    """A quarter megapixel of a photograph at most."""
    return np.ascontiguousarray(photo(name)[:400, :480])


def findings_of(pixels: Pixels) -> Findings:
    return find_distortions(pixels, load_backbone().features(pixels))


def strength_of(findings: Findings, category: str) -> float:
    return next(finding.strength for finding in findings if finding.category == category)


@pytest.mark.parametrize("name", ["astronaut", "coffee", "chelsea", "rocket"])
def test_blur_whose_radius_leaves_no_doubt_is_found_and_grows_with_it(name: str) -> None:
    clean = view(name)

    blurs = [findings_of(cv2.GaussianBlur(clean, (0, 0), sigma))[0] for sigma in (4.0, 6.0)]

    assert [blur.category for blur in blurs] == ["Blurs", "Blurs"]
    assert all(blur.probability >= 0.9 and blur.severity in ("severe", "extreme") for blur in blurs)
    assert blurs[0].strength < blurs[1].strength
    assert findings_of(clean)[0].probability < 0.5


def test_a_picture_without_edges_is_not_called_blurred_for_its_radius() -> None:
    # A slope so gentle that no edge is found: the radius measured is the largest there is, and means nothing.
    ramp = np.repeat(np.linspace(100, 110, 400)[None, :, None], 300, axis=0).repeat(3, axis=2).astype(np.uint8)
    blur = findings_of(ramp)[0]

    assert not blur.readings
    assert blur.probability < 0.9


@pytest.mark.parametrize(
    ("loss", "word"),
    [
        (0.0, "none"),
        (0.49, "none"),
        (0.5, "slight"),
        (1.5, "moderate"),
        (2.5, "severe"),
        (3.5, "extreme"),
        (4.0, "extreme"),
    ],
)
def test_a_severity_is_the_level_left_if_this_were_the_only_flaw(loss: float, word: str) -> None:
    assert severity_of(loss) == word


@given(st.floats(0, 4), st.floats(0, 4))
def test_a_larger_loss_never_has_a_milder_word(first: float, second: float) -> None:
    low, high = sorted((first, second))

    assert SEVERITIES.index(severity_of(low)) <= SEVERITIES.index(severity_of(high))


def test_the_loss_lies_between_its_two_anchors() -> None:
    # 0.365 is half way between 0.18, barely seen, and 0.55, ruined.
    assert [loss_of(value) for value in (0.0, 0.18, 0.365, 0.55, 0.9)] == pytest.approx([0, 0, 2, 4, 4])


@pytest.mark.parametrize("name", ["astronaut", "chelsea", "coffee"])
def test_a_clean_photograph_is_not_called_broken(name: str) -> None:
    findings = findings_of(view(name))

    assert [finding.category for finding in findings] == list(DISTORTION_CATEGORIES)
    assert not [f.category for f in findings if f.severity in ("moderate", "severe", "extreme")]


@pytest.mark.parametrize(
    ("kind", "level"),
    [
        ("gaussian_blur", 3),
        ("white_noise", 3),
        ("impulse_noise", 4),
        ("jpeg", 4),
        ("color_quantisation", 5),
    ],
)
def test_strong_damage_is_found_and_its_severity_is_at_most_one_word_off(kind: str, level: int) -> None:
    clean = view("chelsea")
    damaged = distort(clean, kind, level, seed=1)

    findings = findings_of(damaged)

    found = next(finding for finding in findings if finding.category == KINDS[kind].category)
    true = severity_of(loss_of(mdsi(damaged, clean)))
    assert found.probability > 0.5
    assert abs(SEVERITIES.index(found.severity) - SEVERITIES.index(true)) <= 1


@pytest.mark.parametrize("kind", ["gaussian_blur", "white_noise", "jpeg"])
def test_stronger_damage_is_called_more_severe(kind: str) -> None:
    picture = view("coffee")

    strengths = [
        strength_of(findings_of(distort(picture, kind, level, 3)), KINDS[kind].category) for level in (1, 3, 5)
    ]

    assert strengths == sorted(strengths)
    assert strengths[2] > strengths[0] + 1


@pytest.mark.parametrize(
    "kind",
    [
        "gaussian_blur",
        "white_noise",
        "jpeg",
        "darken",
        "contrast_down",
        "color_cast",
        "saturation_down",
        "over_sharpen",
    ],
)
def test_with_the_reference_the_change_is_told(kind: str) -> None:
    reference = view("astronaut")
    damaged = distort(reference, kind, 4, seed=2)

    findings = find_changes(damaged, measure_pair(damaged, reference, load_backbone()).values)

    assert max(findings, key=lambda finding: finding.weight).category == KINDS[kind].category


def test_the_measurements_come_in_units_a_person_knows() -> None:
    picture = view("astronaut")
    noisy, coded, soft = (distort(picture, kind, 3, seed=4) for kind in ("white_noise", "jpeg", "gaussian_blur"))

    sigma = measure_readings(noisy)["Noise"][0]
    quality = measure_readings(coded)["Compression"][0]
    radius = measure_readings(soft)["Blurs"][0]

    # Level 3 stands for a sigma of 14, a quality of 18 and a radius of 1.9.
    assert (sigma.name, sigma.unit) == ("noise sigma", "grey levels")
    assert sigma.value == pytest.approx(14, rel=0.2)
    assert quality.value == pytest.approx(18, abs=10)
    assert radius.value == pytest.approx(1.9, rel=0.25)


def test_tiles_begin_on_the_borders_of_blocks() -> None:
    rows, columns = np.mgrid[0:1000, 0:1400]
    picture = np.stack([rows % 256, columns % 256, rows * 0], axis=2).astype(np.uint8)

    tiles = cut_tiles(picture)

    assert tiles.pixels.shape == (9, 112, 112, 3)
    assert not (tiles.pixels[:, 0, 0, :2] % 16).any()


@pytest.mark.parametrize("shape", [(100, 120), (1, 1), (3, 5), (20, 3000), (2000, 70)])
@pytest.mark.parametrize("value", [0, 127, 255])
def test_a_flat_or_tiny_picture_still_has_finite_traces(shape: tuple[int, int], value: int) -> None:
    pixels = np.full((*shape, 3), value, np.uint8)
    traces = measure_traces(pixels, to_working_size(pixels)[0])

    assert np.isfinite(list(traces.values())).all()


def grey(values: npt.NDArray[np.floating]) -> Pixels:
    """A grey picture of these values, each four times."""
    row = np.clip(np.rint(np.repeat(values, 4)), 0, 255).astype(np.uint8)
    return np.repeat(row[:, None, None], 3, axis=2)


ALL_VALUES = np.arange(256, dtype=np.float64)


def test_the_power_that_bent_a_tone_scale_is_read_from_the_missing_values() -> None:
    darker = curve_traces(grey(255 * (ALL_VALUES / 255) ** 2))
    brighter = curve_traces(grey(255 * (ALL_VALUES / 255) ** 0.5))

    # Squaring is one stop in the exponent, the root one stop back.
    assert darker["curve.darker_stops"] == pytest.approx(1, abs=0.01)
    assert brighter["curve.brighter_stops"] == pytest.approx(1, abs=0.01)
    assert curve_traces(grey(ALL_VALUES))["curve.darker_stops"] == 0


def test_a_stretched_range_leaves_teeth_at_the_inverse_of_its_factor() -> None:
    stretched = curve_traces(grey(2 * ALL_VALUES[:128]))
    whole = curve_traces(grey(ALL_VALUES))

    assert stretched["teeth.tones_step"] == pytest.approx(1 / 2)
    assert stretched["teeth.tones"] > whole["teeth.tones"] + 1


def test_a_shifted_range_has_a_floor_and_a_pile_at_the_other_end() -> None:
    shifted = curve_traces(grey(ALL_VALUES + 51))

    # Values 0 to 50 are never reached; 51 + 1 old values end on white, one on each value beside it.
    assert shifted["ends.floor"] == pytest.approx(51 / 255)
    assert shifted["ends.white_pile"] == pytest.approx(np.log((52 / 256 + 1e-4) / (1 / 256 + 1e-4)), rel=1e-4)
    assert shifted["ends.black_pile"] == 0


def a_finding(category: str, strength: float) -> Distortion:
    return Distortion(category, strength / 4, strength)  # type: ignore[arg-type]


def test_blur_behind_the_subject_is_not_held_against_the_picture() -> None:
    picture = np.full((400, 600, 3), 120, np.uint8)
    picture[100:300, 60:260] = np.random.default_rng(0).integers(0, 255, (200, 200, 1))
    whole = tuple(a_finding(category, 0.1) for category in DISTORTION_CATEGORIES)
    crop = tuple(a_finding(category, 3.0) for category in DISTORTION_CATEGORIES)
    background, subject = (
        Region(left=350, top=0, right=600, bottom=400),
        Region(left=60, top=100, right=260, bottom=300),
    )

    behind = in_context(crop, whole, picture, background)
    before = in_context(crop, whole, picture, subject)

    assert strength_of(behind, "Blurs") == 0.1
    assert strength_of(behind, "Noise") == 3.0
    assert strength_of(before, "Blurs") == 3.0


def one_layer_model() -> DistortionModel:
    """Two inputs, one layer: every presence logit is the first input, every strength the second."""
    weight = np.zeros((2, 15), np.float16)
    weight[0, :7] = 1
    weight[1, 7:14] = 1
    arrays: dict[str, npt.NDArray[Any]] = {
        "centre": np.array([1, 0], np.float32),
        "scale": np.array([2, 1], np.float32),
        "projection": np.zeros((0, 0), np.float16),
        "shape": np.array([1, 1]),
        "weight_0_0": weight,
        "bias_0_0": np.full(15, 0.5, np.float16),
        "slope": np.full(7, 2, np.float32),
        "lift": np.full(7, 0.5, np.float32),
        "shift": np.full(7, -2, np.float32),
        "knots": np.tile(np.array([0, 4], np.float32), (7, 1)),
        "heights": np.tile(np.array([0, 2], np.float32), (7, 1)),
    }
    return DistortionModel(arrays, ("jpeg",))


def test_the_network_computes_what_is_worked_out_by_hand() -> None:
    opinion = one_layer_model().judge(np.array([3, 1.5], np.float32))

    # The logit is (3 − 1) / 2 + 0.5 = 1.5, the strength 1.5 + 0.5 = 2: 2 · 1.5 + 0.5 · 2 − 2 = 2, logistic(2) = 0.8808.
    assert opinion.presence == pytest.approx(np.full(7, 0.880797), abs=1e-5)
    # A strength of 2 lies half way up a curve that ends at 2.
    assert opinion.strength == pytest.approx(np.full(7, 1.0))
    assert opinion.kinds == {"jpeg": 0.5}


def test_features_of_another_length_are_refused() -> None:
    with pytest.raises(ModelFileError, match="other features"):
        one_layer_model().judge(np.zeros(3, np.float32))


def test_a_model_that_is_not_shipped_is_refused() -> None:
    with pytest.raises(ModelFileError, match="not among the shipped weights"):
        load_distortion_model("distortions_unknown")
