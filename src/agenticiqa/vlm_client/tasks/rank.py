"""Comparing several images by what a question asks."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field

from agenticiqa.vlm_client.tasks.base import Query, TaskInputs

OVERALL_QUALITY = "overall"


class ComparedImage(BaseModel, defer_build=True):
    """How much one image has of the attribute that is compared, and what was seen of it."""

    amount: Annotated[float, Field(ge=0, le=1)]
    evidence: str = ""
    visible: bool = True


class RankReply(BaseModel, defer_build=True):
    """What the question compares by, which end it asks for, and what each image has, in the order they were given.

    Of the overall quality no amounts are given: images are then ranked by their scores.
    """

    attribute: str = OVERALL_QUALITY
    first: Literal["most", "least"] = "most"
    images: list[ComparedImage] = Field(default_factory=list)
    why_not: str | None = None


class RankInputs(TaskInputs[RankReply]):
    """A question about several images, named by the numbers they are shown under."""

    task: ClassVar[str] = "rank"
    reply: ClassVar[type[BaseModel]] = RankReply

    query: Query
    images: tuple[str, ...] = Field(title="Images, in this order")

    def narrow(self, fields: dict[str, Any]) -> None:
        """At most one entry per image."""
        if "images" in fields:
            fields["images"]["maxItems"] = len(self.images)
