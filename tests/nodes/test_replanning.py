"""Replanning: from a gap to a better plan, up to the limit, and what ends it early."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from agenticiqa.assessor import Assessor
from agenticiqa.graph import build_graph, memory_saver, run_pipeline
from agenticiqa.nodes.executor import executor_node
from agenticiqa.parts import Parts
from agenticiqa.state import AgenticIQAState, ExecutorOutput, Gap
from agenticiqa.vlm_client import ScriptedVLMClient
from tests.support.agent import (
    FAIR,
    MODERATE_BLUR,
    QUERY,
    FixedTool,
    config,
    picture,
    plan,
    plan_reply,
    registry,
    script,
    scripted,
    settings,
)
from tests.support.agent import state as agent_state

NO_TOOLS = plan_reply(flags={"tool_selection": False, "tool_execution": False})
DOUBTFUL = {"distortion_set": {"Global": ["Blurs"]}, "uncertainties": ["the sky is too dark to judge"]}


def doubts(count: int) -> list[dict[str, Any]]:
    """Detections, each with a doubt of its own."""
    return [{**DOUBTFUL, "uncertainties": [f"doubt {number}"]} for number in range(count)]


def planner_passes(client: ScriptedVLMClient) -> int:
    return sum(request.task == "plan" for request in client.requests)


def run(tmp_path: Path, client: ScriptedVLMClient, limit: int | None = None, **more: Any) -> AgenticIQAState:
    return run_pipeline(QUERY, picture(tmp_path), None, limit, config=config(client, **more))


def test_a_gap_named_by_object_is_filled_by_the_next_plan(tmp_path: Path) -> None:
    values = iter([float("nan"), 2.6])
    client = scripted(
        plan=plan_reply(query_scope=["vehicle"]),
        detect={"distortion_set": {"vehicle": ["Blurs"]}},
        analyze={
            "distortion_analysis": {"vehicle": [{"type": "Blurs", "severity": "severe", "explanation": "Smeared."}]}
        },
    )

    final = run(tmp_path, client, tools=[FixedTool(value=lambda _: next(values))])

    assert final["replan_history"] == ["[Iteration 1] No tool scores available"]
    assert final["executor_evidence"] is not None
    assert final["executor_evidence"].quality_scores == {"vehicle": {"Blurs": ("GAUGE", 2.6)}}
    assert not final["summarizer_result"].need_replan


def test_no_tools_then_a_gap_then_tools_then_an_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    # Without tools nothing contradicts the doubt, so the first pass asks again; the second plan measures.
    client = scripted(plan=[NO_TOOLS, NO_TOOLS], detect=[DOUBTFUL, {"distortion_set": {"Global": ["Blurs"]}}])

    with caplog.at_level(logging.INFO):
        final = run(tmp_path, client)

    assert planner_passes(client) == 2
    assert final["replan_history"] == ["[Iteration 1] Uncertain evidence: the sky is too dark to judge"]
    plan, evidence = final["plan"], final["executor_evidence"]
    assert plan is not None
    assert evidence is not None
    assert plan.plan.tool_execution
    assert evidence.quality_scores == {"Global": {"Blurs": ("GAUGE", 2.6)}}
    result = final["summarizer_result"]
    assert (result.final_answer, result.need_replan, final["iteration_count"]) == ("C", False, 1)
    for line in (
        "need_replan=True, iteration_count=1, max_replan_iterations=2, decision=planner",
        "Replanning triggered: Uncertain evidence: the sky is too dark to judge",
        "Iteration 1/2",
        "need_replan=False, iteration_count=1, max_replan_iterations=2, decision=__end__",
    ):
        assert line in caplog.messages


@pytest.mark.parametrize(("limit", "passes"), [(0, 1), (1, 1), (2, 2), (3, 3)])
def test_a_summarizer_that_always_asks_ends_at_the_limit(
    tmp_path: Path, limit: int, passes: int, caplog: pytest.LogCaptureFixture
) -> None:
    client = scripted(detect=doubts(limit + 1))

    final = run(tmp_path, client, limit)

    assert planner_passes(client) == passes
    assert final["iteration_count"] == limit
    assert final["summarizer_result"].final_answer == "C"
    # With 0 the incoming count is already at the limit; otherwise the last pass still asks and the edge refuses.
    assert final["summarizer_result"].need_replan == (limit > 0)
    assert f"Max replanning iterations ({limit}) reached" in caplog.messages
    if limit:
        assert "Continuing with current evidence despite need_replan=true" in caplog.messages
        assert "Max replanning iterations reached: possible logic issue in the summarizer" in caplog.messages


def test_the_default_limit_replans_once(tmp_path: Path) -> None:
    client = scripted(detect=DOUBTFUL)

    run(tmp_path, client)

    assert planner_passes(client) == 2


def test_the_planner_sees_every_reason_so_far(tmp_path: Path) -> None:
    client = scripted(detect=DOUBTFUL)

    run(tmp_path, client, 3)

    last = [request for request in client.requests if request.task == "plan"][-1]
    assert "[Iteration 1] Uncertain evidence" in last.user
    assert "[Iteration 2] Uncertain evidence" in last.user


def test_a_planner_that_fails_on_the_second_pass_ends_the_run_with_its_error(tmp_path: Path) -> None:
    client = scripted(plan=[plan_reply(), "no json", "no json", "no json"], detect=DOUBTFUL)

    final = run(tmp_path, client, 5)

    assert str(final["error"]).startswith("planner: no valid reply")
    assert final["iteration_count"] == 1
    assert planner_passes(client) == 4
    assert sum(request.task == "score" for request in client.requests) == 1


def test_an_executor_that_fails_on_a_replan_is_seen_by_the_summarizer_and_cannot_loop(tmp_path: Path) -> None:
    client = scripted(detect=[DOUBTFUL, "no json"], analyze="no json", select_tools="no json")

    final = run(tmp_path, client, 2)

    evidence = final["executor_evidence"]
    assert evidence is not None
    assert {"distortion_detection", "tool_selection"} <= set(evidence.errors)
    assert "distortion_detection failed" in final["summarizer_result"].quality_reasoning
    assert planner_passes(client) == 2


def test_only_the_current_outputs_stay_in_the_state(tmp_path: Path) -> None:
    client = scripted(plan=[plan_reply(), plan_reply(query_type="MCQ")], detect=[DOUBTFUL, {"distortion_set": {}}])

    final = run(tmp_path, client, 2)

    assert final["plan"] is not None
    assert final["plan"].query_type == "Other"
    assert final["executor_evidence"] is not None
    assert final["executor_evidence"].distortion_set == {"Global": []}
    assert final["summarizer_result"].final_answer == "It is blurred."


def test_plan_and_evidence_stay_in_the_state_while_a_new_plan_is_made(tmp_path: Path) -> None:
    saver = memory_saver()
    setup = config(scripted(detect=[DOUBTFUL, {"distortion_set": {}}]))
    run_pipeline(QUERY, picture(tmp_path), config=setup, checkpointer=saver, thread_id="t")

    history = build_graph(checkpointer=saver).get_state_history({"configurable": {"thread_id": "t"}})
    (before,) = [kept.values for kept in history if kept.next == ("planner",) and "plan" in kept.values]

    assert before["plan"] is not None
    assert before["executor_evidence"].distortion_set == {"Global": ["Blurs"]}
    assert before["summarizer_result"].replan_reason == "Uncertain evidence: the sky is too dark to judge"
    assert before["iteration_count"] == 1


def test_the_state_does_not_grow_with_the_iterations(tmp_path: Path) -> None:
    sizes = []
    for limit in (12, 20):
        final = run(tmp_path, scripted(detect=doubts(limit + 1)), limit)
        assert len(final["replan_history"]) == 10
        assert final["executor_evidence"] is not None
        sizes.append((set(final), len(final["executor_evidence"].tool_logs)))

    assert sizes[0] == sizes[1]


def test_a_deterministic_backend_is_not_asked_again_when_a_new_plan_changed_nothing(tmp_path: Path) -> None:
    client = ScriptedVLMClient(script(detect=DOUBTFUL), deterministic=True)

    final = run(tmp_path, client, 10)

    assert planner_passes(client) == 2
    result = final["summarizer_result"]
    assert not result.need_replan
    assert "A new plan changed nothing and the backend is deterministic; remaining gap" in result.quality_reasoning
    assert final["iteration_count"] == 1


def test_a_pass_that_would_repeat_the_same_requests_ends_the_loop_with_the_reason(tmp_path: Path) -> None:
    client = scripted(detect=DOUBTFUL)

    final = run(tmp_path, client, 10)

    looks = [request.user for request in client.requests if request.task == "detect"]
    assert len(looks) == len(set(looks)) == 2
    assert "A new plan would have repeated the same requests" in final["summarizer_result"].quality_reasoning
    assert not final["summarizer_result"].need_replan


def test_a_contradiction_is_looked_at_again_with_the_measurement_shown_and_a_second_tool(tmp_path: Path) -> None:
    severe = {"distortion_analysis": {"Global": [{"type": "Blurs", "severity": "severe", "explanation": "Soft."}]}}
    slight = {"distortion_analysis": {"Global": [{"type": "Blurs", "severity": "slight", "explanation": "A little."}]}}
    client = scripted(analyze=[severe, slight])
    tools = [FixedTool("GAUGE", 4.6), FixedTool("METER", 4.2)]

    final = run(tmp_path, client, tools=tools)

    plans, looks = ([r for r in client.requests if r.task == task] for task in ("plan", "analyze"))
    second: Any = plans[1].inputs
    assert second.previous_plan is not None
    assert second.evidence["severities"] == {"Global": {"Blurs": "severe"}}
    assert "severe Blurs on Global but GAUGE scores 4.6" in looks[1].user
    assert sum(request.task == "detect" for request in client.requests) == 1
    evidence = final["executor_evidence"]
    assert evidence is not None
    assert evidence.quality_scores == {"Global": {"Blurs": ("METER", 4.2)}}
    assert [log.tool_name for log in evidence.tool_logs] == ["METER"]
    assert not final["summarizer_result"].need_replan


def test_a_close_up_is_no_reference(tmp_path: Path) -> None:
    severe = {"distortion_analysis": {"Global": [{"type": "Blurs", "severity": "severe", "explanation": "Soft."}]}}
    client = scripted(analyze=severe)
    compared = FixedTool("COMPARED", 4.98, reference="FR")
    tools = [FixedTool("GAUGE", 4.6), FixedTool("METER", 4.2), compared]
    large = picture(tmp_path, "large.png", (900, 60))

    final = run_pipeline(QUERY, large, max_replan_iterations=3, config=config(client, tools))

    shown = [[item.role for item in request.images] for request in client.requests if request.task == "analyze"]
    assert shown[:2] == [["image"], ["image", "closeup"]]
    offered = {tool.name for request in client.requests if request.task == "select_tools" for tool in _offers(request)}
    assert "METER" in offered
    assert "COMPARED" not in offered
    planned: list[Any] = [request.inputs for request in client.requests if request.task == "plan"]
    assert not any("COMPARED" in inputs.tools for inputs in planned)
    assert compared.runs == []
    assert final["executor_evidence"] is not None
    assert all(log.tool_name != "COMPARED" for log in final["executor_evidence"].tool_logs)


def _offers(request: Any) -> Any:
    return request.inputs.tools


def test_only_the_missing_object_is_looked_at_again(tmp_path: Path) -> None:
    entry = {"type": "Blurs", "severity": "slight", "explanation": "Soft."}
    state: Any = {**agent_state(tmp_path), "plan": plan(query_scope=["car", "sky"]),
             "gap": Gap(kind="missing_analysis", reason="…", objects=("sky",)),
             "executor_evidence": ExecutorOutput.model_validate({"distortion_analysis": {"car": [entry]}})}  # fmt: skip
    client = scripted(detect={"distortion_set": {"sky": ["Blurs"]}}, analyze={"distortion_analysis": {"sky": [entry]}})

    evidence = executor_node(state, config(client))["executor_evidence"]

    looked: Any = client.requests[0].inputs
    assert looked.objects == ("sky",)
    assert set(evidence.distortion_analysis) == {"car", "sky"}


def test_a_replan_may_require_a_tool_the_question_does_not_name(tmp_path: Path) -> None:
    severe = {"distortion_analysis": {"Global": [{"type": "Blurs", "severity": "severe", "explanation": "Soft."}]}}
    client = scripted(plan=[plan_reply(), plan_reply(required_tool="METER")], analyze=severe)

    final = run(tmp_path, client, tools=[FixedTool("GAUGE", 4.6), FixedTool("METER", 1.8)])

    assert final["plan"] is not None
    assert final["plan"].required_tool == "METER"
    assert final["executor_evidence"] is not None
    assert final["executor_evidence"].quality_scores == {"Global": {"Blurs": ("METER", 1.8)}}


def test_a_new_run_starts_at_zero_again(tmp_path: Path) -> None:
    assert run(tmp_path, scripted(detect=doubts(3)))["iteration_count"] == 2
    assert run(tmp_path, scripted())["iteration_count"] == 0


def test_the_ledger_adds_up_over_all_passes(tmp_path: Path) -> None:
    client = scripted(detect=doubts(4))

    final = run(tmp_path, client, 3)

    assert final["ledger"].total.calls == len(client.requests)
    assert final["ledger"].nodes["planner"].calls == 3


def test_a_planner_that_fails_on_the_second_pass_leaves_the_answer_of_the_first(tmp_path: Path) -> None:
    client = scripted(plan=[plan_reply(), "no json", "no json", "no json"], detect=DOUBTFUL)
    parts = Parts(dict.fromkeys(("planner", "executor", "summarizer"), client), registry(), settings())

    final = run(tmp_path, scripted(plan=[plan_reply(), "no", "no", "no"], detect=DOUBTFUL))
    found = Assessor(parts=parts).assess(picture(tmp_path), QUERY)

    assert str(final["error"]).startswith("planner: no valid reply")
    assert final["summarizer_result"].final_answer == "C"
    assert found.answered
    assert (found.answer, found.error) == (found.level, None)
    assert any("planner: no valid reply" in note for note in found.notes)


def test_a_summarizer_that_fails_on_the_second_pass_leaves_the_answer_of_the_first(tmp_path: Path) -> None:
    client = scripted(score=[FAIR, "no", "no", "no"], detect=DOUBTFUL)

    final = run(tmp_path, client)

    assert str(final["error"]).startswith("summarizer: no valid reply")
    assert final["summarizer_result"].final_answer == "C"
    assert final["iteration_count"] == 1


def test_an_executor_that_fails_on_a_replan_keeps_the_evidence_of_the_first_pass_beside_the_error(
    tmp_path: Path,
) -> None:
    client = scripted(detect=[DOUBTFUL, "no", "no", "no"], analyze=[MODERATE_BLUR, "no", "no", "no"])

    final = run(tmp_path, client)

    evidence = final["executor_evidence"]
    assert evidence is not None
    assert set(evidence.errors) == {"distortion_detection", "distortion_analysis"}
    assert evidence.distortion_set == {"Global": ["Blurs"]}
    assert evidence.distortion_analysis is not None
    assert evidence.distortion_analysis["Global"][0].severity == "moderate"


def test_sixty_passes_leave_a_state_of_the_size_of_two(tmp_path: Path) -> None:
    severe = {"distortion_analysis": {"Global": [{"type": "Blurs", "severity": "severe", "explanation": "Soft."}]}}
    sizes = []
    for limit in (2, 60):
        looks = [{**severe, "uncertainties": [f"doubt {number}"]} for number in range(10, limit + 11)]
        tools = [FixedTool("GAUGE", 4.6), FixedTool("METER", 4.7)]
        final = run(tmp_path, scripted(detect=doubts(limit + 1), analyze=looks), limit, tools=tools)
        assert final["executor_evidence"] is not None
        sizes.append((len(final["executor_evidence"].tool_logs), len(final["executor_evidence"].notes)))

    assert sizes[0] == sizes[1]


def test_what_the_reader_gets_never_asks_for_a_new_plan(tmp_path: Path) -> None:
    for limit in (0, 1, 2, 5):
        result = run(tmp_path, scripted(detect=doubts(limit + 1)), limit)["summarizer_result"]
        assert "new plan is needed" not in result.quality_reasoning


SEVERE_BLUR = {"distortion_analysis": {"Global": [{"type": "Blurs", "severity": "severe", "explanation": "Soft."}]}}


def test_a_tool_that_was_heard_on_a_gap_is_not_asked_again_in_the_run(tmp_path: Path) -> None:
    tools = [FixedTool("GAUGE", 4.6), FixedTool("METER", 4.7), FixedTool("PROBE", 4.8)]
    client = scripted(analyze=SEVERE_BLUR)

    final = run(tmp_path, client, 20, tools=tools)

    assert [len(tool.runs) for tool in tools] == [1, 1, 1]
    # Each tool has a pass, and then the model one with all of them heard.
    assert planner_passes(client) <= 5
    assert not final["summarizer_result"].need_replan


def test_a_deterministic_backend_is_not_asked_again_when_no_other_tool_can_speak(tmp_path: Path) -> None:
    client = ScriptedVLMClient(script(analyze=SEVERE_BLUR), deterministic=True)

    final = run(tmp_path, client, 10, tools=[FixedTool("GAUGE", 4.6), FixedTool("METER", 4.7, contradicts=["Noise"])])

    assert planner_passes(client) == 1
    assert "severe Blurs on Global but GAUGE scores 4.6" in final["summarizer_result"].quality_reasoning
