"""The executor: four subtasks behind their flags, faults named, regions real."""

from __future__ import annotations

import logging
import math
import threading
from pathlib import Path
from typing import Any

import pytest
from skimage.metrics import peak_signal_noise_ratio

from agenticiqa.nodes.executor import (
    ANALYSIS_PROMPT_TEMPLATE,
    DETECTION_PROMPT_TEMPLATE,
    SELECTION_PROMPT_TEMPLATE,
    executor_node,
)
from agenticiqa.nodes.reply_normalisation import region_of
from agenticiqa.nodes.sufficiency import should_replan
from agenticiqa.state import SEVERITIES, ExecutorOutput, Region
from agenticiqa.tools import default_registry
from agenticiqa.vlm_client import VLMClient
from tests.support.agent import ALL_FLAGS, FixedTool, config, picture, plan, scripted, settings, state
from tests.support.photos import photo, save

NO_FLAGS = dict.fromkeys(ALL_FLAGS, False)


def gathered(tmp_path: Path, client: VLMClient | None = None, tools: Any = (), **more: Any) -> ExecutorOutput:
    plan_changes = more.pop("plan", {})
    update = executor_node(state(tmp_path, plan=plan(**plan_changes), **more), config(client, tools))
    evidence: ExecutorOutput = update["executor_evidence"]
    return evidence


def test_the_prompts_open_as_documented() -> None:
    assert DETECTION_PROMPT_TEMPLATE.startswith("You are an expert in distortion detection")
    assert ANALYSIS_PROMPT_TEMPLATE.startswith("You are a distortion analysis expert")
    assert SELECTION_PROMPT_TEMPLATE.startswith("You are a tool executor")
    assert ", ".join(SEVERITIES) in ANALYSIS_PROMPT_TEMPLATE


def test_all_four_subtasks_leave_their_evidence(tmp_path: Path) -> None:
    client = scripted()

    update = executor_node(state(tmp_path, plan=plan()), config(client))

    evidence = update["executor_evidence"]
    assert evidence.distortion_set == {"Global": ["Blurs"]}
    assert evidence.distortion_analysis["Global"][0].severity == "moderate"
    assert evidence.selected_tools == {"Global": {"Blurs": "GAUGE"}}
    assert evidence.quality_scores == {"Global": {"Blurs": ("GAUGE", 2.6)}}
    assert [log.tool_name for log in evidence.tool_logs] == ["GAUGE"]
    assert evidence.errors == {}
    assert [request.task for request in client.requests] == ["detect", "analyze", "select_tools"]
    assert update["ledger"].nodes["executor"].calls == 3


@pytest.mark.parametrize(
    ("flag", "field", "task"),
    [
        ("distortion_detection", "distortion_set", "detect"),
        ("distortion_analysis", "distortion_analysis", "analyze"),
        ("tool_selection", "selected_tools", "select_tools"),
        ("tool_execution", "quality_scores", None),
    ],
)
def test_a_flag_that_is_off_leaves_its_field_null_without_an_error(
    tmp_path: Path, flag: str, field: str, task: str | None
) -> None:
    client = scripted()

    evidence = gathered(tmp_path, client, plan={"flags": {flag: False}})

    assert getattr(evidence, field) is None
    assert evidence.errors == {}
    assert task not in [request.task for request in client.requests]


def test_with_all_flags_off_no_model_is_asked(tmp_path: Path) -> None:
    client = scripted()

    assert gathered(tmp_path, client, plan={"flags": NO_FLAGS}) == ExecutorOutput()
    assert client.requests == []


def test_explicit_distortions_are_analysed_without_detection(tmp_path: Path) -> None:
    client = scripted()
    explicit = {
        "distortion_source": "Explicit",
        "distortions": {"Global": ["Blurs"]},
        "flags": {"distortion_detection": False},
    }

    evidence = gathered(tmp_path, client, plan=explicit)

    assert evidence.distortion_set is None
    assert evidence.quality_scores == {"Global": {"Blurs": ("GAUGE", 2.6)}}


