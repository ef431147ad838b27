"""One evaluation: ablations that reuse what is known, resume, answered shares, tools checked against SciPy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import stats

from agenticiqa.cache import Cache
from agenticiqa.errors import UsageError
from agenticiqa.evaluation.evaluating import chosen_ablations, evaluate_ratings
from agenticiqa.evaluation.evidence import TIMED, EvidenceStore, gather, time_runs
from agenticiqa.evaluation.methods import ABLATIONS, Cost, Method, single_tools
from agenticiqa.evaluation.ratings import coverage, rate
from agenticiqa.evaluation.report.sections import headline, remarks
from agenticiqa.evaluation.report.text_reports import as_json
from agenticiqa.evaluation.samples import OpinionScale, RatedPicture, RatedSet
from agenticiqa.evaluation.statistics import LogisticFit, Resampling
from agenticiqa.parts import Parts, build_parts
from agenticiqa.tools import default_registry
from agenticiqa.tools.registry import ToolRegistry
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs
from agenticiqa.tools.tool import Measurement
from agenticiqa.vlm_client import VLMClient
from agenticiqa.vlm_client.middleware.retrying import FallbackVLMClient
from tests.evaluation.sets import AGENT_RUNS, ROLES, agent_parts, brightness, known_set, rated_set, store_in
from tests.support.agent import FixedTool, registry, scripted, settings
from tests.support.photos import save

QUICK = Resampling(100)


def test_all_ablations_stand_beside_the_agent_with_their_costs(tmp_path: Path) -> None:
    parts = agent_parts()

    found = evaluate_ratings(
        rated_set(tmp_path), parts, ablations=ABLATIONS, sampling=QUICK, store=store_in(tmp_path, parts)
    )

    rows = {row.method.name: row for row in found.rows}
    assert list(rows) == ["full", *ABLATIONS]
    assert all(row.answered == 1.0 for row in found.rows)
    # planner, detect, analyze, select and score; the planner or the detection is not asked when taken out.
    assert rows["full"].method.cost.calls == 5
    assert rows["no-planner"].method.cost.calls == 4
    assert 3 <= rows["no-detection"].method.cost.calls < 4
    assert rows["model-alone"].method.cost.calls == 1
    assert rows["best-tool"].method.cost.calls == 0
    assert all(row.method.cost.seconds is not None for row in found.rows)


def test_the_lead_in_a_tools_line_is_the_agents(tmp_path: Path) -> None:
    parts, rated = agent_parts(), rated_set(tmp_path)

    found = evaluate_ratings(rated, parts, sampling=QUICK, store=store_in(tmp_path, parts))

    agent = stats.spearmanr(found.rows[0].method.scores, rated.opinions).statistic
    for row in found.tools:
        assert row.lead is not None
        own = stats.spearmanr(row.method.scores, rated.opinions).statistic
        assert row.lead.value == pytest.approx(agent - own, abs=1e-9)


def test_plain_fusion_is_half_model_and_half_tools_worked_by_hand(tmp_path: Path) -> None:
    parts, rated = agent_parts(), rated_set(tmp_path, 6)

    found = evaluate_ratings(
        rated, parts, ablations=["no-fusion-weights", "all-tools-mean"], sampling=QUICK, store=store_in(tmp_path, parts)
    )

    # The scripted model says C, worth .8 on level 3 and .05 on the others: its mean is 3. The agent runs GAUGE.
    gauge = np.array([brightness(np.asarray(_pixels(sample.image))) for sample in rated.samples])
    assert found.rows[1].method.scores == pytest.approx((3 + gauge) / 2)
    # GAUGE and OTHER add up to 6 on every picture.
    assert found.rows[2].method.scores == pytest.approx(np.full(6, 3.0))
    assert (found.rows[2].srcc, found.rows[2].answered) == (None, 1.0)


def _pixels(path: Path) -> object:
    return Image.open(path)


def test_a_second_evaluation_asks_no_model_and_measures_nothing(tmp_path: Path) -> None:
    parts, rated = agent_parts(), rated_set(tmp_path)
    store = store_in(tmp_path, parts)
    first = evaluate_ratings(rated, parts, ablations=ABLATIONS, sampling=QUICK, store=store)
    broken = replace(parts, vlm_clients={}, tools=parts.tools)

    again = gather(rated.samples, AGENT_RUNS, broken, store)

    assert [one["full"] for one in again] == json.loads(json.dumps([one["full"] for one in first.evidence]))


def test_several_pictures_at_once_give_what_one_after_the_other_gives(tmp_path: Path) -> None:
    parts, rated = agent_parts(), rated_set(tmp_path)
    told: list[tuple[int, int]] = []

    one = gather(rated.samples, ["model-alone", "tools"], parts, store_in(tmp_path / "one", parts))
    four = gather(
        rated.samples, ["model-alone", "tools"], parts, store_in(tmp_path / "four", parts),
        lambda done, of: told.append((done, of)), jobs=4,
    )  # fmt: skip

    assert [picture["tools"]["raw"] for picture in one] == [picture["tools"]["raw"] for picture in four]
    assert told == [(number, 12) for number in range(1, 13)]


def test_replies_that_ablations_share_are_asked_for_once(tmp_path: Path) -> None:
    parts, rated = agent_parts(), rated_set(tmp_path, 1)

    gather(rated.samples, AGENT_RUNS, parts, store_in(tmp_path, parts))

    # plan, detect, analyze, select, score with evidence; select and score without detection; score alone.
    client = parts.vlm_clients["planner"]
    assert len(client.requests) == 8  # type: ignore[attr-defined]


def test_a_backend_behind_the_model_answers_for_it_in_every_run(tmp_path: Path) -> None:
    nonsense, sound = scripted(score="no", analyze="no"), scripted()
    clients: dict[str, VLMClient] = dict.fromkeys(ROLES, FallbackVLMClient(nonsense, sound))
    parts = replace(agent_parts(), vlm_clients=clients)

    found = gather(rated_set(tmp_path, 1).samples, AGENT_RUNS, parts, store_in(tmp_path, parts))[0]

    assert {name: found[name]["error"] for name in AGENT_RUNS} == dict.fromkeys(AGENT_RUNS)


def test_nothing_is_timed_where_a_service_behind_the_model_would_be_paid_for_it(tmp_path: Path) -> None:
    service = scripted()
    service.remote = True
    clients: dict[str, VLMClient] = dict.fromkeys(ROLES, FallbackVLMClient(scripted(score="no"), service))
    parts = replace(agent_parts(), vlm_clients=clients)

    assert time_runs(rated_set(tmp_path, 1).samples, ["full"], parts, store_in(tmp_path, parts)) == {}
    assert service.requests == []


def test_a_picture_that_fails_is_unanswered_and_tried_again(tmp_path: Path) -> None:
    parts, rated = agent_parts(), rated_set(tmp_path)
    store = store_in(tmp_path, parts)
    broken = rated.samples[3].image
    good = broken.read_bytes()
    broken.write_bytes(b"no picture")

    failed = evaluate_ratings(rated, parts, sampling=QUICK, store=store)
    broken.write_bytes(good)
    mended = evaluate_ratings(rated, parts, sampling=QUICK, store=store)

    assert failed.rows[0].answered == pytest.approx(11 / 12)
    assert any("full:" in failure for failure in failed.failures)
    # What the others cost is known, and is their mean.
    assert (failed.rows[0].method.cost.calls, failed.rows[0].method.cost.usd) == (5, mended.rows[0].method.cost.usd)
    assert mended.rows[0].answered == 1.0
    assert mended.failures == {}


@pytest.mark.parametrize("place", [0, 2])
def test_a_bad_picture_among_those_timed_does_not_end_the_evaluation(place: int, tmp_path: Path) -> None:
    parts, rated = agent_parts(), rated_set(tmp_path)
    rated.samples[place].image.write_bytes(b"no picture")

    found = evaluate_ratings(rated, parts, sampling=QUICK, store=store_in(tmp_path, parts))

    assert found.rows[0].answered == pytest.approx(11 / 12)
    assert found.rows[0].method.cost.seconds is not None


def test_a_picture_that_is_gone_is_a_failure_of_its_own(tmp_path: Path) -> None:
    parts, rated = agent_parts(), rated_set(tmp_path)
    rated.samples[0].image.unlink()

    found = evaluate_ratings(rated, parts, sampling=QUICK, store=store_in(tmp_path, parts))

    assert found.rows[0].answered == pytest.approx(11 / 12)
    assert any("no such file" in failure for failure in found.failures)


def test_a_tool_that_came_later_is_measured_on_pictures_already_known(tmp_path: Path) -> None:
    parts, rated = agent_parts(), rated_set(tmp_path, 1)
    store = store_in(tmp_path, parts)
    before = gather(rated.samples, ["tools"], parts, store)[0]["tools"]
    more = replace(parts, tools=registry(*map(parts.tools.get, parts.tools.names()), FixedTool("LATER", 2.5)))

    after = gather(rated.samples, ["tools"], more, store)[0]["tools"]

    assert after["raw"] == {**before["raw"], "LATER": 2.5}
    assert after["tool_seconds"].items() > before["tool_seconds"].items()


def test_changed_settings_or_overlay_make_old_evidence_stale(tmp_path: Path) -> None:
    overlay = tmp_path / "tools.yaml"
    fixed = settings(pipeline={"tools_overlay": str(overlay)})
    cache, image = Cache(tmp_path / "c.sqlite"), rated_set(tmp_path, 1).samples[0].image
    EvidenceStore(fixed, cache).keep(image, None, {"full": {"score": 3.0, "error": None}})

    assert EvidenceStore(fixed, cache).recall(image, None)
    overlay.write_text("tools: {}\n")
    assert not EvidenceStore(fixed, cache).recall(image, None)
    assert not EvidenceStore(settings(pipeline={"fusion": "paper"}), cache).recall(image, None)


def test_rank_correlations_of_psnr_ssim_and_fsim_equal_scipys(tmp_path: Path) -> None:
    original = photographs()["chelsea"]
    save(tmp_path / "original.png", original.pixels)
    samples = []
    for number, (kind, level) in enumerate([(k, v) for k in ("gaussian_blur", "white_noise") for v in (1, 2, 3, 4, 5)]):
        path = save(tmp_path / f"{number}.png", distort(original.pixels, kind, level))
        opinion = 5.0 - level + 0.3 * (number % 3)
        samples.append(
            RatedPicture(path.name, path, opinion, tmp_path / "original.png", f"g{number % 5}", kind, str(level))
        )
    rated = RatedSet("made", tuple(samples), OpinionScale(0, 5))
    tools = default_registry(settings(pipeline={"cache": {"enabled": False}}))
    parts = Parts(agent_parts().vlm_clients, tools, settings())

    evidence = gather(rated.samples, ["tools"], parts, store_in(tmp_path, parts))

    rows = {row.method.name: row for row in rate(single_tools(evidence, tools), rated, QUICK)}
    for name in ("PSNR", "SSIM", "FSIM"):
        values = [one["tools"]["raw"][name] for one in evidence]
        found = rows[name].srcc
        assert found is not None
        assert found.value == pytest.approx(stats.spearmanr(values, rated.opinions).statistic, abs=1e-12)


def test_the_embedded_backend_does_not_list_an_ablation_that_cannot_differ_and_says_why(tmp_path: Path) -> None:
    originals = list(photographs().values())[:2]
    samples = []
    for number in range(6):
        pixels = distort(originals[number % 2].pixels[:160, :200], "gaussian_blur", 1 + number // 2)
        path = save(tmp_path / f"{number}.png", pixels)
        samples.append(RatedPicture(path.name, path, 5.0 - number / 2, group=f"g{number}"))
    parts = build_parts(settings(pipeline={"cache": {"directory": str(tmp_path)}}))

    wanted = ["model-alone", "no-planner", "no-detection", "no-replanning"]
    found = evaluate_ratings(
        RatedSet("made", tuple(samples), OpinionScale(1, 5)), parts, ablations=wanted, sampling=QUICK
    )

    assert [row.method.name for row in found.rows] == ["full"]
    assert [line.partition(": ")[0] for line in found.unlisted] == [name.replace("-", " ") for name in wanted]
    assert all(": identical by construction: " in line for line in found.unlisted)
    assert all(f"Not listed: {line}" in headline(found) for line in found.unlisted)
    assert found.coverage is not None
    assert found.coverage.width > 0


def test_few_groups_are_said_to_be_few_and_one_group_has_no_interval(tmp_path: Path) -> None:
    rated = rated_set(tmp_path)
    parts = agent_parts()
    one = replace(rated, samples=tuple(replace(sample, group="same") for sample in rated.samples))

    few = evaluate_ratings(rated, parts, ablations=["best-tool"], sampling=QUICK, store=store_in(tmp_path, parts))
    single = evaluate_ratings(one, parts, ablations=["best-tool"], sampling=QUICK, store=store_in(tmp_path, parts))

    assert any("4 groups only" in line for line in headline(few))
    assert "One group: no intervals" in headline(single)
    assert as_json(single)["methods"][1]["srcc"]["low"] is None
    assert single.rows[1].lead is None
    json.dumps(as_json(single), allow_nan=False)


def test_curves_of_the_users_own_are_named_above_the_figures(tmp_path: Path) -> None:
    overlay = tmp_path / "tools.yaml"
    overlay.write_text("tools: {}\n")
    parts = replace(agent_parts(), settings=settings(pipeline={"tools_overlay": str(overlay)}))

    found = evaluate_ratings(rated_set(tmp_path), parts, sampling=QUICK, store=store_in(tmp_path, parts))

    assert any(line.startswith(f"Curves of {overlay} are in force") for line in headline(found))


def test_coverage_comes_with_width_worked_by_hand(tmp_path: Path) -> None:
    rated = rated_set(tmp_path, 4)  # opinions 1, 2, 3, 4

    found = coverage([(1.0, 1.5), (3.0, 4.0), None, (3.5, 4.5)], rated)

    assert found is not None
    assert (found.share, found.width, found.pictures) == pytest.approx((2 / 3, 2.5 / 3, 3))
    assert found.constant == pytest.approx(0.95 * 3)


def test_a_fit_that_does_not_converge_is_said() -> None:
    row = rate([Method("m", "method", np.arange(6.0), Cost())], _six(), QUICK)[0]
    failed = replace(row, fit=LogisticFit((1, 1, 1, 1, 1), "too many steps", "line"))

    assert remarks([failed]) == ["method: PLCC and RMSE after another curve (too many steps)"]


def _six() -> RatedSet:
    return RatedSet("made", tuple(RatedPicture(str(n), Path(str(n)), float(n)) for n in range(6)), OpinionScale(0, 5))


def test_known_pictures_are_looked_up_once_asked_about_never_and_measured_never(tmp_path: Path) -> None:
    parts, cache = agent_parts(), Cache(tmp_path / "evaluation.sqlite")
    rated = known_set(tmp_path, 300, parts, EvidenceStore(parts.settings, cache))
    client = parts.vlm_clients["planner"]
    asked, before = len(client.requests), cache.statistics()["evaluation"]  # type: ignore[attr-defined]
    without_tools = replace(parts, tools=_Unmeasured(parts.tools))

    found = evaluate_ratings(
        rated, without_tools, ablations=ABLATIONS, sampling=QUICK, store=EvidenceStore(parts.settings, cache)
    )

    after = cache.statistics()["evaluation"]
    # Once each, and the first few once more for what they cost.
    assert (after.hits - before.hits, after.misses - before.misses) == (300 + TIMED, 0)
    assert len(client.requests) == asked  # type: ignore[attr-defined]
    assert len(found.rows) == 8
    assert all(row.answered == 1.0 for row in found.rows)


class _Unmeasured(ToolRegistry):
    """The tools of another registry, none of which may be run."""

    def __init__(self, tools: ToolRegistry) -> None:
        super().__init__(
            [tools.get(name) for name in tools.names()],
            {name: known for name in tools.names() if (known := tools.calibration(name)) is not None},
        )

    def execute(self, name: str, *_: object, **__: object) -> Measurement:
        raise AssertionError(f"{name} was measured again")


def test_an_unknown_ablation_lists_the_known_ones() -> None:
    assert chosen_ablations(["no-planner,best-tool"]) == ["no-planner", "best-tool"]
    assert chosen_ablations(["all"]) == list(ABLATIONS)
    with pytest.raises(UsageError, match="there are: all, model-alone"):
        chosen_ablations(["nothing"])
