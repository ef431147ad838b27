"""The MCP server: three tools with structured results, over stdio or streamable HTTP on this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from agenticiqa.assessor import Assessment, Assessor, Ranking, rank
from agenticiqa.batch.samples import choices_by_letter
from agenticiqa.config import Settings
from agenticiqa.errors import AgenticIQAError, QueryError
from agenticiqa.images import NamedBytes
from agenticiqa.mcp.arguments import SentenceServer
from agenticiqa.mcp.images import Images
from agenticiqa.report.pictures import picture_of
from agenticiqa.tools.describing import describe_tools
from agenticiqa.tools.execution import Align

INSTRUCTIONS = (
    "Answers questions about the technical quality of images: a score from 1 (bad) to 5 (excellent) with its 95 % "
    "interval, distortions with their severity, what each IQA tool measured, and a map of where the quality is low. "
    "It says nothing about what an image shows. Name an image by a path under an allowed folder or send a data URL."
)
MAX_IMAGES = 16
MAX_REQUEST = 64 * 2**20
# An assessment keeps a core busy; more at once would only make each of them slower.
AT_ONCE = 2
_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

ImageName = Annotated[str, Field(description="a path under an allowed folder, or data:image/png;base64,…")]
Reference = Annotated[str | None, Field(description="the undistorted original, if there is one")]
Scaled = Annotated[Align | None, Field(description="resize scales a reference of another size")]
Choices = Annotated[
    dict[str, str] | list[str] | None, Field(description='such as {"A": "Yes", "B": "No"} or ["Yes", "No"]')
]
WithMap = Annotated[
    bool,
    Field(description="add a picture of where the quality is low (red is bad, blue is good, the box is the worst)"),
]


class ToolList(BaseModel):
    """The IQA tools that may be asked for by name in a question."""

    tools: list[dict[str, Any]]


class Tools:
    """What agents can call; several at once wait for each other."""

    def __init__(self, assessor: Assessor, images: Images) -> None:
        self._assessor = assessor
        self._images = images
        self._turns = threading.BoundedSemaphore(AT_ONCE)

    def assess_image(
        self,
        image: ImageName,
        question: Annotated[str | None, Field(description="about its quality; without it the quality is rated")] = None,
        reference: Reference = None,
        choices: Choices = None,
        align: Scaled = None,
        quality_map: WithMap = True,
    ) -> Annotated[CallToolResult, Assessment]:
        """Answers a question about the quality of one image, or rates it, with all the evidence."""
        with self._turn():
            opened = self._images.open(image)
            found = self._assess(opened, question, self._reference(reference), align, _by_letter(choices))
            pictures = [self._map(opened)] if quality_map else []
        return _result(found, _in_words(found), pictures)

    def compare_images(
        self,
        images: Annotated[list[ImageName], Field(min_length=2, max_length=MAX_IMAGES)],
        question: Annotated[str | None, Field(description="what to rate; without it the quality")] = None,
        reference: Reference = None,
        align: Scaled = None,
    ) -> Annotated[CallToolResult, Ranking]:
        """Ranks two or more images by quality, with the probability for every pair that one is better."""
        with self._turn():
            opened = [self._images.open(name, f"image {place} sent") for place, name in enumerate(images, 1)]
            original = self._reference(reference)
            found = [self._assess(image, question, original, align) for image in opened]
        names = [f"{place} {image.name}" for place, image in enumerate(opened, 1)]
        ranking = rank(names, found)
        lines = [f"{entry.rank or '–'}. {entry.name}: {_score(entry.assessment)}" for entry in ranking.entries]
        return _result(ranking, "\n".join(lines), [])

    def list_tools(self) -> Annotated[CallToolResult, ToolList]:
        """Lists the IQA tools with availability, direction, range, licence and strengths."""
        found = ToolList(tools=describe_tools(self._assessor.parts.tools))
        names = ", ".join(entry["name"] for entry in found.tools if entry["available"])
        return _result(found, f"Tools that run here: {names}", [])

    def _assess(
        self,
        image: NamedBytes,
        question: str | None,
        reference: NamedBytes | None,
        align: Align | None,
        choices: dict[str, str] | None = None,
    ) -> Assessment:
        return self._assessor.assess(image, question, reference, choices, align=align)

    def _reference(self, named: str | None) -> NamedBytes | None:
        return None if named is None else self._images.open(named, "the reference sent")

    def _map(self, image: NamedBytes) -> ContentBlock:
        picture = picture_of(image, self._assessor.parts.settings.pipeline.terms)
        if picture.quality_map is None:
            return TextContent(type="text", text=picture.note or "no quality map")
        head, _, data = picture.quality_map.partition(",")
        return ImageContent(type="image", data=data, mime_type=head.removeprefix("data:").removesuffix(";base64"))

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One of the places, with errors said to the agent as sentences."""
        with self._turns:
            try:
                yield
            except AgenticIQAError as error:
                raise ToolError(error.told(_as_argument)) from error


def create_server(settings: Settings, folders: tuple[Path, ...]) -> SentenceServer:
    """The server for images under these folders."""
    server = SentenceServer(
        "agenticiqa", title="AgenticIQA", instructions=INSTRUCTIONS, version=version("agenticiqa"), log_level="WARNING"
    )
    tools = Tools(Assessor(settings), Images(folders, settings))
    offered: tuple[Callable[..., CallToolResult], ...] = (tools.assess_image, tools.compare_images, tools.list_tools)
    for tool in offered:
        server.offer(tool, _READ_ONLY)
    return server


def serve_stdio(server: SentenceServer) -> None:
    """Serves one agent over standard input and output until it leaves."""
    server.run("stdio")


def serve_http(server: SentenceServer, port: int) -> None:
    """Serves agents on this machine at http://127.0.0.1:PORT/mcp until a signal."""
    server.run("streamable-http", host="127.0.0.1", port=port, max_request_body_size=MAX_REQUEST)


def _as_argument(name: str, value: str) -> str:
    return f"set the argument `{name}` to {value}"


def _by_letter(choices: dict[str, str] | list[str] | None) -> dict[str, str] | None:
    try:
        return None if choices is None else choices_by_letter("choices", choices)
    except ValueError as error:
        raise QueryError(str(error)) from None


def _result(record: BaseModel, text: str, more: list[ContentBlock]) -> CallToolResult:
    words: ContentBlock = TextContent(type="text", text=text)
    return CallToolResult(content=[words, *more], structured_content=record.model_dump(mode="json"))


def _in_words(found: Assessment) -> str:
    return f"{found.answer}\n{_score(found)}\n{found.reasoning}"


def _score(found: Assessment) -> str:
    if found.score is None:
        return f"no score ({found.error or 'none was asked for'})"
    span = f", 95 % interval {found.interval[0]:.1f} to {found.interval[1]:.1f}" if found.interval else ""
    return f"{found.score:.2f} of 5 ({found.level_name}){span}"
