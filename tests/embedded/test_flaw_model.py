"""The detector of flaws: what its networks compute, and that whole, parts and boxes are the same values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from agenticiqa.embedded.distortions.distortion_detector import find_distortions
from agenticiqa.embedded.distortions.distortion_model import Opinion as Damage
from agenticiqa.embedded.distortions.flaw_model import (
    CONTEXT,
    CURVE,
    GATE_AND_PRESENCE,
    LAYERS,
    LEAST_CORRECTION,
    MEMBERS,
    RANKS,
    FirstOpinions,
    FlawModel,
    load_flaw_model,
)
from agenticiqa.embedded.distortions.parts import box_of
from agenticiqa.embedded.distortions.photograph_model import FLAWS
from agenticiqa.embedded.trunk import load_backbone
from agenticiqa.errors import ModelFileError
from agenticiqa.state import DISTORTION_CATEGORIES
from agenticiqa.tools.synthetic.kinds import distort
from tests.support.photos import photo

WHOLE, PART, PARTS, KINDS = 40, 3, 16, 1


class Opinion(FirstOpinions):
    """Half a step of every flaw, a quarter for the only kind, and one number beside them."""

    def __init__(self) -> None:
        """Needs no models."""

    def of(self, whole: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return np.array([0.5] * len(FLAWS) + [0.25] * KINDS + [3.0], np.float32)

    def of_damage(self, whole: npt.NDArray[np.float32]) -> Damage:
        count = len(DISTORTION_CATEGORIES)
        return Damage(np.ones(count, np.float32), np.full(count, 3.0, np.float32), {"darken": 0.0, "brighten": 1.0})

    def of_people(self, whole: npt.NDArray[np.float32], arrays: Any) -> npt.NDArray[np.float32]:
        return np.asarray(arrays["people_mean"], np.float32)


def a_model(share: float = -50.0) -> FlawModel:
    """Parts pass on their first feature for every flaw; the whole adds its own to the most of the parts.

    `share` is the log-odds with which the model of damage is heard; it says 3 of all but darkness.
    """
    told_of_share = 2 * len(FLAWS) + len(np.arange(len(FLAWS) + KINDS + 1)[GATE_AND_PRESENCE])
    told = WHOLE + 1 + len(FLAWS) + KINDS + 1
    part = [np.zeros((PART + CONTEXT, PART), np.float32), np.zeros((PART, len(FLAWS)), np.float32)]
    part[0][0, 0] = part[1][0, :] = 1
    whole = [np.zeros((told + (len(RANKS) + 1) * len(FLAWS), 2), np.float32), np.eye(2, dtype=np.float32)]
    whole[0][0, 0] = whole[0][told, 1] = 1
    whole.append(np.ones((2, len(FLAWS) + KINDS), np.float32))
    arrays: dict[str, npt.NDArray[Any]] = {
        "slope": np.array(2, np.float32),
        "people_mean": np.array([0.3], np.float32),
        "share_weight": np.zeros((len(FLAWS), told_of_share), np.float32),
        "share_bias": np.full(len(FLAWS), share, np.float32),
        "curves": np.tile(np.array(CURVE, np.float32), (len(FLAWS), 1)),
    }
    for name, width, layers in (("whole", told, whole), ("part", PART, part)):
        arrays |= {f"{name}_centre": np.zeros(width, np.float32), f"{name}_scale": np.ones(width, np.float32)}
        arrays[f"{name}_projection"] = np.zeros((0, 0), np.float32)
        assert len(layers) == LAYERS[name]
        for member in range(MEMBERS):
            for depth, weight in enumerate(layers):
                arrays[f"{name}_weight_{member}_{depth}"] = weight
                arrays[f"{name}_bias_{member}_{depth}"] = np.zeros(weight.shape[1], np.float32)
    return FlawModel(arrays, ("jpeg",), Opinion())


def test_the_whole_is_judged_with_its_parts_from_the_first_opinions_on() -> None:
    whole, parts = np.zeros(WHOLE, np.float32), np.zeros((PARTS, PART), np.float32)
    whole[0], parts[5, 0] = 0.5, 1.0

    opinion = a_model().judge(whole, parts)

    # 0.5 of the first opinion, 0.5 of the whole and 1 of its worst part, less what is left uncorrected.
    blur = opinion.flaws["blur"]
    assert blur.strength == pytest.approx(2.0 - LEAST_CORRECTION)
    assert blur.probability == pytest.approx(1 / (1 + np.exp(-2 * (blur.strength - 0.5))))
    assert opinion.kinds == {"jpeg": 1.75}
    assert blur.parts[5] == pytest.approx(blur.strength)
    assert blur.parts.sum() == pytest.approx(blur.strength)


def test_the_model_of_damage_is_heard_as_far_as_was_learned() -> None:
    whole, parts = np.zeros(WHOLE, np.float32), np.zeros((PARTS, PART), np.float32)

    half, wholly = (a_model(share).judge(whole, parts).flaws for share in (0.0, 50.0))

    assert half["blur"].strength == pytest.approx((0.5 + 3) / 2)
    assert (wholly["blur"].strength, wholly["bright"].strength) == pytest.approx((3, 3))
    assert wholly["dark"].strength == pytest.approx(0)


def test_a_flaw_of_which_false_alarms_allow_it_is_moderate_from_a_smaller_output_on() -> None:
    whole, parts = np.zeros(WHOLE, np.float32), np.zeros((PARTS, PART), np.float32)
    parts[5, 0] = 0.75
    model = a_model()
    model.arrays["curves"][FLAWS.index("noise"), 2] = 1.0

    flaws = model.judge(whole, parts).flaws

    assert flaws["blur"].strength == pytest.approx(1.0)
    assert flaws["noise"].strength == pytest.approx(1.5)


def test_features_of_another_length_are_refused() -> None:
    with pytest.raises(ModelFileError, match="other features"):
        a_model().judge(np.zeros(3, np.float32), np.zeros((PARTS, PART), np.float32))


def test_the_box_lies_around_the_parts_that_hang_together_with_the_worst() -> None:
    strengths = np.zeros(PARTS, np.float32)
    strengths[[2, 3, 6, 7, 12]] = 2.0
    strengths[3] = 2.5

    box = box_of(strengths, (400, 800))

    assert box is not None
    assert (box.left, box.top, box.right, box.bottom) == (400, 0, 800, 200)
    assert box_of(np.ones(PARTS, np.float32), (400, 800)) is None


@pytest.mark.parametrize("terms", ["research", "open"])
def test_no_part_shows_more_than_the_whole_is_said_to_have(terms: Any) -> None:
    model = load_flaw_model(terms)
    whole = model.arrays["whole_centre"][: len(model.first.photographs.arrays["centre"])]

    opinion = model.judge(whole, np.tile(model.arrays["part_centre"], (PARTS, 1)))

    assert all(flaw.parts.max() <= flaw.strength + 1e-4 for flaw in opinion.flaws.values())


@pytest.mark.parametrize("name", ["coffee", "astronaut"])
def test_noise_in_a_half_is_found_there(name: str) -> None:
    picture = photo(name).copy()
    half = picture.shape[1] // 2
    picture[:, half:] = distort(np.ascontiguousarray(picture[:, half:]), "white_noise", 5)

    noise = next(f for f in find_distortions(picture, load_backbone().features(picture)) if f.category == "Noise")

    assert noise.disturbs
    assert noise.region is not None
    assert noise.region.left == half
