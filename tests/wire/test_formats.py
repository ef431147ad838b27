"""What each provider's client sends, and what it makes of the answer."""

from __future__ import annotations

import base64
import io
import json
import math
from typing import Any

import numpy as np
import pytest
from PIL import Image

from agenticiqa.state import PlannerOutput
from agenticiqa.vlm_client import Sampling
from agenticiqa.vlm_client.providers.network import NetworkVLMClient
from tests.wire.asking import (
    BODIES,
    GOOD,
    KEYS,
    MODELS,
    answer_request,
    anthropic_body,
    google_body,
    noise,
    openai_body,
    pair,
    score_request,
)
from tests.wire.conftest import Connect
from tests.wire.serving import Answer, ScriptedServer

PROVIDERS = tuple(MODELS)


def sent_images(provider: str, body: dict[str, Any]) -> list[tuple[str, bytes]]:
    """The label before each image in a request, and the image's bytes."""
    if provider == "google":
        parts = body["contents"][0]["parts"]
        images = [(i, part["inlineData"]["data"]) for i, part in enumerate(parts) if "inlineData" in part]
        return [(parts[i - 1]["text"], base64.urlsafe_b64decode(data)) for i, data in images]
    content = body["messages"][-1]["content"]
    found = []
    for i, part in enumerate(content):
        if part["type"] == "image_url":
            found.append((content[i - 1]["text"], base64.b64decode(part["image_url"]["url"].partition(",")[2])))
        if part["type"] == "image":
            found.append((content[i - 1]["text"], base64.b64decode(part["source"]["data"])))
    return found


@pytest.mark.parametrize("provider", PROVIDERS)
def test_both_images_arrive_labelled_and_pixel_for_pixel(
    provider: str, server: ScriptedServer, connect: Connect
) -> None:
    server.script(Answer(BODIES[provider](GOOD)))
    client = connect(MODELS[provider], server.url)

    reply = client.ask(answer_request(images=pair()))

    labels, images = zip(*sent_images(provider, server.seen[0].body), strict=True)
    assert labels == ("test image:", "reference image:")
    for data, seed in zip(images, (0, 1), strict=True):
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data))), noise(seed).pixels)
    assert reply.text == GOOD
    assert reply.notes == ("test image sent as PNG", "reference image sent as PNG")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_tokens_are_counted_the_same_way_for_every_provider(
    provider: str, server: ScriptedServer, connect: Connect
) -> None:
    server.script(Answer(BODIES[provider](GOOD)))

    usage = connect(MODELS[provider], server.url).ask(answer_request()).usage

    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (1200, 1000, 30)
    assert usage.transport_attempts == 1
    assert usage.seconds > 0
    assert usage.cost_usd is None


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_bare_prompt_is_answered_with_text(provider: str, server: ScriptedServer, connect: Connect) -> None:
    server.script(Answer(BODIES[provider]("A cat.")))

    text = connect(MODELS[provider], server.url).generate("What is it?", Image.new("RGB", (32, 32)), max_tokens=5)

    assert text == "A cat."


