"""A time limit for a whole answer: an HTTP library's own limit starts anew with every byte that arrives."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from typing import Any

EventHooks = dict[str, list[Callable[[Any], None]]]
_STARTED = "agenticiqa_started"


def deadline_hooks(seconds: float, clock: Callable[[], float] = time.monotonic) -> EventHooks:
    """Event hooks for an httpx or httpx2 client, with which a body still coming after these seconds is a timeout."""

    def start(request: Any) -> None:
        request.extensions[_STARTED] = clock()

    def limit(response: Any) -> None:
        ends = response.request.extensions[_STARTED] + seconds
        response.stream = _limited(response, lambda: clock() > ends)

    return {"request": [start], "response": [limit]}


def _limited(response: Any, is_over: Callable[[], bool]) -> Any:
    # The library of this response: an SDK may use either, and each knows only its own classes.
    library = importlib.import_module(type(response).__module__.partition(".")[0])
    stream = response.stream

    class Limited(library.SyncByteStream):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[bytes]:
            late = False
            for chunk in stream:
                if late:
                    raise library.ReadTimeout("the answer takes too long", request=response.request)
                yield chunk
                # Judged only if there is more: an answer that is whole was paid for, however late it came.
                late = is_over()

        def close(self) -> None:
            stream.close()

    return Limited()
