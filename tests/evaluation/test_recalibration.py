"""Fitting to a user's ratings: better on ratings left out, loaded from then on, named in the provenance."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from agenticiqa.assessor import Assessor
from agenticiqa.cli import app
from agenticiqa.config import load_settings
from agenticiqa.embedded.combined_models import RecalibratedPerception
from agenticiqa.errors import CalibrationError
from agenticiqa.evaluation.recalibration import Change, folds_of, recalibrate
from agenticiqa.evaluation.samples import OpinionScale, RatedPicture, RatedSet
from agenticiqa.images import load_image
from agenticiqa.parts import build_parts
from agenticiqa.tools.calibration import Curve, EmbeddedScale
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs
from tests.support.agent import FixedTool, registry
from tests.support.looks import FixedEyes, seen
from tests.support.photos import save

runner = CliRunner()


def made_set(count: int = 120) -> tuple[RatedSet, list[dict[str, dict[str, object]]]]:
    """Ratings that are two below a tool's scale, and an embedded score whose interval is far too narrow."""
    random = np.random.default_rng(0)
    truth = random.uniform(3.2, 4.9, count)
    samples = tuple(
        RatedPicture(
            f"{n}.png", Path(f"{n}.png"), float(truth[n] - 2), group=f"g{n % 24}", kind=("Blurs", "Noise")[n % 2]
        )
        for n in range(count)
    )
    evidence: list[dict[str, dict[str, object]]] = []
    for n in range(count):
        score = float(truth[n] + random.normal(0, 0.1))
        raw = float(truth[n] + random.normal(0, 0.1))
        evidence.append({
            "tools": {"raw": {"GAUGE": raw, "STUBBORN": float(random.uniform(1, 5))}},
            "embedded": {"score": score, "interval": [score - 0.05, score + 0.05], "error": None},
        })  # fmt: skip
    return RatedSet("mine", samples, OpinionScale(1, 5)), evidence


def test_curves_and_scale_move_to_the_ratings_on_folds_they_have_not_seen() -> None:
    rated, evidence = made_set()

    found = recalibrate(rated, evidence, registry(FixedTool(), FixedTool("STUBBORN")))

    embedded, gauge = found.changes
    assert (embedded.before_rmse or 0) > 1.9
    assert embedded.after_rmse < 0.2
    assert (gauge.before_rmse or 0) > 1.9
    assert gauge.after_rmse < 0.2
    assert (embedded.before_coverage or 0) < 0.1
    assert 0.88 <= (embedded.after_coverage or 0) <= 1.0
    assert (embedded.after_width or 9) < 1.0
    assert set(found.calibrations["GAUGE"].kinds) == {"Blurs", "Noise"}
    assert "does not follow the ratings" in found.left["STUBBORN"]


def test_a_fit_that_agrees_less_is_told_and_kept_only_if_asked_for() -> None:
    # The tool says the ratings themselves, so that no curve can be nearer to them.
    rated, evidence = made_set()
    for one, rating in zip(evidence, rated.common, strict=True):
        one["tools"] = {"raw": {"GAUGE": float(rating)}}

    found = recalibrate(rated, evidence, registry(FixedTool()))
    forced = recalibrate(rated, evidence, registry(FixedTool()), keep_worse=True)

    gauge = found.changes[1]
    assert (gauge.name, gauge.is_worse, gauge.stored) == ("GAUGE", True, False)
    assert found.calibrations == {}
    assert found.embedded.keys() == {"No-Reference"}
    assert (forced.changes[1].stored, list(forced.calibrations)) == (True, ["GAUGE"])


def test_a_fit_that_orders_pictures_less_well_is_worse_however_near_it_is() -> None:
    nearer = Change("GAUGE", before_rmse=0.9, after_rmse=0.5, before_srcc=0.92, after_srcc=0.85)

    assert nearer.is_worse
    assert not replace(nearer, after_srcc=0.918).is_worse


def test_a_rising_curve_keeps_the_order_within_each_fold() -> None:
    rated, evidence = made_set()

    embedded = recalibrate(rated, evidence, registry(FixedTool(), FixedTool("STUBBORN"))).changes[0]

    assert embedded.after_srcc == pytest.approx(embedded.before_srcc, abs=0.005)
    assert embedded.stored


def test_contents_are_left_out_whole() -> None:
    contents = [f"g{n % 7}" for n in range(50)]

    folds = folds_of(contents)

    assert sum(fold.sum() for fold in folds) == 50
    for fold in folds:
        inside = {name for name, out in zip(contents, fold, strict=True) if out}
        assert not inside & {name for name, out in zip(contents, fold, strict=True) if not out}