def test_openai_gets_sampling_a_strict_schema_and_a_wish_for_log_probabilities(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(Answer(openai_body(GOOD)))

    connect("openai.gpt-4o", server.url).ask(score_request(sampling=Sampling(0.0, 0.1, 99, 7)))

    body = server.seen[0].body
    assert server.seen[0].path == "/chat/completions"
    assert server.seen[0].headers["authorization"] == f"Bearer {KEYS['OPENAI_API_KEY']}"
    assert (body["model"], body["temperature"], body["top_p"], body["seed"]) == ("gpt-4o", 0.0, 0.1, 7)
    assert body["max_completion_tokens"] == 99
    assert (body["logprobs"], body["top_logprobs"]) == (True, 20)
    form = body["response_format"]["json_schema"]
    assert form["strict"] is True
    assert form["schema"]["additionalProperties"] is False
    assert form["schema"]["properties"]["final_answer"]["enum"] == ["A", "B", "C", "D", "E", "Unable to determine"]


def test_a_schema_with_free_keys_guides_openai_without_strictness(server: ScriptedServer, connect: Connect) -> None:
    server.script(Answer(openai_body("{}")))

    connect("openai.gpt-4o", server.url).ask(answer_request(reply_model=PlannerOutput))

    form = server.seen[0].body["response_format"]["json_schema"]
    assert form["strict"] is False
    assert "distortions" in form["schema"]["properties"]


def test_anthropic_gets_a_schema_it_enforces_or_the_rule_in_words(server: ScriptedServer, connect: Connect) -> None:
    server.script(Answer(anthropic_body(GOOD)))
    client = connect("anthropic.claude-opus-4-1", server.url)

    client.ask(answer_request())
    client.ask(answer_request(reply_model=PlannerOutput))

    enforced, said = (seen.body for seen in server.seen)
    assert enforced["output_config"]["format"]["schema"]["required"] == ["final_answer", "quality_reasoning"]
    assert enforced["system"] == "You judge image quality."
    assert enforced["temperature"] == 0.0
    assert "output_config" not in said
    assert '"query_scope"' in said["system"]


def test_claude_gets_its_temperature_and_no_top_p_beside_it(server: ScriptedServer, connect: Connect) -> None:
    server.script(Answer(anthropic_body(GOOD)))
    client = connect("anthropic.claude-opus-4-1", server.url)

    client.ask(answer_request(sampling=Sampling(0.0, 0.1, 99)))
    client.ask(answer_request(sampling=Sampling(0.7, 0.1, 99)))

    certain, drawn = (seen.body for seen in server.seen)
    assert certain["temperature"] == 0.0
    assert "top_p" not in certain
    assert drawn["top_p"] == 0.1
    assert "temperature" not in drawn


def test_gemini_gets_its_schema_in_json_mode_at_the_beta_version(server: ScriptedServer, connect: Connect) -> None:
    server.script(Answer(google_body(GOOD)))

    connect("google.gemini-2.5-flash", server.url).ask(score_request(sampling=Sampling(0.2, 0.5, 99, 7)))

    seen = server.seen[0]
    config = seen.body["generationConfig"]
    assert seen.path == "/v1beta/models/gemini-2.5-flash:generateContent"
    assert seen.headers["x-goog-api-key"] == KEYS["GOOGLE_API_KEY"]
    assert seen.body["systemInstruction"]["parts"][0]["text"] == "You judge image quality."
    assert (config["temperature"], config["topP"], config["maxOutputTokens"], config["seed"]) == (
        0.2,
        0.5,
        99 + 4096,
        7,
    )
    assert config["responseMimeType"] == "application/json"
    assert "final_answer" in config["responseJsonSchema"]["properties"]
    assert (config["responseLogprobs"], config["logprobs"]) == (True, 20)


# At the answer: B .5, " A" and "A" .125 each, C .125; D and E are bounded by the least one reported, "x" with 1/16.
ALTERNATIVES = [("B", 1 / 2), ("A", 1 / 8), (" A", 1 / 8), ("C", 1 / 8), ("x", 1 / 16)]
TOKENS = ('{"final_answer": "', "B", '", "quality_reasoning": "A little soft."}')
HAND_WORKED = {"A": 4 / 16, "B": 8 / 16, "C": 2 / 16, "D": 1 / 16, "E": 1 / 16}


def openai_logprobs() -> dict[str, Any]:
    def entry(token: str, chance: float) -> dict[str, Any]:
        return {"token": token, "logprob": math.log(chance), "bytes": None}

    tops = [[], [entry(*pair) for pair in ALTERNATIVES], []]
    return {"content": [{**entry(token, 0.5), "top_logprobs": top} for token, top in zip(TOKENS, tops, strict=True)]}


def google_logprobs() -> dict[str, Any]:
    def entry(token: str, chance: float) -> dict[str, Any]:
        return {"token": token, "logProbability": math.log(chance), "tokenId": 1}

    tops = [[], [entry(*pair) for pair in ALTERNATIVES], []]
    return {
        "chosenCandidates": [entry(token, 0.5) for token in TOKENS],
        "topCandidates": [{"candidates": top} for top in tops],
    }


def expect_hand_worked(client: NetworkVLMClient) -> None:
    reply = client.ask(score_request())

    assert reply.probability_source == "logprobs"
    assert reply.level_logprobs is not None
    shares = {letter: math.exp(value) for letter, value in reply.level_logprobs.items()}
    total = sum(HAND_WORKED.values())
    assert shares == pytest.approx({letter: share / total for letter, share in HAND_WORKED.items()}, abs=1e-6)
    assert "log-probability of D, E not reported; bounded by the smallest reported one" in reply.notes


def test_level_probabilities_of_openai_equal_a_hand_worked_softmax(server: ScriptedServer, connect: Connect) -> None:
    server.script(Answer(openai_body(GOOD, logprobs=openai_logprobs())))

    expect_hand_worked(connect("openai.gpt-4o", server.url))


def test_level_probabilities_of_gemini_equal_a_hand_worked_softmax(server: ScriptedServer, connect: Connect) -> None:
    server.script(Answer(google_body(GOOD, logprobsResult=google_logprobs())))

    expect_hand_worked(connect("google.gemini-2.5-flash", server.url))


def test_anthropic_has_no_level_probabilities(server: ScriptedServer, connect: Connect) -> None:
    server.script(Answer(anthropic_body(GOOD)))

    reply = connect("anthropic.claude-opus-4-1", server.url).ask(score_request())

    assert reply.level_logprobs is None
    assert reply.probability_source is None


def test_a_cut_reply_says_so(server: ScriptedServer, connect: Connect) -> None:
    server.script(Answer(openai_body(GOOD[:20], finish_reason="length")))

    reply = connect("openai.gpt-4o", server.url).ask(answer_request())

    assert "the reply was cut at max_tokens" in reply.notes


def test_the_thoughts_of_gemini_are_not_part_of_the_reply(server: ScriptedServer, connect: Connect) -> None:
    parts = [{"text": "Let me see.", "thought": True}, {"text": GOOD}]
    server.script(Answer(google_body("", content={"role": "model", "parts": parts})))

    reply = connect("google.gemini-2.5-flash", server.url).ask(answer_request())

    assert json.loads(reply.text)["final_answer"] == "B"
