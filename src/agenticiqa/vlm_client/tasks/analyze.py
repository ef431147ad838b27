"""Analysis: how severe a distortion is and what it looks like."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, Field

from agenticiqa.state import SEVERITIES, Gap
from agenticiqa.vlm_client.tasks.base import Mode, PerObject, Query, Schema, TaskInputs, list_of, object_of, one_of

ANALYSIS_PROMPT_TEMPLATE = """\
You are a distortion analysis expert. For each listed distortion of each object, judge how severe it is in the test
image and describe what it looks like, compared with the reference image if one is given.
The severities are: none, slight, moderate, severe, extreme.
Return a valid JSON object:
{
  "distortion_analysis": {
    "<object or Global>": [
      {"type": "<distortion>", "severity": "<severity>", "explanation": "<what is seen, in one sentence>"}
    ]
  },
  "uncertainties": ["<what could not be judged>", ...]
}
"""


class AnalyzedDistortion(BaseModel):
    """One distortion as the model describes it."""

    type: str
    severity: str
    explanation: str


class AnalyzeReply(BaseModel):
    """The severity and look of each distortion, per object."""

    distortion_analysis: dict[str, list[AnalyzedDistortion]]
    uncertainties: list[str] = Field(default_factory=list)


class AnalyzeInputs(TaskInputs[AnalyzeReply]):
    """Distortions whose severity is asked for, per object; on a replan with the doubt about the last judgement."""

    task: ClassVar[str] = "analyze"
    prompt: ClassVar[str] = ANALYSIS_PROMPT_TEMPLATE
    reply: ClassVar[type[BaseModel]] = AnalyzeReply

    query: Query
    distortions: PerObject
    reference_mode: Mode
    gap: Gap | None = Field(default=None, title="What the last judgement left open; look at this again, closely")

    def narrow(self, fields: dict[str, Any]) -> None:
        """Only the objects and distortions asked about, each once."""
        if "distortion_analysis" in fields:
            fields["distortion_analysis"] = object_of({o: _analysis(kinds) for o, kinds in self.distortions.items()})


def _analysis(kinds: list[str]) -> Schema:
    described: dict[str, Schema] = {
        "type": one_of(kinds),
        "severity": one_of(SEVERITIES),
        "explanation": {"type": "string"},
    }
    return list_of(object_of(described), len(kinds))
