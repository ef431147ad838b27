"""What is known of each tool, as JSON values for listings."""

from __future__ import annotations

from typing import Any

from agenticiqa.tools.registry import ToolRegistry


def describe_tools(registry: ToolRegistry) -> list[dict[str, Any]]:
    """One entry per tool, in the catalogue's order."""
    return [describe_tool(registry, name) for name in registry.names()]


def describe_tool(registry: ToolRegistry, name: str) -> dict[str, Any]:
    """What is known of one tool, and whether it runs and votes here."""
    card, calibration, missing = registry.card(name), registry.calibration(name), registry.available(name)
    return {
        "name": card.name,
        "reference": card.reference,
        "available": missing is None,
        "reason": missing,
        "votes": registry.votes(name),
        "why_not": _why_not(registry, name),
        "calibration": calibration.method if calibration else None,
        "spread": calibration.overall.spread if calibration else None,
        "higher_is_better": card.higher_is_better,
        "range": list(card.raw_range),
        "unit": card.unit,
        "licence": card.licence,
        "research_only": card.research_only or (calibration is not None and calibration.research_only),
        "strengths": list(card.strengths),
        "cost": card.cost,
        "variant": card.variant,
        "implementation": card.implementation,
    }


def _why_not(registry: ToolRegistry, name: str) -> str | None:
    if registry.votes(name):
        return None
    if registry.card(name).role == "attribute":
        return "a measured attribute"
    if registry.card(name).never_votes:
        return registry.card(name).never_votes
    return f"no calibration; agenticiqa calibrate --ladder {name}"
