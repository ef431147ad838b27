"""Replies as data: what is accepted, how often a model is asked, and when another one is."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, cast

import pytest
from PIL import Image
from pydantic import BaseModel

from agenticiqa.errors import BadReplyError, ModelReplyError, UnavailableError, UnknownBackendError
from agenticiqa.images import load_image
from agenticiqa.state import PlannerOutput
from agenticiqa.vlm_client import (
    LabelledImage,
    ScriptedVLMClient,
    Usage,
    VLMClient,
    VLMReply,
    VLMRequest,
    ask_for,
    create_vlm_client,
    parse_reply,
    provider_names,
)
from agenticiqa.vlm_client.client import CallCounter, Sampling
from agenticiqa.vlm_client.middleware.caching import CachingVLMClient
from agenticiqa.vlm_client.middleware.retrying import FallbackVLMClient
from agenticiqa.vlm_client.structured import RejectedReplyError
from agenticiqa.vlm_client.tasks import AnswerInputs, AnswerReply, PlanInputs
from tests.support.agent import picture, plan_reply

GOOD = '{"final_answer": "B", "quality_reasoning": "Sharp, a little noisy."}'


@pytest.fixture
def request_(tmp_path: Path) -> VLMRequest:
    image = LabelledImage("image", load_image(picture(tmp_path)))
    return VLMRequest("answer", "system", "user", (image,), AnswerInputs(query="q"), AnswerReply)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Sure! Here's what the 5\" photo {{shows}}:\n{GOOD}\nHope this helps.",
        '{"final_answer": "B", "quality_reasoning": "Sharp, a little noisy.",}',
        '{"final_answer": "B", "mood": ["x",], "quality_reasoning": "Sharp, a little noisy.",\n}',
        '{"note": 1}\n' + GOOD,
        f"  {GOOD}  ".replace("Sharp", "  Sharp"),
    ],
)
def test_json_is_found_in_fences_after_prose_and_with_trailing_commas(text: str) -> None:
    reply = parse_reply(text, AnswerReply)

    assert reply == AnswerReply(final_answer="B", quality_reasoning="Sharp, a little noisy.")


def test_a_comma_before_a_bracket_inside_a_string_stays() -> None:
    reply = parse_reply('{"final_answer": "B", "quality_reasoning": "soft (blur, ] and }",}', AnswerReply)

    assert reply.quality_reasoning == "soft (blur, ] and }"


@pytest.mark.parametrize(
    "text",
    ["", "B", "[1, 2]", '{"final_answer": "B"}', '{"final_answer": "", "quality_reasoning": "x"}',
     '{"final_answer": "B", "quality_reasoning": "  "}', '{"final_answer": "B", "quality_reas', "{" * 5000],
)  # fmt: skip
def test_a_reply_that_fails_the_model_is_never_accepted(text: str) -> None:
    with pytest.raises(RejectedReplyError):
        parse_reply(text, AnswerReply)


def test_keys_nobody_asked_for_are_ignored_at_every_depth() -> None:
    reply = plan_reply(confidence=0.9)
    reply["plan"] = {**reply["plan"], "extra_step": True}

    parsed = parse_reply(str(reply).replace("'", '"').replace("None", "null").replace("True", "true"), PlannerOutput)

    assert parsed.plan.tool_execution


def test_a_rejected_reply_is_followed_by_a_stricter_request(
    request_: VLMRequest, caplog: pytest.LogCaptureFixture
) -> None:
    client = ScriptedVLMClient({"answer": ["no json", GOOD]})

    with caplog.at_level(logging.DEBUG):
        answer = ask_for(AnswerReply, client, request_)

    assert answer.value.final_answer == "B"
    assert "Return ONLY valid JSON" not in client.requests[0].user
    assert "Return ONLY valid JSON" in client.requests[1].user
    assert "attempt 1/3 at answer rejected" in caplog.text
    assert "prompt to scripted:\nsystem\n\nuser" in caplog.text


def test_the_planner_is_told_to_return_valid_json_only(request_: VLMRequest) -> None:
    client = ScriptedVLMClient({"plan": ["no", plan_reply()]})
    request = VLMRequest("plan", "s", "u", request_.images, PlanInputs(query="q", has_reference=False), PlannerOutput)

    ask_for(PlannerOutput, client, request)

    assert "return valid JSON only" in client.requests[1].user


def test_three_replies_in_all_then_the_fallback_has_three_of_its_own(request_: VLMRequest) -> None:
    first, second = ScriptedVLMClient({"answer": "no"}), ScriptedVLMClient({"answer": ["no", "no", GOOD]})
    counter = CallCounter()

    answer = ask_for(AnswerReply, FallbackVLMClient(first, second), request_, counter=counter)

    assert answer.client is second
    assert (len(first.requests), len(second.requests)) == (3, 3)
    assert (counter.count.calls, counter.count.attempts) == (6, 6)


def test_when_nobody_gives_a_valid_reply_the_last_one_is_logged_in_full(
    request_: VLMRequest, caplog: pytest.LogCaptureFixture
) -> None:
    long_reply = "nonsense " * 200
    client = ScriptedVLMClient({"answer": long_reply})

    with caplog.at_level(logging.DEBUG), pytest.raises(ModelReplyError, match="no valid reply to the task 'answer'"):
        ask_for(AnswerReply, client, request_)

    errors = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    debug = [record.getMessage() for record in caplog.records if record.levelno == logging.DEBUG]
    assert any(long_reply in message for message in errors)
    assert any("more characters" in message for message in debug)
    assert not any(long_reply in message for message in debug)


def test_a_backend_that_is_down_is_asked_once_and_the_fallback_answers(request_: VLMRequest) -> None:
    first = ScriptedVLMClient({"answer": UnavailableError("no route")})
    second = ScriptedVLMClient({"answer": GOOD})

    answer = ask_for(AnswerReply, FallbackVLMClient(first, second), request_)

    assert answer.value.final_answer == "B"
    assert len(first.requests) == 1


def test_a_reply_against_the_protocol_is_asked_for_again(request_: VLMRequest) -> None:
    client = ScriptedVLMClient({"answer": [BadReplyError("cut short"), GOOD]})

    assert ask_for(AnswerReply, client, request_).value.final_answer == "B"


def test_a_check_may_refuse_what_the_model_accepts(request_: VLMRequest) -> None:
    def only_a(reply: AnswerReply) -> AnswerReply:
        if reply.final_answer != "A":
            raise ValueError("must be A")
        return reply

    client = ScriptedVLMClient({"answer": [GOOD, GOOD.replace("B", "A")]})

    assert ask_for(AnswerReply, client, request_, check=only_a).value.final_answer == "A"


def test_an_identical_request_is_answered_from_memory(request_: VLMRequest) -> None:
    inner = ScriptedVLMClient({"answer": [GOOD, GOOD.replace("B", "A")]})
    client, counter = CachingVLMClient(inner), CallCounter()

    first = ask_for(AnswerReply, client, request_, counter=counter)
    second = ask_for(AnswerReply, client, request_, counter=counter)

    assert first.value == second.value
    assert len(inner.requests) == 1
    assert (counter.count.calls, counter.count.cache_hits) == (1, 1)


@pytest.mark.parametrize("change", [{"user": "other"}, {"sampling": Sampling(top_p=0.5)}, {"system": "other"}])
def test_any_change_of_the_request_misses_the_memory(request_: VLMRequest, change: dict[str, Any]) -> None:
    inner = ScriptedVLMClient({"answer": GOOD})
    client = CachingVLMClient(inner)

    client.ask(request_)
    client.ask(VLMRequest(**{**vars(request_), **change}))

    assert len(inner.requests) == 2


def test_another_image_misses_the_memory(request_: VLMRequest, tmp_path: Path) -> None:
    inner = ScriptedVLMClient({"answer": GOOD})
    client = CachingVLMClient(inner)
    other = LabelledImage("image", load_image(picture(tmp_path, "other.png", seed=1)))

    client.ask(request_)
    client.ask(VLMRequest(**{**vars(request_), "images": (other,)}))

    assert len(inner.requests) == 2


def test_invalid_and_sampled_replies_are_not_remembered(request_: VLMRequest) -> None:
    inner = ScriptedVLMClient({"answer": ["no json", GOOD, GOOD, GOOD]})
    client = CachingVLMClient(inner)
    sampled = VLMRequest(**{**vars(request_), "sampling": Sampling(temperature=0.7)})

    assert [client.ask(request_).text for _ in range(2)] == ["no json", GOOD]
    client.ask(sampled)
    client.ask(sampled)

    assert len(inner.requests) == 4


def test_the_counter_adds_up_tokens_cost_and_failures(request_: VLMRequest) -> None:
    usage = Usage(input_tokens=100, output_tokens=20, cost_usd=0.01, transport_attempts=3, seconds=0.5)
    error = UnavailableError("down")
    error.usage = Usage(transport_attempts=4)
    client = FallbackVLMClient(
        ScriptedVLMClient({"answer": error}), ScriptedVLMClient({"answer": VLMReply(GOOD, "m", usage=usage)})
    )
    counter = CallCounter()

    ask_for(AnswerReply, client, request_, counter=counter)

    count = counter.count
    assert (count.calls, count.attempts, count.input_tokens, count.output_tokens) == (2, 7, 100, 20)
    assert (count.cost_usd, count.seconds) == (0.01, 0.5)


def test_an_unknown_backend_lists_those_there_are() -> None:
    with pytest.raises(UnknownBackendError, match="builtin, compatible, google, openai, qwen, scripted"):
        create_vlm_client("nobody.gpt-4o")


def test_a_misspelt_backend_gets_a_suggestion() -> None:
    with pytest.raises(UnknownBackendError, match=r"did you mean openai\?"):
        create_vlm_client("openia.gpt-4o")


def test_a_script_file_is_a_backend(tmp_path: Path, request_: VLMRequest) -> None:
    file = tmp_path / "script.json"
    file.write_text('{"answer": {"final_answer": "A", "quality_reasoning": "as written"}}')

    client = create_vlm_client(f"scripted.{file}")

    assert ask_for(AnswerReply, client, request_).value.final_answer == "A"
    assert "scripted" in provider_names()


def test_a_client_with_only_generate_answers_requests(request_: VLMRequest) -> None:
    class Plain(VLMClient):
        model = "plain"

        def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
            assert prompt == "system\n\nuser"
            assert image.size == (48, 32)
            assert kwargs["temperature"] == 0.0
            return GOOD

    assert ask_for(AnswerReply, Plain(), request_).value.final_answer == "B"


@pytest.mark.parametrize(
    "text",
    [
        f'<think>Perhaps {{"final_answer": "C", "quality_reasoning": "a draft"}}</think>{GOOD}',
        f'{{"final_answer": "C", "quality_reasoning": "a draft"}}</think>\n{GOOD}',
        f'<Thinking>{{"final_answer": "C", "quality_reasoning": "a draft"}}</Thinking>\n```json\n{GOOD}\n```',
    ],
)
def test_a_draft_among_the_thoughts_never_wins_over_the_answer(text: str) -> None:
    assert parse_reply(text, AnswerReply).final_answer == "B"


def test_a_draft_in_thoughts_without_end_is_no_answer() -> None:
    with pytest.raises(RejectedReplyError, match="no JSON object"):
        parse_reply(f"<think>{GOOD}", AnswerReply)


class Computing(VLMClient):
    """A client that gives its reply as a value."""

    model = "computing"

    def __init__(self, *values: BaseModel) -> None:
        self.values = list(values)

    def generate(self, prompt: str, image: Any, **kwargs: Any) -> str:
        raise AssertionError("nobody asks in words")

    def ask(self, request: VLMRequest) -> VLMReply:
        return VLMReply(text="not JSON {{7}}", model=self.model, value=self.values.pop(0))


def test_a_value_is_taken_as_it_is_and_no_text_is_read(request_: VLMRequest) -> None:
    value = AnswerReply(final_answer="B {{7}} <img src=x>", quality_reasoning='It says "}" and {"final_answer": "A"}.')

    found = ask_for(AnswerReply, Computing(value), request_)

    assert found.value == value


def test_a_value_passes_the_same_check_as_a_text(request_: VLMRequest) -> None:
    class Other(BaseModel):
        final_answer: str = " "

    def refuse_b(reply: AnswerReply) -> AnswerReply:
        if reply.final_answer == "B":
            raise ValueError("B is none of the choices")
        return reply

    b, c = (AnswerReply(final_answer=letter, quality_reasoning="Soft.") for letter in "BC")

    assert ask_for(AnswerReply, Computing(b, c), request_, check=refuse_b).value == c
    with pytest.raises(ModelReplyError, match=r"final_answer.*quality_reasoning"):
        ask_for(AnswerReply, Computing(Other()), request_, attempts=1)


def test_each_further_attempt_is_told_what_was_wrong_with_the_last(request_: VLMRequest) -> None:
    client = ScriptedVLMClient({"answer": [{"final_answer": "D", "quality_reasoning": "x"}, "no", GOOD]})

    def check(reply: AnswerReply) -> AnswerReply:
        if reply.final_answer not in "ABC":
            raise ValueError(f"final_answer was '{reply.final_answer}'; allowed: A, B, C")
        return reply

    ask_for(AnswerReply, client, request_, check=check)

    second, third = (request.user for request in client.requests[1:])
    assert "Attempt 2: your last reply was not accepted (final_answer was 'D'; allowed: A, B, C)" in second
    assert "Attempt 3: your last reply was not accepted (it holds no JSON object)" in third
    assert "Return ONLY valid JSON" in second
    assert "Return ONLY valid JSON" in third


class OtherPeoples(VLMClient):
    """A client of somebody else's that returns or raises what it is given, in turn."""

    model = "theirs"

    def __init__(self, *replies: Any) -> None:
        self._replies = iter(replies)

    def generate(self, prompt: str, image: Image.Image, **kwargs: Any) -> str:
        reply = next(self._replies)
        if isinstance(reply, Exception):
            raise reply
        return cast(str, reply)


@pytest.mark.parametrize("first", [None, 3, KeyError("choices"), RuntimeError("a bug in a plug-in"), TypeError()])
def test_whatever_a_foreign_client_returns_or_raises_is_one_failed_attempt(first: Any, request_: VLMRequest) -> None:
    counter = CallCounter()

    answer = ask_for(AnswerReply, OtherPeoples(first, GOOD), request_, counter=counter)

    assert answer.value.final_answer == "B"
    assert counter.count.attempts == 2


def test_a_foreign_client_may_return_data_and_gives_way_to_the_fallback_when_it_fails(request_: VLMRequest) -> None:
    assert ask_for(AnswerReply, OtherPeoples(json.loads(GOOD)), request_).value.final_answer == "B"

    broken, other = OtherPeoples(None, None, None), OtherPeoples(GOOD)

    assert ask_for(AnswerReply, FallbackVLMClient(broken, other), request_).client is other


def test_without_fields_to_find_any_object_is_refused() -> None:
    class Wants(BaseModel):
        wanted: int

    with pytest.raises(RejectedReplyError, match="wanted"):
        parse_reply('{"other": 1}', Wants)
