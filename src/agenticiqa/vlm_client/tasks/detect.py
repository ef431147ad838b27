"""Detection: which distortions are visible."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, Field

from agenticiqa.state import Gap
from agenticiqa.vlm_client.tasks.base import Categories, Mode, Objects, Query, TaskInputs, list_of, map_of, one_of

DETECTION_PROMPT_TEMPLATE = """\
You are an expert in distortion detection. Look at the test image, and at the reference image if one is given, and
name the distortions visible in each listed object ("Global" is the whole image). Use only the listed categories.
A style the photographer chose (bokeh, night, fog, black and white) is not a distortion. An object without a
distortion gets an empty list. What you cannot judge goes to uncertainties.
Return a valid JSON object:
{
  "distortion_set": {"<object or Global>": ["<category>", ...]},
  "uncertainties": ["<what could not be judged>", ...]
}
"""


class DetectReply(BaseModel):
    """The distortions seen, per object; free words, of which the executor drops what it cannot use."""

    distortion_set: dict[str, list[str]]
    uncertainties: list[str] = Field(default_factory=list)


class DetectInputs(TaskInputs[DetectReply]):
    """Objects in which distortions are looked for; on a replan with the doubt about what was seen before."""

    task: ClassVar[str] = "detect"
    prompt: ClassVar[str] = DETECTION_PROMPT_TEMPLATE
    reply: ClassVar[type[BaseModel]] = DetectReply

    query: Query
    objects: Objects
    categories: Categories
    reference_mode: Mode
    gap: Gap | None = Field(default=None, title="What the last look left open; look at this again, closely")

    def narrow(self, fields: dict[str, Any]) -> None:
        """Only the objects and categories asked about."""
        if "distortion_set" in fields:
            seen = list_of(one_of(self.categories), len(self.categories))
            fields["distortion_set"] = map_of(self.objects, seen)
