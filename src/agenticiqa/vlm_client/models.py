"""What is known of hosted models: spellings, models that are gone, what each family takes; `models.yaml` has it."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from importlib import resources
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict


class Entry(BaseModel):
    """Base of the table's entries."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Retired(Entry):
    """When a model ends and a living one; `verified` is false where no SDK's list names the date."""

    ends: date
    use: str
    verified: bool = True


class Family(Entry):
    """Models alike in what they take: groups of parameters they refuse, and room they need for thinking."""

    models: str
    leaves_out: frozenset[str] = frozenset()
    room: int = 0


UNKNOWN = Family(models="")
"""An unknown model is asked for everything."""


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """The packaged table."""
    text = resources.files("agenticiqa.vlm_client").joinpath("models.yaml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return content


def official_name(provider: str, model: str) -> str:
    """The service's own name for a model; names the table does not list pass unchanged."""
    aliases: dict[str, str] = table()["aliases"].get(provider, {})
    return aliases.get(model.lower(), model)


def retired(backend: str) -> Retired | None:
    """When this backend's model ends, if that is known; spellings are understood."""
    provider, _, model = backend.partition(".")
    entry = table()["retired"].get(f"{provider}.{official_name(provider, model)}")
    return Retired.model_validate(entry) if entry else None


@lru_cache(maxsize=64)
def family_of(provider: str, model: str) -> Family:
    """The family a model belongs to by its name."""
    families = map(Family.model_validate, table()["families"].get(provider, ()))
    return next((family for family in families if re.search(family.models, model)), UNKNOWN)
