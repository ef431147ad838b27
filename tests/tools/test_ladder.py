"""Calibration on ladders of known damage, for tools nobody rated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from scipy.stats import spearmanr

from agenticiqa.config import load_settings
from agenticiqa.errors import CalibrationError
from agenticiqa.images import load_image
from agenticiqa.tools import Pixels, ToolRegistry, default_registry
from agenticiqa.tools.catalogue import read_overlay, store_overlay
from agenticiqa.tools.synthetic.kinds import KINDS, distort
from agenticiqa.tools.synthetic.ladder import (
    LADDER_KINDS,
    Rung,
    build_ladders,
    calibrate_by_ladder,
    judges_for,
    ladder_photographs,
    photographs,
)
from tests.support.fake_tools import MeanBrightness, MeanDifference
from tests.support.photos import photo


class Grain(MeanBrightness):
    """A no-reference tool of a third party: the share of detail that is not grain; it follows noise."""

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        grey = test.astype(float).mean(2)
        return -float(np.abs(np.diff(np.diff(grey, axis=0), axis=1)).mean())


def registry_with(*tools: MeanBrightness, overlay: Path | None = None) -> ToolRegistry:
    place = overlay or Path(mkdtemp()) / "tools.yaml"
    pipeline: dict[str, object] = {"cache": {"enabled": False}, "tools_overlay": str(place)}
    return default_registry(load_settings(overrides={"pipeline": pipeline}), more=tools)


class Smallest(MeanBrightness):
    """A tool that says nothing about quality."""

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        return float(test[:8, :8].min()) + float(test.sum() % 97)


@pytest.fixture(scope="module")
def short_ladder() -> list[Rung]:
    kinds = ("gaussian_blur", "white_noise", "jpeg", "color_cast")
    return list(build_ladders([photographs()["coffee"]], kinds, (1, 3, 5)))


def test_the_photographs_that_ship_are_small_and_credited() -> None:
    folder = Path(__file__).parents[2] / "src/agenticiqa/tools/photographs"
    notice = (folder / "NOTICE").read_text()

    assert len(photographs()) >= 4
    for file in folder.glob("*.webp"):
        assert file.stat().st_size <= 100_000
        assert file.name in notice


def test_the_ladder_has_every_category_of_damage() -> None:
    assert {KINDS[kind].category for kind in LADDER_KINDS} == {kind.category for kind in KINDS.values()}


def test_a_ladder_is_the_same_every_time() -> None:
    first, second = (
        [rung.image.sha256 for rung in build_ladders([photographs()["rocket"]], ("white_noise",), (2, 4))]
        for _ in range(2)
    )

    assert first == second
    assert len(set(first)) == 3


def test_a_third_partys_comparing_tool_gets_a_curve_and_votes(short_ladder: Sequence[Rung], tmp_path: Path) -> None:
    path = tmp_path / "tools.yaml"
    before = registry_with(MeanDifference("THEIRS"))

    store_overlay(path, {"THEIRS": calibrate_by_ladder(before, "THEIRS", short_ladder)})
    after = registry_with(MeanDifference("THEIRS"), overlay=path)

    assert not before.votes("THEIRS")
    assert after.votes("THEIRS")
    stored = read_overlay(path).calibrations["THEIRS"]
    assert stored.method == "ladder"
    assert stored.overall.spread > 0
    assert stored.overall.score(0.0) == 5.0


def test_the_curve_orders_other_photographs_as_damage_does(short_ladder: Sequence[Rung]) -> None:
    registry = registry_with(MeanDifference("THEIRS"))
    curve = calibrate_by_ladder(registry, "THEIRS", short_ladder).overall
    other = load_image(photo("motorcycle_left")[:240, :320])
    damaged = [load_image(distort(other.pixels, "white_noise", level)) for level in (1, 2, 3, 4, 5)]

    scores = [curve.score(registry.execute("THEIRS", image, other).raw) for image in damaged]

    assert spearmanr(scores, [1, 2, 3, 4, 5]).statistic == pytest.approx(-1)
    assert all(1 <= score <= 5 for score in scores)


def test_a_tool_without_reference_can_be_calibrated_too() -> None:
    rungs = list(build_ladders([photographs()["coffee"]], ("white_noise", "correlated_noise"), (1, 2, 3, 4, 5)))

    found = calibrate_by_ladder(registry_with(Grain("GRAIN")), "GRAIN", rungs)

    assert found.overall.increasing
    assert (found.overall.srcc or 0) > 0.3


def test_a_tool_that_does_not_follow_the_damage_gets_no_curve(short_ladder: Sequence[Rung]) -> None:
    with pytest.raises(CalibrationError, match="does not follow the ladders"):
        calibrate_by_ladder(registry_with(MeanBrightness("MEAN")), "MEAN", short_ladder)


def test_an_attribute_is_not_calibrated(short_ladder: Sequence[Rung]) -> None:
    with pytest.raises(CalibrationError, match="never votes"):
        calibrate_by_ladder(registry_with(MeanBrightness("MEAN", role="attribute")), "MEAN", short_ladder)


def test_judges_are_calibrated_comparing_tools_and_nobody_judges_himself() -> None:
    registry = registry_with(MeanDifference("THEIRS"))

    judges = judges_for(registry, "FSIM")

    assert len(judges) == 3
    assert set(judges) <= {"VSI", "MDSI", "MS_GMSDc", "HaarPSI", "MS_SSIM"}


def test_without_judges_there_is_no_curve(short_ladder: Sequence[Rung]) -> None:
    with pytest.raises(CalibrationError, match="agenticiqa tools"):
        calibrate_by_ladder(ToolRegistry([MeanDifference("THEIRS")]), "THEIRS", short_ladder)


def test_a_tool_without_a_curve_gets_one_on_first_use_and_keeps_it(tmp_path: Path) -> None:
    difference, overlay = MeanDifference(), tmp_path / "tools.yaml"
    tools = registry_with(difference, overlay=overlay)
    original = load_image(photo("coffee"))
    assert tools.is_calibrated_on_first_use("DIFFERENCE")
    assert "DIFFERENCE" in [card.name for card in tools.suitable("Overall", has_reference=True)]

    said = tools.execute("DIFFERENCE", load_image(distort(original.pixels, "white_noise", 5)), original)

    found = tools.calibration("DIFFERENCE")
    assert found is not None
    assert found.method == "ladder"
    assert said.calibrated is not None
    assert said.calibrated < 3.5
    assert tools.votes("DIFFERENCE")
    calls = difference.calls
    again = registry_with(difference, overlay=overlay)
    assert (again.calibration("DIFFERENCE"), difference.calls) == (found, calls)


def test_a_tool_that_does_not_follow_the_ladders_gets_no_vote_and_is_not_tried_again(tmp_path: Path) -> None:
    useless = Smallest("USELESS")
    tools = registry_with(useless, overlay=tmp_path / "tools.yaml")

    said = tools.execute("USELESS", load_image(photo("coffee")))

    assert said.calibrated is None
    assert not tools.votes("USELESS")
    assert not tools.is_calibrated_on_first_use("USELESS")
    assert "does not follow the ladders" in str(tools.refusal("USELESS"))


def test_the_photographs_for_ladders_are_eight_small_and_credited_and_used_for_nothing_else() -> None:
    folder = Path(__file__).parents[2] / "src/agenticiqa/tools/synthetic/photographs"
    notice = (folder / "NOTICE").read_text()

    assert len(ladder_photographs()) >= 8
    assert not {one.sha256 for one in ladder_photographs().values()} & {one.sha256 for one in photographs().values()}
    for file in folder.glob("*.webp"):
        assert file.stat().st_size <= 40_000
        assert file.stem in notice
