"""The graph's own cost: CPU time of a run through LangGraph against a plain function that calls the same steps.

Run: python benchmarks/graph.py [--runs N]. Scripted replies and a fixed tool, so that nothing but the graph differs.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.runnables import RunnableConfig
from PIL import Image

from agenticiqa.config import load_settings
from agenticiqa.graph import decide_next_node, prepare_run, sqlite_saver
from agenticiqa.graph.flow import initial_state
from agenticiqa.nodes.executor import executor_node
from agenticiqa.nodes.planner import planner_node
from agenticiqa.nodes.summarizer import summarizer_node
from agenticiqa.state import AgenticIQAState
from agenticiqa.tools import Pixels, Tool, ToolCard, ToolRegistry, same_scale
from agenticiqa.vlm_client import ScriptedVLMClient

LIMIT_MS = 10.0
BLUR = {"type": "Blurs", "severity": "moderate", "explanation": "Edges appear soft."}
SCRIPT: dict[str, Any] = {
    "plan": {
        "query_type": "IQA",
        "query_scope": "Global",
        "distortion_source": "Inferred",
        "distortions": None,
        "reference_mode": "No-Reference",
        "required_tool": None,
        "plan": {
            "distortion_detection": True,
            "distortion_analysis": True,
            "tool_selection": True,
            "tool_execution": True,
        },
    },
    "detect": {"distortion_set": {"Global": ["Blurs"]}},
    "analyze": {"distortion_analysis": {"Global": [BLUR]}},
    "select_tools": {"selected_tools": {"Global": {"Blurs": "GAUGE"}}},
    "score": {"final_answer": "C", "quality_reasoning": "Moderate blur."},
}


class Gauge(Tool):
    """Says 2.6 of every image."""

    card = ToolCard(
        name="GAUGE",
        reference="NR",
        higher_is_better=True,
        raw_range=(1, 5),
        implementation="builtin:gauge",
        licence="Apache-2.0",
        cost="cheap",
        variant="a fixed number",
        min_side=1,
    )
    calibration = same_scale("none", spread=0.2)

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        """2.6."""
        return 2.6


def plain_run(state: AgenticIQAState, config: RunnableConfig) -> AgenticIQAState:
    """The same steps as the graph, called one after the other."""
    merged: Any = dict(state)
    while True:
        for node in (planner_node, executor_node, summarizer_node):
            merged.update(node(merged, config))
        if decide_next_node(merged) == "__end__":
            final: AgenticIQAState = merged
            return final


def cpu_ms(work: Callable[[], object], runs: int, repeats: int = 5) -> float:
    """The median CPU time of one call in milliseconds."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        for _ in range(runs):
            work()
        times.append((time.process_time() - started) / runs * 1000)
    return statistics.median(times)


def main() -> int:
    """Prints the figures as JSON; exit code 1 when the limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    runs = parser.parse_args().runs
    logging.getLogger("agenticiqa").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), runs)
    figures["limit_ms"] = LIMIT_MS
    figures["kept"] = figures["overhead_ms"] < LIMIT_MS
    print(json.dumps(figures, indent=2))
    return 0 if figures["kept"] else 1


def measure(folder: Path, runs: int) -> dict[str, Any]:
    """CPU milliseconds per run: plain, through the graph, and through the graph with SQLite checkpoints."""
    image = folder / "image.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)).save(image)
    clients = dict.fromkeys(("planner", "executor", "summarizer"), ScriptedVLMClient(SCRIPT))
    parts = {"vlm_clients": clients, "tools": ToolRegistry([Gauge()]), "settings": load_settings(environ={})}
    state = initial_state("Rate it.", str(image), None, None)
    config: RunnableConfig = {"configurable": parts}
    run = prepare_run(state, config)
    run.carry_out()
    plain = cpu_ms(lambda: plain_run(run.state, run.config), runs)
    graph = cpu_ms(run.carry_out, runs)
    with sqlite_saver(folder / "runs.sqlite") as saver:
        kept = cpu_ms(lambda: prepare_run(state, config, saver).carry_out(), runs)
    return {
        "plain_ms": round(plain, 2),
        "graph_ms": round(graph, 2),
        "graph_with_sqlite_ms": round(kept, 2),
        "overhead_ms": round(graph - plain, 2),
        "overhead_with_sqlite_ms": round(kept - plain, 2),
    }


if __name__ == "__main__":
    raise SystemExit(main())
