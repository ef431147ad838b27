"""Telling a new question from another pass on the same one, on a state that may have seen questions before."""

from __future__ import annotations

import hashlib
import json
from typing import Any, cast

from agenticiqa.nodes.replanning import replan_limit
from agenticiqa.state import AgenticIQAState, Ledger

_QUESTION = ("query", "image_path", "reference_path", "choices")
# What an earlier question may have left, and what it is at the start of one.
_AT_THE_START: dict[str, Any] = {
    "error": None,
    "iteration_count": 0,
    "replan_history": [],
    "plan": None,
    "executor_evidence": None,
    "gap": None,
    "plan_notes": [],
    "pass_key": "",
    "repeated": False,
}


def is_replan(state: AgenticIQAState) -> bool:
    """Whether the summarizer has just asked for a new plan for this very question."""
    result = state.get("summarizer_result")
    asked_again = result is not None and result.need_replan and state.get("iteration_count", 0) > 0
    within = state.get("iteration_count", 0) < replan_limit(state)
    return bool(
        asked_again and within and not state.get("error") and state.get("asked", key_of(state)) == key_of(state)
    )


def fresh_start(state: AgenticIQAState) -> tuple[dict[str, Any], AgenticIQAState]:
    """The update that clears what an earlier question left, and the state with it.

    A state that has seen no question keeps what its caller put in: plans and histories may be handed over.
    """
    update: dict[str, Any] = {"asked": key_of(state)}
    if "asked" in state:
        update |= {name: value for name, value in _AT_THE_START.items() if state.get(name)}
        update["ledger"] = Ledger()
    return update, cast(AgenticIQAState, {**state, **update})


def key_of(state: AgenticIQAState) -> str:
    """The same for the same question about the same image."""
    question = json.dumps([state.get(name) for name in _QUESTION], sort_keys=True, default=str)
    return hashlib.sha256(question.encode(errors="surrogatepass")).hexdigest()
