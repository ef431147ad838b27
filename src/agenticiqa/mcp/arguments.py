"""The arguments of a call: which images an agent may name, and what is refused in sentences an agent can act on."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Awaitable, Callable, Collection, Iterable
from inspect import getdoc, signature
from pathlib import Path
from typing import Any, get_type_hints

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, Tool, ToolAnnotations
from pydantic import ValidationError

from agenticiqa.config import Settings
from agenticiqa.errors import ImageFormatError, ImageOutsideRootError, unknown_name, wrong_values
from agenticiqa.images import NamedBytes
from agenticiqa.images.files import check_byte_count, find_below, read_file, require_folders

# Characters of a name that is said again and of a text; entries of a list.
LONGEST_NAME, LONGEST_TEXT, MOST_ENTRIES = 100, 20_000, 256


class SentenceServer(MCPServer[Any]):
    """An MCP server that takes only the arguments its tools have, and says in sentences what is wrong with them."""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self._arguments: dict[str, list[str]] = {}
        self._results: dict[str, dict[str, Any]] = {}

    def offer(self, tool: Callable[..., Awaitable[CallToolResult]], annotations: ToolAnnotations) -> None:
        """Adds a tool under the name of its function, which returns Annotated[CallToolResult, a model]."""
        self.add_tool(tool, description=getdoc(tool), annotations=annotations)
        (model,) = get_type_hints(tool, include_extras=True)["return"].__metadata__
        self._results[tool.__name__] = _compact(model.model_json_schema(mode="serialization"))
        self._arguments[tool.__name__] = [name for name in signature(tool).parameters if name != "context"]

    async def list_tools(self) -> list[Tool]:
        """The tools; schemas say that there are no other arguments, and describe results with their computed fields."""
        found = []
        for tool in await super().list_tools():
            closed = {**tool.input_schema, "additionalProperties": False}
            update = {"input_schema": closed, "output_schema": self._results[tool.name]}
            found.append(tool.model_copy(update=update))
        return found

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """What the tool gives; raises ToolError with a sentence."""
        _refuse_unknown([name], self._arguments, "tool")
        _refuse_unknown(arguments, self._arguments[name], "argument")
        for argument, value in arguments.items():
            _refuse_endless(argument, value)
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            # The SDK names the tool first; an agent knows which one it called.
            said = str(error).removeprefix(f"Error executing tool {name}: ")
            if isinstance(error.__cause__, ValidationError):
                wrong = wrong_values(error.__cause__.errors())
                said = "; ".join(f"{argument}: {complaint}" for argument, complaint in wrong.items())
            raise ToolError(said) from error.__cause__


def _compact(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its first level alone: an agent reads it with every listing, and finds the rest in the result."""

    def shallow(part: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in part:
            part = schema["$defs"][part["$ref"].rsplit("/", 1)[-1]]
        if "anyOf" in part:
            return {"anyOf": [shallow(one) for one in part["anyOf"]]}
        return {name: part[name] for name in ("type", "enum", "const") if name in part}

    fields = {
        name: {**shallow(part), **({"description": part["description"]} if "description" in part else {})}
        for name, part in schema["properties"].items()
    }
    return {"type": "object", "properties": fields, "required": schema.get("required", [])}


def _refuse_unknown(given: Iterable[str], allowed: Collection[str], kind: str) -> None:
    for name in given:
        if name not in allowed:
            shown = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
            raise ToolError(f"{shown}: {unknown_name(shown, allowed, kind)}")


def _refuse_endless(argument: str, value: Any) -> None:
    """Raises ToolError for an endless text or list; an image that is sent has a limit of its own."""
    if isinstance(value, list | dict):
        if len(value) > MOST_ENTRIES:
            raise ToolError(f"{argument}: has {len(value)} entries, more than {MOST_ENTRIES}; leave some out")
        for entry in (*value, *value.values()) if isinstance(value, dict) else value:
            _refuse_endless(argument, entry)
    elif isinstance(value, str) and len(value) > LONGEST_TEXT and not value.startswith("data:"):
        raise ToolError(f"{argument}: has {len(value)} characters, more than {LONGEST_TEXT}; shorten it")


class Images:
    """Opens what an agent names; never a URL, never a file outside the folders."""

    def __init__(self, folders: tuple[Path, ...], settings: Settings) -> None:
        require_folders(folders, settings.pipeline.allowed_root)
        self._folders = tuple(folder.resolve() for folder in folders)
        self._listed = ", ".join(map(str, self._folders)) or "none"
        self._max_bytes = settings.pipeline.limits.max_file_megabytes * 2**20

    def open(self, named: str, sent: str = "the image sent") -> NamedBytes:
        """The image, one that came along called `sent`; raises an ImageError with the way out."""
        if named.startswith("data:"):
            return NamedBytes(sent, self._decoded(named, sent))
        if "://" in named:
            raise ImageFormatError(f"{named}: addresses are not fetched; name a file or send a data URL")
        found = find_below(named, self._folders)
        if found is None:
            where = f"lies outside the allowed folders ({self._listed})"
            raise ImageOutsideRootError(f"{named}: {where}; move the image into one")
        path, folder = found
        return NamedBytes(named, read_file(path, self._max_bytes, folder))

    def folder(self, named: str) -> Path:
        """A folder under the allowed ones; raises an ImageError with the way out."""
        found = find_below(named, self._folders)
        # A name too long for any folder is none, and no failure.
        if found is None or not os.path.isdir(found[0]):
            where = f"no folder under the allowed folders ({self._listed})"
            raise ImageOutsideRootError(f"{named}: {where}; name one of those")
        return found[0].resolve()

    def _decoded(self, url: str, sent: str) -> bytes:
        head, _, text = url.partition(",")
        if not head.endswith(";base64"):
            raise ImageFormatError(f"{sent}: a data URL must be base64, as in data:image/png;base64,…")
        # Three bytes are four letters; what is too large is not decoded first.
        check_byte_count(len(text) * 3 // 4, sent, self._max_bytes)
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise ImageFormatError(f"{sent}: is not base64; encode its bytes again") from None
