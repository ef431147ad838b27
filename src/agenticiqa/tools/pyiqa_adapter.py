"""The metrics of pyiqa as tools: loaded from local files, with no way to the network while they load."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from agenticiqa.errors import MissingExtraError, OfflineError, ToolError, ToolUnavailableError, is_installed
from agenticiqa.tools.tool import Pixels, Tool, ToolCard

_FORBIDDEN = frozenset({"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"})
_thread = threading.local()


@contextmanager
def no_network() -> Iterator[None]:
    """Raises OfflineError from inside whatever tries to open a connection in this thread."""
    _install_guard()
    before = getattr(_thread, "guarded", False)
    _thread.guarded = True
    try:
        yield
    finally:
        _thread.guarded = before


@cache
def _install_guard() -> None:
    # Python never takes an audit hook away again, so there is one, which only acts on guarded threads.
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event in _FORBIDDEN and getattr(_thread, "guarded", False):
        raise OfflineError("offline mode: a library tried to reach the network")


logger = logging.getLogger("agenticiqa.tools")

SCHEME = "pyiqa"
LICENCE = "PolyForm-Noncommercial-1.0.0 (pyiqa)"
_PACKAGES = ("pyiqa", "torch")


class PyiqaTool(Tool):
    """One metric of pyiqa; `pyiqa:topiq_fr` names it.

    `hub` is torch's hub folder: weights are looked for in its `pyiqa` before anything is downloaded, and offline
    nothing ever is.
    """

    def __init__(self, card: ToolCard, hub: Path, *, offline: bool = False, device: str = "cpu") -> None:
        self.card = card
        self._hub = hub
        self._offline = offline
        self._device = device
        # One metric object serves all threads; torch's random state is set before each use.
        self._lock = threading.Lock()

    def unavailable(self) -> str | None:
        """Why the metric cannot run here and what would help; None when it can."""
        if not _installed():
            return str(MissingExtraError(self.name, "pyiqa"))
        missing = self.missing_weights()
        if self._offline and missing:
            return "offline and without weights; put " + ", ".join(map(str, missing)) + " in place"
        return None

    def missing_weights(self) -> list[Path]:
        """Weight files that are not yet where pyiqa looks for them."""
        places = [self._hub / (name if "/" in name else f"pyiqa/{name}") for name in self.card.weights]
        return [place for place in places if not place.is_file()]

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        """The raw value; raises ToolError when there is none."""
        with self._lock:
            metric = self._metric
            import torch

            inputs = [_tensor(pixels) for pixels in (test, reference) if pixels is not None]
            with torch.random.fork_rng(devices=[]), torch.inference_mode():
                torch.manual_seed(0)
                return float(metric(*inputs[: 2 if self.card.reference == "FR" else 1]).reshape(-1)[0])

    @cached_property
    def _metric(self) -> Any:
        name = self.card.implementation.removeprefix(f"{SCHEME}:")
        missing = self.missing_weights()
        if missing and not self._offline:
            logger.warning("%s: pyiqa will download %s", self.name, ", ".join(map(str, missing)))
        guard = no_network() if self._offline else contextlib.nullcontext()
        # pyiqa prints what it downloads; standard output belongs to our own results.
        with guard, contextlib.redirect_stdout(sys.stderr):
            return _create(name, self.name, self._hub, self._device)


@cache
def _installed() -> bool:
    return is_installed(*_PACKAGES)


def find_metric(name: str, hub: Path, *, offline: bool = False, device: str = "cpu") -> PyiqaTool | None:
    """The tool for `pyiqa:NAME`, any metric pyiqa has; None for other names or without pyiqa."""
    scheme, _, metric = name.partition(":")
    if scheme != SCHEME or not is_installed(*_PACKAGES):
        return None
    from pyiqa.default_model_configs import DEFAULT_CONFIGS

    settings = DEFAULT_CONFIGS.get(metric)
    if settings is None or settings.get("metric_mode") not in ("FR", "NR"):
        return None
    return PyiqaTool(_card(name, settings), hub, offline=offline, device=device)


def _create(metric: str, tool: str, hub: Path, device: str) -> Any:
    try:
        import torch

        # Read by pyiqa when it is first imported.
        torch.hub.set_dir(str(hub))
        import pyiqa

        return pyiqa.create_metric(metric, device=torch.device(device))
    except OfflineError as error:
        raise ToolUnavailableError(
            f"{tool}: its weights or those of its backbone are not under {hub}, and offline mode allows no download; "
            f"run it once with a network, or copy {hub} from a machine where it runs"
        ) from error
    except Exception as error:  # pyiqa and its backbones raise nearly anything
        raise ToolError(f"{tool}: pyiqa cannot create {metric!r}: {type(error).__name__}: {error}") from error


def _card(name: str, settings: dict[str, Any]) -> ToolCard:
    low, high = (_bound(part) for part in str(settings.get("score_range") or "~,~").split(","))
    return ToolCard(
        name=name,
        reference=settings["metric_mode"],
        higher_is_better=not settings.get("lower_better", False),
        raw_range=(low, high),
        implementation=name,
        licence=LICENCE,
        research_only=True,
        cost="heavy",
        variant="pyiqa's default",
        min_side=32,
        max_pixels=4_000_000,
        oversize="shrink",
    )


def _bound(text: str) -> float | None:
    """An end of pyiqa's stated range; it marks estimates with a tilde, and those bind nobody."""
    try:
        return float(text)
    except ValueError:
        return None


def _tensor(pixels: Pixels) -> Any:
    import torch

    planes = np.ascontiguousarray(pixels.transpose(2, 0, 1), dtype=np.float32) / 255
    return torch.from_numpy(planes)[None]
