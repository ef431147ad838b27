"""Counting what model calls cost, while they are made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agenticiqa.config import read_yaml
from agenticiqa.errors import AuthenticationError, BackendError, SettingsError
from agenticiqa.logs import redact
from agenticiqa.state import CallCount
from agenticiqa.vlm_client.client import Usage, VLMClient, VLMReply, VLMRequest, WrappingVLMClient, charge, usage_of
from agenticiqa.vlm_client.middleware.retrying import PASSING
from agenticiqa.vlm_client.models import table

MOST_FAILED_ATTEMPTS = 3
"""Tries on the wire that may fail before a run asks a backend nothing more."""
_OUT_OF_ORDER = (*PASSING, AuthenticationError)


class CallCounter:
    """Adds up one node's model calls, the failed ones included.

    A call is one reply asked of a model, an attempt one try on the wire; a reply from a cache is neither.
    `failed_attempts` are those of the run so far, by backend and address.
    """

    def __init__(self, failed_attempts: Mapping[str, int] | None = None) -> None:
        self.count = CallCount()
        self.stand_ins: list[str] = []
        self.failed_attempts = dict(failed_attempts or {})

    def add(self, usage: Usage, backend: VLMClient | None = None) -> None:
        """Books a backend's reply."""
        self.count = self.count.plus(count_of(usage))
        if backend is not None and not usage.from_cache:
            self.failed_attempts.pop(_place(backend), None)

    def add_failure(self, error: BackendError, backend: VLMClient | None = None) -> None:
        """Books a call that brought no reply."""
        self.count = self.count.plus(count_of(usage_of(error)))
        if backend is not None and backend.remote and isinstance(error, _OUT_OF_ORDER):
            self.failed_attempts[_place(backend)] = self.failures_of(backend) + error.attempts

    def failures_of(self, backend: VLMClient) -> int:
        """How many attempts at this backend have failed since it last answered."""
        return self.failed_attempts.get(_place(backend), 0)

    def gave_up(self, backend: VLMClient) -> bool:
        """Whether the run asks this backend nothing more."""
        return self.failures_of(backend) >= MOST_FAILED_ATTEMPTS


def _place(backend: VLMClient) -> str:
    # Two servers may have a model of the same name; an address may hold a password.
    return redact(backend.identity or backend.model)


def count_of(usage: Usage) -> CallCount:
    """One reply's usage as a count."""
    if usage.from_cache:
        return CallCount(cache_hits=1, seconds=usage.seconds)
    return CallCount(
        calls=1,
        paid_calls=usage.paid_calls,
        attempts=usage.transport_attempts,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        cost_usd=usage.cost_usd,
        seconds=usage.seconds,
    )


# The date with which services name a fixed version of a model: -20250514 or -2024-08-06.
_SNAPSHOT = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


class Price(BaseModel):
    """US dollars per million tokens, on the date they were looked up."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    date: date

    def cost(self, usage: Usage) -> float:
        """The price of one reply in US dollars."""
        cached_price = self.input if self.cached_input is None else self.cached_input
        fresh = usage.input_tokens - usage.cached_tokens
        dollars = fresh * self.input + usage.cached_tokens * cached_price + usage.output_tokens * self.output
        return dollars / 1_000_000


class Prices:
    """Prices by backend."""

    def __init__(self, prices: dict[str, Price]) -> None:
        self._prices = prices

    def of(self, backend: str) -> Price | None:
        """The price of a backend, or of the model whose dated snapshot it is; None if unknown."""
        if backend in self._prices:
            return self._prices[backend]
        return self._prices.get(_SNAPSHOT.sub("", backend))


def load_prices(overlay: str | Path | None = None) -> Prices:
    """The packaged prices, with the user's own laid over them."""
    prices = _parsed(table()["prices"], "models.yaml")
    if overlay is not None:
        try:
            prices |= _parse(Path(overlay).expanduser().read_text(encoding="utf-8"), str(overlay))
        except OSError as error:
            raise SettingsError(
                f"{overlay}: cannot be read ({error.strerror}); correct pipeline.transport.prices"
            ) from error
    return Prices(prices)


class PricingVLMClient(WrappingVLMClient):
    """A client whose replies carry their cost."""

    def __init__(self, client: VLMClient, price: Price | None) -> None:
        super().__init__(client)
        self._price = price

    def ask(self, request: VLMRequest) -> VLMReply:
        """The client's reply with its cost, None if the price is unknown."""
        try:
            reply = self.client.ask(request)
        except BackendError as error:
            charge(error, self._priced(usage_of(error)))
            raise
        # A client that does not count its paid replies itself was paid for this one.
        usage = replace(reply.usage, paid_calls=max(1, reply.usage.paid_calls))
        return replace(reply, usage=self._priced(usage))

    def _priced(self, usage: Usage) -> Usage:
        # A backend that is free of charge says so itself.
        return replace(usage, cost_usd=self._price.cost(usage) if self._price else usage.cost_usd)


def _parse(text: str, name: str) -> dict[str, Price]:
    try:
        content = read_yaml(text) or {}
    except yaml.YAMLError as error:
        raise SettingsError(f"{name}: not a price table: {error}; correct the file") from error
    return _parsed(content, name)


def _parsed(content: Any, name: str) -> dict[str, Price]:
    try:
        return {backend: Price.model_validate(entry) for backend, entry in content.items()}
    except (ValidationError, AttributeError) as error:
        raise SettingsError(
            f"{name}: not a price table ({error}); write `provider.model: {{input: 2.5, output: 10, date: 2026-01-31}}`"
        ) from error
