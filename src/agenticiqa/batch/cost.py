"""Limits on what one run may spend, kept before they are passed rather than noticed afterwards."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from agenticiqa.batch.samples import BatchRecord, Spent
from agenticiqa.config import ROLES, BackendLimits, RoleSettings, Settings
from agenticiqa.errors import UsageError
from agenticiqa.vlm_client.client import Usage, VLMClient
from agenticiqa.vlm_client.factory import create_role_clients
from agenticiqa.vlm_client.models import load_prices


@dataclass(frozen=True)
class Limits:
    """The most one run may cost, make paid calls and fail; None sets no limit."""

    max_cost: float | None = None
    max_calls: int | None = None
    max_failures: int | None = None


class Budget:
    """What a run has spent, and whether there is room for another sample.

    Room is kept for the samples under way, each taken to be as dear as the dearest one so far, or as `expected` before
    there is one.
    """

    def __init__(self, limits: Limits, expected: Spent) -> None:
        self._limits = limits
        self._dearest: Spent | None = None
        self._expected = expected
        self.spent = Spent()
        self.finished = self.failures = 0

    def book(self, record: BatchRecord) -> None:
        spent = record.spent
        self.spent = self.spent.plus(spent)
        self.finished += 1
        self.failures += not record.is_done
        known = self._dearest or Spent()
        cost = max(known.cost_usd or 0.0, spent.cost_usd or 0.0)
        self._dearest = Spent(max(known.calls, spent.calls), cost, max(known.paid_calls, spent.paid_calls))

    def exhausted(self, under_way: int = 0) -> str | None:
        """Which limit leaves no room for another sample beside those under way, in words."""
        limits, each = self._limits, self._dearest or self._expected
        if limits.max_failures is not None and self.failures >= limits.max_failures:
            return f"{self.failures} samples failed and --max-failures is {limits.max_failures}"
        paid = self.spent.paid_calls
        if limits.max_calls is not None and paid + (under_way + 1) * each.paid_calls > limits.max_calls:
            return f"{paid} paid calls were made and --max-calls is {limits.max_calls}"
        if limits.max_cost is None:
            return None
        if self.spent.cost_usd is None:
            return "a reply had no known price and --max-cost cannot be kept"
        if self.spent.cost_usd + (under_way + 1) * (each.cost_usd or 0.0) > limits.max_cost:
            return f"{self.spent.cost_usd:.4f} USD were spent and --max-cost is {limits.max_cost:g}"
        return None


Engine = Literal["threads", "processes", "ray"]

# Assumptions for a first estimate, said wherever it is shown; measured figures take their place once there are some.
INPUT_TOKENS, OUTPUT_TOKENS = 2000, 250
_SAMPLES_PER_ACTOR = 16


@dataclass(frozen=True)
class Backends:
    """What the backends of a run ask of an engine."""

    remote: bool
    """At least one is waited for over a network."""
    embedded: bool
    """All of them compute here, one core each."""


def backends_of(settings: Settings) -> Backends:
    """What the settings' backends are like; raises what keeps one from being used, before anything is paid for."""
    clients = _clients(settings)
    names = [name for role in ROLES for name in _names(settings.role(role))]
    return Backends(any(client.remote for client in clients), all(name.startswith("builtin") for name in names))


def choose_engine(
    wanted: Engine | Literal["auto"], backends: Backends, concurrency: int | None, settings: Settings
) -> tuple[Engine, int]:
    """The engine and how many samples it works on at once."""
    width = concurrency or _default_width(backends, settings)
    if wanted != "auto":
        return wanted, width
    return ("processes" if backends.embedded and width > 1 else "threads"), width


def actors_for(width: int, backends: Backends) -> tuple[int, int]:
    """Ray actors and samples per actor: a waiting backend leaves its core to many, a computing one needs it."""
    if not backends.remote:
        return width, 1
    actors = -(-width // _SAMPLES_PER_ACTOR)
    return actors, -(-width // actors)


def cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def settings_per_process(settings: Settings, lanes: int, processes: int = 1) -> Settings:
    """The settings in which each of so many processes presses the backends with its share of what is allowed.

    A backend without a limit of its own may be asked by every lane at once.
    """
    transport = settings.pipeline.transport
    limits = dict(transport.limits)
    for name in {name for role in ROLES for name in _names(settings.role(role))}:
        allowed = transport.limits_for(name)
        rate = allowed.requests_per_minute
        own = name in limits or name.partition(".")[0] in limits
        limits[name] = BackendLimits(
            concurrency=max(1, allowed.concurrency // processes) if own else lanes,
            requests_per_minute=rate / processes if own and rate else None,
        )
    changed = transport.model_copy(update={"limits": limits})
    return settings.model_copy(update={"pipeline": settings.pipeline.model_copy(update={"transport": changed})})


def expected_spending(settings: Settings) -> Spent:
    """What one sample takes, by assumption: one pass of the agent, replies of a usual length."""
    clients = create_role_clients(settings)
    prices = load_prices(settings.pipeline.transport.prices)
    usage = Usage(input_tokens=INPUT_TOKENS, output_tokens=OUTPUT_TOKENS)
    total = Spent()
    for role, calls in {
        "planner": 1,
        "executor": 1 if settings.pipeline.mode == "fast" else 3,
        "summarizer": 1,
    }.items():
        client = clients[role].chain()[0]
        price = prices.of(client.model)
        paid = None if price is None else calls * price.cost(usage)
        total = total.plus(Spent(calls, paid, calls) if client.remote else Spent(calls))
    return total


def require_prices(settings: Settings) -> None:
    """Raises UsageError when a backend's price is unknown, so that a limit on cost cannot be kept."""
    prices = load_prices(settings.pipeline.transport.prices)
    unknown = sorted({link.model for link in _clients(settings) if link.remote and prices.of(link.model) is None})
    if unknown:
        raise UsageError(
            f"--max-cost cannot be kept: the price of {', '.join(unknown)} is unknown; "
            "name it in a table of your own (pipeline.transport.prices), or use --max-calls"
        )


def _default_width(backends: Backends, settings: Settings) -> int:
    if backends.embedded:
        return cores()
    if not backends.remote:
        return 1
    transport = settings.pipeline.transport
    return max(transport.limits_for(name).concurrency for role in ROLES for name in _names(settings.role(role)))


def _clients(settings: Settings) -> list[VLMClient]:
    """Every backend that may be asked, fallbacks too."""
    return [link for client in create_role_clients(settings).values() for link in client.chain()]


def _names(role: RoleSettings) -> list[str]:
    return [name for name in (role.backend, role.fallback_backend) if name]
