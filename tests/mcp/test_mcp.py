"""The MCP server as the SDK's own client sees it, over both transports."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ImageContent, TextContent
from PIL import Image

from agenticiqa.assessor import Assessment, Ranking
from agenticiqa.config import load_settings
from agenticiqa.encode.searching import encode, shipped_judge
from agenticiqa.errors import ImageOutsideRootError, UsageError
from agenticiqa.mcp.arguments import Images
from agenticiqa.mcp.server import create_server
from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs
from tests.mcp.serving import http_server, over_http, over_stdio


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a clean and a blurred photograph, and a secret beside it."""
    base = tmp_path_factory.mktemp("mcp")
    images = base / "images"
    images.mkdir()
    clean = photographs()["chelsea"].pixels
    Image.fromarray(clean).save(images / "clean.png")
    Image.fromarray(distort(clean, "gaussian_blur", 5)).save(images / "blurred.png")
    Image.fromarray(clean).save(base / "secret.png")
    (images / "link.png").symlink_to(base / "secret.png")
    return images


@pytest.fixture(scope="module")
def http_address(folder: Path) -> Iterator[str]:
    """A running server with streamable HTTP."""
    with http_server(folder) as server:
        yield server.address


def text_of(result: CallToolResult) -> str:
    """The words of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def test_a_client_over_stdio_gets_structured_content_and_the_map(folder: Path) -> None:
    async def question(client: Client) -> Any:
        tools = await client.list_tools()
        return tools, await client.call_tool(
            "assess_image", {"image": "blurred.png", "question": "Is it blurry?", "quality_map": True}
        )

    tools, result = over_stdio(folder, question)

    assert {tool.name for tool in tools.tools} == {
        "assess_image",
        "compare_images",
        "measure_image",
        "audit_folder",
        "choose_encoding",
        "list_metrics",
    }
    assert all(tool.output_schema for tool in tools.tools)
    assessment = Assessment.model_validate(result.structured_content)
    assert assessment.answer.startswith("Yes")
    (picture,) = (block for block in result.content if isinstance(block, ImageContent))
    drawn = Image.open(io.BytesIO(base64.b64decode(picture.data)))
    assert drawn.format == "JPEG"
    assert picture.mime_type == "image/jpeg"
    assert max(drawn.size) == 360


def test_a_client_over_http_ranks_images_and_lists_tools(http_address: str) -> None:
    async def question(client: Client) -> Any:
        ranked = await client.call_tool("compare_images", {"images": ["blurred.png", "clean.png"]})
        return ranked, await client.call_tool("list_metrics", {})

    ranked, listed = over_http(http_address, question)

    ranking = Ranking.model_validate(ranked.structured_content)
    assert [entry.name for entry in ranking.entries] == ["image 2 (clean.png)", "image 1 (blurred.png)"]
    names = {tool["name"] for tool in listed.structured_content["tools"]}
    assert {"PSNR", "AIQA_NR"} <= names


def test_an_image_may_be_sent_along(http_address: str, folder: Path) -> None:
    sent = "data:image/png;base64," + base64.b64encode((folder / "clean.png").read_bytes()).decode()

    result = over_http(
        http_address, lambda client: client.call_tool("assess_image", {"image": sent, "quality_map": False})
    )

    assessment = Assessment.model_validate(result.structured_content)
    assert assessment.score is not None
    assert not any(isinstance(block, ImageContent) for block in result.content)


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        ("../secret.png", "outside the allowed folders"),
        ("link.png", "outside the allowed folders"),
        ("/etc/passwd", "outside the allowed folders"),
        ("nowhere.png", "no such file"),
        ("https://example.org/photo.png", "not fetched"),
        ("data:image/png,plain", "must be base64"),
        ("data:image/png;base64,====", "not base64"),
        ("data:image/svg+xml;base64,PHN2Zy8+", "not an image we can read"),
    ],
)
def test_what_may_not_or_cannot_be_read_is_refused_in_a_sentence(http_address: str, image: str, reason: str) -> None:
    result = over_http(http_address, lambda client: client.call_tool("assess_image", {"image": image}))

    assert result.is_error
    assert reason in text_of(result)
    assert "Traceback" not in text_of(result)


def test_a_page_of_another_site_cannot_reach_the_server(http_address: str) -> None:
    import httpx

    answer = httpx.post(http_address, json={}, headers={"Host": "evil.example:80"})

    assert answer.status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "127.0.0.1:evil.com"},
        {"Host": "localhost:9@evil.com"},
        {"Origin": "http://localhost:6274"},
        {"Origin": "http://127.0.0.1:@evil.com"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
)
def test_only_the_host_and_the_origins_that_were_told_are_accepted(http_address: str, headers: dict[str, str]) -> None:
    import httpx

    answer = httpx.post(http_address, json={}, headers=headers)

    assert answer.status_code in (403, 421)


def test_messages_name_the_file_and_the_argument_in_the_words_of_the_protocol(folder: Path) -> None:
    (folder / "text.png").write_text("no image", encoding="utf-8")
    clean = Image.fromarray(photographs()["chelsea"].pixels)
    clean.resize((150, 100)).save(folder / "small.png")
    pair = {"image": "clean.png", "reference": "small.png", "quality_map": False}

    async def question(client: Client) -> Any:
        calls = ({"image": "text.png"}, pair, {**pair, "align": "resize"})
        return [await client.call_tool("assess_image", call) for call in calls]

    unread, differing, scaled = over_stdio(folder, question)

    assert "text.png: is not an image we can read" in text_of(unread)
    sizes = f"({clean.width}×{clean.height} and 150×100)"
    assert f"small.png: test and reference differ in size {sizes}" in text_of(differing)
    assert text_of(differing).endswith("or set the argument `align` to resize to scale the reference")
    assert not scaled.is_error


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("assess_image", {}, "image: is missing; give it"),
        ("assess_image", {"image": 3}, "image: input should be a valid string, not 3"),
        ("assess_image", {"qestion": "Noisy?"}, "qestion: there is no such argument; did you mean question?"),
        ("compare_images", {"images": ["clean.png"]}, "images: needs at least 2 entries, not 1"),
        ("compare_images", {"images": "clean.png"}, 'images: must be a list such as ["a", "b"], not \'clean.png\''),
        ("assess_image", {"image": "clean.png", "choices": "Yes"}, "choices: they must be texts by letter like"),
        (
            "measure_image",
            {"image": "clean.png", "metrics": ["PSNRR"]},
            "no IQA tool named 'PSNRR'; did you mean: PSNR",
        ),
        ("measure_image", {"image": "clean.png", "metrics": ["glamour"]}, "no IQA tool named 'glamour'; list_metrics"),
        ("asess_image", {}, "asess_image: there is no such tool; did you mean assess_image?"),
        ("assess_image", {"image": "x" * 30_000}, "image: has 30000 characters, more than 20000; shorten it"),
        ("compare_images", {"images": ["a", "b"], "question": "x" * 30_000}, "question: has 30000 characters, more"),
        ("measure_image", {"image": "clean.png", "metrics": ["PSNR"] * 300}, "metrics: has 300 entries, more than 256"),
        ("assess_image", {"x" * 30_000: 1}, f"{'x' * 100}…: there is no such argument"),
        ("list_metrics", {"all": True}, "all: there is no such argument; allowed are none"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused_in_a_sentence(
    http_address: str, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    result = over_http(http_address, lambda client: client.call_tool(tool, arguments))

    assert result.is_error
    assert text_of(result).startswith(sentence)
    assert "http" not in text_of(result)
    assert "\n" not in text_of(result)


def test_choices_may_be_a_list_and_the_schemas_are_closed(http_address: str) -> None:
    call = {"image": "blurred.png", "question": "Is it blurry?", "choices": ["Yes", "No"], "quality_map": False}

    async def question(client: Client) -> Any:
        return await client.list_tools(), await client.call_tool("assess_image", call)

    listed, result = over_http(http_address, question)

    assert all(tool.input_schema["additionalProperties"] is False for tool in listed.tools)
    assert Assessment.model_validate(result.structured_content).answer == "A"


def test_output_schemas_are_compact_and_still_describe_the_result(folder: Path) -> None:
    async def listing(client: Client) -> Any:
        return await client.list_tools()

    tools = over_stdio(folder, listing)

    assert max(len(json.dumps(tool.output_schema)) for tool in tools.tools) < 3000


def test_numbers_folders_encodings_prompts_and_the_last_report(folder: Path) -> None:
    async def work(client: Client) -> Any:
        measured = await client.call_tool("measure_image", {"image": "blurred.png", "metrics": ["BLUR_RADIUS"]})
        audited = await client.call_tool("audit_folder", {"folder": "."})
        encoded = await client.call_tool("choose_encoding", {"image": "clean.png", "format": "jpeg", "min_score": 3.5})
        await client.call_tool("assess_image", {"image": "blurred.png"})
        report = await client.read_resource("report://last")
        return measured, audited, encoded, report, await client.list_prompts()

    measured, audited, encoded, report, prompts = over_stdio(folder, work)

    assert measured.structured_content["values"]["BLUR_RADIUS"] > 0
    assert "issues" in audited.structured_content
    assert encoded.structured_content["score"] >= 3.5
    assert "<html" in report.contents[0].text
    assert text_of(measured).startswith("Measured on blurred.png: BLUR_RADIUS ")
    assert text_of(encoded).startswith("The smallest jpeg that scores 3.5 has quality ")
    assert {prompt.name for prompt in prompts.prompts} == {"check_a_folder", "compare_two_exports"}


def test_of_a_group_of_copies_the_one_to_keep_is_not_counted_as_faulty(folder: Path, tmp_path: Path) -> None:
    for name in ("one.png", "two.png", "three.png"):
        (tmp_path / name).write_bytes((folder / "clean.png").read_bytes())

    async def work(client: Client) -> Any:
        return await client.call_tool("audit_folder", {"folder": "."})

    audited = over_stdio(tmp_path, work)

    assert text_of(audited).startswith("2 of 3 pictures have a fault")
    assert len(audited.structured_content["issues"]["exact_duplicates"]) == 3


def test_an_encoding_is_chosen_by_the_weights_that_the_terms_allow(folder: Path) -> None:
    server = create_server(
        load_settings(overrides={"pipeline": {"terms": "commercial"}}, environ={}, directory=folder), (folder,)
    )

    async def ask() -> Any:
        async with Client(server) as client:
            return await client.call_tool("choose_encoding", {"image": "clean.png", "format": "jpeg", "min_score": 3})

    chosen = asyncio.run(ask()).structured_content
    expected = encode(folder / "clean.png", "jpeg", 3, judge=shipped_judge("commercial"))

    assert (chosen["quality"], chosen["score"]) == (expected.quality, expected.score)


def test_no_folder_outside_the_settings_allowed_root_is_opened(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    settings = load_settings(overrides={"pipeline": {"allowed_root": str(tmp_path / "inside")}}, environ={})

    with pytest.raises(UsageError, match=r"outside pipeline\.allowed_root"):
        Images((tmp_path,), settings)
    with pytest.raises(ImageOutsideRootError):
        Images((tmp_path / "inside",), settings).open("../outside.png")


@pytest.mark.parametrize("number", ["99", "0", "two"])
def test_a_report_that_is_not_there_is_said_in_a_sentence(http_address: str, number: str) -> None:
    async def reading(client: Client) -> str:
        await client.call_tool("assess_image", {"image": "blurred.png"})
        try:
            await client.read_resource(f"report://{number}")
        except MCPError as error:
            return str(error)
        return "no error"

    told = over_http(http_address, reading)

    assert re.fullmatch(rf"there is no report {number}; there are reports 1 to \d", told)


def test_the_last_reports_are_resources(folder: Path) -> None:
    async def work(client: Client) -> Any:
        for name in ("clean.png", "blurred.png"):
            await client.call_tool("assess_image", {"image": name})
        listed = await client.read_resource("report://list")
        second = await client.read_resource("report://2")
        known = await client.list_resources()
        return listed, second, known, await client.list_resource_templates()

    listed, second, known, templates = over_stdio(folder, work)

    assert [line.split(":")[1] for line in listed.contents[0].text.splitlines()] == ["//1 blurred.png", "//2 clean.png"]
    assert "clean.png" in second.contents[0].text
    assert {str(one.uri) for one in known.resources} == {"report://list", "report://last"}
    assert [one.uri_template for one in templates.resource_templates] == ["report://{number}"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"question": "Is it blurry?", "choices": ["Yes", "No"]}, "The answer is A: Yes. The image scores "),
        ({"question": "Which is worse? A. Noise B. Blur"}, "The answer is B: Blur. The image scores "),
        ({}, "The quality is "),
    ],
)
def test_the_first_line_is_a_sentence(http_address: str, arguments: dict[str, Any], sentence: str) -> None:
    call = {"image": "blurred.png", **arguments}

    result = over_http(http_address, lambda client: client.call_tool("assess_image", call))

    assert text_of(result).startswith(sentence)


@pytest.mark.parametrize("choices", [[], {}])
def test_choices_that_are_none_are_refused(http_address: str, choices: Any) -> None:
    call = {"image": "blurred.png", "choices": choices}

    result = over_http(http_address, lambda client: client.call_tool("assess_image", call))

    assert result.is_error
    assert text_of(result).startswith("choices: they must be at least two")


def test_every_description_says_when_how_long_and_what_not(http_address: str) -> None:
    listed = over_http(http_address, lambda client: client.list_tools())

    for tool in listed.tools:
        words = " ".join((tool.description or "").split())
        assert "Use it" in words, tool.name
        assert "Takes" in words, tool.name
        assert any(
            limit in words for limit in ("does not", "gives no", "writes no", "measures nothing", "no scores")
        ), tool.name
