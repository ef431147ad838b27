"""The clients against a real model on llama.cpp, in OpenAI's and in Anthropic's format."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from agenticiqa.state import LEVEL_LETTERS
from agenticiqa.vlm_client import LabelledImage, Sampling, VLMClient, ask_for
from agenticiqa.vlm_client.client import CallCounter
from agenticiqa.vlm_client.factory import Assembly
from agenticiqa.vlm_client.tasks import AnswerReply
from tests.wire import asking
from tests.wire.asking import answer_request, noise, pair, score_request
from tests.wire.conftest import Connect
from tests.wire.smollm import ModelServer


def test_a_schema_is_kept_and_the_levels_have_probabilities(smollm: ModelServer, connect: Connect) -> None:
    reply = connect("compatible.smollm2", f"{smollm.url}/v1").ask(score_request())

    answer = json.loads(reply.text.partition("}")[0] + "}") if reply.text.count("}") else {}
    assert re.match(r'\s*\{\s*"final_answer"\s*:\s*"([A-E]|Unable to determine)"', reply.text), reply.text
    assert not answer or set(answer) == {"final_answer", "quality_reasoning"}
    assert reply.probability_source == "logprobs"
    assert reply.level_logprobs is not None
    assert set(reply.level_logprobs) == set(LEVEL_LETTERS)
    assert math.fsum(map(math.exp, reply.level_logprobs.values())) == pytest.approx(1.0, abs=1e-9)


def test_the_image_reaches_the_model(smollm: ModelServer, connect: Connect) -> None:
    client = connect("compatible.smollm2", f"{smollm.url}/v1")
    images = [LabelledImage("image", noise(seed)) for seed in (1, 2, 1)]

    one, other, again = (client.ask(score_request(images=(image,))).level_logprobs for image in images)

    assert one is not None
    assert other is not None
    assert again == pytest.approx(one, abs=0.02)
    assert max(abs(one[letter] - other[letter]) for letter in LEVEL_LETTERS) > 0.05


@pytest.mark.parametrize(("backend", "path"), [("compatible.smollm2", "/v1"), ("anthropic.smollm2", "")])
def test_tokens_equal_the_servers_own_count(backend: str, path: str, smollm: ModelServer, connect: Connect) -> None:
    client = connect(backend, f"{smollm.url}{path}")
    before = smollm.counts()

    usage = client.ask(answer_request(images=pair(), sampling=Sampling(max_tokens=12))).usage

    spent = smollm.since(before)
    # A reply that is cut off is asked for again with twice the room, and paid for each time.
    assert spent["calls"] > 1
    assert usage.output_tokens == spent["written"]
    assert usage.cached_tokens == spent["cached"]
    assert usage.input_tokens - usage.cached_tokens == spent["read"]


def test_a_kept_reply_costs_the_server_nothing(smollm: ModelServer, tmp_path: Path) -> None:
    settings = asking.settings(cache=tmp_path)
    role = asking.role("compatible.smollm2", f"{smollm.url}/v1")
    request = score_request(reply_model=AnswerReply, sampling=Sampling(max_tokens=120))

    def ask_in_a_new_process() -> CallCounter:
        client: VLMClient = Assembly(settings).role_client(role)
        counter = CallCounter()
        try:
            ask_for(AnswerReply, client, request, counter=counter)
        finally:
            client.close()
        return counter

    first = ask_in_a_new_process().count
    before = smollm.counts()
    second = ask_in_a_new_process().count

    assert first.output_tokens > 0
    assert first.cost_usd is None
    assert (second.calls, second.cache_hits, second.output_tokens) == (0, 1, 0)
    assert not any(smollm.since(before).values())
