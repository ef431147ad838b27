"""`agenticiqa doctor --live`, against servers."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from agenticiqa.cli import app
from agenticiqa.cli.doctor_live import live_check
from agenticiqa.errors import OfflineError
from tests.wire import asking
from tests.wire.asking import openai_body
from tests.wire.serving import Answer, ScriptedServer
from tests.wire.smollm import ModelServer


def reply(answer: str, **choice: object) -> Answer:
    text = json.dumps({"final_answer": answer, "quality_reasoning": "plain"})
    return Answer(openai_body(text, **choice))


def test_each_capability_is_called_once_and_priced(server: ScriptedServer) -> None:
    tokens: list[dict[str, object]] = [
        {"token": token, "logprob": -0.1, "bytes": None, "top_logprobs": []}
        for token in ('{"final_answer": "', "B", '"}')
    ]
    server.script(reply("red, blue"), reply("two halves"), reply("B", logprobs={"content": tokens}))

    checks = live_check("openai.gpt-4o", asking.settings(), server.url)

    assert [(check.capability, check.ok) for check in checks] == [
        ("image", True), ("schema", True), ("log-probabilities", True),
    ]  # fmt: skip
    assert len(server.seen) == 3
    # 200 fresh tokens at 2.50, 1000 cached at 1.25, 30 written at 10.00 dollars per million.
    assert checks[0].usage.cost_usd == pytest.approx(0.00205)
    assert checks[0].line().startswith("seen (1200 tokens in, 30 out, $0.002050, ")


def test_what_a_backend_lacks_is_said(server: ScriptedServer) -> None:
    server.script(reply("blue, red"), Answer(openai_body("Two halves.")), Answer({"error": {"message": "no"}}, 401))

    checks = live_check("compatible.blind", asking.settings(), server.url)

    assert [check.ok for check in checks] == [False, False, False]
    assert checks[0].detail.startswith("not seen")
    assert checks[1].detail.startswith("not kept")
    assert "key was not accepted" in checks[2].detail
    assert "cost unknown" in checks[0].line()


def test_of_a_backend_that_answers_with_values_no_words_and_no_json_are_asked() -> None:
    image, schema, levels = live_check("builtin.perception", asking.settings())

    assert (image.ok, schema.ok, levels.ok) == (True, True, True)
    assert image.detail.startswith("does not apply: it answers with values")
    assert schema.detail.startswith("does not apply: it answers with values")


def test_offline_nothing_is_called(server: ScriptedServer) -> None:
    with pytest.raises(OfflineError):
        live_check("openai.gpt-4o", asking.settings(pipeline={"offline": True}), server.url)

    assert server.seen == []


def test_the_command_fails_when_the_backend_can_do_nothing(server: ScriptedServer) -> None:
    server.script(*[Answer({"error": {"message": "no"}}, 401)] * 3)

    result = CliRunner().invoke(app, ["doctor", "--live", "compatible.closed", "--base-url", server.url])

    assert result.exit_code == 1
    assert result.output.count("key was not accepted") == 3


def test_the_command_reports_a_real_model(smollm: ModelServer) -> None:
    result = CliRunner().invoke(
        app, ["doctor", "--live", "compatible.smollm2", "--base-url", f"{smollm.url}/v1", "--json"]
    )

    checks = {check["name"]: check for check in json.loads(result.output)}
    assert checks["compatible.smollm2 log-probabilities"]["ok"] is True
    assert "cost unknown" in checks["compatible.smollm2 schema"]["detail"]
