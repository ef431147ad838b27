"""The schema of a reply, narrowed by what was asked: no object, distortion or tool but those of the request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agenticiqa.state import LEVEL_LETTERS, SEVERITIES, UNABLE
from agenticiqa.vlm_client.client import VLMRequest
from agenticiqa.vlm_client.schemas import Schema, schema_of
from agenticiqa.vlm_client.tasks import (
    AnalyzeInputs,
    DetectInputs,
    InspectInputs,
    LocateInputs,
    ScoreInputs,
    SelectToolsInputs,
)


def schema_for(request: VLMRequest) -> Schema:
    """The reply model's schema in which maps have the request's names as keys, so that services can enforce it."""
    schema = schema_of(request.reply_model)
    fields: dict[str, Any] = schema.get("properties", {})
    inputs = request.inputs
    if isinstance(inputs, ScoreInputs) and "final_answer" in fields:
        fields["final_answer"]["enum"] = [*LEVEL_LETTERS, UNABLE]
    elif isinstance(inputs, DetectInputs) and "distortion_set" in fields:
        seen = _list_of(_one_of(inputs.categories), len(inputs.categories))
        fields["distortion_set"] = _map_of(inputs.objects, seen)
    elif isinstance(inputs, AnalyzeInputs) and "distortion_analysis" in fields:
        fields["distortion_analysis"] = _object({o: _analysis(kinds) for o, kinds in inputs.distortions.items()})
    elif isinstance(inputs, SelectToolsInputs) and "selected_tools" in fields:
        tool = _one_of(tool.name for tool in inputs.tools)
        fields["selected_tools"] = _object({o: _map_of(kinds, tool) for o, kinds in inputs.distortions.items()})
    elif isinstance(inputs, InspectInputs) and "findings" in fields:
        fields |= _inspection(inputs)
        if not inputs.tools:
            del fields["overall_tools"]
    elif isinstance(inputs, LocateInputs) and "regions" in fields:
        fields["regions"] = _map_of(inputs.objects, fields["regions"]["additionalProperties"])
    return schema


def _inspection(inputs: InspectInputs) -> dict[str, Schema]:
    tool = _one_of(tool.name for tool in inputs.tools)
    found = {name: inputs.distortions.get(name, []) for name in inputs.objects}
    if not inputs.distortions:
        found = {name: list(inputs.categories) for name in inputs.objects}
    findings = {name: _list_of(_finding(kinds, inputs, tool), len(kinds)) for name, kinds in found.items()}
    return {"findings": _object(findings), "overall_tools": _map_of(inputs.objects, tool)}


def _finding(kinds: list[str], inputs: InspectInputs, tool: Schema) -> Schema:
    described: dict[str, Schema] = {"type": _one_of(kinds)}
    if inputs.severity_wanted:
        described |= {"severity": _one_of(SEVERITIES), "explanation": {"type": "string"}}
    if inputs.tools:
        described["tool"] = tool
    return _object(described)


def _analysis(kinds: list[str]) -> Schema:
    described: dict[str, Schema] = {
        "type": _one_of(kinds),
        "severity": _one_of(SEVERITIES),
        "explanation": {"type": "string"},
    }
    return _list_of(_object(described), len(kinds))


def _one_of(words: Iterable[str]) -> Schema:
    listed = list(words)
    # A choice among nothing is no valid schema.
    return {"type": "string", "enum": listed} if listed else {"type": "string"}


def _map_of(names: Iterable[str], value: Schema) -> Schema:
    return _object(dict.fromkeys(names, value))


def _list_of(item: Schema, longest: int) -> Schema:
    return {"type": "array", "items": item, "maxItems": longest}


def _object(properties: Mapping[str, Schema]) -> Schema:
    names = list(properties)
    return {"type": "object", "properties": dict(properties), "required": names, "additionalProperties": False}
