"""The examples of the documentation, carried out; the OpenAPI document, attacked and made into a client."""

from __future__ import annotations

import importlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import sync_playwright

from tests.browser.conftest import FLAGS, SCRIPT
from tests.server.running import RunningService, picture

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENTED = "http://127.0.0.1:8080"
BIN = Path(sys.executable).parent
EVERY_USE = Path("how-to", "use-the-service.md")


def blocks(page: str | Path, language: str) -> list[str]:
    """The examples of a page in one language."""
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def environment() -> dict[str, str]:
    """The environment with this interpreter's commands first."""
    return {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files the examples name."""
    (tmp_path / "photo.png").write_bytes(picture(1))
    (tmp_path / "other.png").write_bytes(picture(2))
    (tmp_path / "notes.txt").write_text("not an image", encoding="utf-8")
    return tmp_path


def test_the_curl_examples_work(service: RunningService, folder: Path) -> None:
    outputs = [
        subprocess.check_output(["bash", "-c", block.replace(DOCUMENTED, service.address)], cwd=folder, text=True)
        for block in blocks("service.md", "bash")
    ]

    assessed, job, refused = outputs
    assert '"status":"finished"' in assessed
    assert '"job_id"' in job
    assert '"code":"image_format"' in refused


def test_the_python_example_works(service: RunningService, folder: Path) -> None:
    (block,) = blocks("service.md", "python")

    output = subprocess.check_output(
        [sys.executable, "-c", block.replace(DOCUMENTED, service.address)], cwd=folder, text=True
    )

    assert 1 <= float(output.split()[0]) <= 5


@pytest.mark.parametrize("place", range(len(blocks(EVERY_USE, "bash"))))
def test_every_use_works_with_curl_and_with_python(service: RunningService, folder: Path, place: int) -> None:
    (folder / "original.png").write_bytes(picture(1, side=80))
    commands = f"set -e\n{blocks(EVERY_USE, 'bash')[place]}".replace(DOCUMENTED, service.address)
    program = blocks(EVERY_USE, "python")[place].replace(DOCUMENTED, service.address)

    said = subprocess.check_output(["bash", "-c", commands], cwd=folder, text=True, env=environment())
    printed = subprocess.check_output([sys.executable, "-c", program], cwd=folder, text=True, env=environment())

    assert '"code"' not in said
    assert printed.strip()


def test_the_javascript_example_works_in_a_page_of_the_service(service: RunningService) -> None:
    (block,) = blocks("service.md", "javascript")
    chromium = subprocess.check_output([sys.executable, str(SCRIPT)], text=True).strip()

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = browser.new_page()
        page.goto(f"{service.address}/v1/health/live")
        found: dict[str, Any] = page.evaluate(f"async () => {{ {block} }}")
        browser.close()

    assert found["answer"].startswith("Yes")
    assert found["steps"] == ["planner", "planner", "executor", "executor", "summarizer", "summarizer"]


def test_the_example_of_an_mcp_client_works(folder: Path) -> None:
    (block,) = blocks("mcp.md", "python")

    output = subprocess.check_output([sys.executable, "-c", block], cwd=folder, text=True, env=environment())

    assert output.strip()


def test_no_generated_request_is_answered_with_a_server_error(service: RunningService, tmp_path: Path) -> None:
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"

    attack = subprocess.run(
        [
            str(BIN / "schemathesis"), "run", f"{service.address}/v1/openapi.json", "--max-examples", "5",
            "--checks", checks, "--phases", "examples,fuzzing", "--generation-deterministic",
        ],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert attack.returncode == 0, attack.stdout[-3000:]


def test_a_client_made_from_the_openapi_document_assesses_an_image(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = tmp_path / "openapi.json"
    document.write_text(httpx.get(f"{service.address}/v1/openapi.json").text, encoding="utf-8")
    subprocess.run(
        [str(BIN / "openapi-python-client"), "generate", "--path", str(document), "--meta", "none",
         "--output-path", str(tmp_path / "generated_client")],
        check=True, capture_output=True, env=environment(),
    )  # fmt: skip
    monkeypatch.syspath_prepend(str(tmp_path))
    made: Any = importlib.import_module("generated_client")
    call: Any = importlib.import_module("generated_client.api.runs.assess")
    models: Any = importlib.import_module("generated_client.models")
    types: Any = importlib.import_module("generated_client.types")

    body = models.BodyAssess(image=types.File(payload=io.BytesIO(picture(1)), file_name="a.png"), query="Is it noisy?")
    with made.Client(base_url=service.address, timeout=120) as client:
        run = call.sync(client=client, body=body)

    assert run.status == "finished"
    assert 1 <= run.assessment.score <= 5
