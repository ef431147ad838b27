"""The pyiqa adapter with pyiqa itself, on metrics that need no weights."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agenticiqa.cli.doctor import tool_checks
from agenticiqa.config import load_settings
from agenticiqa.errors import ToolUnavailableError, UnknownToolError
from agenticiqa.images import LoadedImage, load_image
from agenticiqa.parts import tools_for
from agenticiqa.tools import Pixels, Tool, ToolCard, ToolRegistry, default_registry
from agenticiqa.tools.catalogue import describe_tool, other_metrics, store_overlay
from agenticiqa.tools.pyiqa_adapter import files_of_weights, import_failure, metrics_by_name
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import build_ladders, calibrate_by_ladder, photographs
from tests.support.photos import photo

pytestmark = pytest.mark.filterwarnings("default")


def registry_in(folder: Path, **pipeline: Any) -> ToolRegistry:
    options = {
        "cache": {"enabled": False},
        "weights_directory": str(folder / "hub"),
        "tools_overlay": str(folder / "tools.yaml"),
        "offline": True,
        **pipeline,
    }
    return default_registry(load_settings(overrides={"pipeline": options}))


@pytest.fixture
def registry(tmp_path: Path) -> ToolRegistry:
    return registry_in(tmp_path)


@pytest.fixture(scope="module")
def original() -> LoadedImage:
    return load_image(photo("motorcycle_left")[:256, :320])


@pytest.fixture(scope="module")
def damaged(original: LoadedImage) -> list[LoadedImage]:
    return [load_image(distort(original.pixels, "jpeg", level)) for level in (1, 3, 5)]


@pytest.mark.parametrize(
    ("theirs", "ours", "tolerance"),
    [("pyiqa:psnr", "PSNR", 1e-3), ("pyiqa:ssim", "SSIM", 1e-3), ("pyiqa:gmsd", "GMSD", 5e-3)],
)
def test_its_metrics_agree_with_ours(
    registry: ToolRegistry, original: LoadedImage, damaged: list[LoadedImage], theirs: str, ours: str, tolerance: float
) -> None:
    for image in damaged:
        first, second = (registry.raw(name, image, original) for name in (theirs, ours))

        assert first == pytest.approx(second, abs=tolerance)


def test_any_of_its_metrics_can_be_had_by_name(registry: ToolRegistry, original: LoadedImage) -> None:
    card = registry.card("pyiqa:nlpd")

    assert (card.reference, card.higher_is_better, card.raw_range) == ("FR", False, (0.0, 1.0))
    assert "Noncommercial" in card.licence
    assert registry.raw("pyiqa:nlpd", original, original) == pytest.approx(0, abs=1e-3)


def test_a_name_it_does_not_have_is_unknown(registry: ToolRegistry) -> None:
    with pytest.raises(UnknownToolError):
        registry.get("pyiqa:crystal_ball")


def test_offline_a_listed_tool_names_the_file_it_lacks(registry: ToolRegistry, tmp_path: Path) -> None:
    place = tmp_path / "hub" / "pyiqa" / "musiq_koniq_ckpt-e95806b9.pth"

    assert str(place) in (registry.available("MUSIQ") or "")


def test_offline_an_unlisted_metric_is_never_downloaded(registry: ToolRegistry, original: LoadedImage) -> None:
    with pytest.raises(ToolUnavailableError, match=r"offline and without weights; put .*CNNIQA_koniq10k"):
        registry.raw("pyiqa:cnniqa", original)
    with pytest.raises(ToolUnavailableError, match="offline mode allows no download"):
        registry.raw("pyiqa:dmm", original, original)


def test_every_metric_of_the_installed_version_is_offered_by_name(registry: ToolRegistry) -> None:
    import pyiqa

    listed = {registry.card(name).implementation for name in registry.names()}
    offered = listed | set(other_metrics(registry))

    of_sets = {"fid", "sfid", "fid_dinov2", "inception_score"}
    assert {f"pyiqa:{name}" for name in pyiqa.list_models() if name not in of_sets} <= offered
    assert import_failure() is None


def test_the_files_read_from_the_source_are_those_the_catalogue_names(registry: ToolRegistry) -> None:
    for name, metric in [
        ("NIQE", "niqe"),
        ("MUSIQ", "musiq"),
        ("ARNIQA", "arniqa"),
        ("LIQE", "liqe"),
        ("QAlign", "qalign"),
    ]:
        read = set(files_of_weights(metric, metrics_by_name()[metric]["metric_opts"]))

        assert read
        assert read <= set(registry.card(name).weights)


def test_what_has_no_weights_here_is_not_counted_among_what_runs(tmp_path: Path) -> None:
    online = registry_in(tmp_path, offline=False)

    checks = {check.name.partition(" ")[0] + check.detail[:7]: check for check in tool_checks(online)}

    assert online.get("NIQE").to_fetch() == [str(tmp_path / "hub/pyiqa/niqe_modelparameters.mat")]
    waiting = next(check for check in checks.values() if "weights are not here" in check.detail)
    assert not waiting.ok
    assert "NIQE" in waiting.name
    assert describe_tool(online, "pyiqa:psnr")["downloads"] == []
    assert describe_tool(online, "pyiqa:musiq-ava")["downloads"]


def test_with_a_network_a_missing_file_does_not_make_the_tool_unavailable(tmp_path: Path) -> None:
    assert registry_in(tmp_path, offline=False).available("MUSIQ") is None


@pytest.mark.parametrize("name", ["pyiqa:fsim", "pyiqa:piqe"])
def test_a_batch_over_threads_equals_one_at_a_time(
    tmp_path: Path, original: LoadedImage, damaged: list[LoadedImage], name: str
) -> None:
    single = [registry_in(tmp_path).raw(name, image, original) for image in damaged]

    registry = registry_in(tmp_path)
    with ThreadPoolExecutor(3) as pool:
        batch = list(pool.map(lambda image: registry.raw(name, image, original), damaged))

    assert batch == pytest.approx(single, rel=1e-6)


def test_a_metric_nobody_rated_gets_a_voting_curve_from_the_ladders(
    tmp_path: Path, original: LoadedImage, damaged: list[LoadedImage]
) -> None:
    before = registry_in(tmp_path)
    rungs = list(build_ladders(list(photographs().values())[:2], levels=(1, 3, 5)))

    store_overlay(tmp_path / "tools.yaml", {"pyiqa:fsim": calibrate_by_ladder(before, "pyiqa:fsim", rungs)})
    after = registry_in(tmp_path)

    assert not before.votes("pyiqa:fsim")
    assert after.votes("pyiqa:fsim")
    scores = [after.execute("pyiqa:fsim", image, original).calibrated for image in damaged]
    ours = [after.execute("FSIM", image, original).calibrated for image in damaged]
    assert after.execute("pyiqa:fsim", original, original).calibrated == 5.0
    assert (np.diff(np.array(scores, float)) < 0).all()
    # The same metric with a curve from opinions: the ladder must land near it without having seen any.
    assert np.array(scores, float) == pytest.approx(np.array(ours, float), abs=0.8)


class RandomlyWeighted(Tool):
    """A learned metric whose weights say nothing: a network of pyiqa's, never trained."""

    def __init__(self) -> None:
        import torch
        from pyiqa.archs.cnniqa_arch import CNNIQA

        torch.manual_seed(0)
        self.card = find_card("UNTRAINED")
        self._network = CNNIQA(pretrained=None).eval()

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        import torch

        planes = torch.from_numpy(test.transpose(2, 0, 1).copy()).float()[None] / 255
        with torch.inference_mode():
            torch.manual_seed(0)
            return float(self._network(planes).mean())


