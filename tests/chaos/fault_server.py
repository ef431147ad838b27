"""One server that speaks all three formats, goes wrong as it is told, and counts what it was asked and told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Condition
from typing import Any

from tests.chaos.faults import ECHO, Fault, Healthy
from tests.support import agent
from tests.wire.serving import PATIENCE, Answer, ScriptedServer, Seen

TASKS = ("plan", "detect", "analyze", "select_tools", "locate", "answer", "score")
CAT = "cat"
NONE = (0, 0, 0)
CHOICES = {"A": "Sharp", "B": "Noisy", "C": "Blurred", "D": "Dark"}
# The words by which each task's prompt begins; a server sees nothing else.
_OPENINGS = {
    "plan": "You are a planner",
    "detect": "expert in distortion detection",
    "analyze": "distortion analysis expert",
    "select_tools": "You are a tool executor",
    "locate": "You locate objects",
    "answer": "select the most appropriate answer",
    "score": "select one single answer",
}
_REPLIES = agent.script(
    detect={"distortion_set": {CAT: ["Blurs"]}, "uncertainties": []},
    analyze={"distortion_analysis": {CAT: agent.MODERATE_BLUR["distortion_analysis"]["Global"]}, "uncertainties": []},
    select_tools={"selected_tools": {CAT: {"Blurs": "GAUGE"}}},
    locate={"regions": {CAT: [0.0, 0.0, 1.0, 1.0]}},
    answer=agent.FAIR,
)


@dataclass
class Line:
    """One client's line to the server: which task goes wrong, how, how often, and what went over it."""

    fault: Fault | None = None
    task: str = ""
    times: float = float("inf")
    query_type: str = "IQA"
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    under_way: int = 0
    changed: Condition = field(default_factory=Condition)

    def answer(self, provider: str, task: str, key: str, healthy_only: bool) -> Answer:
        """The answer to one request, counted; its tokens are counted once the client has taken it."""
        healthy = Healthy(provider, task, reply_text(task, self.query_type))
        answer = _echoing(self._choose(healthy, healthy_only), key)
        with self.changed:
            self.requests += 1
            self.under_way += 1
        return replace(answer, over=lambda taken: self._end(told_tokens(provider, answer.content()) if taken else NONE))

    def settle(self, requests: int) -> None:
        """Waits until that many requests came and nothing is under way, as long as a client has for closing."""
        with self.changed:
            self.changed.wait_for(lambda: self.requests >= requests and not self.under_way, PATIENCE)

    def _choose(self, healthy: Healthy, healthy_only: bool) -> Answer:
        with self.changed:
            faulty = self.fault is not None and healthy.task == self.task and self.times > 0 and not healthy_only
            self.times -= faulty
        return self.fault.make(healthy) if faulty and self.fault else healthy.answer()

    def _end(self, told: tuple[int, int, int]) -> None:
        """Adds the tokens of which the client was told: an answer that does not arrive whole tells nothing."""
        with self.changed:
            self.input_tokens += told[0]
            self.output_tokens += told[1]
            self.cached_tokens += told[2]
            self.under_way -= 1
            self.changed.notify_all()


class FaultServer:
    """Lines by number, at /line/N; a path with /healthy never goes wrong."""

    def __init__(self) -> None:
        self.lines: dict[int, Line] = {}
        self._http = ScriptedServer().script_by(self._answer)
        self._http.keeps_requests = False

    @contextmanager
    def running(self) -> Iterator[FaultServer]:
        with self._http.running():
            yield self

    def open(self, line: Line) -> str:
        """The address of a new line."""
        number = len(self.lines)
        self.lines[number] = line
        return f"{self._http.url}/line/{number}"

    def _answer(self, seen: Seen) -> Answer:
        found = re.match(r"/line/(\d+)", seen.path)
        assert found is not None, seen.path
        line = self.lines[int(found.group(1))]
        return line.answer(provider_of(seen.path), task_of(seen.body), key_of(seen.headers), "/healthy" in seen.path)


def reply_text(task: str, query_type: str = "IQA") -> str:
    """What a good model says to a task."""
    if task == "plan":
        return json.dumps(agent.plan_reply(query_type=query_type, query_scope=[CAT]))
    return json.dumps(_REPLIES[task])


def provider_of(path: str) -> str:
    """Whose format a request is in."""
    return "openai" if "chat/completions" in path else "anthropic" if "/messages" in path else "google"


def task_of(body: Any) -> str:
    """The task a request's words belong to."""
    words = json.dumps(body)
    return next(task for task, opening in _OPENINGS.items() if opening in words)


def key_of(headers: dict[str, str]) -> str:
    """The key a request came with."""
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    return bearer or headers.get("x-api-key") or headers.get("x-goog-api-key") or ""


def _echoing(answer: Answer, key: str) -> Answer:
    return replace(answer, body=answer.content().replace(ECHO.encode(), key.encode()))


def told_tokens(provider: str, content: bytes) -> tuple[int, int, int]:
    """Read, written and cached tokens as an answer states them."""
    try:
        body = json.loads(content)
        return _TOLD[provider](body)
    except (ValueError, KeyError, TypeError, AttributeError):
        return NONE


def _openai(body: Any) -> tuple[int, int, int]:
    usage = body["usage"]
    return int(usage["prompt_tokens"]), usage["completion_tokens"], usage["prompt_tokens_details"]["cached_tokens"]


def _anthropic(body: Any) -> tuple[int, int, int]:
    usage = body["usage"]
    return (
        usage["input_tokens"] + usage["cache_read_input_tokens"],
        usage["output_tokens"],
        usage["cache_read_input_tokens"],
    )


def _google(body: Any) -> tuple[int, int, int]:
    usage = body["usageMetadata"]
    written = usage.get("candidatesTokenCount", 0) + usage.get("thoughtsTokenCount", 0)
    return usage["promptTokenCount"], written, usage.get("cachedContentTokenCount", 0)


_TOLD: dict[str, Callable[[Any], tuple[int, int, int]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
}
