"""What a call consumed is booked although it brought nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from agenticiqa.errors import BackendTimeoutError, ModelReplyError, OverloadedError, RefusedError
from agenticiqa.vlm_client import Usage, VLMClient, VLMReply, ask_for, create_vlm_client
from agenticiqa.vlm_client.caching import CachingVLMClient
from agenticiqa.vlm_client.client import charge
from agenticiqa.vlm_client.ledger import CallCounter
from agenticiqa.vlm_client.pricing import PricingVLMClient, load_prices
from agenticiqa.vlm_client.replies import AnswerReply
from agenticiqa.vlm_client.retrying import RetryingVLMClient
from agenticiqa.vlm_client.samples import SamplingVLMClient
from agenticiqa.vlm_client.scripted import ScriptedVLMClient
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
    charge(error, SPENT)
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
    server.script(Answer(openai_body(GOOD), drip=0.02))
    client, started = client_of(server, timeout=0.5), time.perf_counter()

    with pytest.raises(BackendTimeoutError, match=r"within 0.5 s"):
        client.ask(answer_request())
    client.close()

    # Dripping to the end would take 20 ms for each of more than 400 bytes.
    assert time.perf_counter() - started < 6


def test_a_reply_that_a_stricter_wording_brought_is_not_paid_for_again() -> None:
    client = ScriptedVLMClient({"answer": ["no JSON at all", GOOD]})
    cached, counter = CachingVLMClient(client), CallCounter()

    for _ in range(2):
        found = ask_for(AnswerReply, cached, answer_request(), counter=counter)

    assert found.value.final_answer == "B"
    assert (counter.count.calls, counter.count.cache_hits) == (2, 1)
