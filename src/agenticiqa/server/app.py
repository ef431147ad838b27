"""The FastAPI application: routes, guards, errors, the page, and HEAD for everything that can be got."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from anyio.to_thread import current_default_thread_limiter, run_sync
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agenticiqa.config import Settings
from agenticiqa.errors import wrong_values
from agenticiqa.server.guards import AccessGuard, BodyLimits, counted, safe_headers
from agenticiqa.server.openapi import complete_schema
from agenticiqa.server.problems import FieldError, Problem, invalid_fields, storage_full
from agenticiqa.server.routes import asking, catalogue, jobs, runs
from agenticiqa.server.service import Service
from agenticiqa.server.service_options import ServiceOptions
from agenticiqa.server.storage.retention import is_disk_full

logger = logging.getLogger("agenticiqa.server")

PAGE = Path(__file__).parent / "page"
THREADS = 8
SWITCH_INTERVAL = 0.001
ROUTES = (asking, runs, jobs, catalogue)
_AS_FILE = "is text where a file is expected; upload the picture itself (addresses are not fetched)"
_CODES = {404: "not_found", 405: "method_not_allowed", 413: "body_too_large"}


def create_app(options: ServiceOptions, settings: Settings) -> FastAPI:
    """The application; its service starts and stops with it."""
    options.require_safe()
    app = FastAPI(
        title="AgenticIQA",
        version=version("agenticiqa"),
        description="Answers questions about the quality of an image, and shows its evidence.",
        openapi_url="/v1/openapi.json",
        # FastAPI's own pages load their scripts from elsewhere; /docs is one of ours.
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        # Clients made from the document get methods called assess, compare, read_run …
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.service = Service(options, settings)
    for routes in ROUTES:
        app.include_router(routes.router)
    _add_page(app)
    _add_errors(app)
    # The last one is the first that meets a request.
    app.add_middleware(head_as_get)
    app.add_middleware(BodyLimits, options=options)
    app.add_middleware(AccessGuard, options=options)
    app.add_middleware(counted, metrics=app.state.service.metrics)
    app.add_middleware(safe_headers)
    complete_schema(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    # Every busy thread may keep the event loop from the interpreter for a moment; few threads, short moments.
    current_default_thread_limiter().total_tokens = THREADS
    sys.setswitchinterval(SWITCH_INTERVAL)
    service.start(asyncio.get_running_loop())
    try:
        yield
    finally:
        await run_sync(service.close)


def _add_page(app: FastAPI) -> None:
    def shown(name: str) -> Response:
        return FileResponse(PAGE / name, media_type="text/html", headers={"Cache-Control": "no-cache"})

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        """The page people use."""
        return shown("index.html")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        """The routes with their fields, and examples to copy."""
        return shown("docs.html")

    app.mount("/static", StaticFiles(directory=PAGE, check_dir=False), name="static")


def _add_errors(app: FastAPI) -> None:
    app.add_exception_handler(Problem, _on_problem)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    # By name too: what is handled by name is not reported a second time, with its traceback, by the server.
    for kind in (OSError, sqlite3.Error, Exception):
        app.add_exception_handler(kind, _on_failure)


async def _on_problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return error.as_response()


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    # A body that could not be put down while it was read comes as a bare 400.
    if error.status_code == 400 and is_disk_full(error):
        return await _on_full_disk(request)
    code = _CODES.get(error.status_code, "bad_request")
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_allowed_methods(request))
    return Problem(code, str(error.detail).lower(), headers=headers).as_response()


def _allowed_methods(request: Request) -> list[str]:
    """The methods of every route with this path; Starlette names only those of the first."""
    routes = [route for module in ROUTES for route in module.router.routes if isinstance(route, APIRoute)]
    found = {
        method for route in routes if route.matches(request.scope)[0] != Match.NONE for method in route.methods or ()
    }
    return sorted((found | {"HEAD"} if "GET" in found else found) or {"GET", "HEAD"})


async def _on_full_disk(request: Request) -> Response:
    logger.error("%s %s: the disk is full", request.method, request.url.path)
    await run_sync(request.app.state.service.free_room)
    return storage_full().as_response()


async def _on_invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # The first part of a place is where it stands: body or address.
    wrong = wrong_values({**entry, "loc": entry["loc"][1:]} for entry in error.errors())
    found = [
        FieldError(field=field or "request", message=_AS_FILE if "Expected UploadFile" in complaint else complaint)
        for field, complaint in wrong.items()
    ]
    return invalid_fields(found).as_response()


async def _on_failure(request: Request, error: Exception) -> Response:
    if is_disk_full(error):
        return await _on_full_disk(request)
    logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return Problem("failed", "the request failed inside the service; its log says why").as_response()


def head_as_get(app: ASGIApp) -> ASGIApp:
    """The application, which answers HEAD as it would GET, and sends no body."""

    async def answering(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await app(scope, receive, send)
            return
        begun = False

        async def receive_or_leave() -> Message:
            # A stream of events would go on for as long as its run: once there are headers, nobody listens any more.
            return {"type": "http.disconnect"} if begun else await receive()

        async def send_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                await send(message)
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        await app({**scope, "method": "GET"}, receive_or_leave, send_headers)

    return answering
