"""Every provider with every fault in every task: how the run ends, what it cost, and what it gave away."""

from __future__ import annotations

import importlib
import logging
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agenticiqa.config import Settings
from agenticiqa.graph import run_pipeline
from agenticiqa.state import UNABLE, AgenticIQAState, ExecutorOutput, Ledger
from agenticiqa.vlm_client.factory import create_role_clients
from tests.chaos.fault_server import CHOICES, TASKS, FaultServer, Line
from tests.chaos.faults import FAULTS, Fault
from tests.support import agent
from tests.wire import asking
from tests.wire.asking import KEYS, MODELS

Mode = Literal["once", "always", "fallback"]
MODES: tuple[Mode, ...] = ("once", "always", "fallback")
PROVIDERS = tuple(MODELS)
IN_TIME = 60.0
"""Seconds in which any run must end here: three replies of two tries each, 4 s at most, and the waits between."""
_SLOW = ("silence", "slow drip")
_SUBTASKS = {
    "detect": "distortion_detection",
    "analyze": "distortion_analysis",
    "select_tools": "tool_selection",
    "locate": "location",
}
_watch: ContextVar[list[str] | None] = ContextVar("watched_log", default=None)


@dataclass(frozen=True)
class Cell:
    """One place of the matrix."""

    provider: str
    fault: Fault
    task: str
    mode: Mode

    @property
    def recovers(self) -> bool:
        """Whether the right answer must come out."""
        return self.fault.harmless or self.mode == "fallback" or (self.mode == "once" and self.fault.passing)


@dataclass(frozen=True)
class Outcome:
    """How one run ended: (A)nswer, (F)allback that is named, (U)nable with the reason; and all that was wrong."""

    cell: Cell
    ending: str
    seconds: float
    problems: tuple[str, ...]
    leaked: bool = False
    crashed: bool = False


def cells(faults: Iterable[Fault] = FAULTS, modes: Iterable[Mode] = MODES) -> list[Cell]:
    """All places of the matrix."""
    return [
        Cell(provider, fault, task, mode)
        for mode in modes
        for fault in faults
        for provider in PROVIDERS
        for task in fault.tasks or TASKS
    ]


def run_matrix(chosen: list[Cell], folder: Path, threads: int = 6) -> list[Outcome]:
    """The outcome of every cell; the runs share one server and nothing else."""
    picture = agent.picture(folder)
    # Loaded beforehand: the first import of an SDK can take longer on a busy machine than a call may.
    for sdk in ("openai", "anthropic", "google.genai"):
        importlib.import_module(sdk)
    with FaultServer().running() as server, watched_logs(), ThreadPoolExecutor(threads) as pool:
        numbered = enumerate(chosen)
        return list(pool.map(lambda item: run_cell(item[1], server, picture, folder / f"{item[0]}.jsonl"), numbered))


def run_cell(cell: Cell, server: FaultServer, picture: str, record: Path) -> Outcome:
    """One run of the agent against one fault."""
    query_type = "Other" if cell.task == "answer" else "IQA"
    line = Line(cell.fault, cell.task, 1 if cell.mode == "once" else float("inf"), query_type)
    settings = settings_for(cell, server.open(line), record)
    log: list[str] = []
    token, started = _watch.set(log), time.perf_counter()
    try:
        final = _run(settings, picture, CHOICES if query_type == "Other" else None)
    except Exception as error:  # what a run must never do
        return Outcome(cell, "!", time.perf_counter() - started, (f"crashed: {error!r}",), crashed=True)
    finally:
        _watch.reset(token)
    seconds = time.perf_counter() - started
    kept = record.read_text() if record.exists() else ""
    leaked = any(key[:-4] in text for key in KEYS.values() for text in (*log, kept, repr(final)))
    ending = ending_of(final, cell)
    return Outcome(cell, ending, seconds, tuple(problems(cell, final, line, ending, seconds, leaked)), leaked)


