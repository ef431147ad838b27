"""How hosted models are met as they really behave: five backends against servers that play them.

    python -m benchmarks.backends [--write]

Every cell is a real request over HTTP to a scripted server whose refusals are worded as services word them. Shown are
the tries on the wire, what was left out of the last request, and what the record says. `--write` puts the table into
docs/backends.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenticiqa.errors import BackendError
from agenticiqa.vlm_client import Sampling
from agenticiqa.vlm_client.factory import Assembly
from tests.wire import asking
from tests.wire.asking import BODIES, GOOD, score_request
from tests.wire.serving import Answer, ScriptedServer, Seen

PAGE = Path(__file__).resolve().parent.parent / "docs" / "backends.md"
BEGIN, END = "<!-- begin: python -m benchmarks.backends --write -->", "<!-- end -->"
BACKENDS = {
    "openai.gpt-4o": "openai",
    "anthropic.claude-haiku-4-5": "anthropic",
    "google.gemini-2.5-flash": "google",
    "compatible.qwen2.5-vl-7b": "openai",
    "compatible.llava": "openai",
}
REASONING = {"openai.gpt-4o": "openai.o3", "anthropic.claude-haiku-4-5": "anthropic.claude-opus-5-5"}
GROUPS = ("temperature", "topP", "top_p", "seed", "logprobs", "responseLogprobs", "response_format", "output_config",
          "responseJsonSchema")  # fmt: skip
CUT = {"openai": {"finish_reason": "length"}, "anthropic": {"stop_reason": "max_tokens"},
       "google": {"finishReason": "MAX_TOKENS"}}  # fmt: skip
Script = Callable[[str, Seen, int], Answer]


@dataclass(frozen=True)
class Row:
    """What became of one backend in one case."""

    case: str
    backend: str
    tries: int
    left_out: list[str]
    outcome: str
    silent: bool

    def line(self) -> str:
        """The row in Markdown."""
        return f"| {self.case} | `{self.backend}` | {self.tries} | {', '.join(self.left_out) or '–'} | {self.outcome} |"


def refused(provider: str, words: str, status: int = 400) -> Answer:
    """A refusal in the provider's own form."""
    if provider == "anthropic":
        return Answer({"type": "error", "error": {"type": "invalid_request_error", "message": words}}, status)
    if provider == "google":
        return Answer({"error": {"code": status, "status": "INVALID_ARGUMENT", "message": words}}, status)
    return Answer({"error": {"message": words, "type": "invalid_request_error", "param": None, "code": None}}, status)


def unless(has: tuple[str, ...], words: str, status: int = 400) -> Script:
    """A model that refuses as long as the request holds one of these words."""

    def script(provider: str, seen: Seen, number: int) -> Answer:
        held = any(f"'{name}'" in str(seen.body) for name in has)
        return refused(provider, words, status) if held else Answer(BODIES[provider](GOOD))

    return script


def cut_once(provider: str, seen: Seen, number: int) -> Answer:
    """A reply that is cut off the first time."""
    return Answer(BODIES[provider](GOOD[:30], **CUT[provider]) if number == 1 else BODIES[provider](GOOD))


def thinks_first(provider: str, seen: Seen, number: int) -> Answer:
    """A reasoning model that uses up its tokens before it writes."""
    return Answer(BODIES[provider]("", **CUT[provider]) if number == 1 else BODIES[provider](GOOD))


CASES: dict[str, Script] = {
    "normal": lambda provider, seen, number: Answer(BODIES[provider](GOOD)),
    "403, no logprobs": unless(
        ("logprobs", "responseLogprobs"), "You are not allowed to request logprobs from this model", 403
    ),
    "400, schema refused": unless(
        ("response_format", "output_config", "responseJsonSchema"), "Invalid schema for response_format: not supported"
    ),
    "400, no temperature": unless(("temperature",), "Unsupported value: 'temperature' is not supported by this model"),
    "400, nothing named": unless(
        ("response_format", "output_config", "responseJsonSchema"), "Request contains an invalid argument."
    ),
    "cut off": cut_once,
    "reasoning model": thinks_first,
    "outage, 503": lambda provider, seen, number: refused(provider, "overloaded", 503),
    "wrong key, 401": lambda provider, seen, number: refused(provider, "invalid key", 401),
    "garbage": lambda provider, seen, number: Answer(b"<html>It works!</html>", headers={"content-type": "text/html"}),
}


def main() -> None:
    """Prints the table and how many runs lost their temperature unsaid."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true", help="into docs/backends.md")
    given = options.parse_args()
    rows = list(table())
    lines = [
        "| case | backend | tries | left out | the record says |",
        "|---|---|---|---|---|",
        *(r.line() for r in rows),
    ]
    silent = sum(row.silent for row in rows)
    lines += ["", f"{len(rows)} runs; {silent} of them lost their temperature silently."]
    print("\n".join(lines))
    if given.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}", encoding="utf-8")


def table() -> Iterator[Row]:
    """One row per case and backend."""
    for case, script in CASES.items():
        for backend, provider in BACKENDS.items():
            yield run(case, REASONING.get(backend, backend) if case == "reasoning model" else backend, provider, script)


def run(case: str, backend: str, provider: str, script: Script) -> Row:
    """One request for a level, as the summarizer makes it."""
    with ScriptedServer().running() as server:
        server.script_by(lambda seen: script(provider, seen, len(server.seen)))
        settings = asking.settings(pipeline={"transport": {"attempts": 1}})
        client = Assembly(settings).reach(asking.role(backend, server.url))
        try:
            reply = client.ask(score_request(sampling=Sampling(0.0, None, 512)))
            said = [note for note in reply.notes if "sent as" not in note]
            outcome = "; ".join(said) or "nothing to say"
        except BackendError as error:
            outcome = (
                f"`{type(error).__name__}`: " + str(error).replace(server.url, "the service").replace("|", "/")[:110]
            )
        finally:
            client.close()
        wanted = set(_held(server.seen[0].body))
        left = [name for name in sorted(wanted) if name not in _held(server.seen[-1].body)]
        takes_none = "temperature" not in wanted
        lost = "temperature" in left or takes_none
        return Row(case, backend, len(server.seen), left, outcome, lost and "temperature" not in outcome)


def _held(body: Any) -> list[str]:
    merged = {**body, **body.get("generationConfig", {})}
    return [name for name in GROUPS if name in merged]


if __name__ == "__main__":
    main()
