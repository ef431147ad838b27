"""What a call consumed is booked although it brought nothing."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import closing
from queue import Queue

import httpx
import pytest

from agenticiqa.errors import BackendTimeoutError, ModelReplyError, OverloadedError, RefusedError
from agenticiqa.vlm_client import Usage, VLMClient, VLMReply, ask_for, create_vlm_client
from agenticiqa.vlm_client.client import CallCounter
from agenticiqa.vlm_client.middleware.caching import CachingVLMClient
from agenticiqa.vlm_client.middleware.retrying import RetryingVLMClient
from agenticiqa.vlm_client.middleware.sampling import SamplingVLMClient
from agenticiqa.vlm_client.models import PricingVLMClient, load_prices
from agenticiqa.vlm_client.providers.http import deadline_hooks
from agenticiqa.vlm_client.providers.scripted import ScriptedVLMClient
from agenticiqa.vlm_client.tasks import AnswerReply
from tests.wire import asking
from tests.wire.asking import GOOD, MODELS, answer_request, openai_body, score_request
from tests.wire.serving import Answer, ScriptedServer

SPENT = Usage(input_tokens=70, output_tokens=3, cached_tokens=20, transport_attempts=2)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer().running() as running:
        yield running


def client_of(server: ScriptedServer, **role: float) -> VLMClient:
    backend = MODELS["openai"]
    return create_vlm_client(backend, asking.settings(), asking.role(backend, server.url, **role))


def spending(kind: type[RefusedError] | type[OverloadedError]) -> RefusedError | OverloadedError:
    error = kind("no")
    error.usage = SPENT
    return error


def test_a_refusal_is_paid_for_and_booked(server: ScriptedServer) -> None:
    server.script(Answer(openai_body("", refusal="I cannot help with that.")))
    client, counter = client_of(server), CallCounter()
    priced = PricingVLMClient(client, load_prices().of("openai.gpt-4o"))

    with pytest.raises(ModelReplyError):
        ask_for(AnswerReply, priced, answer_request(), counter=counter)
    client.close()

    booked = counter.count
    assert (booked.calls, booked.attempts) == (1, 1)
    assert (booked.input_tokens, booked.output_tokens, booked.cached_tokens) == (1200, 30, 1000)
    # 200 fresh tokens at $2.50, 1000 cached at $1.25 and 30 written at $10 per million.
    assert booked.cost_usd == pytest.approx((200 * 2.5 + 1000 * 1.25 + 30 * 10) / 1e6)


def test_what_failed_tries_consumed_is_added_to_the_reply_after_them() -> None:
    client = ScriptedVLMClient({"answer": [spending(OverloadedError), GOOD]})

    reply = RetryingVLMClient(client, sleep=lambda seconds: None).ask(answer_request())

    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens) == (70, 3, 20)
    assert reply.usage.transport_attempts == 3


def test_a_sample_that_fails_is_booked_with_those_that_do_not() -> None:
    client = ScriptedVLMClient({"score": [VLMReply(GOOD, "m"), spending(RefusedError), VLMReply(GOOD, "m")]})

    reply = SamplingVLMClient(client, 2).ask(score_request())

    assert reply.usage.input_tokens == 70
    assert reply.usage.transport_attempts == 4
    assert any("from 1 of 2 samples" in note for note in reply.notes)


def test_an_answer_that_only_drips_in_is_a_timeout(server: ScriptedServer) -> None:
    taken: Queue[bool] = Queue()
    server.script(Answer(openai_body(GOOD), drip=0.02, over=taken.put))
    client = client_of(server, timeout=0.5)

    with pytest.raises(BackendTimeoutError, match=r"within 0.5 s"):
        client.ask(answer_request())
    client.close()

    assert taken.get() is False


class Dripping(httpx.SyncByteStream):
    """Pieces of an answer, each of which comes one second after the one before."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = pieces
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:
            self.now += 1
            yield piece


def fetched(stream: Dripping, seconds: float) -> bytes:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, stream=stream))
    with httpx.Client(transport=transport, event_hooks=deadline_hooks(seconds, stream.clock)) as client:
        return client.get("http://localhost/").content


def test_of_an_answer_that_keeps_coming_no_more_is_read_than_the_time_allows() -> None:
    stream = Dripping(*[b"x"] * 100)

    with pytest.raises(httpx.ReadTimeout):
        fetched(stream, 3.5)

    assert stream.now == 5


def test_an_answer_that_is_whole_is_kept_although_it_came_late() -> None:
    late = Dripping(b"a", b"b", b"c")

    assert fetched(late, 2.5) == b"abc"


def test_a_reply_that_a_stricter_wording_brought_is_not_paid_for_again() -> None:
    client = ScriptedVLMClient({"answer": ["no JSON at all", GOOD]})
    cached, counter = CachingVLMClient(client), CallCounter()

    for _ in range(2):
        found = ask_for(AnswerReply, cached, answer_request(), counter=counter)

    assert found.value.final_answer == "B"
    assert (counter.count.calls, counter.count.cache_hits) == (2, 1)


@pytest.mark.parametrize(
    ("client", "taken"), [("reads it all", True), ("closes with it unread", False), ("left", False)]
)
def test_the_server_counts_an_answer_only_if_the_client_took_it(
    server: ScriptedServer, client: str, taken: bool
) -> None:
    ended: Queue[bool] = Queue()
    server.script(Answer({"tokens": 7}, silence=0.2, over=ended.put))

    with closing(socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])))) as connection:
        connection.sendall(b"POST / HTTP/1.0\r\ncontent-length: 2\r\n\r\n{}")
        if client != "left":
            select.select([connection], [], [])
        while client == "reads it all" and connection.recv(1000):
            pass

    assert ended.get() is taken
