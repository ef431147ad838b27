"""The graph: its shape, its edge decisions, its pictures, and what a run begins and ends with."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import logging
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, StateGraph
from PIL import Image

from agenticiqa.errors import UsageError
from agenticiqa.graph import build_graph, decide_next_node, memory_saver, run_pipeline, sqlite_saver, visualize_graph
from agenticiqa.nodes.context import ProgressEvent
from agenticiqa.nodes.executor import executor_node
from agenticiqa.nodes.planner import planner_node
from agenticiqa.nodes.summarizer import summarizer_node
from agenticiqa.state import AgenticIQAState, SummarizerOutput
from tests.support.agent import QUERY, FixedTool, config, picture, plan_reply, scripted, settings

SPECIFIED_DIAGRAM = """\
graph TD
    START([START]) --> planner[Planner]
    planner --> executor[Executor]
    executor --> summarizer[Summarizer]
    summarizer -->|need_replan=true & iter<max| planner
    summarizer -->|need_replan=false or iter>=max| END([END])"""
REPLAN = SummarizerOutput(
    final_answer="C", quality_reasoning="Soft.", need_replan=True, replan_reason="No tool scores available"
)
DONE = SummarizerOutput(final_answer="C", quality_reasoning="Soft.")


def state_with(**fields: Any) -> AgenticIQAState:
    merged: Any = {"query": "q", "image_path": "x.png", **fields}
    state: AgenticIQAState = merged
    return state


def test_the_graph_has_all_three_nodes_and_both_ways_out_of_the_summarizer() -> None:
    drawn = build_graph().get_graph()

    assert list(drawn.nodes) == ["__start__", "planner", "executor", "summarizer", "__end__"]
    edges = {(edge.source, edge.target, edge.conditional) for edge in drawn.edges}
    assert edges == {
        ("__start__", "planner", False),
        ("planner", "executor", False),
        ("executor", "summarizer", False),
        ("summarizer", "planner", True),
        ("summarizer", "__end__", True),
    }


@pytest.mark.parametrize("node", [planner_node, executor_node, summarizer_node])
def test_a_node_takes_a_config_spelled_so_that_langgraph_hands_it_over(node: Any) -> None:
    parameter = inspect.signature(node).parameters["config"]

    assert parameter.annotation == "Optional[RunnableConfig]"
    assert parameter.default is None
    assert get_type_hints(node)["return"] == dict[str, Any]


@pytest.mark.parametrize(("last", "tasks"), [("planner", ["plan"]), ("executor", ["plan", "detect", "analyze"])])
def test_the_graph_can_end_after_an_earlier_node(tmp_path: Path, last: Any, tasks: list[str]) -> None:
    client = scripted()

    final = build_graph(last).invoke(
        {"query": QUERY, "image_path": picture(tmp_path), "iteration_count": 0}, config(client)
    )

    assert "summarizer_result" not in final
    assert [request.task for request in client.requests][: len(tasks)] == tasks
    assert final["plan"] is not None


@pytest.mark.parametrize(
    ("fields", "decision"),
    [
        ({}, "__end__"),
        ({"summarizer_result": DONE}, "__end__"),
        ({"summarizer_result": REPLAN}, "planner"),
        ({"summarizer_result": REPLAN, "iteration_count": 1}, "planner"),
        ({"summarizer_result": REPLAN, "iteration_count": 2}, "__end__"),
        ({"summarizer_result": REPLAN, "iteration_count": 2, "max_replan_iterations": 3}, "planner"),
        ({"summarizer_result": REPLAN, "max_replan_iterations": 0}, "__end__"),
        ({"summarizer_result": REPLAN, "max_replan_iterations": None}, "planner"),
        ({"summarizer_result": REPLAN, "error": "planner: failed"}, "__end__"),
    ],
)
def test_the_edge_decides_by_need_count_limit_and_error(fields: dict[str, Any], decision: str) -> None:
    assert decide_next_node(state_with(**fields)) == decision


def test_the_decision_to_replan_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        decide_next_node(state_with(summarizer_result=REPLAN, iteration_count=1))

    assert caplog.messages == [
        "need_replan=True, iteration_count=1, max_replan_iterations=2, decision=planner",
        "Replanning triggered: No tool scores available",
        "Iteration 1/2",
    ]


@pytest.mark.parametrize(
    ("fields", "need"),
    [({}, "None"), ({"summarizer_result": DONE}, "False"), ({"summarizer_result": REPLAN, "error": "failed"}, "True")],
)
def test_the_decision_is_logged_in_full_also_without_a_result(
    fields: dict[str, Any], need: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        decide_next_node(state_with(**fields))

    assert caplog.messages[0] == f"need_replan={need}, iteration_count=0, max_replan_iterations=2, decision=__end__"


def test_at_the_limit_three_warnings_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    decide_next_node(state_with(summarizer_result=REPLAN, iteration_count=2))

    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warnings == [
        "Max replanning iterations (2) reached",
        "Continuing with current evidence despite need_replan=true",
        "Max replanning iterations reached: possible logic issue in the summarizer",
    ]


def test_the_diagram_is_the_specified_one() -> None:
    assert visualize_graph() == SPECIFIED_DIAGRAM


def test_the_diagram_follows_the_graph_it_is_drawn_from() -> None:
    assert visualize_graph(last="executor").splitlines()[-1] == "    executor --> END([END])"


def test_the_diagram_is_written_as_svg_png_and_text_without_any_service(tmp_path: Path) -> None:
    for suffix in ("svg", "png", "mmd"):
        visualize_graph(tmp_path / f"graph.{suffix}")

    svg = (tmp_path / "graph.svg").read_text()
    assert "need_replan=true &amp; iter&lt;max" in svg
    assert all(name in svg for name in ("START", "Planner", "Executor", "Summarizer", "END"))
    with Image.open(tmp_path / "graph.png") as image:
        assert image.size[0] > 300
        assert len(image.convert("RGB").getcolors(1 << 20) or []) > 2
    assert (tmp_path / "graph.mmd").read_text() == SPECIFIED_DIAGRAM + "\n"
    with pytest.raises(UsageError, match=r"use \.png, \.svg or \.mmd"):
        visualize_graph(tmp_path / "graph.bmp")


def test_a_run_begins_at_zero_with_the_default_limit_and_ends_with_an_answer(tmp_path: Path) -> None:
    final = run_pipeline(QUERY, picture(tmp_path), config=config())

    assert (final["iteration_count"], final["max_replan_iterations"]) == (0, 2)
    assert (final["error"], final["replan_history"]) == (None, [])
    assert final["summarizer_result"].final_answer == "C"
    assert final["ledger"].total.calls == 5
    assert set(final["ledger"].nodes) == {"planner", "executor", "summarizer"}


def test_the_limit_of_a_run_wins_over_that_of_the_settings(tmp_path: Path) -> None:
    patient = config(settings=settings(pipeline={"max_replan_iterations": 5}))

    assert run_pipeline(QUERY, picture(tmp_path), config=patient)["max_replan_iterations"] == 5
    assert run_pipeline(QUERY, picture(tmp_path), None, 0, config=patient)["max_replan_iterations"] == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"image_path": "gone.png"}, "gone.png: no such file"),
        ({"reference_path": "gone.png"}, "gone.png: no such file"),
        ({"query": "  "}, "the question is blank"),
        ({"query": "why? " * 5000}, "25000 characters"),
        ({"max_replan_iterations": -1}, "must be 0 or more"),
        ({"thread_id": "x"}, "checkpointer"),
        ({"choices": "Yes or No"}, "choices must be texts by letter"),
        ({"choices": [1, 2]}, "choices must be texts by letter"),
        ({"choices": ["Yes"]}, "choices must be at least two"),
    ],
)
def test_what_cannot_be_used_ends_the_run_before_any_model_is_asked(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    client = scripted()
    arguments = {"query": QUERY, "image_path": picture(tmp_path), **changes}

    final = run_pipeline(**arguments, config=config(client))

    assert message in str(final["error"])
    assert client.requests == []
    assert "summarizer_result" not in final


def test_a_reference_of_another_size_is_refused(tmp_path: Path) -> None:
    reference = picture(tmp_path, "small.png", (40, 32))

    final = run_pipeline(QUERY, picture(tmp_path), reference, config=config())

    assert "test and reference differ in size (48×32 and 40×32)" in str(final["error"])


def test_unusable_settings_end_the_run_with_the_error(tmp_path: Path) -> None:
    unusable = {"configurable": {"settings": settings(planner={"backend": "nobody.knows"})}}

    final = run_pipeline(QUERY, picture(tmp_path), config=unusable)  # type: ignore[arg-type]

    assert "no model backend named 'nobody'" in str(final["error"])


def test_progress_is_told_in_order(tmp_path: Path) -> None:
    events: list[ProgressEvent] = []

    run_pipeline(QUERY, picture(tmp_path), config=config(), on_event=events.append)

    nodes = [(event.node, event.status) for event in events if event.subtask is None]
    assert nodes == [
        (node, status) for node in ("planner", "executor", "summarizer") for status in ("started", "finished")
    ]
    subtasks = [event.subtask for event in events if event.subtask and event.status == "finished"]
    assert subtasks == ["distortion_detection", "distortion_analysis", "tool_selection", "tool_execution"]
    assert all(event.seconds is not None for event in events if event.status == "finished")


@pytest.mark.parametrize("choices", [["Blurred", "Sharp"], ["No", "Ja"]])
def test_choices_given_to_a_run_may_be_a_list(tmp_path: Path, choices: list[str]) -> None:
    said = {"final_answer": choices[1], "quality_reasoning": "Crisp edges."}

    final = run_pipeline(
        "Which fits?",
        picture(tmp_path),
        choices=choices,
        config=config(scripted(plan=plan_reply(query_type="MCQ"), answer=said)),
    )

    assert final["summarizer_result"].final_answer == "B"


@pytest.mark.parametrize("missing", ["query", "image_path"])
def test_a_state_without_question_or_image_ends_the_graph_with_what_is_missing(tmp_path: Path, missing: str) -> None:
    client = scripted()
    state: Any = {"query": QUERY, "image_path": picture(tmp_path)}
    del state[missing]

    final = build_graph().invoke(state, config(client))

    assert f"the state has no {missing}; give the question and the image's path" in str(final["error"])
    assert client.requests == []


def test_the_bare_graph_refuses_a_reference_of_another_size_before_any_model_is_asked(tmp_path: Path) -> None:
    client = scripted()
    pair: Any = {
        "query": QUERY,
        "image_path": picture(tmp_path),
        "reference_path": picture(tmp_path, "small.png", (40, 32)),
    }

    final = build_graph().invoke(pair, config(client))

    assert "test and reference differ in size (48×32 and 40×32)" in str(final["error"])
    assert client.requests == []


def test_choices_given_to_a_run_reach_the_answer(tmp_path: Path) -> None:
    client = scripted(
        plan=plan_reply(query_type="MCQ"), answer={"final_answer": "Sharp", "quality_reasoning": "Crisp edges."}
    )

    final = run_pipeline(
        "Which fits?", picture(tmp_path), choices={"A": "Blurred", "B": "Sharp"}, config=config(client)
    )

    assert final["summarizer_result"].final_answer == "B"


def test_a_run_with_a_reference_uses_full_reference_tools(tmp_path: Path) -> None:
    client = scripted(select_tools={"selected_tools": {}})
    tools = (FixedTool("ALONE"), FixedTool("PAIR", 3.3, reference="FR"))
    reference = picture(tmp_path, "reference.png", seed=1)

    final = run_pipeline(QUERY, picture(tmp_path), reference, config=config(client, tools))

    evidence = final["executor_evidence"]
    assert evidence is not None
    assert evidence.quality_scores == {"Global": {"Blurs": ("PAIR", 3.3)}}


def test_a_kept_state_comes_back_with_its_own_types(tmp_path: Path) -> None:
    image = picture(tmp_path)
    with sqlite_saver(tmp_path / "runs.sqlite") as on_disk:
        savers: tuple[BaseCheckpointSaver[Any], ...] = (memory_saver(), on_disk)
        for saver in savers:
            first = run_pipeline(QUERY, image, config=config(), checkpointer=saver, thread_id="one")
            kept = build_graph(checkpointer=saver).get_state({"configurable": {"thread_id": "one"}}).values
            assert kept == first


def test_langgraph_studio_finds_the_graph() -> None:
    root = Path(__file__).parents[2]
    described = json.loads((root / "langgraph.json").read_text())

    file, _, function = described["graphs"]["agenticiqa"].partition(":")
    spec = importlib.util.spec_from_file_location("studio", root / file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    assert list(getattr(module, function)().get_graph().nodes)[1:4] == ["planner", "executor", "summarizer"]


@pytest.mark.filterwarnings("ignore:This API is in beta")
def test_the_graphs_input_has_a_json_schema_and_the_graph_is_a_tool() -> None:
    schema = build_graph().get_input_jsonschema()

    assert {"query", "image_path"} <= set(schema["properties"])
    assert schema["required"] == ["query", "image_path"]
    assert build_graph().as_tool(name="assess", description="Assesses an image.").name == "assess"


def test_the_graph_runs_inside_another_graph(tmp_path: Path) -> None:
    outer = StateGraph(AgenticIQAState)
    outer.add_node("assess", build_graph())
    outer.add_edge(START, "assess")

    final = outer.compile().invoke({"query": QUERY, "image_path": picture(tmp_path)}, config())

    assert final["summarizer_result"].final_answer == "C"


def test_the_graph_is_awaited_and_streams_its_progress(tmp_path: Path) -> None:
    asked: Any = {"query": QUERY, "image_path": picture(tmp_path)}

    async def run() -> tuple[Any, list[Any]]:
        final = await build_graph().ainvoke(asked, config())
        events = [event async for event in build_graph().astream(asked, config(), stream_mode="custom")]
        return final, events

    final, events = asyncio.run(run())

    assert final["summarizer_result"].final_answer == "C"
    assert [event["node"] for event in events if event["subtask"] is None and event["status"] == "finished"] == [
        "planner", "executor", "summarizer",
    ]  # fmt: skip
    assert {"distortion_detection", "tool_execution"} <= {event["subtask"] for event in events}


def test_images_outside_the_allowed_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    bounded = settings(pipeline={"allowed_root": str(tmp_path / "inside")})

    refused = run_pipeline(QUERY, picture(tmp_path), config=config(settings=bounded))
    allowed = run_pipeline(QUERY, picture(tmp_path / "inside"), config=config(settings=bounded))

    assert "outside the allowed folder" in str(refused["error"])
    assert allowed["error"] is None
