"""What stands before the routes: who may ask, how much may be sent and how slowly, and the headers of every answer."""

from __future__ import annotations

import asyncio
import hmac
import math
import time
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agenticiqa.server.connections import (
    MAX_HEADER_BYTES,
    MAX_HEADERS,
    is_header_too_large,
    is_known_host,
    is_same_origin,
)
from agenticiqa.server.metrics import Metrics
from agenticiqa.server.problems import Problem
from agenticiqa.server.service_options import MEGABYTE, ServiceOptions

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A report carries its own script and style; the sandbox gives it an origin of its own.
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts"
)
_HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
_METHODS = {"GET", "HEAD", "POST", "DELETE"}
# So many bodies are read at once; each may lie in memory.
MAX_OPEN_UPLOADS = 128
_READING = {"GET", "HEAD", "OPTIONS"}


def safe_headers(app: ASGIApp) -> ASGIApp:
    """The application with the security headers on every answer that has none of its own."""

    def add_headers(_: Scope, start: Message) -> None:
        headers = MutableHeaders(scope=start)
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)

    return _at_the_start_of_answers(app, add_headers)


def counted(app: ASGIApp, metrics: Metrics) -> ASGIApp:
    """The application with every answer counted under the route that gave it."""

    def count(scope: Scope, start: Message) -> None:
        # The route's pattern, not the path: names of runs would make a counter each.
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        metrics.requests.labels(method, route, str(start["status"])).inc()

    return _at_the_start_of_answers(app, count)


def _at_the_start_of_answers(app: ASGIApp, act: Callable[[Scope, Message], None]) -> ASGIApp:
    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                act(scope, message)
            await send(message)

        await app(scope, receive, send_on)

    return wrapped


class AccessGuard:
    """Refuses strange hosts, other sites' pages and callers without the token."""

    def __init__(self, app: ASGIApp, options: ServiceOptions) -> None:
        self._app = app
        self._token = options.token
        self._hosts = frozenset(name.casefold() for name in ("localhost", options.host, *options.allow_hosts))
        self._rate = RateLimit(options.requests_per_minute) if options.requests_per_minute else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope, Headers(scope=scope)) if scope["type"] == "http" else None
        await (refusal.as_response() if refusal else self._app)(scope, receive, send)

    def _refusal(self, scope: Scope, headers: Headers) -> Problem | None:
        if is_header_too_large(scope["headers"]):
            return _cut_off(
                "headers_too_large",
                f"a request may have {MAX_HEADERS} headers and {MAX_HEADER_BYTES} bytes of them; send fewer",
            )
        if "content-length" in headers and "transfer-encoding" in headers:
            # Two lengths: what stands before the service may have read another one, and with it another request.
            return _cut_off(
                "bad_request",
                "a body has a length or comes in chunks, not both; leave out Content-Length or Transfer-Encoding",
            )
        host = headers.get("host", "")
        if not is_known_host(host, self._hosts):
            return Problem("host_not_allowed", "this host name is not served; the operator can add it: --allow-host")
        origin = headers.get("origin")
        if origin is not None and scope["method"] not in _READING and not is_same_origin(origin, host):
            return Problem("cross_origin", "pages of other sites may not use this service")
        if self._token is not None and _needs_token(scope["path"]) and not self._has_token(headers):
            return Problem(
                "token_required",
                "this service needs its token in the header Authorization: Bearer TOKEN",
                headers={"WWW-Authenticate": "Bearer"},
            )
        if self._rate is not None and scope["method"] == "POST":
            seconds = self._rate.seconds_to_wait(scope["client"][0] if scope.get("client") else "local")
            if seconds:
                said = f"this client has sent too many requests; try again in {seconds} seconds"
                return _cut_off("rate_limited", said, seconds)
        return None

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        expected = (self._token or "").encode()
        # Latin-1 is how the header was decoded; anything else would make non-ASCII tokens fail.
        return scheme.casefold() == "bearer" and hmac.compare_digest(given.strip().encode("latin-1"), expected)


class RateLimit:
    """So many requests a minute for each address, all of which may come at once."""

    def __init__(self, per_minute: int, most_addresses: int = 10_000) -> None:
        self._per_minute = per_minute
        self._most_addresses = most_addresses
        # What an address has left, and when that was so; the one that asked longest ago is the first.
        self._left: dict[str, tuple[float, float]] = {}

    def seconds_to_wait(self, address: str, now: float | None = None) -> int:
        """0 if the request may be answered, which counts it; otherwise the seconds until it may."""
        moment = time.monotonic() if now is None else now
        left, since = self._left.pop(address, (float(self._per_minute), moment))
        left = min(float(self._per_minute), left + (moment - since) * self._per_minute / 60)
        allowed = left >= 1
        self._left[address] = (left - 1 if allowed else left, moment)
        if len(self._left) > self._most_addresses:
            del self._left[next(iter(self._left))]
        return 0 if allowed else math.ceil((1 - left) * 60 / self._per_minute)


class BodyLimits:
    """Cuts off bodies that are too large or too slow, whatever length they announce."""

    def __init__(self, app: ASGIApp, options: ServiceOptions) -> None:
        self._app = app
        self._max_bytes = options.max_request_megabytes * MEGABYTE
        self._options = options
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _READING:
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Headers(scope=scope))
        if refusal is not None:
            await refusal.as_response()(scope, receive, send)
            return
        deadline = time.monotonic() + self._options.upload_timeout
        read, is_open = 0, True
        self._open += 1

        def close() -> None:
            nonlocal is_open
            self._open -= is_open
            is_open = False

        async def receive_within_limits() -> Message:
            nonlocal read
            if not is_open:
                # After the body only the client's leaving can come, and there is no hurry about that.
                return await receive()
            patience = min(self._options.read_timeout, deadline - time.monotonic())
            try:
                message = await asyncio.wait_for(receive(), max(patience, 0.0))
            except TimeoutError:
                raise _cut_off("upload_too_slow", "the upload came too slowly and was cut off; try again") from None
            read += len(message.get("body", b""))
            if read > self._max_bytes:
                raise self._too_large()
            if not message.get("more_body", False):
                close()
            return message

        try:
            await self._app(scope, receive_within_limits, send)
        finally:
            close()

    def _refusal(self, headers: Headers) -> Problem | None:
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._max_bytes:
            return self._too_large()
        if self._open >= MAX_OPEN_UPLOADS:
            return Problem("too_many_uploads", "too many uploads at once; try again in a moment", retry_after=2)
        return None

    def _too_large(self) -> Problem:
        megabytes = self._options.max_request_megabytes
        return _cut_off("body_too_large", f"the request is larger than {megabytes} MB; send less at once")


def _cut_off(code: str, detail: str, retry_after: int | None = None) -> Problem:
    """The problem of a request that is not read to its end, so that its connection is of no more use."""
    return Problem(code, detail, retry_after=retry_after, headers={"Connection": "close"})


def _needs_token(path: str) -> bool:
    return path == "/metrics" or (path.startswith("/v1/") and not path.startswith("/v1/health"))
