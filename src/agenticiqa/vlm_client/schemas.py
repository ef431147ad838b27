"""JSON schemas of replies, in the forms that services enforce."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from agenticiqa.state import LEVEL_LETTERS, UNABLE

Schema = dict[str, Any]
# Words about the schema, and bounds that services do not enforce; pydantic checks the bounds afterwards.
_DROPPED = ("title", "default", "examples", "minLength", "maxLength")


def reply_schema(model: type[BaseModel], *, levels: bool = False) -> Schema:
    """The schema of a reply; with `levels`, its final answer is a letter or "Unable to determine"."""
    schema = model.model_json_schema()
    answer = schema.get("properties", {}).get("final_answer")
    if levels and answer is not None:
        answer["enum"] = [*LEVEL_LETTERS, UNABLE]
    return schema


def closed(schema: Schema) -> Schema | None:
    """The schema with every property required and no others allowed; None if it has maps with free keys."""
    try:
        found: Schema = _closed(schema)
    except _FreeKeysError:
        return None
    return found


def schema_rule(schema: Schema) -> str:
    """The schema said in words, for services that enforce none."""
    words = json.dumps(schema, ensure_ascii=False)
    return f"Reply with one JSON object and nothing else. It must follow this JSON schema:\n{words}"


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
