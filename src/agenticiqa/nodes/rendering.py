"""The words of a request: a node's prompt, and a section for every input of the task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agenticiqa.vlm_client.tasks import TaskInputs


def system_words(template: str) -> str:
    """The prompt as it is sent; "System:" is only the documents' heading for it."""
    return template.removeprefix("System:\n")


def user_words(inputs: TaskInputs[Any], advice: Sequence[str] = ()) -> str:
    """One section per input that has a value, every one of them, and the advice after them."""
    values = inputs.model_dump(mode="json")
    sections = [
        f"{described.title}:\n{_as_json(values[name])}"
        for name, described in type(inputs).model_fields.items()
        if name in values and _is_given(values[name])
    ]
    return "\n\n".join([*sections, *advice])


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=None if isinstance(value, str) else 1)


def _is_given(value: object) -> bool:
    return value is not None and value not in ([], {})
