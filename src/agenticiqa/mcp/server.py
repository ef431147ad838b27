"""The MCP server: tools with structured results, reports and prompts, over stdio or streamable HTTP on this machine."""

from __future__ import annotations

import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from mcp.server.mcpserver import Context
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent, ToolAnnotations
from pydantic import BaseModel, BeforeValidator, Field

from agenticiqa.assessor import Assessment, Assessor, Ranking
from agenticiqa.assessor.tool_measurements import measure_with
from agenticiqa.audit import audit
from agenticiqa.config import Settings
from agenticiqa.encode import Encoding, Format, encode
from agenticiqa.encode.searching import shipped_judge
from agenticiqa.images import Align, NamedBytes
from agenticiqa.mcp.arguments import Images, SentenceServer
from agenticiqa.mcp.calls import Calls
from agenticiqa.mcp.readings import (
    Reports,
    add_prompts,
    assessment_in_words,
    faults_in_words,
    numbers_in_words,
    ranking_in_words,
)
from agenticiqa.nodes.context import OnEvent
from agenticiqa.question.choices import choices_by_letter
from agenticiqa.report.pictures import picture_of
from agenticiqa.tools.catalogue import describe_tools

INSTRUCTIONS = (
    "Answers questions about the technical quality of images: a score from 1 (bad) to 5 (excellent) with its 95 % "
    "interval, distortions with their severity, what each IQA tool measured, and a map of where the quality is low. "
    "Use assess_image for one picture, compare_images to choose among several, measure_image for plain numbers, "
    "audit_folder for many files, choose_encoding for the smallest file at a quality. "
    "It says nothing about what an image shows, who is in it or whether it is beautiful, and changes no picture. "
    "Name an image by a path under an allowed folder or send a data URL."
)
TOOLS = ("assess_image", "compare_images", "measure_image", "audit_folder", "choose_encoding", "list_metrics")
MAX_IMAGES = 16
# Bytes.
MAX_REQUEST = 64 * 2**20
# Seconds a call may take.
TIME_LIMIT = 120.0
# A session is kept until it has been idle for so long; `initialize` without end must not use up memory.
MAX_SESSIONS = 128
SESSION_IDLE_SECONDS = 300.0
# Seconds that calls have left after a signal.
GRACE = 3
_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