def test_too_few_ratings_are_refused() -> None:
    rated, evidence = made_set(20)

    with pytest.raises(CalibrationError, match="20 ratings of 20 contents are too few"):
        recalibrate(rated, evidence, registry(FixedTool()))


def test_a_scale_moves_score_levels_and_interval_together() -> None:
    # The curve runs from (1, 1) to (5, 3): 4.5 becomes 2.75; half of the interval 4 to 5, doubled, is 1 to either side.
    scale = EmbeddedScale(curve=Curve(knots=((1, 1), (5, 3)), spread=0.1), interval_factor=2.0, data="hand-made")
    image = load_image(np.zeros((16, 16, 3), np.uint8))

    look = RecalibratedPerception(FixedEyes(seen(4.5)), {"No-Reference": scale}).look(image)

    assert look.quality.score == pytest.approx(2.75, abs=1e-6)
    assert look.quality.interval == pytest.approx((1.75, 3.75))
    assert sum(look.quality.levels.values()) == pytest.approx(1)
    assert look.findings == seen(4.5).findings


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small damaged pictures whose ratings are one point below what anyone would expect."""
    folder = tmp_path_factory.mktemp("ratings")
    lines = ["image,rating,group"]
    for place, original in enumerate(list(photographs().values())[:3]):
        for kind in ("gaussian_blur", "white_noise"):
            for level in range(1, 6):
                name = f"{place}_{kind}_{level}.png"
                save(folder / name, distort(np.ascontiguousarray(original.pixels[:128, :160]), kind, level))
                lines.append(f"{name},{4.2 - 0.6 * level},{place}")
    (folder / "ratings.csv").write_text("\n".join(lines))
    return folder / "ratings.csv"


def test_the_overlay_counts_from_then_on_and_results_name_it(ratings: Path, tmp_path: Path) -> None:
    config = tmp_path / "settings.yaml"
    overlay = tmp_path / "tools.yaml"
    pipeline = {"cache": {"directory": str(tmp_path / "cache")}, "tools_overlay": str(overlay)}
    config.write_text(yaml.safe_dump({"pipeline": pipeline}))
    image = ratings.parent / "0_gaussian_blur_1.png"
    before = Assessor(load_settings(config)).assess(image)

    said = runner.invoke(
        app, ["calibrate", "--manifest", str(ratings), "--range", "1", "5", "--config", str(config), "--json"]
    )
    after = Assessor(load_settings(config)).assess(image)

    assert said.exit_code == 0, said.output
    changes = {change["name"]: change for change in json.loads(said.output)["changes"]}
    assert changes["embedded model"]["after_rmse"] < changes["embedded model"]["before_rmse"]
    assert before.provenance.overlay is None
    assert after.provenance.overlay is not None
    assert after.provenance.overlay.startswith("tools.yaml sha256:")
    assert after.score is not None
    assert before.score is not None
    assert after.score != pytest.approx(before.score, abs=0.05)
    stored = yaml.safe_load(overlay.read_text())
    assert stored["embedded"]["No-Reference"]["curve"]["points"] == 30
    assert build_parts(load_settings(config)).tools.calibration(next(iter(stored["calibrations"]))) is not None


def test_a_second_run_is_compared_with_what_was_shipped(ratings: Path, tmp_path: Path) -> None:
    config = tmp_path / "settings.yaml"
    pipeline = {"cache": {"directory": str(tmp_path / "cache")}, "tools_overlay": str(tmp_path / "tools.yaml")}
    config.write_text(yaml.safe_dump({"pipeline": pipeline}))
    command = ["calibrate", "--manifest", str(ratings), "--range", "1", "5", "--config", str(config), "--json"]

    first, second = (json.loads(runner.invoke(app, command).output) for _ in range(2))

    assert second["changes"] == first["changes"]
    assert set(first["tools"]) == {change["name"] for change in first["changes"][1:] if change["stored"]}


def test_ratings_and_ladder_together_are_refused(ratings: Path) -> None:
    for options in ([], ["--ladder", "PSNR", "--manifest", str(ratings)]):
        said = runner.invoke(app, ["calibrate", *options])

        assert said.exit_code == 2
        assert (
            "name a tool with --ladder, your ratings with --manifest, or pictures with --from-accepted" in said.output
        )
