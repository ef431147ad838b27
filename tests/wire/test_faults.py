"""Failures on the wire: what each means, how often a service is asked again, and what the record says."""

from __future__ import annotations

import logging
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from agenticiqa.errors import (
    AuthenticationError,
    BackendError,
    BackendTimeoutError,
    BadReplyError,
    ModelReplyError,
    OverloadedError,
    RateLimitError,
    RefusedError,
    UnavailableError,
)
from agenticiqa.vlm_client import VLMClient, ask_for
from agenticiqa.vlm_client.client import CallCounter
from agenticiqa.vlm_client.middleware.retrying import FallbackVLMClient, RetryingVLMClient, RetryPolicy
from agenticiqa.vlm_client.tasks import AnswerReply
from tests.wire.asking import (
    BODIES,
    GOOD,
    KEYS,
    MODELS,
    WIRE_PATHS,
    answer_request,
    google_body,
    openai_body,
    score_request,
)
from tests.wire.conftest import Connect
from tests.wire.serving import Answer, ScriptedServer

PROVIDERS = tuple(MODELS)


class Waits:
    """A clock that moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> float:
        return sum(self.slept)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def patient(client: VLMClient, waits: Waits, policy: RetryPolicy | None = None) -> RetryingVLMClient:
    return RetryingVLMClient(client, policy, clock=waits.now, sleep=waits.sleep, chance=lambda: 0.0)


def at(llmock: LLMock, provider: str) -> str:
    return str(llmock.base_url(WIRE_PATHS[provider]))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_two_rate_limits_are_waited_out_exactly_as_the_service_asks(
    provider: str, llmock: LLMock, connect: Connect
) -> None:
    llmock.rate_limit(times=2, retry_after=7).reply(GOOD)
    waits, counter = Waits(), CallCounter()
    client = patient(connect(MODELS[provider], at(llmock, provider)), waits)

    result = ask_for(AnswerReply, client, answer_request(), counter=counter)

    assert result.value.final_answer == "B"
    assert waits.slept == [7.0, 7.0]
    assert [record.status for record in llmock.requests] == [429, 429, 200]
    assert (counter.count.calls, counter.count.attempts) == (1, 3)


def test_a_service_that_stays_down_gives_way_to_the_fallback(
    llmock: LLMock, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    llmock.fail(500, times=None, provider="openai").reply(GOOD, provider="anthropic")
    waits, counter = Waits(), CallCounter()
    first = patient(connect(MODELS["openai"], at(llmock, "openai")), waits)
    second = patient(connect(MODELS["anthropic"], at(llmock, "anthropic")), waits)

    with caplog.at_level(logging.WARNING, "agenticiqa"):
        result = ask_for(AnswerReply, FallbackVLMClient(first, second), answer_request(), counter=counter)

    assert result.reply.model == "anthropic.claude-opus-4-1"
    assert waits.slept == [1.0, 2.0, 4.0]
    assert [(record.provider, record.status) for record in llmock.requests] == [
        ("openai", 500), ("openai", 500), ("openai", 500), ("openai", 500), ("anthropic", 200),
    ]  # fmt: skip
    assert (counter.count.calls, counter.count.attempts) == (2, 5)
    assert any("falling back to anthropic.claude-opus-4-1" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_json_truncated_three_times_is_asked_for_three_times_and_then_an_error(
    provider: str, llmock: LLMock, connect: Connect
) -> None:
    llmock.reply('{"final_answer": "B", "qual', times=3)
    waits, counter = Waits(), CallCounter()
    client = patient(connect(MODELS[provider], at(llmock, provider)), waits)

    with pytest.raises(ModelReplyError, match="after 3 tries"):
        ask_for(AnswerReply, client, answer_request(), counter=counter)

    assert waits.slept == []
    assert [record.status for record in llmock.requests] == [200, 200, 200]
    assert "Return ONLY valid JSON" in str(llmock.requests[2].body)
    assert (counter.count.calls, counter.count.attempts) == (3, 3)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, AuthenticationError), (403, AuthenticationError), (404, BackendError), (408, BackendTimeoutError),
        (413, BackendError), (429, RateLimitError), (500, OverloadedError), (503, OverloadedError),
        (529, OverloadedError), (504, BackendTimeoutError),
    ],
)  # fmt: skip
def test_every_status_has_its_error(
    provider: str, status: int, kind: type[BackendError], llmock: LLMock, connect: Connect
) -> None:
    llmock.fail(status, times=1)

    with pytest.raises(BackendError) as caught:
        connect(MODELS[provider], at(llmock, provider)).ask(answer_request())

    assert type(caught.value) is kind
    assert str(status) in str(caught.value)
    assert len(llmock.requests) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_that_takes_too_long_is_a_timeout(provider: str, llmock: LLMock, connect: Connect) -> None:
    llmock.delay(1.0)

    with pytest.raises(BackendTimeoutError, match=r"within 0.2 s"):
        connect(MODELS[provider], at(llmock, provider), timeout=0.2).ask(answer_request())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_service_out_of_reach_is_unavailable(provider: str, connect: Connect) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]

        with pytest.raises(UnavailableError, match="cannot be reached"):
            connect(MODELS[provider], f"http://127.0.0.1:{port}").ask(answer_request())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_connection_that_breaks_is_unavailable(provider: str, server: ScriptedServer, connect: Connect) -> None:
    server.script(Answer(BODIES[provider](GOOD), cut=True))

    with pytest.raises(UnavailableError):
        connect(MODELS[provider], server.url).ask(answer_request())


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("body", [b'{"choices": [', b"<html>busy</html>", b"", b"[]", b"{}", b"null", b'"text"'])
def test_an_answer_in_no_known_format_is_a_bad_reply(
    provider: str, body: bytes, server: ScriptedServer, connect: Connect
) -> None:
    server.script(Answer(body))

    with pytest.raises(BadReplyError):
        connect(MODELS[provider], server.url).ask(answer_request())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_empty_reply_is_a_bad_reply(provider: str, server: ScriptedServer, connect: Connect) -> None:
    server.script(Answer(BODIES[provider]("")))

    with pytest.raises(BadReplyError, match="empty reply"):
        connect(MODELS[provider], server.url).ask(answer_request())


THOUGHTFUL = {
    "openai": Answer(openai_body("", finish_reason="length")),
    "anthropic": Answer(BODIES["anthropic"]("", stop_reason="max_tokens", content=[])),
    "google": Answer(google_body("", finishReason="MAX_TOKENS")),
}


def room(provider: str, body: dict[str, Any]) -> int:
    if provider == "google":
        body = body["generationConfig"]
    names = {"openai": "max_completion_tokens", "anthropic": "max_tokens", "google": "maxOutputTokens"}
    return int(body[names[provider]])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_that_only_thinks_gets_room_and_what_it_wasted_is_counted(
    provider: str, server: ScriptedServer, connect: Connect
) -> None:
    server.script(THOUGHTFUL[provider], Answer(BODIES[provider](GOOD)))
    client = connect(MODELS[provider], server.url)

    first, second = client.ask(answer_request()), client.ask(answer_request())

    first_room = 32 + (4096 if provider == "google" else 0)
    assert [room(provider, seen.body) for seen in server.seen] == [first_room, 8192, 8192]
    assert (first.usage.input_tokens, first.usage.output_tokens) == (2400, 60)
    assert (first.usage.transport_attempts, second.usage.transport_attempts) == (2, 1)
    assert any("raised from" in note and "to 8192" in note for note in first.notes)


def test_a_model_that_thinks_without_end_is_a_bad_reply(server: ScriptedServer, connect: Connect) -> None:
    server.script(THOUGHTFUL["openai"])

    with pytest.raises(BadReplyError, match="no room left for a reply") as caught:
        connect("openai.o3", server.url).ask(answer_request())

    assert caught.value.attempts == len(server.seen) == 2


@pytest.mark.parametrize(
    ("provider", "answer"),
    [
        ("openai", Answer(openai_body("", refusal="I cannot help with that."))),
        ("openai", Answer(openai_body("", finish_reason="content_filter"))),
        ("openai", Answer({"error": {"message": "no", "code": "content_policy_violation"}}, 400)),
        ("anthropic", Answer(BODIES["anthropic"]("", stop_reason="refusal", content=[]))),
        ("google", Answer(google_body("", finishReason="SAFETY"))),
        ("google", Answer({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})),
    ],
)
def test_a_refusal_is_told_apart_from_a_failure(
    provider: str, answer: Answer, server: ScriptedServer, connect: Connect
) -> None:
    server.script(answer)

    with pytest.raises(RefusedError):
        connect(MODELS[provider], server.url).ask(answer_request())


def test_an_empty_purse_is_not_tried_again(server: ScriptedServer, connect: Connect) -> None:
    server.script(Answer({"error": {"message": "no credit", "code": "insufficient_quota"}}, 429))
    waits = Waits()

    with pytest.raises(BackendError, match="quota is used up") as caught:
        patient(connect("openai.gpt-4o", server.url), waits).ask(answer_request())

    assert not isinstance(caught.value, RateLimitError)
    assert len(server.seen) == 1


def later(seconds: int) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("provider", "answer", "seconds"),
    [
        ("openai", Answer({}, 429, {"retry-after-ms": "1500"}), 1.5),
        ("anthropic", Answer({}, 529, {"retry-after": "3"}), 3.0),
        (
            "google",
            Answer(
                {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow down", "details": [
                    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}]}},
                429,
            ),
            12.5,
        ),
    ],
)  # fmt: skip
def test_the_wait_a_service_asks_for_is_found_wherever_it_says_so(
    provider: str, answer: Answer, seconds: float, server: ScriptedServer, connect: Connect
) -> None:
    server.script(answer)

    with pytest.raises(BackendError) as caught:
        connect(MODELS[provider], server.url).ask(answer_request())

    assert caught.value.retry_after == seconds


def test_a_wait_given_as_a_date_is_counted_from_now(server: ScriptedServer, connect: Connect) -> None:
    server.script(Answer({}, 503, {"retry-after": later(60)}))

    with pytest.raises(OverloadedError) as caught:
        connect("openai.gpt-4o", server.url).ask(answer_request())

    assert caught.value.retry_after == pytest.approx(60, abs=5)


def refusing(parameter: str | None) -> Answer:
    return Answer({"error": {"message": "Unsupported value", "code": "unsupported_value", "param": parameter}}, 400)


def test_a_parameter_an_unknown_model_refuses_is_left_out_from_then_on(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(refusing("temperature"), refusing("top_logprobs"), Answer(openai_body(GOOD)))
    client = connect("openai.model-of-tomorrow", server.url)

    first = client.ask(score_request())
    second = client.ask(score_request())

    bodies = [seen.body for seen in server.seen]
    assert [("temperature" in body, "logprobs" in body) for body in bodies] == [
        (True, True), (False, True), (False, False), (False, False),
    ]  # fmt: skip
    assert all("response_format" in body for body in bodies)
    assert first.usage.transport_attempts == 3
    assert second.usage.transport_attempts == 1
    assert "the model refuses logprobs, temperature; asked without" in first.notes


def test_a_server_that_knows_only_the_newer_name_of_the_length_gets_it(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(refusing("max_tokens"), Answer(openai_body(GOOD)))

    connect("compatible.some-model", server.url).ask(answer_request())

    first, second = (seen.body for seen in server.seen)
    assert "max_tokens" in first
    assert second["max_completion_tokens"] == 32
    assert "max_tokens" not in second


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        ("anthropic", {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}),
        ("google", {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "no"}}),
    ],
)
def test_a_rejection_without_a_reason_costs_the_schema_before_the_temperature(
    provider: str, body: dict[str, Any], server: ScriptedServer, connect: Connect
) -> None:
    server.script(Answer(body, 400), Answer(BODIES[provider](GOOD)))

    reply = connect(MODELS[provider], server.url).ask(answer_request())

    assert reply.text == GOOD
    assert "JSON schema" in str(server.seen[1].body)
    assert "temperature" in str(server.seen[1].body)
    assert any("asked without" in note for note in reply.notes)


def test_a_rejection_without_a_reason_is_remembered_for_that_task_only(
    server: ScriptedServer, connect: Connect
) -> None:
    rejection = Answer({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}, 400)
    server.script(rejection, Answer(BODIES["anthropic"](GOOD)))
    client = connect(MODELS["anthropic"], server.url)

    for request in (score_request(), score_request(), answer_request()):
        client.ask(request)

    assert ["output_config" in seen.body for seen in server.seen] == [True, False, False, True]


def test_gemini_is_asked_without_the_field_it_names(server: ScriptedServer, connect: Connect) -> None:
    violation = {"field": "generation_config.response_logprobs", "description": "not supported"}
    details = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}]
    rejection = {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "no", "details": details}}
    server.script(Answer(rejection, 400), Answer(google_body(GOOD)))

    connect("google.gemini-2.5-flash", server.url).ask(score_request())

    config = server.seen[1].body["generationConfig"]
    assert "responseLogprobs" not in config
    assert config["responseMimeType"] == "application/json"


def test_a_request_that_stays_invalid_is_an_error_after_one_group_at_a_time(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(Answer({"error": {"message": "image too odd"}}, 400))

    with pytest.raises(BackendError, match="rejected as invalid") as caught:
        connect("openai.gpt-4o", server.url).ask(answer_request())

    left = [
        {"seed", "response_format", "max_completion_tokens", "temperature"} & set(seen.body) for seen in server.seen
    ]
    assert caught.value.attempts == len(server.seen) == 5
    assert [len(names) for names in left] == [4, 3, 2, 1, 0]
    assert left[3] == {"temperature"}


REASONING = {"error": {"message": "You are not allowed to request logprobs from this model", "code": None}}


def test_a_model_that_refuses_logprobs_with_403_has_no_wrong_key(
    server: ScriptedServer, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    server.script(Answer(REASONING, 403), Answer(openai_body(GOOD)))
    client = connect("openai.model-of-tomorrow", server.url)

    with caplog.at_level(logging.WARNING, "agenticiqa"):
        reply = client.ask(score_request())

    assert "logprobs" not in server.seen[1].body
    assert "temperature" in server.seen[1].body
    assert "the model refuses logprobs; asked without" in reply.notes
    assert "refuses logprobs" in caplog.text
    assert client.asked_without(score_request()) == {"logprobs"}


def test_a_family_that_takes_no_temperature_is_not_asked_for_it_and_the_record_says_so(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(Answer(openai_body(GOOD)))

    reply = connect("openai.o3", server.url).ask(score_request())

    assert not {"temperature", "logprobs"} & set(server.seen[0].body)
    assert len(server.seen) == 1
    assert "models of this family take no logprobs, temperature; asked without" in reply.notes


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_reply_cut_off_is_asked_for_again_with_twice_the_room(
    provider: str, server: ScriptedServer, connect: Connect
) -> None:
    reason = {"openai": {"finish_reason": "length"}, "anthropic": {"stop_reason": "max_tokens"},
              "google": {"finishReason": "MAX_TOKENS"}}[provider]  # fmt: skip
    server.script(Answer(BODIES[provider](GOOD, **reason)), Answer(BODIES[provider](GOOD)))
    client = connect(MODELS[provider], server.url)

    reply = client.ask(answer_request())

    rooms = [room(provider, seen.body) for seen in server.seen]
    assert rooms[1] == 2 * rooms[0]
    assert reply.usage.output_tokens == 60
    assert any("raised" in note for note in reply.notes)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_key_is_found_in_errors_or_logs(
    provider: str, server: ScriptedServer, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    key = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY"}[provider]
    spoken = {"error": {"message": f"wrong key {KEYS[key]}", "code": 401}}
    server.script(Answer(spoken, 401), Answer(spoken, 418), Answer(spoken, 500))
    client = patient(connect(MODELS[provider], server.url), Waits())

    said = repr(client.client)
    for _ in range(3):
        with caplog.at_level(logging.DEBUG, "agenticiqa"), pytest.raises(BackendError) as caught:
            client.ask(answer_request())
        said += f"{caught.value} {caught.value!r}"
        assert not isinstance(caught.value, AuthenticationError) or caught.value.__cause__ is None

    assert KEYS[key] not in said + caplog.text


def test_the_recording_of_a_failure_holds_no_key(tmp_path: Path, server: ScriptedServer, connect: Connect) -> None:
    from agenticiqa.vlm_client.middleware.recording import RecordingVLMClient

    server.script(Answer({"error": {"message": f"bad {KEYS['OPENAI_API_KEY']}"}}, 418))
    file = tmp_path / "calls.jsonl"
    client = RecordingVLMClient(connect("openai.gpt-4o", server.url), file, tuple(KEYS.values()))

    with pytest.raises(BackendError):
        client.ask(answer_request(user=f"Is {KEYS['OPENAI_API_KEY']} in the picture?"))

    assert KEYS["OPENAI_API_KEY"] not in file.read_text()
