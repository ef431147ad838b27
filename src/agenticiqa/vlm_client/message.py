"""A request as it goes over the wire, before a provider's own format, and the way to the provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agenticiqa.vlm_client.client import Sampling
from agenticiqa.vlm_client.encoding import SentImage
from agenticiqa.vlm_client.schemas import Schema, schema_rule

Parameters = Mapping[str, Mapping[str, Any]]
"""Parameters of a request by the group that is given up together."""


@dataclass(frozen=True)
class Link:
    """How one model of a service is reached."""

    model: str
    base_url: str
    key: str = field(repr=False)
    timeout: float = 60.0
    keep_metadata: bool = False
    secrets: tuple[str, ...] = field(default=(), repr=False)


SHARED_SYSTEM = "You are part of an image quality assessment system. Look at the images, then do what is asked."
"""What every request says before its images when all of a run have to begin alike."""


@dataclass(frozen=True)
class Message:
    """One request as it goes over the wire, before a provider's own format."""

    system: str
    user: str
    images: tuple[SentImage, ...]
    sampling: Sampling
    schema: Schema | None = None
    wants_levels: bool = False
    room_added: bool = False
    images_first: bool = False


def system_text(message: Message, *, enforced: bool) -> str:
    """The system text, with the reply's schema in words when the service does not enforce it."""
    if enforced or message.schema is None:
        return message.system
    return f"{message.system}\n\n{schema_rule(message.schema)}".strip()
