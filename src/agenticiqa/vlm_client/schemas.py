"""JSON schemas of replies, in the forms that services enforce."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]
MAX_ITEMS, MAX_TEXT, MAX_NAME = 8, 800, 120
"""The longest list, the longest text, and the longest text inside a list or map, in characters."""
# Words about the schema, and bounds that services do not enforce; pydantic checks the bounds afterwards.
_DROPPED = ("title", "default", "examples", "minLength", "maxLength")


@lru_cache(maxsize=64)
def _written(model: type[BaseModel]) -> str:
    return json.dumps(model.model_json_schema())


def schema_of(model: type[BaseModel]) -> Schema:
    """The model's JSON schema, the caller's to change; pydantic takes milliseconds to work one out."""
    schema: Schema = json.loads(_written(model))
    return schema


def closed(schema: Schema) -> Schema | None:
    """The schema with every property required and no others allowed; None if it has maps with free keys."""
    try:
        found: Schema = _closed(schema)
    except _FreeKeysError:
        return None
    return found


def bounded(schema: Schema) -> Schema:
    """The schema with an end to every list and text: small models do not stop by themselves."""
    found: Schema = _bounded(schema, inside=False)
    return found


def schema_rule(schema: Schema) -> str:
    """The schema said in words, for services that enforce none."""
    words = json.dumps(schema, ensure_ascii=False)
    return f"Reply with one JSON object and nothing else. It must follow this JSON schema:\n{words}"


def _bounded(node: Any, *, inside: bool) -> Any:
    if isinstance(node, list):
        return [_bounded(item, inside=inside) for item in node]
    if not isinstance(node, dict):
        return node
    kind = node.get("type")
    grown = {
        name: _bounded(value, inside=inside or kind == "array" or name in ("additionalProperties", "$defs"))
        for name, value in node.items()
    }
    if kind == "array":
        grown.setdefault("maxItems", MAX_ITEMS)
    if kind == "string" and "enum" not in node and "const" not in node:
        grown.setdefault("maxLength", MAX_NAME if inside else MAX_TEXT)
    return grown


class _FreeKeysError(Exception):
    """The schema has an object whose keys are not fixed."""


def _closed(node: Any, *, is_schema: bool = True) -> Any:
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    if not is_schema:
        return {name: _closed(value) for name, value in node.items()}
    shut = {
        name: _closed(value, is_schema=name not in ("properties", "$defs"))
        for name, value in node.items()
        if name not in _DROPPED
    }
    if shut.get("type") == "object":
        if node.get("additionalProperties", False) is not False or "properties" not in node:
            raise _FreeKeysError
        shut |= {"additionalProperties": False, "required": list(node["properties"])}
    return shut