def find_card(name: str) -> ToolCard:
    return ToolCard(
        name=name, reference="NR", higher_is_better=True, raw_range=(None, None), implementation="pyiqa:untrained",
        licence="none", cost="heavy", variant="random weights", min_side=32,
    )  # fmt: skip


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> ToolRegistry:
    """All tools with the learned ones; in one folder, so that the judges' scores of the ladders are measured once."""
    folder = tmp_path_factory.mktemp("ladders")
    options = {"weights_directory": str(folder / "hub"), "tools_overlay": str(folder / "tools.yaml"), "offline": True,
               "cache": {"directory": str(folder)}}  # fmt: skip
    return tools_for(load_settings(overrides={"pipeline": options}))


def figures(name: str, tools: ToolRegistry, scores: list[float | None]) -> None:
    """Prints what the tool's first use gave."""
    found = tools.calibration(name)
    said = f"no vote: {tools.refusal(name)}"
    if found is not None:
        said = f"{found.data}; rank correlation {found.overall.srcc}, spread {found.overall.spread}"
    sys.stdout.write(f"{name}: {said}; JPEG at levels 1, 3, 5: {scores}\n")


@pytest.mark.parametrize("name", ["pyiqa:psnr", "pyiqa:ssim", "pyiqa:vsi"])
def test_a_metric_without_a_curve_calibrates_itself_and_is_offered(
    name: str, tools: ToolRegistry, original: LoadedImage, damaged: list[LoadedImage]
) -> None:
    assert tools.is_calibrated_on_first_use(tools.get(name).name)

    scores = [tools.execute(name, image, original).calibrated for image in damaged]

    figures(name, tools, scores)
    found = tools.calibration(name)
    assert found is not None
    assert found.method == "ladder"
    assert tools.votes(name)
    assert name in [card.name for card in tools.suitable("Overall", has_reference=True)]
    assert (np.diff(np.array(scores, float)) < 0).all()


@pytest.mark.parametrize("name", ["pyiqa:piqe", "pyiqa:entropy"])
def test_a_metric_without_reference_gets_a_curve_or_the_reason_why_not(
    name: str, tools: ToolRegistry, damaged: list[LoadedImage]
) -> None:
    assert tools.is_calibrated_on_first_use(tools.get(name).name)

    scores = [tools.execute(name, image).calibrated for image in damaged]

    figures(name, tools, scores)
    offered = name in [card.name for card in tools.suitable("Overall", has_reference=False)]
    follows = tools.calibration(name) is not None
    assert (tools.votes(name), offered, None not in scores) == (follows, follows, follows)
    assert follows or "does not follow the ladders" in str(tools.refusal(name))


def test_a_learned_metric_on_random_weights_gets_no_vote(tmp_path: Path, original: LoadedImage) -> None:
    pipeline = {"cache": {"enabled": False}, "tools_overlay": str(tmp_path / "tools.yaml")}
    tools = default_registry(load_settings(overrides={"pipeline": pipeline}), more=(RandomlyWeighted(),))

    said = tools.execute("UNTRAINED", original)

    sys.stdout.write(f"UNTRAINED: {tools.refusal('UNTRAINED')}\n")
    assert said.calibrated is None
    assert not tools.votes("UNTRAINED")
    assert "does not follow the ladders" in str(tools.refusal("UNTRAINED"))
