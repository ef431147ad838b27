"""A hook of MkDocs that writes the reference pages from the code: commands, settings, records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pydantic import BaseModel
from pydantic_core import PydanticUndefined


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The site's files with the generated pages among them."""
    pages = {
        "reference/cli.md": commands_page,
        "reference/settings.md": settings_page,
        "reference/records.md": records_page,
    }
    for path, write in pages.items():
        files.append(File.generated(config, path, content=write()))
    return files


def commands_page() -> str:
    """Every command with its help, as it prints it."""
    import typer

    from agenticiqa.cli import app

    shown = [f"## {name}\n\n```text\n{text}\n```" for name, text in helps(typer.main.get_command(app), "agenticiqa")]
    return "\n\n".join(["# Commands", "What each command prints with `--help`.", *shown]) + "\n"


def helps(command: Any, name: str) -> Iterator[tuple[str, str]]:
    """The help of a command and of all below it."""
    from typer.testing import CliRunner

    from agenticiqa.cli import app

    words = name.split()[1:]
    said = CliRunner().invoke(app, [*words, "--help"], prog_name="agenticiqa", env={"COLUMNS": "110"}).output
    yield name, said.strip()
    for below, inner in getattr(command, "commands", {}).items():
        yield from helps(inner, f"{name} {below}")


def settings_page() -> str:
    """Every setting with its type, default and meaning."""
    from agenticiqa.config import Settings

    rows = [f"| `{path}` | {kind} | {default} | {meaning} |" for path, kind, default, meaning in fields(Settings)]
    head = (
        "# Settings\n\n"
        "Packaged defaults are overridden by a settings file, that by the environment (`AGENTICIQA_SECTION__KEY`), "
        "that by arguments. `agenticiqa config show` prints the effective settings and where they come from.\n\n"
        "| setting | type | default of the field | meaning |\n|---|---|---|---|\n"
    )
    return head + "\n".join(rows) + "\n"


def fields(model: type[BaseModel], above: str = "") -> Iterator[tuple[str, str, str, str]]:
    """Path, type, default and meaning of every field of a model and of those inside it."""
    for name, described in model.model_fields.items():
        kind: Any = described.annotation
        if described.exclude:
            continue
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from fields(kind, f"{above}{name}.")
            continue
        default = "" if described.default in (PydanticUndefined, None) else f"`{described.default}`"
        yield f"{above}{name}", _plain(kind), default, described.description or ""


def records_page() -> str:
    """The schema of an assessment as a table, and in full."""
    from agenticiqa.assessor import Assessment

    schema = Assessment.model_json_schema()
    rows = [
        f"| `{name}` | {about.get('description') or about.get('title', '')} |"
        for name, about in schema["properties"].items()
    ]
    return (
        "# Records\n\nAn assessment as `--json` prints it and `to_json` writes it.\n\n| field | meaning |\n|---|---|\n"
        + "\n".join(rows)
        + f"\n\n```json\n{json.dumps(schema, indent=1, ensure_ascii=False)}\n```\n"
    )


def _plain(kind: Any) -> str:
    """A type as a reader knows it, safe inside a table."""
    text = kind.__name__ if isinstance(kind, type) else str(kind)
    return text.replace("typing.", "").replace("agenticiqa.config.settings.", "").replace("|", "or")