def test_objects_outside_the_scope_fall_back_to_global(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    client = scripted(detect={"distortion_set": {"Vehicle": ["Noise"], "moon": ["Blurs"]}})

    evidence = gathered(tmp_path, client, plan={"query_scope": ["vehicle"]})

    assert evidence.distortion_set == {"vehicle": ["Noise"], "Global": ["Blurs"]}
    assert "object 'moon' is outside the scope" in caplog.text


def test_unknown_categories_are_dropped_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    client = scripted(detect={"distortion_set": {"Global": ["wonky horizon", "blurry", "motion blur", "Blurs"]}})

    evidence = gathered(tmp_path, client)

    assert evidence.distortion_set == {"Global": ["Blurs"]}
    assert "'wonky horizon' is none of the seven categories" in caplog.text
    assert evidence.notes == [
        "'wonky horizon' is no distortion that is known; dropped",
        "'motion blur' was read as Blurs (motion blur)",
    ]


def test_an_unusable_severity_is_dropped_and_the_gap_is_an_uncertainty(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    odd = {"type": "Blurs", "severity": "catastrophic", "explanation": "x"}
    client = scripted(analyze={"distortion_analysis": {"Global": [odd]}, "uncertainties": ["the sky is too dark"]})

    evidence = gathered(tmp_path, client)

    assert evidence.distortion_analysis == {"Global": []}
    assert evidence.uncertainties == ["the sky is too dark", "the severity of Blurs on Global was not judged"]
    assert "no usable severity" in caplog.text


def test_spelling_variants_of_severity_are_understood(tmp_path: Path) -> None:
    odd = {"type": "blur", "severity": "Mild", "explanation": "x"}

    evidence = gathered(tmp_path, scripted(analyze={"distortion_analysis": {"global": [odd]}}))

    assert evidence.distortion_analysis is not None
    (entry,) = evidence.distortion_analysis["Global"]
    assert (entry.type, entry.severity) == ("Blurs", "slight")


def test_when_nothing_is_found_the_whole_is_measured_under_overall(tmp_path: Path) -> None:
    client = scripted(detect={"distortion_set": {}}, select_tools={"selected_tools": {"Global": {"Overall": "GAUGE"}}})

    evidence = gathered(tmp_path, client)

    assert evidence.distortion_set == {"Global": []}
    assert evidence.distortion_analysis == {"Global": []}
    assert evidence.quality_scores == {"Global": {"Overall": ("GAUGE", 2.6)}}
    assert "analyze" not in [request.task for request in client.requests]


def test_full_reference_tools_are_offered_first_when_there_is_a_reference(tmp_path: Path) -> None:
    client = scripted(select_tools={"selected_tools": {}})
    tools = (FixedTool("ALONE", 2.0), FixedTool("PAIR", 3.0, reference="FR"))
    reference = picture(tmp_path, "reference.png", seed=1)

    evidence = gathered(tmp_path, client, tools, reference_path=reference, plan={"reference_mode": "Full-Reference"})

    offered = client.requests[2].inputs
    assert [tool.name for tool in offered.tools] == ["PAIR", "ALONE"]  # type: ignore[attr-defined]
    assert evidence.quality_scores == {"Global": {"Blurs": ("PAIR", 3.0)}}


@pytest.mark.parametrize(
    ("chosen", "why"),
    [("NOPE", "no IQA tool named 'NOPE'"), ("ABSENT", "no weights"), ("PAIR", "needs a reference")],
)
def test_a_chosen_tool_that_cannot_run_is_replaced_and_flagged(tmp_path: Path, chosen: str, why: str) -> None:
    tools = (FixedTool(), FixedTool("ABSENT", missing="no weights"), FixedTool("PAIR", reference="FR"))
    client = scripted(select_tools={"selected_tools": {"Global": {"Blurs": chosen}}})

    evidence = gathered(tmp_path, client, tools)

    (log,) = evidence.tool_logs
    assert (log.tool_name, log.fallback) == ("GAUGE", True)
    assert why in log.notes[0]
    assert evidence.selected_tools == {"Global": {"Blurs": "GAUGE"}}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_no_number_is_logged_and_left_out(
    tmp_path: Path, bad: float, caplog: pytest.LogCaptureFixture
) -> None:
    client = scripted(
        detect={"distortion_set": {"Global": ["Blurs", "Noise"]}},
        select_tools={"selected_tools": {"Global": {"Blurs": "BROKEN", "Noise": "GAUGE"}}},
    )

    evidence = gathered(tmp_path, client, (FixedTool("BROKEN", bad), FixedTool()))

    failed = evidence.tool_logs[0]
    assert (failed.tool_name, failed.normalized_score, failed.raw_score) == ("BROKEN", None, None)
    assert str(bad) in str(failed.error)
    assert str(bad) in caplog.text
    assert evidence.quality_scores is not None
    assert {tool for tool, _ in evidence.quality_scores["Global"].values()} == {"GAUGE"}


def test_an_uncalibrated_tool_is_reported_raw_and_has_no_score(tmp_path: Path) -> None:
    evidence = gathered(tmp_path, tools=(FixedTool(value=31.5, calibrated=False),))

    (log,) = evidence.tool_logs
    assert (log.raw_score, log.normalized_score) == (31.5, None)
    assert evidence.quality_scores == {}
    assert evidence.errors == {}


def test_a_required_tool_measures_every_target_and_is_never_replaced(tmp_path: Path) -> None:
    tools = (FixedTool("BROKEN", math.nan), FixedTool())

    evidence = gathered(tmp_path, None, tools, plan={"required_tool": "BROKEN", "flags": {"tool_selection": False}})

    assert [log.tool_name for log in evidence.tool_logs] == ["BROKEN"]
    assert evidence.quality_scores is None
    assert "BROKEN on Global" in evidence.errors["tool_execution"]


def test_a_built_in_tool_the_query_names_measures_as_another_library_does(tmp_path: Path) -> None:
    test, reference = photo("astronaut")[:128, :128], photo("astronaut")[:128, :128].copy()
    reference[::2] = 255 - reference[::2]
    paths = [str(save(tmp_path / name, pixels)) for name, pixels in (("t.png", test), ("r.png", reference))]
    setup = config()
    setup["configurable"]["tools"] = default_registry(settings(pipeline={"cache": {"enabled": False}}))
    chosen = plan(required_tool="PSNR", reference_mode="Full-Reference", flags={"tool_selection": False})

    update = executor_node(
        {"query": "Use PSNR.", "image_path": paths[0], "reference_path": paths[1], "plan": chosen}, setup
    )

    (log,) = update["executor_evidence"].tool_logs
    assert log.error is None
    assert log.raw_score == pytest.approx(peak_signal_noise_ratio(reference, test), abs=1e-6)


def test_three_faults_at_once_are_each_named_and_the_rest_is_there(tmp_path: Path) -> None:
    client = scripted(
        detect="I see blur, mostly.",
        analyze={
            "distortion_analysis": {
                "Global": [
                    {"type": "Blurs", "severity": "severe", "explanation": "Smeared edges."},
                    {"type": "Noise", "severity": "slight", "explanation": "Grain in the dark."},
                    {"type": "Contrast", "severity": "slight", "explanation": "Flat."},
                ]
            }
        },
        select_tools={"selected_tools": {"Global": {"Blurs": "NOPE", "Noise": "BROKEN", "Contrast": "GAUGE"}}},
    )
    inferred = {"distortions": {"Global": ["Blurs", "Noise", "Contrast"]}}

    evidence = gathered(tmp_path, client, (FixedTool(), FixedTool("BROKEN", math.nan)), plan=inferred)

    assert evidence.distortion_set is None
    assert "no valid reply to the task 'detect'" in evidence.errors["distortion_detection"]
    assert "BROKEN on Global" in evidence.errors["tool_execution"]
    by_distortion = {log.distortion: log for log in evidence.tool_logs if log.error is None}
    assert "no IQA tool named 'NOPE'" in by_distortion["Blurs"].notes[0]
    assert evidence.distortion_analysis is not None
    assert [entry.type for entry in evidence.distortion_analysis["Global"]] == ["Blurs", "Noise", "Contrast"]
    assert evidence.quality_scores is not None
    assert set(evidence.quality_scores["Global"]) == {"Blurs", "Noise", "Contrast"}
    assert ExecutorOutput.model_validate_json(evidence.model_dump_json()) == evidence


def test_when_detection_fails_there_is_no_analysis_but_the_whole_is_measured(tmp_path: Path) -> None:
    client = scripted(detect="never json", select_tools={"selected_tools": {}})

    evidence = gathered(tmp_path, client)

    assert (evidence.distortion_set, evidence.distortion_analysis) == (None, None)
    assert evidence.errors["distortion_analysis"] == "detection failed, so there is nothing to analyse"
    assert evidence.quality_scores == {"Global": {"Overall": ("GAUGE", 2.6)}}


def test_tools_run_in_parallel(tmp_path: Path) -> None:
    together = threading.Barrier(2, timeout=20)

    def wait(_: Any) -> float:
        together.wait()
        return 3.0

    client = scripted(
        detect={"distortion_set": {"Global": ["Blurs", "Noise"]}},
        select_tools={"selected_tools": {"Global": {"Blurs": "ONE", "Noise": "TWO"}}},
    )

    evidence = gathered(tmp_path, client, (FixedTool("ONE", wait), FixedTool("TWO", wait)))

    assert evidence.errors == {}


def test_one_tool_chosen_for_two_distortions_measures_once(tmp_path: Path) -> None:
    tool = FixedTool()
    client = scripted(
        detect={"distortion_set": {"Global": ["Blurs", "Noise"]}},
        select_tools={"selected_tools": {"Global": {"Blurs": "GAUGE", "Noise": "GAUGE"}}},
    )

    evidence = gathered(tmp_path, client, (tool,))

    assert len(evidence.tool_logs) == 2
    assert len(tool.runs) == 1


@pytest.mark.parametrize("width", [49, 98, 103, 400])
def test_a_box_made_of_pixels_comes_back_as_it_was(width: int) -> None:
    lefts = [region_of((left / width, 0.0, 1.0, 1.0), width, 10).left for left in range(width)]

    assert lefts == list(range(width))


def test_tools_look_at_the_region_of_a_located_object(tmp_path: Path) -> None:
    tool = FixedTool()
    client = scripted(
        detect={"distortion_set": {"vehicle": ["Blurs"]}}, locate={"regions": {"Vehicle": [0.25, 0.5, 0.75, 1.0]}}
    )

    evidence = gathered(tmp_path, client, (tool,), plan={"query_scope": ["vehicle"]})

    assert evidence.regions == {"vehicle": Region(left=12, top=16, right=36, bottom=32)}
    assert tool.runs == [(24, 16)]
    assert evidence.quality_scores == {"vehicle": {"Blurs": ("GAUGE", 2.6)}}


def test_an_object_that_is_not_found_is_said_so_and_the_whole_image_is_used(tmp_path: Path) -> None:
    tool = FixedTool()
    client = scripted(detect={"distortion_set": {"vehicle": ["Blurs"]}}, locate={"regions": {"vehicle": None}})

    evidence = gathered(tmp_path, client, (tool,), plan={"query_scope": ["vehicle"]})

    assert evidence.regions == {"vehicle": None}
    assert tool.runs == [(48, 32)]


def test_the_whole_image_is_looked_at_under_its_own_name_where_the_object_is_not_there(tmp_path: Path) -> None:
    client = scripted(locate={"regions": {"vehicle": None}})

    evidence = gathered(tmp_path, client, plan={"query_scope": ["vehicle"]})

    assert [request.task for request in client.requests] == ["locate", "detect", "analyze", "select_tools"]
    assert evidence.distortion_analysis is not None
    assert set(evidence.distortion_analysis) == {"Global"}
    assert evidence.quality_scores == {"Global": {"Blurs": ("GAUGE", 2.6)}}
    assert should_replan(evidence, ["vehicle"]) == (True, "Missing analysis for {'vehicle'}")


def test_what_has_no_box_but_may_be_there_keeps_its_name(tmp_path: Path) -> None:
    client = scripted(locate={"regions": {"wall": None}}, detect={"distortion_set": {"wall": ["Blurs"]}})

    evidence = gathered(tmp_path, client, plan={"query_scope": ["wall"]})

    assert evidence.quality_scores == {"wall": {"Blurs": ("GAUGE", 2.6)}}


def test_a_box_outside_the_image_is_not_accepted(tmp_path: Path) -> None:
    client = scripted(detect={"distortion_set": {}}, locate={"regions": {"vehicle": [0.5, 0.5, 0.2, 3.0]}})

    evidence = gathered(tmp_path, client, plan={"query_scope": ["vehicle"]})

    assert "no valid reply to the task 'locate'" in evidence.errors["location"]
    assert evidence.quality_scores == {"vehicle": {"Overall": ("GAUGE", 2.6)}}


def test_progress_is_reported_for_the_node_and_each_subtask(tmp_path: Path) -> None:
    events: list[tuple[str | None, str]] = []
    setup = config(scripted(detect="never json"))
    setup["configurable"]["on_event"] = lambda event: events.append((event.subtask, event.status))

    executor_node(state(tmp_path, plan=plan()), setup)

    assert events[0] == (None, "started")
    assert events[-1] == (None, "finished")
    assert ("distortion_detection", "failed") in events
    assert [status for name, status in events if name == "tool_execution"] == ["started", "finished"]


def test_a_listener_that_fails_does_not_stop_the_agent(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    setup = config()
    setup["configurable"]["on_event"] = lambda event: 1 / 0

    with caplog.at_level(logging.WARNING):
        evidence = executor_node(state(tmp_path, plan=plan()), setup)["executor_evidence"]

    assert evidence.quality_scores is not None
    assert "the listener for progress events failed" in caplog.text


def test_without_a_plan_or_an_image_the_evidence_names_the_fault(tmp_path: Path) -> None:
    no_plan = executor_node(state(tmp_path), config())["executor_evidence"]
    no_image = executor_node({"query": "q", "image_path": "gone.png", "plan": plan()}, config())["executor_evidence"]

    assert no_plan.errors == {"executor": "there is no plan to carry out"}
    assert "gone.png: no such file" in no_image.errors["executor"]


def test_with_an_error_in_the_state_nothing_is_executed(tmp_path: Path) -> None:
    client = scripted()

    assert executor_node(state(tmp_path, plan=plan(), error="planner: failed"), config(client)) == {}
    assert client.requests == []
