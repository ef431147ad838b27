"""JSON schemas of replies, in the forms that services enforce."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

# Words about the schema, and bounds that services do not enforce; pydantic checks the bounds afterwards.
_DROPPED = ("title", "default", "examples", "minLength", "maxLength")


def closed_schema(model: type[BaseModel]) -> dict[str, Any] | None:
    """The schema with every property required and no others allowed; None if it has maps with free keys."""
    try:
        closed: dict[str, Any] = _closed(model.model_json_schema())
    except _FreeKeysError:
        return None
    return closed


def schema_rule(model: type[BaseModel]) -> str:
    """The schema said in words, for services that enforce none."""
    schema = json.dumps(model.model_json_schema(), ensure_ascii=False)
    return f"Reply with one JSON object and nothing else. It must follow this JSON schema:\n{schema}"


class _FreeKeysError(Exception):
    """The schema has an object whose keys are not fixed."""


def _closed(node: Any, *, is_schema: bool = True) -> Any:
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    if not is_schema:
        return {name: _closed(value) for name, value in node.items()}
    closed = {
        name: _closed(value, is_schema=name not in ("properties", "$defs"))
        for name, value in node.items()
        if name not in _DROPPED
    }
    if closed.get("type") == "object":
        if node.get("additionalProperties", False) is not False or "properties" not in node:
            raise _FreeKeysError
        closed |= {"additionalProperties": False, "required": list(node["properties"])}
    return closed
