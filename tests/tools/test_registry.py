"""Finding tools, and knowing which of them may vote."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenticiqa.config import load_settings
from agenticiqa.errors import UnknownToolError
from agenticiqa.images import load_image
from agenticiqa.tools import Calibration, Curve, ToolRegistry, same_scale
from agenticiqa.tools.catalogue import default_registry
from tests.support.fake_tools import MeanBrightness, MeanDifference, Missing
from tests.support.photos import photo


def rated(srcc: float, **kinds: float) -> Calibration:
    """A calibration with these rank correlations, overall and by kind."""
    knots = ((0.0, 1.0), (255.0, 5.0))
    curves = {kind: Curve(knots=knots, spread=0.5, srcc=value) for kind, value in kinds.items()}
    return Calibration(
        method="ratings", data="made up", overall=Curve(knots=knots, spread=0.5, srcc=srcc), kinds=curves
    )


def test_a_misspelt_name_gets_the_closest_ones() -> None:
    registry = ToolRegistry([MeanBrightness("MS_SSIM"), MeanBrightness("SSIM"), MeanBrightness("VIF")])

    with pytest.raises(UnknownToolError, match=r"did you mean: .*MS_SSIM"):
        registry.get("MS-SIM")


def test_a_name_like_no_other_gets_the_command_that_lists_them() -> None:
    with pytest.raises(UnknownToolError, match="agenticiqa tools"):
        ToolRegistry([MeanBrightness("SSIM")]).get("xyzzy")


def test_upper_and_lower_case_do_not_matter() -> None:
    assert ToolRegistry([MeanBrightness("HaarPSI")]).get("haarpsi").name == "HaarPSI"


def test_a_later_tool_of_the_same_name_replaces_the_earlier() -> None:
    ours, theirs = MeanBrightness("SSIM"), MeanBrightness("SSIM")

    assert ToolRegistry([ours, theirs]).get("SSIM") is theirs


def test_a_tool_that_is_not_listed_may_be_found_and_is_kept() -> None:
    found = MeanBrightness("other:thing")
    registry = ToolRegistry([], find=lambda name: found if name == "other:thing" else None)

    assert registry.get("other:thing") is found
    assert registry.names() == ["other:thing"]


def test_only_calibrated_judgements_vote() -> None:
    attribute = MeanBrightness("ATTRIBUTE", role="attribute")
    tools = [MeanBrightness("RAW"), MeanBrightness("CALIBRATED"), attribute]
    registry = ToolRegistry(tools, {"CALIBRATED": rated(0.9), "ATTRIBUTE": rated(0.9)})

    assert [name for name in registry.names() if registry.votes(name)] == ["CALIBRATED"]


def test_a_tool_may_bring_its_own_curve() -> None:
    tool = MeanBrightness("LEARNED", role="learned")
    tool.calibration = same_scale("ratings of our own", spread=0.3)

    assert ToolRegistry([tool]).votes("LEARNED")


def test_suitable_tools_are_available_voting_and_best_first() -> None:
    tools = [MeanBrightness("FAIR"), MeanBrightness("GOOD"), Missing("AWAY"), MeanBrightness("RAW")]
    registry = ToolRegistry(tools, {"FAIR": rated(0.6), "GOOD": rated(0.9), "AWAY": rated(0.99)})

    assert [card.name for card in registry.suitable("Overall", has_reference=False)] == ["GOOD", "FAIR"]


def test_among_equals_the_cheaper_tool_is_first() -> None:
    tools = [MeanBrightness("DEAR", cost="heavy"), MeanBrightness("CHEAP", cost="cheap")]
    registry = ToolRegistry(tools, {"DEAR": rated(0.905), "CHEAP": rated(0.9)})

    assert [card.name for card in registry.suitable("Overall", has_reference=False)] == ["CHEAP", "DEAR"]


def test_with_a_reference_tools_that_use_it_come_first_and_without_one_they_are_left_out() -> None:
    tools = [MeanBrightness("ALONE"), MeanDifference("COMPARING")]
    registry = ToolRegistry(tools, {"ALONE": rated(0.95), "COMPARING": rated(0.7)})

    assert [card.name for card in registry.suitable("Overall", has_reference=True)] == ["COMPARING", "ALONE"]
    assert [card.name for card in registry.suitable("Overall", has_reference=False)] == ["ALONE"]


def test_what_a_tool_is_known_to_do_well_decides_for_a_category() -> None:
    tools = [MeanBrightness("SPECIALIST"), MeanBrightness("ALLROUND")]
    registry = ToolRegistry(tools, {"SPECIALIST": rated(0.6, Blurs=0.95), "ALLROUND": rated(0.8)})

    assert registry.suitable("Blurs", has_reference=False)[0].name == "SPECIALIST"
    assert registry.suitable("Noise", has_reference=False)[0].name == "ALLROUND"


def test_the_reason_of_an_unavailable_tool_is_told() -> None:
    registry = ToolRegistry([Missing("AWAY"), MeanBrightness("HERE")])

    assert "pip install something" in (registry.available("AWAY") or "")
    assert registry.available("HERE") is None


@pytest.mark.parametrize(("enabled", "runs"), [(True, 1), (False, 2)])
def test_with_the_cache_off_every_measurement_is_made(tmp_path: Path, enabled: bool, runs: int) -> None:
    cache = {"enabled": enabled, "directory": str(tmp_path)}
    settings = load_settings(environ={}, directory=tmp_path, overrides={"pipeline": {"cache": cache}})
    tool = MeanBrightness(role="attribute")
    tools = default_registry(settings, more=[tool])

    for _ in range(2):
        tools.execute("MEAN", load_image(photo("coffee")[:32, :32]))

    assert tool.calls == runs
