"""JSON schemas of replies, in the forms that services enforce."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from agenticiqa.vlm_client.client import VLMRequest
from agenticiqa.vlm_client.tasks import Schema

MAX_ITEMS, MAX_TEXT, MAX_NAME = 8, 800, 120
"""The longest list, the longest text, and the longest text inside a list or map, in characters."""
# What a service's enforced schemas may hold; the rest is taken out before sending, and pydantic checks it afterwards.
_COMMON = frozenset(
    {"$defs", "$ref", "type", "description", "enum", "anyOf", "properties", "required", "additionalProperties", "items"}
)
GOOGLE_KEYWORDS = _COMMON | {"title", "format", "minItems", "maxItems", "minimum", "maximum"}
STRICT_KEYWORDS = _COMMON
"""For OpenAI's strict mode and Claude's structured outputs."""


def schema_for(request: VLMRequest) -> Schema:
    """The schema of the request's reply, narrowed to what the request allows."""
    return request.inputs.reply_schema(request.reply_model)


def cleaned(schema: Schema, keywords: frozenset[str]) -> Schema:
    """The schema with these keywords alone: a tuple becomes a list, a constant a choice of one."""

    def clean(node: Schema) -> Schema:
        if "const" in node:
            node = {**node, "enum": [node["const"]]}
        if "prefixItems" in node:
            kinds = [kind for n, kind in enumerate(node["prefixItems"]) if kind not in node["prefixItems"][:n]]
            node = {**node, "items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}}
        return {name: value for name, value in node.items() if name in keywords}

    return _changed(schema, clean)


def closed(schema: Schema) -> Schema | None:
    """The schema for a strict service: every property required, no others allowed; None if it has free keys."""
    try:
        return _changed(cleaned(schema, STRICT_KEYWORDS), _close)
    except _FreeKeysError:
        return None


def bounded(schema: Schema) -> Schema:
    """The schema with an end to every list and text: small models do not stop by themselves."""
    found: Schema = _bounded(schema, inside=False)
    return found


def schema_rule(schema: Schema) -> str:
    """The schema said in words, for services that enforce none."""
    words = json.dumps(schema, ensure_ascii=False)
    return f"Reply with one JSON object and nothing else. It must follow this JSON schema:\n{words}"


def _changed(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """The schema with this change made to it and to every schema inside."""
    found: Schema = {}
    for name, value in change(schema).items():
        if name in ("properties", "$defs"):
            found[name] = {key: _changed(inner, change) for key, inner in value.items()}
        elif isinstance(value, dict):
            found[name] = _changed(value, change)
        elif name == "anyOf":
            found[name] = [_changed(inner, change) for inner in value]
        else:
            found[name] = value
    return found


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


def _close(node: Schema) -> Schema:
    if node.get("type") != "object":
        return node
    if node.get("additionalProperties", False) is not False or "properties" not in node:
        raise _FreeKeysError
    return node | {"additionalProperties": False, "required": list(node["properties"])}
