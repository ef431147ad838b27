"""Location: where the named objects are."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from pydantic import BaseModel, field_validator

from agenticiqa.vlm_client.tasks.base import Objects, TaskInputs, map_of

LOCATION_PROMPT_TEMPLATE = """\
You locate objects in images. For each listed object give the smallest box that holds it in the test image, as left,
top, right, bottom in fractions of the image's width and height (0 to 1, origin at the top left).
An object you cannot find gets null; never guess.
Return a valid JSON object:
{
  "regions": {"<object>": [<left>, <top>, <right>, <bottom>] | null}
}
"""

Box = tuple[float, float, float, float]


class LocateReply(BaseModel):
    """The box of each object as left, top, right, bottom in fractions of width and height; null if not found."""

    regions: dict[str, Box | None]

    @field_validator("regions")
    @classmethod
    def _inside_the_image(cls, regions: dict[str, Box | None]) -> dict[str, Box | None]:
        for name, box in regions.items():
            if box is not None and not _is_inside(box):
                raise ValueError(f"{name}: a box is left < right and top < bottom, in fractions from 0 to 1")
        return regions


class LocateInputs(TaskInputs[LocateReply]):
    """Objects whose box in the image is asked for."""

    task: ClassVar[str] = "locate"
    prompt: ClassVar[str] = LOCATION_PROMPT_TEMPLATE
    reply: ClassVar[type[BaseModel]] = LocateReply

    objects: Objects

    def narrow(self, fields: dict[str, Any]) -> None:
        """Only the objects asked about."""
        if "regions" in fields:
            fields["regions"] = map_of(self.objects, fields["regions"]["additionalProperties"])


def _is_inside(box: Box) -> bool:
    left, top, right, bottom = box
    return all(math.isfinite(side) for side in box) and 0 <= left < right <= 1 and 0 <= top < bottom <= 1
