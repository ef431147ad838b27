"""The metrics of pyiqa as tools: loaded from local files, with no way to the network while they load."""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
import io
import logging
import os
import re
import runpy
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import numpy as np

from agenticiqa.errors import (
    OfflineError,
    ToolError,
    ToolUnavailableError,
    UnknownToolError,
)
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
# They compare sets of pictures, not pictures.
_OF_SETS = ("FID", "InceptionScore")
# Where a metric's source names a file of weights, under the option it is for.
_FILE = re.compile(r"""(?:['"]([\w+./-]*)['"]\s*:\s*)?get_url_from_name\(\s*(?:name\s*=\s*)?['"]([^'"]+)['"]""")
# A repository of a model hub in quotation marks, and what loads a backbone whose file another library names.
_REPOSITORY = re.compile(r"""['"](q-future/[\w.-]+)['"]""", re.IGNORECASE)
_BACKBONE = re.compile(r"create_model\(|models\.\w+\(\s*(weights|pretrained)=[^NF]|clip\.load\(|\bload\(")
HUB = "hub:"
WITH_BACKBONE = "pyiqa's default; its backbone comes from torch, timm or clip"
_BACKBONES = "https://download.pytorch.org/models/"
_SECONDS_FOR_SIZE = 5


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
        missing = self.missing_weights()
        if self._offline and missing:
            return "offline and without weights; put " + ", ".join(map(str, missing)) + " in place"
        return None

    def missing_weights(self) -> list[Path]:
        """Weight files that are not yet where pyiqa looks for them."""
        places = [_place(name, self._hub) for name in self.card.weights]
        return [place for place in places if not place.exists()]

    def to_fetch(self) -> list[str]:
        """What is downloaded when the metric is first used; nothing ever is offline."""
        if self._offline:
            return []
        found = [str(place) for place in self.missing_weights()]
        return [*found, "a backbone, unless torch has it"] if self.card.variant == WITH_BACKBONE else found

    @property
    def _metric_name(self) -> str:
        return self.card.implementation.removeprefix(f"{SCHEME}:")

    def measure(self, test: Pixels, reference: Pixels | None = None) -> float:
        with self._lock:
            metric = self._metric
            import torch

            inputs = [_tensor(pixels) for pixels in (test, reference) if pixels is not None]
            with torch.random.fork_rng(devices=[]), torch.inference_mode():
                torch.manual_seed(0)
                return float(metric(*inputs[: 2 if self.card.reference == "FR" else 1]).reshape(-1)[0])

    @cached_property
    def _metric(self) -> Any:
        if not self._offline:
            for place in self.missing_weights():
                logger.warning("%s: pyiqa downloads %s (%s)", self.name, place, size_in_words(_address(place)))
        guard = no_network() if self._offline else contextlib.nullcontext()
        # pyiqa prints what it loads, which we have said; standard output belongs to our own results.
        with guard, contextlib.redirect_stdout(io.StringIO()):
            return _create(self._metric_name, self.name, self._hub, self._device)


def find_metric(name: str, hub: Path, *, offline: bool = False, device: str = "cpu") -> PyiqaTool | None:
    """The tool for `pyiqa:NAME`, any metric pyiqa has; None for other names or without pyiqa."""
    scheme, _, metric = name.partition(":")
    if scheme != SCHEME or not metrics_by_name():
        return None
    if metric not in metrics_by_name():
        close = ", ".join(f"{SCHEME}:{each}" for each in difflib.get_close_matches(metric, metrics_by_name()))
        raise UnknownToolError(f"pyiqa has no metric named {metric!r}{f'; did you mean: {close}' if close else ''}")
    return PyiqaTool(_card(name, metrics_by_name()[metric]), hub, offline=offline, device=device)


@cache
def metrics_by_name() -> dict[str, dict[str, Any]]:
    """How the installed pyiqa makes each metric of a picture or a pair; nothing without pyiqa.

    Read from its file of settings: importing pyiqa takes seconds, and fails where torch and torchvision do not fit.
    """
    file = _folder() / "default_model_configs.py"
    if not file.is_file():
        return {}
    found = runpy.run_path(str(file))["DEFAULT_CONFIGS"]
    return {
        name: settings
        for name, settings in found.items()
        if settings.get("metric_mode") in ("FR", "NR") and settings["metric_opts"]["type"] not in _OF_SETS
    }


