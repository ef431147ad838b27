"""Each node's prompts are constants beside it: what stands there is what is sent, and what the provenance names."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agenticiqa.assessor import Assessor
from agenticiqa.graph import run_pipeline
from agenticiqa.nodes import executor, planner, summarizer
from agenticiqa.parts import parts_from
from agenticiqa.vlm_client import ScriptedVLMClient
from tests.support.agent import config, picture, plan_reply, scripted, settings

PROMPTS = [
    (planner, "PLANNER_PROMPT_TEMPLATE", "plan"),
    (executor, "DETECTION_PROMPT_TEMPLATE", "detect"),
    (executor, "ANALYSIS_PROMPT_TEMPLATE", "analyze"),
    (executor, "SELECTION_PROMPT_TEMPLATE", "select_tools"),
    (executor, "LOCATION_PROMPT_TEMPLATE", "locate"),
    (executor, "INSPECTION_PROMPT_TEMPLATE", "inspect"),
    (summarizer, "EXPLANATION_PROMPT_TEMPLATE", "answer"),
    (summarizer, "SCORING_PROMPT_TEMPLATE", "score"),
]


def sent(folder: Path, task: str) -> dict[str, str]:
    """The system words of every request of a run that asks the task, by task."""
    client = asking(task)
    mode = "fast" if task == "inspect" else "full"
    run_pipeline(
        "Is the cat sharp?", picture(folder), config=config(client, settings=settings(pipeline={"mode": mode}))
    )
    return {request.task: request.system for request in client.requests}


def asking(task: str) -> ScriptedVLMClient:
    changes: dict[str, Any] = {"query_scope": ["cat"]} if task == "locate" else {}
    if task == "answer":
        changes["query_type"] = "Other"
    return scripted(plan=plan_reply(**changes), inspect={"findings": {"Global": []}})


@pytest.mark.parametrize(("node", "name", "task"), PROMPTS)
def test_changing_a_prompts_constant_changes_what_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, node: ModuleType, name: str, task: str
) -> None:
    before = sent(tmp_path, task)
    # The constant itself is what is tried here: no part is replaced.
    monkeypatch.setattr(node, name, f"Other words for {task}.")

    after = sent(tmp_path, task)

    assert after == {**before, task: f"Other words for {task}."}


def test_the_provenance_has_the_hash_of_every_prompt_as_it_is_sent(tmp_path: Path) -> None:
    run = {task: text for _, _, task in PROMPTS for text in [sent(tmp_path, task)[task]]}

    parts = parts_from(config()["configurable"])
    found = Assessor(parts=parts).assess(picture(tmp_path)).provenance.prompt_sha256

    assert found == {task: hashlib.sha256(words.encode()).hexdigest() for task, words in run.items()}
