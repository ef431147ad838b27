"""What is known of hosted models, from `models.yaml`: spellings, ends, what each family takes, and prices."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from agenticiqa.config import read_yaml
from agenticiqa.errors import BackendError, SettingsError
from agenticiqa.state import Record
from agenticiqa.vlm_client.client import Usage, VLMClient, VLMReply, VLMRequest, WrappingVLMClient, usage_of


class Retired(Record):
    """When a model ends and a living one; `verified` is false where no SDK's list names the date."""

    ends: date
    use: str
    verified: bool = True


class Family(Record):
    """Models alike in what they take: groups of parameters they refuse, and room they need for thinking."""

    models: str
    leaves_out: frozenset[str] = frozenset()
    room: int = 0


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    text = resources.files("agenticiqa.vlm_client").joinpath("models.yaml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return content


def official_name(provider: str, model: str) -> str:
    """The service's own name for a model; names the table does not list pass unchanged."""
    aliases: dict[str, str] = table()["aliases"].get(provider, {})
    return aliases.get(model.lower(), model)


def retired(backend: str) -> Retired | None:
    """When this backend's model ends, if that is known; spellings are understood."""
    provider, _, model = backend.partition(".")
    entry = table()["retired"].get(f"{provider}.{official_name(provider, model)}")
    return Retired.model_validate(entry) if entry else None


@lru_cache(maxsize=64)
def family_of(provider: str, model: str) -> Family:
    families = map(Family.model_validate, table()["families"].get(provider, ()))
    # An unknown model is asked for everything.
    return next((family for family in families if re.search(family.models, model)), Family(models=""))


# The date with which services name a fixed version of a model: -20250514 or -2024-08-06.
_SNAPSHOT = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


class Price(Record):
    """US dollars per million tokens, on the date they were looked up."""

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
    packaged = table()["prices"]
    return Prices(_priced(packaged, "models.yaml") | (_own_prices(Path(overlay).expanduser()) if overlay else {}))


class PricingVLMClient(WrappingVLMClient):
    """A client whose replies carry their cost."""

    def __init__(self, client: VLMClient, price: Price | None) -> None:
        super().__init__(client)
        self._price = price

    def ask(self, request: VLMRequest) -> VLMReply:
        try:
            reply = self.client.ask(request)
        except BackendError as error:
            error.usage = self._priced(usage_of(error))
            raise
        # A client that does not count its paid replies itself was paid for this one.
        usage = replace(reply.usage, paid_calls=max(1, reply.usage.paid_calls))
        return replace(reply, usage=self._priced(usage))

    def _priced(self, usage: Usage) -> Usage:
        # A backend that is free of charge says so itself.
        return replace(usage, cost_usd=self._price.cost(usage) if self._price else usage.cost_usd)


def _own_prices(file: Path) -> dict[str, Price]:
    try:
        return _priced(read_yaml(file.read_text(encoding="utf-8")) or {}, str(file))
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read ({error.strerror}); correct pipeline.transport.prices") from error
    except yaml.YAMLError as error:
        raise SettingsError(f"{file}: not a price table: {error}; correct the file") from error


def _priced(content: Any, name: str) -> dict[str, Price]:
    try:
        return TypeAdapter(dict[str, Price]).validate_python(content)
    except ValidationError as error:
        raise SettingsError(
            f"{name}: not a price table ({error}); write `provider.model: {{input: 2.5, output: 10, date: 2026-01-31}}`"
        ) from error
