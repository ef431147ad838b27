"""The MCP server: tools with structured results, reports and prompts, over stdio or streamable HTTP on this machine."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from agenticiqa.assessor import Assessment, Assessor, Ranking, rank
from agenticiqa.assessor.comparing import query_for_each, read_comparison
from agenticiqa.assessor.measuring import measure_with
from agenticiqa.audit import audit
from agenticiqa.batch.samples import choices_by_letter
from agenticiqa.config import Settings
from agenticiqa.encode import Format, encode
from agenticiqa.errors import QueryError
from agenticiqa.images import NamedBytes
from agenticiqa.mcp.arguments import SentenceServer
from agenticiqa.mcp.calls import Calls
from agenticiqa.mcp.images import Images
from agenticiqa.nodes.context import OnEvent
from agenticiqa.report.pictures import picture_of
from agenticiqa.report.writing import single_page
from agenticiqa.tools.catalogue import describe_tools
from agenticiqa.tools.running import Align

INSTRUCTIONS = (
    "Answers questions about the technical quality of images: a score from 1 (bad) to 5 (excellent) with its 95 % "
    "interval, distortions with their severity, what each IQA tool measured, and a map of where the quality is low. "
    "Use assess_image for one picture, compare_images to choose among several, measure_image for plain numbers, "
    "audit_folder for many files, choose_encoding for the smallest file at a quality. "
    "It says nothing about what an image shows, who is in it or whether it is beautiful, and changes no picture. "
    "Name an image by a path under an allowed folder or send a data URL."
)
MAX_IMAGES = 16
SHOWN = 8
MAX_REQUEST = 64 * 2**20
TIME_LIMIT = 120.0
# A session is kept until it has been idle for so long; `initialize` without end must not use up memory.
MAX_SESSIONS = 128
SESSION_IDLE_SECONDS = 300.0
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


class Numbers(BaseModel):
    """What each metric measured, in its own unit."""

    values: dict[str, float | None]


class Faults(BaseModel):
    """The pictures that have each fault."""

    issues: dict[str, list[str]]


class Encoding(BaseModel):
    """The setting found, and what it gives."""

    format: str
    quality: int
    score: float
    bytes: int


class Tools:
    """What agents can call; several at once wait for each other."""

    def __init__(self, assessor: Assessor, images: Images, calls: Calls) -> None:
        self._assessor = assessor
        self._images = images
        self._calls = calls
        self._last: tuple[Assessment, NamedBytes] | None = None

    async def assess_image(
        self,
        context: Context[Any, Any],
        image: ImageName,
        question: Annotated[str | None, Field(description="about its quality; without it the quality is rated")] = None,
        reference: Reference = None,
        choices: Choices = None,
        align: Scaled = None,
        quality_map: WithMap = False,
    ) -> Annotated[CallToolResult, Assessment]:
        """Answers a question about the technical quality of ONE image, or rates it from 1 to 5, with the evidence.

        Use it for "is it sharp enough?", "what is wrong with this photo?", "rate it". Give `reference` only when the
        undamaged original of the same picture is at hand (an export against its master); the score is then how much
        was lost. It does not describe content, judge taste or edit. Takes one to three seconds.
        """

        def work(tell: OnEvent) -> CallToolResult:
            opened = self._images.open(image)
            original = self._reference(reference)
            found = self._assessor.assess(opened, question, original, _by_letter(choices), on_event=tell, align=align)
            self._last = (found, opened)
            return _result(found, _in_words(found), [self._map(opened)] if quality_map else [])

        return await self._calls.carry_out(context, work)

    async def compare_images(
        self,
        context: Context[Any, Any],
        images: Annotated[list[ImageName], Field(min_length=2, max_length=MAX_IMAGES)],
        question: Annotated[str | None, Field(description="what to rate; without it the quality")] = None,
        reference: Reference = None,
        align: Scaled = None,
    ) -> Annotated[CallToolResult, Ranking]:
        """Ranks SEVERAL images by quality or by what the question names (sharpest, noisiest, darkest), ties as ties.

        Use it for "which of these is sharpest?", "pick the best shot". With `reference` all are compared with that one
        original. It gives the probability for every pair that one is better. Takes one to three seconds per image.
        """

        def work(tell: OnEvent) -> CallToolResult:
            opened = [self._images.open(name, f"image {place} sent") for place, name in enumerate(images, 1)]
            original = self._reference(reference)
            comparison = read_comparison(question, opened, self._assessor.parts.settings) if question else None
            each = query_for_each(question)
            found = [self._assessor.assess(image, each, original, on_event=tell, align=align) for image in opened]
            ranking = rank([f"{place} {image.name}" for place, image in enumerate(opened, 1)], found, comparison)
            lines = [f"Answer: {ranking.answer}"] if ranking.answer else []
            lines += [f"{entry.rank or '–'}. {entry.name}: {_score(entry.assessment)}" for entry in ranking.entries]
            return _result(ranking, "\n".join(lines), [])

        return await self._calls.carry_out(context, work)

    async def measure_image(
        self,
        context: Context[Any, Any],
        image: ImageName,
        metrics: Annotated[list[str] | None, Field(description='such as ["PSNR", "SSIM"]; see list_metrics')] = None,
        reference: Reference = None,
        align: Scaled = None,
    ) -> Annotated[CallToolResult, Numbers]:
        """Measures named metrics (PSNR, SSIM, VSI with a reference; noise, blur radius, exposure without) as numbers.

        Use it when a number is asked for by name; nothing is interpreted. Takes under a second.
        """

        def work(_: OnEvent) -> CallToolResult:
            registry = self._assessor.parts.tools
            found = measure_with(registry, self._images.open(image), self._reference(reference), metrics or [], align)
            numbers = Numbers(values={name: one.raw for name, one in found.items()})
            return _result(numbers, "; ".join(f"{name} {value}" for name, value in numbers.values.items()), [])

        return await self._calls.carry_out(context, work)

    async def audit_folder(
        self,
        context: Context[Any, Any],
        folder: Annotated[str, Field(description="a folder under an allowed folder")],
    ) -> Annotated[CallToolResult, Faults]:
        """Checks EVERY picture of a folder: blurry, dark, burnt out, noisy, odd size, corrupt, duplicates; names them.

        Use it to clean a data set or to find bad files among many. Takes about a second for every ten pictures.
        """

        def work(_: OnEvent) -> CallToolResult:
            with tempfile.TemporaryDirectory() as kept:
                found = audit(self._images.folder(folder), kept, settings=self._assessor.parts.settings)
            named = {name: [str(row["name"]) for row in found.rows if row[f"is_{name}_issue"]] for name in found.issues}
            faults = Faults(issues={name: images for name, images in named.items() if images})
            lines = [f"{issue}: {', '.join(names[:SHOWN])}" for issue, names in faults.issues.items()]
            return _result(faults, "\n".join(lines) or "Nothing wrong was found.", [])

        return await self._calls.carry_out(context, work)

    async def choose_encoding(
        self,
        context: Context[Any, Any],
        image: ImageName,
        format: Annotated[Format, Field(description="of the file to be made")] = "webp",
        min_score: Annotated[float, Field(ge=1, le=5, description="4 is visually close, 4.5 hardly told apart")] = 4.0,
    ) -> Annotated[CallToolResult, Encoding]:
        """Finds the smallest JPEG, WebP or AVIF setting whose result still scores `min_score` against the image.

        Use it for "how far can I compress this?". It writes no file. Takes two to ten seconds.
        """

        def work(_: OnEvent) -> CallToolResult:
            found = encode(self._images.open(image), format, min_score)
            chosen = Encoding(format=format, quality=found.quality, score=found.score, bytes=len(found.data))
            text = f"{format} quality {chosen.quality}: {chosen.bytes} bytes, {chosen.score:.2f} of 5"
            return _result(chosen, text, [])

        return await self._calls.carry_out(context, work)

    async def list_metrics(self) -> Annotated[CallToolResult, ToolList]:
        """Lists the metrics by name with what each measures, direction, range, licence and whether it runs here.

        Use it before measure_image when the name of a metric is not known.
        """
        found = ToolList(tools=describe_tools(self._assessor.parts.tools))
        names = ", ".join(entry["name"] for entry in found.tools if entry["available"])
        return _result(found, f"Tools that run here: {names}", [])

    def last_report(self) -> str:
        """The page of the last assessment, with its picture."""
        if self._last is None:
            raise QueryError("nothing has been assessed yet; call assess_image first")
        found, image = self._last
        return single_page(found.model_dump(mode="json"), image)

    def _reference(self, named: str | None) -> NamedBytes | None:
        return None if named is None else self._images.open(named, "the reference sent")

    def _map(self, image: NamedBytes) -> ContentBlock:
        picture = picture_of(image, self._assessor.parts.settings.pipeline.terms)
        if picture.quality_map is None:
            return TextContent(type="text", text=picture.note or "no quality map")
        head, _, data = picture.quality_map.partition(",")
        return ImageContent(type="image", data=data, mime_type=head.removeprefix("data:").removesuffix(";base64"))


def create_server(settings: Settings, folders: tuple[Path, ...], time_limit: float = TIME_LIMIT) -> SentenceServer:
    """The server for images under these folders; a call may take so many seconds."""
    server = SentenceServer(
        "agenticiqa", title="AgenticIQA", instructions=INSTRUCTIONS, version=version("agenticiqa"), log_level="WARNING"
    )
    tools = Tools(Assessor(settings), Images(folders, settings), Calls(time_limit))
    offered: tuple[Callable[..., Awaitable[CallToolResult]], ...] = (
        tools.assess_image,
        tools.compare_images,
        tools.measure_image,
        tools.audit_folder,
        tools.choose_encoding,
        tools.list_metrics,
    )
    for tool in offered:
        server.offer(tool, _READ_ONLY)
    add_prompts(server)
    server.resource("report://last", name="last report", mime_type="text/html")(tools.last_report)
    return server


def add_prompts(server: SentenceServer) -> None:
    """Two ways of working that agents may take up."""

    @server.prompt("check_a_folder", description="Find the bad pictures of a folder and say why each is bad")
    def check_a_folder(folder: str) -> str:
        return (
            f"Call audit_folder on {folder}. For up to five of the worst pictures call assess_image with the question "
            "'What is wrong with this photo?'. Answer with a table: file, score, what is wrong, keep or drop."
        )

    @server.prompt("compare_two_exports", description="Say which export keeps more of the original, and what was lost")
    def compare_two_exports(original: str, first: str, second: str) -> str:
        return (
            f"Call compare_images with {first} and {second} and the reference {original}. Then call assess_image on "
            f"the lower one with the reference {original} and the question 'What was lost?'. Answer in three sentences."
        )


def serve_stdio(server: SentenceServer) -> None:
    """Serves one agent over standard input and output until it leaves."""
    server.run("stdio")


def serve_http(server: SentenceServer, port: int) -> None:
    """Serves agents on this machine at http://127.0.0.1:PORT/mcp until a signal."""
    server.run(
        "streamable-http",
        host="127.0.0.1",
        port=port,
        max_request_body_size=MAX_REQUEST,
        max_sessions=MAX_SESSIONS,
        session_idle_timeout=SESSION_IDLE_SECONDS,
    )


def _by_letter(choices: dict[str, str] | list[str] | None) -> dict[str, str] | None:
    try:
        return None if choices is None else choices_by_letter("choices", choices)
    except ValueError as error:
        raise QueryError(str(error)) from None


def _result(record: BaseModel, text: str, more: list[ContentBlock]) -> CallToolResult:
    words: ContentBlock = TextContent(type="text", text=text)
    return CallToolResult(content=[words, *more], structured_content=record.model_dump(mode="json"))


def _in_words(found: Assessment) -> str:
    return f"Answer: {found.answer}. Quality: {_score(found)}.\n{found.reasoning}"


def _score(found: Assessment) -> str:
    if found.score is None:
        return f"no score ({found.error or 'none was asked for'})"
    span = f", 95 % interval {found.interval[0]:.1f} to {found.interval[1]:.1f}" if found.interval else ""
    return f"{found.score:.2f} of 5 ({found.level_name}){span}"
