"""Fields nobody asked for: a misspelt one must not pass as if it had been understood."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from fastapi import Request
from fastapi.routing import APIRoute

from agenticiqa.server.problems import FieldError, Problem


async def refuse_unknown_fields(request: Request) -> None:
    """Nothing, unless the form or the address of the request holds a field its route does not have."""
    route: APIRoute = request.scope["route"]
    form = [field.alias for field in route.dependant.body_params]
    address = [field.alias for field in route.dependant.query_params]
    found = [*_unknown(await request.form(), form), *_unknown(request.query_params, address)]
    if found:
        detail = "; ".join(f"{error.field}: {error.message}" for error in found)
        raise Problem("invalid_request", detail, field_errors=found)


def _unknown(given: Iterable[str], allowed: list[str]) -> list[FieldError]:
    return [
        FieldError(field=name, message=_told(name, allowed)) for name in dict.fromkeys(given) if name not in allowed
    ]


def _told(name: str, allowed: list[str]) -> str:
    close = difflib.get_close_matches(name, allowed, 1)
    hint = f"did you mean {close[0]}? " if close else ""
    return f"there is no such field; {hint}allowed are {', '.join(sorted(allowed))}"
