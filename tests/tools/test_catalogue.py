"""The catalogue and the user's overlay."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import yaml

from agenticiqa.config import Settings, load_settings
from agenticiqa.errors import CalibrationError, SettingsError, ToolUnavailableError
from agenticiqa.images import load_image
from agenticiqa.tools import Calibration, Curve, default_registry
from agenticiqa.tools.catalogue import load_catalogue, read_overlay, store_overlay
from tests.support.photos import photo

# fmt: off
PAPER_FR = (
    "TOPIQ_FR", "AHIQ", "FSIM", "LPIPS", "DISTS", "WaDIQaM_FR", "PieAPP", "MS_SSIM", "GMSD", "SSIM", "CKDN", "VIF",
    "PSNR", "VSI",
)
PAPER_NR = (
    "QAlign", "CLIPIQA", "UNIQUE", "HyperIQA", "TReS", "MUSIQ", "WaDIQaM_NR", "DBCNN", "ARNIQA", "NIMA", "BRISQUE",
    "NIQE", "MANIQA", "LIQE",
)
# fmt: on
LADDER = Calibration(method="ladder", data="made up", overall=Curve(knots=((0.0, 1.5), (9.0, 4.5)), spread=0.4))


def settings_with(overlay: Path | None = None, **pipeline: object) -> Settings:
    options: dict[str, object] = {"cache": {"enabled": False}, **pipeline}
    if overlay:
        options["tools_overlay"] = str(overlay)
    return load_settings(overrides={"pipeline": options})


def test_all_tools_of_the_paper_are_listed_under_its_names() -> None:
    cards = load_catalogue()

    assert {cards[name].reference for name in PAPER_FR} == {"FR"}
    assert {cards[name].reference for name in PAPER_NR} == {"NR"}


def test_the_strengths_the_paper_declares_are_kept() -> None:
    cards = load_catalogue()

    assert len(cards["TOPIQ_FR"].strengths) == 7
    assert cards["DISTS"].strengths == ("Blurs",)
    assert cards["LIQE"].strengths == ("Color distortions",)


def test_every_built_in_entry_names_a_function_that_exists() -> None:
    for card in load_catalogue().values():
        scheme, _, place = card.implementation.partition(":")
        if scheme == "builtin":
            module, _, function = place.rpartition(".")
            assert callable(getattr(importlib.import_module(f"agenticiqa.tools.metrics.{module}"), function)), card.name


@pytest.mark.parametrize("name", [name for name, card in load_catalogue().items() if card.min_side > 1])
def test_the_least_side_is_the_one_the_function_needs(name: str) -> None:
    scheme, _, place = load_catalogue()[name].implementation.partition(":")
    if scheme != "builtin":
        return
    module = importlib.import_module(f"agenticiqa.tools.metrics.{place.rpartition('.')[0]}")
    own = {"MS_SSIM": "SMALLEST_SIDE_MULTISCALE", "MS_GMSDc": "SMALLEST_SIDE_MULTISCALE", "NSS_DISTANCE": "CELL"}

    needed = getattr(module, own.get(name, "SMALLEST_SIDE"))

    assert load_catalogue()[name].min_side == needed


def test_tools_inside_others_exist() -> None:
    cards = load_catalogue()

    assert {name for card in cards.values() for name in card.derived_from} <= set(cards)


def test_everything_from_pyiqa_says_it_is_not_for_commercial_use() -> None:
    borrowed = [card for card in load_catalogue().values() if card.implementation.startswith("pyiqa:")]

    assert len(borrowed) == 21
    assert all("Noncommercial" in card.licence and card.research_only for card in borrowed)


def test_without_an_overlay_file_nothing_is_added(tmp_path: Path) -> None:
    overlay = read_overlay(tmp_path / "none.yaml")

    assert (overlay.cards, overlay.calibrations) == ({}, {})


def test_an_overlay_adds_a_tool_and_its_curve(tmp_path: Path) -> None:
    path = tmp_path / "tools.yaml"
    entry = {
        "reference": "FR", "higher_is_better": True, "raw_range": [0, 100], "implementation": "builtin:psnr.psnr",
        "licence": "mine", "cost": "cheap", "variant": "as PSNR",
    }  # fmt: skip
    path.write_text(yaml.safe_dump({"tools": {"MY_PSNR": entry}}))
    store_overlay(path, {"MY_PSNR": LADDER})

    registry = default_registry(settings_with(path))

    assert registry.card("MY_PSNR").licence == "mine"
    assert registry.votes("MY_PSNR")


def test_a_stored_curve_is_read_back_and_leaves_the_rest_of_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "tools.yaml"
    store_overlay(path, {"FIRST": LADDER})
    store_overlay(path, {"SECOND": LADDER})

    assert read_overlay(path).calibrations == {"FIRST": LADDER, "SECOND": LADDER}
    assert yaml.safe_load(path.read_text())["calibrations"]["FIRST"]["calibration"] == "ladder"


def test_a_users_curve_wins_over_the_packaged_one(tmp_path: Path) -> None:
    path = tmp_path / "tools.yaml"
    store_overlay(path, {"SSIM": LADDER})

    assert default_registry(settings_with(path)).calibration("SSIM") == LADDER


@pytest.mark.parametrize(
    ("text", "culprit"),
    [
        ("tools: [1, 2]", "tools: entries by name"),
        ("tools: {X: 3}", "tools: X"),
        ("tools: {X: {reference: FR}}", "tools: X.higher_is_better"),
        ("tools: {X: {reference: XR}}", "tools: X.reference"),
        ("colours: {}", "unknown section colours"),
        ("{", "not valid YAML"),
        ("- 1", "must hold sections"),
    ],
)
def test_a_broken_overlay_names_file_and_entry(text: str, culprit: str, tmp_path: Path) -> None:
    path = tmp_path / "tools.yaml"
    path.write_text(text)

    with pytest.raises(SettingsError, match=culprit) as caught:
        read_overlay(path)
    assert str(path) in str(caught.value)


def test_a_broken_curve_in_an_overlay_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tools.yaml"
    path.write_text(
        "calibrations: {SSIM: {calibration: ladder, data: x, overall: {knots: [[0, 9], [1, 2]], spread: 1}}}"
    )

    with pytest.raises(CalibrationError, match=r"SSIM\.overall\.knots"):
        read_overlay(path)


def test_an_unknown_implementation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tools.yaml"
    entry = "{reference: NR, higher_is_better: true, raw_range: [0, 1], implementation: 'magic:wand', licence: x, "
    path.write_text("tools: {X: " + entry + "cost: cheap, variant: x}}")

    with pytest.raises(SettingsError, match="magic:wand"):
        default_registry(settings_with(path))


def test_commercial_terms_leave_out_what_is_for_research(tmp_path: Path) -> None:
    registry = default_registry(settings_with(tmp_path / "none.yaml", terms="commercial"))

    assert "terms: commercial" in (registry.available("TOPIQ_FR") or "")
    assert registry.available("PSNR") is None
    with pytest.raises(ToolUnavailableError, match="terms: commercial"):
        registry.execute("NIQE", load_image(photo("coffee")))


def install_package(folder: Path, name: str, source: str) -> None:
    """A third party's package with tools, as pip would leave it."""
    (folder / f"{name}.py").write_text(source)
    information = folder / f"{name}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[agenticiqa.tools]\n{name} = {name}:tools\n")


def test_tools_of_an_installed_package_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        "from tests.support.fake_tools import MeanBrightness\ndef tools():\n    return [MeanBrightness('THEIRS')]\n"
    )
    install_package(tmp_path, "third_party_tools", source)
    monkeypatch.syspath_prepend(tmp_path)

    registry = default_registry(settings_with(tmp_path / "none.yaml"))

    assert registry.execute("THEIRS", load_image(photo("coffee"))).raw > 0


def test_a_broken_package_is_left_out_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    install_package(tmp_path, "broken_tools", "raise RuntimeError('out of order')\n")
    monkeypatch.syspath_prepend(tmp_path)

    registry = default_registry(settings_with(tmp_path / "none.yaml"))

    assert registry.available("PSNR") is None
    assert "out of order" in caplog.text
