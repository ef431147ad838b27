"""Assessing images from Python."""

from agenticiqa.assessor.assessing import DEFAULT_QUERY, Assessor, assess
from agenticiqa.assessor.assessment import SCHEMA_VERSION, Assessment, Finding, ToolReading
from agenticiqa.assessor.provenance import Provenance

__all__ = [
    "DEFAULT_QUERY",
    "SCHEMA_VERSION",
    "Assessment",
    "Assessor",
    "Finding",
    "Provenance",
    "ToolReading",
    "assess",
]
