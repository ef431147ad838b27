"""Hosted models that fail during a run: when a run stops asking one, and what its record says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agenticiqa.assessor import Assessment, Assessor
from agenticiqa.errors import BackendError, BadReplyError, OverloadedError
from agenticiqa.vlm_client import ask_for
from agenticiqa.vlm_client.client import CallCounter
from agenticiqa.vlm_client.tasks import AnswerReply
from tests.support.agent import picture, script
from tests.wire import asking
from tests.wire.asking import BODIES, GOOD, MODELS, answer_request, openai_body
from tests.wire.conftest import Connect
from tests.wire.serving import Answer, ScriptedServer

DOWN = Answer({"error": {"message": "internal error"}}, 500, {"retry-after": "0"})
WRONG_KEY = Answer({"error": {"message": "wrong key"}}, 401)
PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>"
HTML = {"content-type": "text/html"}


def scripted(folder: Path) -> str:
    (folder / "script.json").write_text(json.dumps(script()))
    return f"scripted.{folder / 'script.json'}"


def assess(folder: Path, **roles: dict[str, Any]) -> Assessment:
    settings = asking.settings(None, pipeline={"max_replan_iterations": 0}, **roles)
    return Assessor(settings).assess(picture(folder))


@pytest.mark.parametrize(("answer", "asked"), [(DOWN, 4), (WRONG_KEY, 3)])
def test_a_backend_that_failed_three_attempts_is_not_asked_again_in_the_run(
    answer: Answer, asked: int, server: ScriptedServer, tmp_path: Path
) -> None:
    server.script(answer)
    hosted = {"backend": "openai.gpt-4o", "base_url": server.url, "fallback_backend": scripted(tmp_path)}

    found = assess(tmp_path, planner=hosted, executor=hosted, summarizer=hosted)

    assert found.answered
    assert len(server.seen) == asked == sum(found.ledger.failed_attempts.values())
    assert len(found.ledger.stand_ins) == 5


def test_without_a_fallback_the_rest_of_the_run_fails_at_once(server: ScriptedServer, tmp_path: Path) -> None:
    server.script(DOWN)
    hosted = {"backend": "openai.gpt-4o", "base_url": server.url}

    found = assess(tmp_path, planner={"backend": scripted(tmp_path)}, executor=hosted, summarizer=hosted)

    assert len(server.seen) == 4
    assert found.reasoning.startswith("No model could be reached")
    assert "its last 4 attempts in this run failed" in found.reasoning


def test_the_next_run_asks_the_backend_again(server: ScriptedServer, tmp_path: Path) -> None:
    server.script(*[DOWN] * 4, Answer(openai_body(GOOD)))
    hosted = {"backend": "openai.gpt-4o", "base_url": server.url}
    roles = {"planner": {"backend": scripted(tmp_path)}, "executor": {"backend": scripted(tmp_path)}}

    first, second = (assess(tmp_path, **roles, summarizer=hosted) for _ in range(2))

    assert (first.answered, second.answered) == (False, True)


def test_a_backend_that_answers_now_and_then_is_not_given_up(server: ScriptedServer, connect: Connect) -> None:
    server.script(*[DOWN, DOWN, Answer(openai_body(GOOD))] * 2)
    client, counter = connect("openai.gpt-4o", server.url), CallCounter()

    for _ in range(2):
        for _ in range(2):
            with pytest.raises(Exception, match="no backend answered"):
                ask_for(AnswerReply, client, answer_request(), counter=counter)
        assert ask_for(AnswerReply, client, answer_request(), counter=counter).value.final_answer == "B"


def test_two_servers_with_a_model_of_one_name_are_two_backends(server: ScriptedServer, tmp_path: Path) -> None:
    server.script(DOWN)
    with ScriptedServer().script(Answer(openai_body(GOOD))).running() as other:
        hosted = {"backend": "compatible.llava", "base_url": server.url, "fallback_backend": "compatible.llava"}
        own = {"backend": scripted(tmp_path)}
        found = assess(
            tmp_path, planner=own, executor=own, summarizer={**hosted, "fallback_base_url": f"{other.url}/v1"}
        )

    assert (found.answered, len(server.seen), len(other.seen)) == (True, 4, 1)


@pytest.mark.parametrize(
    ("answer", "headline", "named"),
    [
        (Answer(openai_body("", refusal="I cannot help.")), "The model declined to answer", "declined to answer"),
        (Answer(PAGE, headers=HTML), "The service's answer could not be used", "an HTML page ('Sign in')"),
        (WRONG_KEY, "No model could be reached", "the key was not accepted"),
    ],
)
def test_the_record_says_what_the_service_did_instead_of_answering(
    answer: Answer, headline: str, named: str, server: ScriptedServer, tmp_path: Path
) -> None:
    server.script(answer)
    own = {"backend": scripted(tmp_path)}
    hosted = {"backend": "openai.gpt-4o", "base_url": server.url}

    found = assess(tmp_path, planner=own, executor=own, summarizer=hosted)

    assert found.reasoning.startswith(headline)
    assert named in found.reasoning
    assert named in str(found.error)


@pytest.mark.parametrize("provider", tuple(MODELS))
@pytest.mark.parametrize(("status", "kind"), [(200, BadReplyError), (502, OverloadedError)])
def test_an_html_page_is_called_one(
    provider: str, status: int, kind: type[BackendError], server: ScriptedServer, connect: Connect
) -> None:
    server.script(Answer(PAGE, status, HTML))

    with pytest.raises(kind, match=r"an HTML page \('Sign in'\)"):
        connect(MODELS[provider], server.url).ask(answer_request())


@pytest.mark.parametrize("provider", tuple(MODELS))
def test_every_reply_a_service_sent_counts_as_paid_and_no_failed_try_does(
    provider: str, server: ScriptedServer, connect: Connect
) -> None:
    cut = {"openai": {"finish_reason": "length"}, "anthropic": {"stop_reason": "max_tokens"},
           "google": {"finishReason": "MAX_TOKENS"}}[provider]  # fmt: skip
    server.script(DOWN, Answer(BODIES[provider]("{", **cut)), Answer(BODIES[provider](GOOD)))
    client = connect(MODELS[provider], server.url)

    with pytest.raises(OverloadedError) as failed:
        client.ask(answer_request())
    reply = client.ask(answer_request())

    assert (failed.value.usage.paid_calls, reply.usage.paid_calls) == (0, 2)


def test_answer_level_and_score_of_a_record_agree_and_the_state_keeps_the_models_letter(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.script(Answer(openai_body('{"final_answer": "A", "quality_reasoning": "Lovely."}')))
    own = {"backend": scripted(tmp_path)}
    hosted = {"backend": "openai.gpt-4o", "base_url": server.url}

    found = assess(tmp_path, planner=own, executor=own, summarizer=hosted)

    assert found.level != "A"
    assert found.answer == found.level
    assert any(note.endswith("the model chose A") for note in found.notes)
