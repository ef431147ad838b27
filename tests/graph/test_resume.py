"""Resuming: a run that was killed goes on where it stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenticiqa.graph import build_graph, memory_saver, run_pipeline, sqlite_saver
from tests.support.agent import FAIR, QUERY, config, picture, scripted

ROOT = Path(__file__).parents[2]
# Kills itself in the summarizer's call, after the executor has finished; every model call is a line in a file.
CRASHING = """
import os, signal, sys
from agenticiqa.graph import run_pipeline, sqlite_saver
from tests.support.agent import FAIR, QUERY, config, script
from agenticiqa.vlm_client import ScriptedVLMClient

class Counted(ScriptedVLMClient):
    def ask(self, request):
        with open(sys.argv[3], "a") as calls:
            calls.write(request.task + "\\n")
        if request.task == "score" and sys.argv[4] == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().ask(request)

with sqlite_saver(sys.argv[1]) as saver:
    final = run_pipeline(QUERY, sys.argv[2], config=config(Counted(script())), checkpointer=saver, thread_id="t1")
print(final["summarizer_result"].final_answer, final["ledger"].total.calls)
"""


def run_in_a_process(tmp_path: Path, image: str, mode: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CRASHING, str(tmp_path / "runs.sqlite"), image, str(tmp_path / "calls"), mode]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    return subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.slow
def test_after_a_kill_between_executor_and_summarizer_the_executors_calls_are_not_repeated(tmp_path: Path) -> None:
    image = picture(tmp_path)

    killed = run_in_a_process(tmp_path, image, "crash")
    resumed = run_in_a_process(tmp_path, image, "finish")

    assert killed.returncode == -signal.SIGKILL
    assert resumed.stdout.split() == ["C", "5"], resumed.stderr
    calls = (tmp_path / "calls").read_text().split()
    assert calls == ["plan", "detect", "analyze", "select_tools", "score", "score"]


def test_an_interrupted_run_goes_on_from_memory(tmp_path: Path) -> None:
    image, saver = picture(tmp_path), memory_saver()
    client = scripted(score=[KeyboardInterrupt(), FAIR])

    with pytest.raises(KeyboardInterrupt):
        run_pipeline(QUERY, image, config=config(client), checkpointer=saver, thread_id="t")
    final = run_pipeline(QUERY, image, config=config(client), checkpointer=saver, thread_id="t")

    assert final["summarizer_result"].final_answer == "C"
    assert [request.task for request in client.requests].count("detect") == 1


def test_a_store_of_checkpoints_that_fails_is_an_error_in_the_state(tmp_path: Path) -> None:
    with sqlite_saver(tmp_path / "runs.sqlite") as saver:
        pass

    final = run_pipeline(QUERY, picture(tmp_path), config=config(), checkpointer=saver, thread_id="t")

    assert "closed database" in str(final["error"])


def test_a_finished_run_is_not_repeated(tmp_path: Path) -> None:
    image, client = picture(tmp_path), scripted()

    with sqlite_saver(tmp_path / "runs.sqlite") as saver:
        first = run_pipeline(QUERY, image, config=config(client), checkpointer=saver, thread_id="t")
        again = run_pipeline(QUERY, image, config=config(client), checkpointer=saver, thread_id="t")

    assert again == first
    assert len(client.requests) == 5


def test_a_failed_run_is_tried_again_from_the_start(tmp_path: Path) -> None:
    image, saver = picture(tmp_path), memory_saver()

    failed = run_pipeline(QUERY, image, config=config(scripted(plan="no")), checkpointer=saver, thread_id="t")
    again = run_pipeline(QUERY, image, config=config(), checkpointer=saver, thread_id="t")

    assert failed["error"]
    assert (again["error"], again["summarizer_result"].final_answer) == (None, "C")


def test_another_question_on_a_thread_starts_afresh(tmp_path: Path) -> None:
    image, saver = picture(tmp_path), memory_saver()
    doubtful = scripted(detect={"distortion_set": {"Global": ["Blurs"]}, "uncertainties": ["too dark"]})
    first = run_pipeline(QUERY, image, config=config(doubtful), checkpointer=saver, thread_id="t")

    other = run_pipeline("Is it blurred?", image, config=config(), checkpointer=saver, thread_id="t")

    assert first["replan_history"]
    assert (other["error"], other["iteration_count"], other["replan_history"]) == (None, 0, [])
    assert other["ledger"].total.calls == 5


def test_a_bare_question_on_a_used_thread_of_the_graph_starts_afresh(tmp_path: Path) -> None:
    image, graph = picture(tmp_path), build_graph(checkpointer=memory_saver())
    thread: Any = {"configurable": {"thread_id": "t", **config(scripted(plan="no"))["configurable"]}}
    failed = graph.invoke({"query": QUERY, "image_path": image}, thread)
    thread["configurable"] |= config()["configurable"]

    again = graph.invoke({"query": "Is it noisy?", "image_path": image}, thread)

    assert failed["error"]
    assert (again["error"], again["iteration_count"], again["summarizer_result"].final_answer) == (None, 0, "C")


def test_two_threads_do_not_know_each_other(tmp_path: Path) -> None:
    image, saver, client = picture(tmp_path), memory_saver(), scripted()

    for thread in ("one", "two"):
        run_pipeline(QUERY, image, config=config(client), checkpointer=saver, thread_id=thread)

    assert len(client.requests) == 10


def test_an_image_that_is_not_there_does_not_get_the_answer_of_the_one_before(tmp_path: Path) -> None:
    image, graph = picture(tmp_path), build_graph(checkpointer=memory_saver())
    thread: Any = {"configurable": {"thread_id": "t", **config()["configurable"]}}
    first = graph.invoke({"query": QUERY, "image_path": image}, thread)

    second = graph.invoke({"query": QUERY, "image_path": str(tmp_path / "missing.jpg")}, thread)

    assert first["summarizer_result"].final_answer == "C"
    assert "missing.jpg: no such file" in second["error"]
    assert (second["summarizer_result"], second["plan"], second["executor_evidence"]) == (None, None, None)


def test_our_types_are_registered_with_any_checkpointer(tmp_path: Path) -> None:
    # In a process of its own: LangGraph warns of a type once per process.
    code = """
import logging, sys
from langgraph.checkpoint.memory import InMemorySaver
from agenticiqa.graph import build_graph, run_pipeline
from tests.support.agent import QUERY, config
logging.basicConfig(level=logging.WARNING, stream=sys.stdout)
saver = InMemorySaver()
run_pipeline(QUERY, sys.argv[1], config=config(), checkpointer=saver, thread_id="t")
kept = build_graph(checkpointer=saver).get_state({"configurable": {"thread_id": "t"}}).values
print(type(kept["summarizer_result"]).__name__, type(kept["plan"]).__name__, type(kept["ledger"]).__name__)
"""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}

    done = subprocess.run(
        [sys.executable, "-c", code, picture(tmp_path)], env=environment, capture_output=True, text=True, check=True
    )

    assert "unregistered" not in done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "SummarizerOutput PlannerOutput Ledger"
