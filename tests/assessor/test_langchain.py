"""The LangChain tool, with langchain-core alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from agenticiqa.assessor import Assessment, Assessor
from agenticiqa.langchain import tool
from agenticiqa.parts import Parts
from tests.support.agent import picture, registry, scripted, settings


@pytest.fixture
def judge() -> BaseTool:
    clients = dict.fromkeys(("planner", "executor", "summarizer"), scripted())
    return tool(Assessor(parts=Parts(clients, registry(), settings())))


def test_an_agent_sees_its_name_and_what_it_may_pass(judge: BaseTool) -> None:
    assert judge.name == "assess_image_quality"
    assert set(judge.args) == {"image", "question", "reference", "choices"}
    assert [name for name, field in judge.args.items() if "default" not in field] == ["image"]


def test_a_call_gives_words_and_the_whole_assessment(judge: BaseTool, tmp_path: Path) -> None:
    call = {"type": "tool_call", "id": "7", "name": judge.name, "args": {"image": picture(tmp_path)}}

    message = judge.invoke(call)

    assert isinstance(message, ToolMessage)
    assert isinstance(message.artifact, Assessment)
    assert f"Score: {message.artifact.score:.2f} of 5" in str(message.content)
    assert "Moderate blur" in str(message.content)


def test_a_file_that_is_not_there_is_told_to_the_agent(judge: BaseTool) -> None:
    call = {"type": "tool_call", "id": "7", "name": judge.name, "args": {"image": "none.jpg"}}

    message = judge.invoke(call)

    assert (message.status, message.content) == ("error", "none.jpg: no such file; check the path")


def test_langchain_itself_is_not_needed() -> None:
    code = "import sys, agenticiqa.langchain; print([m for m in sys.modules if m.split('.')[0] == 'langchain'])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
