"""Whether a gap in the evidence leads to a new plan."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from agenticiqa.nodes.sufficiency import first_gap
from agenticiqa.state import (
    DEFAULT_MAX_REPLAN_ITERATIONS,
    AgenticIQAState,
    ExecutorOutput,
    Gap,
    PlannerOutput,
)

logger = logging.getLogger("agenticiqa.nodes.summarizer")


@dataclass(frozen=True)
class Decision:
    """The gap in the evidence, if any, and why it does not lead to a new plan, if it does not."""

    gap: Gap | None = None
    ended_by: str = ""

    @property
    def needs_replan(self) -> bool:
        """Whether a new plan is asked for."""
        return self.gap is not None and not self.ended_by

    def notes(self) -> list[str]:
        """What the reasoning has to say of it."""
        if self.gap is None:
            return []
        return [f"{self.ended_by or 'A new plan is needed'}; remaining gap: {self.gap.reason}"]


def decide(
    evidence: ExecutorOutput | None, plan: PlannerOutput | None, state: AgenticIQAState, deterministic: bool
) -> Decision:
    """The decision for this pass; the limit is compared with the count the pass began with."""
    if plan is None:
        return Decision()
    gap = first_gap(evidence or ExecutorOutput(), plan.query_scope, plan)
    if gap is None:
        return Decision()
    limit = replan_limit(state)
    if state.get("iteration_count", 0) >= limit:
        logger.warning("Max replanning iterations (%d) reached", limit)
        return Decision(gap, f"Max replanning iterations ({limit}) reached")
    if state.get("repeated"):
        logger.info("the new plan would have repeated the last pass: no further plan is asked for")
        return Decision(gap, "A new plan would have repeated the same requests")
    # The planner has answered this very gap, and it is still there: the same inputs would give the same evidence.
    if deterministic and state.get("gap") == gap:
        logger.info("the new plan changed nothing for a deterministic backend: no further plan is asked for")
        return Decision(gap, "A new plan changed nothing and the backend is deterministic")
    return Decision(gap)


def replan_limit(state: AgenticIQAState) -> int:
    """The run's limit; 0 stays 0, and only a missing one is the default."""
    limit = state.get("max_replan_iterations")
    return DEFAULT_MAX_REPLAN_ITERATIONS if limit is None else limit
