"""Calibration on ladders of known damage, for tools nobody rated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from agenticiqa.config import load_settings
from agenticiqa.errors import CalibrationError
from agenticiqa.images import load_image
from agenticiqa.tools import Pixels, ToolRegistry, default_registry
from agenticiqa.tools.catalogue import read_overlay, store_overlay
from agenticiqa.tools.distort import KINDS, distort
from agenticiqa.tools.ladder import LADDER_KINDS, Rung, build_ladders, calibrate_by_ladder, judges_for, photographs
from tests.fake_tools import MeanBrightness, MeanDifference
from tests.photos import photo


class Grain(MeanBrightness):
    """A no-reference tool of a third party: the share of detail that is not grain; it follows noise."""

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        grey = test.astype(float).mean(2)
        return -float(np.abs(np.diff(np.diff(grey, axis=0), axis=1)).mean())


def registry_with(*tools: MeanBrightness, overlay: Path | None = None) -> ToolRegistry:
    pipeline: dict[str, object] = {"cache": {"enabled": False}, "tools_overlay": str(overlay or "/nonexistent.yaml")}
    return default_registry(load_settings(overrides={"pipeline": pipeline}), more=tools)


@pytest.fixture(scope="module")
def short_ladder() -> list[Rung]:
    kinds = ("gaussian_blur", "white_noise", "jpeg", "color_cast")
    return list(build_ladders([photographs()["coffee"]], kinds, (1, 3, 5)))


def test_the_photographs_that_ship_are_small_and_credited() -> None:
    folder = Path(__file__).parents[1] / "src/agenticiqa/tools/photographs"
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
