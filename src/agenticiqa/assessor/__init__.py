"""Assessing images from Python."""

from agenticiqa.assessor.assessing import DEFAULT_QUERY, Assessor, assess, compare
from agenticiqa.assessor.assessment import SCHEMA_VERSION, Assessment, Finding, ToolReading
from agenticiqa.assessor.provenance import Provenance
from agenticiqa.assessor.ranking import Pair, Ranked, Ranking, rank

__all__ = [
    "DEFAULT_QUERY",
    "SCHEMA_VERSION",
    "Assessment",
    "Assessor",
    "Finding",
    "Pair",
    "Provenance",
    "Ranked",
    "Ranking",
    "ToolReading",
    "assess",
    "compare",
    "rank",
]
