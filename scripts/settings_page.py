"""Writes docs/settings.md, the page of every setting, from the models: python scripts/settings_page.py."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from agenticiqa.config.loading import packaged_defaults
from agenticiqa.config.settings import PipelineSettings, RoleSettings

TARGET = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
# What stands between a mapping's name and the keys of its sections.
KEYS = {"fusion_weights": ("BACKEND", "MODE"), "limits": ("BACKEND",)}
HEAD = """\
# Every setting

Written by `python scripts/settings_page.py`. Settings stand in a YAML file (`--config FILE`, `$AGENTICIQA_CONFIG`,
`~/.config/agenticiqa/model_backends.yaml` or `configs/model_backends.yaml`); a variable such as
`AGENTICIQA_PIPELINE__LIMITS__MAX_PIXELS=200000000` sets one key, and an option of a command comes last.
`agenticiqa config show` prints what is in force, `agenticiqa config check` a mistake with its key and remedy (exit
code 2).
"""
PRICES = """
## The price file

`pipeline.transport.prices` names a YAML file with US dollars for a million tokens, by backend, and the day they
were looked up; `cached_input` may be left out. What the file does not name keeps its packaged price.

```yaml
openai.gpt-4o: {input: 2.50, cached_input: 1.25, output: 10.00, date: 2026-01-31}
anthropic.my-model: {input: 3, output: 15, date: 2026-01-31}
```
"""


def page() -> str:
    """The whole page."""
    packaged = packaged_defaults()
    roles = chain(*(rows(f"{role}.", RoleSettings, packaged[role]) for role in ("planner", "executor", "summarizer")))
    whole = rows("pipeline.", PipelineSettings, packaged["pipeline"])
    return f"{HEAD}\n## Roles\n\n{table(roles)}\n## The whole run\n\n{table(whole)}{PRICES}"


def rows(prefix: str, model: type[BaseModel], packaged: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Key, type, default and meaning of each field, those of sections below it included.

    `packaged` are the defaults that the package lays over the fields' own.
    """
    for name, field in model.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            yield from rows(f"{prefix}{name}.", section, packaged.get(name, {}))
            continue
        inner = innermost(section)
        if inner is not None:
            yield from rows(f"{prefix}{name}.{'.'.join(KEYS[name])}.", inner, {})
            continue
        kind = type_in_words(field.annotation) + bounds(field)
        yield f"`{prefix}{name}`", kind, default(name, field, packaged), field.description or ""


def innermost(kind: Any) -> type[BaseModel] | None:
    """The section that a mapping holds, or a mapping of mappings."""
    while get_origin(kind) is dict:
        kind = get_args(kind)[1]
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def type_in_words(kind: Any) -> str:
    """A type as people write it: a number, a text, one of some words."""
    if get_origin(kind) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(kind))
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(type_in_words(part) for part in get_args(kind) if part is not type(None))
    return {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}.get(kind, str(kind))


def bounds(field: FieldInfo) -> str:
    """The limits of a number, in words."""
    words = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}
    found = [f"{words[key]} {getattr(each, key):g}" for each in field.metadata for key in words if hasattr(each, key)]
    return ", " + " ".join(found) if found else ""


def default(name: str, field: FieldInfo, packaged: Mapping[str, Any]) -> str:
    """What holds where nothing is set."""
    value = packaged[name] if name in packaged else field.get_default(call_default_factory=True)
    return "none" if value is None or value == {} else f"`{yaml.safe_dump(value).splitlines()[0]}`"


def table(lines: Iterable[tuple[str, str, str, str]]) -> str:
    """The rows as Markdown."""
    return "\n".join(
        ["| key | value | default | meaning |", "|---|---|---|---|", *(f"| {' | '.join(line)} |" for line in lines), ""]
    )


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.name} written\n")