ImageName = Annotated[
    str, Field(description="a path under an allowed folder, relative or absolute, or a data: URL of an image (base64)")
]
Reference = Annotated[
    str | None,
    Field(description="the undamaged original of the same picture, named like an image; leave out without one"),
]
Scaled = Annotated[
    Align | None, Field(description='"resize" scales a reference of another size; without it such a pair is refused')
]
Choices = Annotated[
    dict[str, str] | list[str] | None,
    BeforeValidator(lambda given: None if given is None else choices_by_letter("they", given)),
    Field(description='options to choose from, {"A": "Yes", "B": "No"} or ["Yes", "No"]; the answer is a letter'),
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


class Tools:
    """What agents can call; several at once wait for each other."""

    def __init__(self, assessor: Assessor, images: Images, calls: Calls) -> None:
        self._assessor = assessor
        self._images = images
        self._calls = calls
        self.reports = Reports()

    async def assess_image(
        self,
        context: Context[Any, Any],
        image: ImageName,
        question: Annotated[
            str | None, Field(description="in the user's own words; without it the overall quality is rated")
        ] = None,
        reference: Reference = None,
        choices: Choices = None,
        align: Scaled = None,
        quality_map: WithMap = False,
    ) -> Annotated[CallToolResult, Assessment]:
        """Answers a question about the technical quality of ONE image, or rates it from 1 (bad) to 5 (excellent).

        Use it for "is it sharp enough to print?", "can I publish this scan?", "what is wrong with this
        photo?", "is the face in focus?" (a thing named is found and judged by itself), "where is it worst?" (with
        `quality_map`). Give `reference` only when the undamaged original
        of the same picture is at hand, such as the master of an export: the score then says how much was lost. Not for
        several images (compare_images), whole folders (audit_folder) or a metric named by the user (measure_image). It
        does not describe content, judge taste or edit. Takes one to three seconds.
        """

        def work(tell: OnEvent) -> CallToolResult:
            opened = self._images.open(image)
            original, lettered = self._reference(reference), choices if isinstance(choices, dict) else None
            found = self._assessor.assess(
                opened, question, reference=original, choices=lettered, align=align, on_event=tell
            )
            self.reports.add(found, opened)
            return _result(found, assessment_in_words(found), [self._map(opened)] if quality_map else [])

        return await self._calls.carry_out(context, work)

    async def compare_images(
        self,
        context: Context[Any, Any],
        images: Annotated[list[ImageName], Field(min_length=2, max_length=MAX_IMAGES)],
        question: Annotated[
            str | None, Field(description='such as "Which is the noisiest?"; without it overall quality')
        ] = None,
        reference: Reference = None,
        align: Scaled = None,
    ) -> Annotated[CallToolResult, Ranking]:
        """Ranks 2 to 16 images by quality, or by what the question names (sharpest, noisiest, darkest), ties as ties.

        Use it for "which shot has the least noise?", "pick the best", "which export is better?". With `reference` all
        are compared with that one original, of which they are versions. The result has every image's score and, for
        every pair, the probability that one is better. It does not find duplicates or choose by content. Takes one to
        three seconds per image.
        """

        def work(tell: OnEvent) -> CallToolResult:
            opened = [self._images.open(name, f"image {place} sent") for place, name in enumerate(images, 1)]
            original = self._reference(reference)
            ranking = self._assessor.compare(opened, question, reference=original, align=align, on_event=tell)
            return _result(ranking, ranking_in_words(ranking), [])

        return await self._calls.carry_out(context, work)

    async def measure_image(
        self,
        context: Context[Any, Any],
        image: ImageName,
        metrics: Annotated[list[str] | None, Field(description='such as ["PSNR", "SSIM"]; see list_metrics')] = None,
        reference: Reference = None,
        align: Scaled = None,
    ) -> Annotated[CallToolResult, Numbers]:
        """Measures metrics of one image as plain numbers: PSNR, SSIM … with a reference; noise, blur, exposure without.

        Use it when a number is asked for by the name of its metric ("what is the PSNR of the copy?"); nothing is
        interpreted. `reference` is needed for PSNR, SSIM and the other full-reference metrics, and useless for the
        rest. It gives no verdict (assess_image does). Takes under a second.
        """

        def work(_: OnEvent) -> CallToolResult:
            registry, store = self._assessor.parts.tools, self._assessor.parts.settings.image_store()
            opened, original = self._images.open(image), self._reference(reference)
            found = measure_with(registry, store, opened, original, metrics or [], align)
            numbers = Numbers(values={name: one.raw for name, one in found.items()})
            return _result(numbers, numbers_in_words(numbers.values, image), [])

        return await self._calls.carry_out(context, work)

    async def audit_folder(
        self,
        context: Context[Any, Any],
        folder: Annotated[str, Field(description="a folder under an allowed folder")],
    ) -> Annotated[CallToolResult, Faults]:
        """Checks EVERY picture of a folder: blurry, dark, burnt out, noisy, odd size, corrupt, duplicate; names files.

        Use it to clean a data set, to find bad files or duplicates among many. It gives file names by fault, no scores
        and no reasons; call assess_image on single files for those. It deletes nothing. Takes about a second for every
        ten pictures.
        """

        def work(_: OnEvent) -> CallToolResult:
            with tempfile.TemporaryDirectory() as kept:
                found = audit(self._images.folder(folder), kept, settings=self._assessor.parts.settings)
            named = {name: [str(row["name"]) for row in found.rows if row[f"is_{name}_issue"]] for name in found.issues}
            faults = Faults(issues={name: images for name, images in named.items() if images})
            faulty = sum(row["decision"] != "keep" for row in found.rows)
            return _result(faults, faults_in_words(faults.issues, faulty, len(found.rows)), [])

        return await self._calls.carry_out(context, work)

    async def choose_encoding(
        self,
        context: Context[Any, Any],
        image: ImageName,
        format: Annotated[Format, Field(description="the format to encode to")] = "webp",
        min_score: Annotated[float, Field(ge=1, le=5, description="4 is visually close, 4.5 hardly told apart")] = 4.0,
    ) -> Annotated[CallToolResult, Encoding]:
        """Finds the smallest JPEG, WebP or AVIF setting whose result still scores `min_score` against the image.

        Use it for "how far can I compress this?", "which AVIF quality is still fine?". It writes no file and changes no
        size in pixels. Takes two to ten seconds.
        """

        def work(_: OnEvent) -> CallToolResult:
            judge = shipped_judge(self._assessor.parts.settings.pipeline.terms)
            found = encode(self._images.open(image), format, min_score, judge=judge)
            chosen = Encoding.of(found)
            text = f"The smallest {format} that scores {min_score:g} has quality {chosen.quality}"
            return _result(chosen, f"{text}: {chosen.bytes:,} bytes, {chosen.score:.2f} of 5.", [])

        return await self._calls.carry_out(context, work)

    async def list_metrics(self) -> Annotated[CallToolResult, ToolList]:
        """Lists the metrics by name: what each measures, whether it needs a reference, direction, range and licence.

        Use it when a user asks which metrics there are, or before measure_image when a name is not known. It measures
        nothing. Takes no time.
        """
        found = ToolList(tools=describe_tools(self._assessor.parts.tools))
        names = ", ".join(entry["name"] for entry in found.tools if entry["available"])
        return _result(found, f"These metrics run here: {names}.", [])

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
    for name in TOOLS:
        server.offer(getattr(tools, name), _READ_ONLY)
    add_prompts(server)
    tools.reports.offer_on(server)
    return server


def serve_http(server: SentenceServer, port: int, origins: tuple[str, ...] = ()) -> None:
    """Serves agents on this machine at http://127.0.0.1:PORT/mcp until a signal; of pages those of `origins`."""
    # Whole values: the SDK compares what ends in :* by its beginning.
    hosts = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
    app = server.streamable_http_app(
        host="127.0.0.1",
        max_request_body_size=MAX_REQUEST,
        max_sessions=MAX_SESSIONS,
        session_idle_timeout=SESSION_IDLE_SECONDS,
        transport_security=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=list(origins)),
    )
    # A call that computes does not keep the server from ending.
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning", timeout_graceful_shutdown=GRACE)
    uvicorn.Server(config).run()


def _result(record: BaseModel, text: str, more: list[ContentBlock]) -> CallToolResult:
    words: ContentBlock = TextContent(type="text", text=text)
    return CallToolResult(content=[words, *more], structured_content=record.model_dump(mode="json"))