def import_failure() -> str | None:
    """Why the installed pyiqa cannot be imported; None where it can. Takes seconds."""
    try:
        importlib.import_module("pyiqa")
    except Exception as error:  # torch, torchvision and their like raise nearly anything
        return f"{type(error).__name__}: {error}"
    return None


def size_in_words(address: str | None) -> str:
    """How much a download is, asked of the server."""
    try:
        if address is not None:
            with urlopen(Request(address, method="HEAD"), timeout=_SECONDS_FOR_SIZE) as answered:
                return f"{int(answered.headers['Content-Length']) / 1e6:,.1f} MB"
    except (OSError, TypeError, ValueError):
        pass
    return "size unknown"


def _address(place: Path) -> str | None:
    """Where pyiqa or torch take a file of weights from; None where that is not known."""
    if place.parent.name == "checkpoints":
        return _BACKBONES + place.name
    if place.parent.name != SCHEME:
        return None
    try:
        name: str = importlib.import_module("pyiqa.archs.arch_util").get_url_from_name(place.name)
    except Exception:  # what pyiqa lacks is said when the metric is made
        return None
    return name


def _folder() -> Path:
    found = importlib.util.find_spec(SCHEME)
    return Path((found.submodule_search_locations or [""])[0]) if found else Path()


def _place(name: str, hub: Path) -> Path:
    """Where a file of weights lies, or the folder of a model hub's repository."""
    if not name.startswith(HUB):
        return hub / (name if "/" in name else f"pyiqa/{name}")
    home = os.environ.get("HF_HOME") or "~/.cache/huggingface"
    folder = os.environ.get("HF_HUB_CACHE") or f"{home}/hub"
    return Path(folder).expanduser() / f"models--{name.removeprefix(HUB).replace('/', '--')}"


@cache
def source_of(kind: str) -> str:
    """The source of the module that defines a kind of metric; empty where there is none."""
    texts = (file.read_text(encoding="utf-8") for file in sorted((_folder() / "archs").glob("*_arch.py")))
    return next((text for text in texts if re.search(rf"^class {kind}\b", text, re.MULTILINE)), "")


def files_of_weights(metric: str, options: dict[str, Any]) -> tuple[str, ...]:
    """The files and repositories of pyiqa's own that a metric needs, by its source: those of its options, or all.

    A backbone that another library fetches is not among them.
    """
    source = source_of(options["type"])
    if repositories := [HUB + name for name in _REPOSITORY.findall(source)]:
        kind = str(options.get("model", ""))
        return tuple(dict.fromkeys(each for each in repositories if f"-{kind}-" in each.lower() or not kind))
    named = _FILE.findall(source)
    values = {metric, *map(str, options.values())}
    exact = [file for key, file in named if key in values]
    if exact or not named:
        return tuple(exact)
    hits = [sum(value in key for value in values) for key, _ in named]
    best = max(hits)
    return tuple(file for (_, file), count in zip(named, hits, strict=True) if count == best)[: 1 if best else None]


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
    except ImportError as error:
        raise ToolError(f"{tool}: pyiqa lacks a package ({error}); install what it names") from error
    except URLError as error:
        raise ToolError(
            f"{tool}: its weights cannot be downloaded ({error.reason}); check the network, or put them under {hub}"
        ) from error
    except Exception as error:  # pyiqa and its backbones raise nearly anything
        if "torchvision::" in str(error):
            raise ToolError(
                f"{tool}: torchvision was built for another torch ({error}); install torchvision from where torch came"
            ) from error
        raise ToolError(f"{tool}: pyiqa cannot create {metric!r}: {type(error).__name__}: {error}") from error


def _card(name: str, settings: dict[str, Any]) -> ToolCard:
    bounds = [_bound(part) for part in str(settings.get("score_range")).split(",")]
    low, high = bounds if len(bounds) == 2 else (None, None)
    return ToolCard(
        name=name,
        reference=settings["metric_mode"],
        higher_is_better=not settings.get("lower_better", False),
        raw_range=(low, high),
        implementation=name,
        licence=LICENCE,
        research_only=True,
        cost="heavy",
        weights=files_of_weights(name.partition(":")[2], settings["metric_opts"]),
        variant=WITH_BACKBONE if _BACKBONE.search(source_of(settings["metric_opts"]["type"])) else "pyiqa's default",
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