def settings_for(cell: Cell, url: str, record: Path) -> Settings:
    """Short time limits, two tries on the wire, and a fallback of another provider where the mode has one."""
    role: dict[str, Any] = {"backend": MODELS[cell.provider], "base_url": url, "max_tokens": 512}
    role["timeout"] = 4.0 if cell.fault.name in _SLOW else 30.0
    if cell.mode == "fallback":
        other = PROVIDERS[(PROVIDERS.index(cell.provider) + 1) % len(PROVIDERS)]
        role |= {"fallback_backend": MODELS[other], "fallback_base_url": f"{url}/healthy"}
    transport = {"attempts": 2, "max_seconds": 20.0, "record": str(record)}
    return asking.settings(
        planner=role, executor=role, summarizer=role, pipeline={"transport": transport, "max_replan_iterations": 0}
    )


def _run(settings: Settings, picture: str, choices: dict[str, str] | None) -> AgenticIQAState:
    clients = create_role_clients(settings)
    try:
        config = agent.config(tools=(agent.FixedTool("GAUGE", 2.6),), vlm_clients=clients, settings=settings)
        return run_pipeline("How good is the cat in this image?", picture, choices=choices, config=config)
    finally:
        for client in clients.values():
            client.close()


def ending_of(final: AgenticIQAState, cell: Cell) -> str:
    """A, F or U; "!" for an ending that is none of them."""
    reason = failure_of(final, cell.task)
    if reason:
        return "U"
    answer = final.get("summarizer_result")
    if answer is None or answer.final_answer != "C":
        return "!"
    notes = (answer.used_evidence or {}).get("notes") or []
    return "F" if any("answered in place of" in note for note in notes) else "A"


def failure_of(final: AgenticIQAState, task: str) -> str | None:
    """The reason the record gives for the task's failure."""
    if task == "plan":
        return final.get("error")
    if task in _SUBTASKS:
        return (final.get("executor_evidence") or ExecutorOutput()).errors.get(_SUBTASKS[task])
    answer = final.get("summarizer_result")
    if answer is None or answer.final_answer != UNABLE:
        return None
    return (answer.used_evidence or {}).get("error")


def problems(
    cell: Cell, final: AgenticIQAState, line: Line, ending: str, seconds: float, leaked: bool
) -> Iterator[str]:
    """What is not as promised."""
    wanted = "U" if not cell.recovers else "F" if cell.mode == "fallback" and not cell.fault.harmless else "A"
    if ending != wanted:
        yield f"ended with {ending}, not {wanted}: {failure_of(final, cell.task)}"
    if cell.task in _SUBTASKS and not cell.recovers and final.get("summarizer_result") is None:
        yield "the run did not go on after a failed subtask"
    if seconds > IN_TIME:
        yield f"took {seconds:.1f} s"
    if leaked:
        yield "a key leaked"
    booked = (final.get("ledger") or Ledger()).total
    line.settle(booked.attempts)
    counted = (line.requests, line.input_tokens, line.output_tokens, line.cached_tokens)
    if (booked.attempts, booked.input_tokens, booked.output_tokens, booked.cached_tokens) != counted:
        yield f"the ledger has {booked}, the server counted {counted}"


@contextmanager
def watched_logs() -> Iterator[None]:
    """Gives every run of this thread's context the log records it caused, as they were before any redaction."""
    logger, watcher = logging.getLogger("agenticiqa"), _Watcher()
    level = logger.level
    logger.addHandler(watcher)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(watcher)
        logger.setLevel(level)


class _Watcher(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        log = _watch.get()
        if log is not None:
            log.append(self.format(record))


def table(outcomes: list[Outcome], mode: Mode) -> str:
    """One mode's matrix: a row per fault, a column per provider with one sign per task."""
    width = max(len(fault.name) for fault in FAULTS)
    head = "  ".join(f"{provider:<{len(TASKS) + 2}}" for provider in PROVIDERS)
    lines = [f"fault {mode}: tasks {', '.join(TASKS)}", f"{'':<{width}}  {head}"]
    for fault in FAULTS:
        rows = []
        for provider in PROVIDERS:
            found = {o.cell.task: o for o in outcomes
                     if (o.cell.fault, o.cell.provider, o.cell.mode) == (fault, provider, mode)}  # fmt: skip
            signs = (
                "." if task not in found else "!" if found[task].problems else found[task].ending for task in TASKS
            )
            rows.append(f"{''.join(signs):<{len(TASKS) + 2}}")
        lines.append(f"{fault.name:<{width}}  {'  '.join(rows)}")
    return "\n".join(lines)
