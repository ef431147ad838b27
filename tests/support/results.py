"""Assessments and rows for tests of rankings and reports, made by the agent itself on a scripted client."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np

from agenticiqa.assessor import Assessment, Assessor
from agenticiqa.parts import Parts
from tests.support.agent import registry, scripted, settings

ROLES = ("planner", "executor", "summarizer")


def scripted_assessor(**changes: Any) -> Assessor:
    return Assessor(parts=Parts(dict.fromkeys(ROLES, scripted(**changes)), registry(), settings()))


@lru_cache(maxsize=1)
def _base() -> str:
    pixels = np.random.default_rng(0).integers(0, 256, (32, 48, 3), np.uint8)
    return scripted_assessor().assess(pixels).to_json()


def record(**changes: Any) -> dict[str, Any]:
    """The JSON record of a scripted assessment, with some fields changed."""
    fields: dict[str, Any] = json.loads(_base())
    return {**fields, **changes}


def assessment(score: float | None, interval: tuple[float, float] | None = None, **changes: Any) -> Assessment:
    """An assessment with this score, of an image of its own."""
    fields = record(score=score, interval=interval, **changes)
    image = fields["provenance"]["images"]["test image"]
    fields["provenance"]["images"]["test image"] = {**image, "sha256": f"{score} {interval}"}
    return Assessment.model_validate(fields)


def reading(tool: str, calibrated: float | None, error: str | None = None) -> dict[str, Any]:
    """One tool's reading as JSON."""
    return {
        "tool": tool, "object_name": "Global", "distortion": "Overall", "raw": calibrated, "calibrated": calibrated,
        "voted": calibrated is not None, "fallback": False, "error": error, "notes": [], "seconds": 0.5,
    }  # fmt: skip


def finding(kind: str, severity: str | None, place: str = "Global") -> dict[str, Any]:
    """One distortion as JSON."""
    return {"object_name": place, "type": kind, "severity": severity, "explanation": "Edges appear soft."}
