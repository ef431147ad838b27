"""Before any token is checked: half-open connections, endless headers, too many of everything."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx
import pytest
import uvicorn

from agenticiqa.server.connections import (
    MAX_HEADER_BYTES,
    UNREAD_BYTES,
    guarded_protocol,
    is_known_host,
    is_same_origin,
)
from agenticiqa.server.guards import AccessGuard, RateLimit
from agenticiqa.server.service_options import ServiceOptions


async def answer(scope: dict[str, object], receive: object, send: object) -> None:
    """The smallest application."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})  # type: ignore[operator]
        await send({"type": "http.response.body", "body": b"ok"})  # type: ignore[operator]


@contextmanager
def listening(options: ServiceOptions) -> Iterator[tuple[str, int]]:
    """The smallest application behind the service's protocol and gate."""
    config = uvicorn.Config(
        AccessGuard(answer, options),  # type: ignore[arg-type]
        http=guarded_protocol(options), ws="none", lifespan="off", log_config=None, port=0,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )  # fmt: skip
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join(20)


def begun(address: tuple[str, int]) -> socket.socket:
    """A connection that has sent half a header."""
    connection = socket.create_connection(address, timeout=10)
    connection.sendall(b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
    return connection


def test_health_answers_during_300_half_open_connections() -> None:
    with listening(ServiceOptions(header_timeout=30)) as address:
        half_open = [begun(address) for _ in range(300)]
        time.sleep(0.3)

        statuses = [httpx.get(f"http://127.0.0.1:{address[1]}/v1/health").status_code for _ in range(5)]

        for connection in half_open:
            connection.close()
    assert statuses == [200] * 5


def test_a_header_that_trickles_in_is_cut_off_in_time() -> None:
    with listening(ServiceOptions(header_timeout=0.6)) as address, begun(address) as connection:
        started, closed = time.monotonic(), False
        while not closed and time.monotonic() - started < 10:
            try:
                connection.sendall(b"x")
                connection.settimeout(0.1)
                closed = connection.recv(100) == b""
            except TimeoutError:
                continue
            except OSError:
                closed = True

    assert closed
    assert time.monotonic() - started < 8


def test_the_second_request_of_a_connection_is_under_the_same_limit() -> None:
    with listening(ServiceOptions(header_timeout=0.5)) as address, begun(address) as connection:
        connection.sendall(b"\r\n\r\n")
        first = connection.recv(1000)
        connection.sendall(b"GET / HT")
        connection.settimeout(10)
        rest = connection.recv(1000)

    assert b"200" in first
    assert rest == b""


def test_a_header_may_be_neither_large_nor_manifold() -> None:
    with listening(ServiceOptions()) as address, httpx.Client(base_url=f"http://127.0.0.1:{address[1]}") as client:
        many = client.get("/v1/health", headers={f"x-{number}": "1" for number in range(150)})
        try:
            large = client.get("/v1/health", headers={"x": "a" * (MAX_HEADER_BYTES + 5000)}).status_code
        except httpx.TransportError:
            large = 400
        after = client.get("/v1/health").status_code

    assert (many.status_code, many.json()["code"]) == (431, "headers_too_large")
    assert large in (400, 431)
    assert after == 200


def test_more_connections_than_allowed_are_turned_away_and_those_that_leave_make_room() -> None:
    options = ServiceOptions(max_connections=8, max_connections_per_address=4, header_timeout=30)
    with listening(options) as address:
        held = [begun(address) for _ in range(4)]
        time.sleep(0.2)
        with socket.create_connection(address, timeout=10) as fifth:
            refused = fifth.recv(1000)
        for connection in held:
            connection.close()
        time.sleep(0.3)
        after = httpx.get(f"http://127.0.0.1:{address[1]}/v1/health").status_code

    assert refused.startswith(b"HTTP/1.1 503")
    assert after == 200


def test_a_rate_limit_counts_each_client_for_itself_and_fills_up_again() -> None:
    limit = RateLimit(per_minute=2, most_addresses=3)

    waits = [limit.seconds_to_wait("a", now=0.0) for _ in range(3)]

    assert waits == [0, 0, 30]
    assert limit.seconds_to_wait("b", now=0.0) == 0
    assert limit.seconds_to_wait("a", now=31.0) == 0


def test_uploads_beyond_the_rate_are_refused_with_the_time_to_wait() -> None:
    with listening(ServiceOptions(requests_per_minute=1)) as address:
        posts = [httpx.post(f"http://127.0.0.1:{address[1]}/v1/assess") for _ in range(2)]
        reading = httpx.get(f"http://127.0.0.1:{address[1]}/v1/limits")

    assert [post.status_code for post in posts] == [200, 429]
    assert posts[1].json()["code"] == "rate_limited"
    assert int(posts[1].headers["retry-after"]) > 0
    assert reading.status_code == 200


@pytest.mark.parametrize("options", [ServiceOptions(), ServiceOptions(host="0.0.0.0", token="t")])
def test_lists_are_shown_where_callers_are_known(options: ServiceOptions) -> None:
    assert options.may_list
    assert not ServiceOptions(host="0.0.0.0", allow_anonymous=True).may_list


def said(address: tuple[str, int], request: bytes) -> bytes:
    """Everything the service says until it closes the connection."""
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(request)
        found = b""
        while piece := connection.recv(65536):
            found += piece
    return found


def test_a_request_with_two_lengths_is_refused_and_what_follows_is_not_read() -> None:
    twice = b"POST /v1/assess HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    smuggled = b"0\r\n\r\nGET /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

    with listening(ServiceOptions()) as address:
        found = said(address, twice + smuggled)

    assert found.startswith(b"HTTP/1.1 400 ")
    assert b"not both" in found
    assert found.count(b"HTTP/1.1 ") == 1


def test_a_body_that_nobody_reads_is_not_read_for_ever() -> None:
    header = b"POST /v1/assess HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n"
    sent = 0
    with listening(ServiceOptions()) as address, socket.create_connection(address, timeout=20) as connection:
        connection.sendall(header)
        answer = connection.recv(65536)
        with suppress(ConnectionError):
            while sent < 2**30:
                sent += connection.send(b"x" * 65536)

    assert answer.startswith(b"HTTP/1.1 200 ")
    # What waits in the system's buffers comes on top.
    assert sent < UNREAD_BYTES + 64 * 2**20


@pytest.mark.parametrize(
    "host",
    ["localhost#.evil.com", "[::1]evil.com", "127.0.0.1/evil.com", "evil.com@127.0.0.1", "localhost?evil.com",
     "127.0.0.1\\evil.com", "localhost:80:80", "localhost:", "[::1", "[localhost]", "127.0.0.1 evil.com",
     "localhost%00.evil.com", "127.0.0.1,evil.com", "evil.com"],
)  # fmt: skip
def test_a_host_is_read_whole_and_no_beginning_of_it_counts(host: str) -> None:
    assert not is_known_host(host, {"localhost"})
    assert not is_same_origin(f"http://{host}", "localhost")
    assert not is_same_origin(f"http://{host}", "127.0.0.1")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080", "[::1]"])
def test_the_own_host_and_origin_are_known(host: str) -> None:
    assert is_known_host(host, {"localhost"})
    assert is_same_origin(f"http://{host}", host)


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        ("https://iqa.example", "iqa.example", True),
        ("https://iqa.example:443", "iqa.example", True),
        ("http://127.0.0.1:9", "127.0.0.1:8", False),
        ("http://127.0.0.1:8/path", "127.0.0.1:8", False),
        ("http://user@127.0.0.1:8", "127.0.0.1:8", False),
        ("file://127.0.0.1:8", "127.0.0.1:8", False),
        ("null", "127.0.0.1:8", False),
        ("", "127.0.0.1:8", False),
    ],
)
def test_an_origin_is_a_scheme_a_host_and_a_port(origin: str, host: str, same: bool) -> None:
    assert is_same_origin(origin, host) is same
