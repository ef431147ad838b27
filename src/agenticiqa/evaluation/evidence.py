"""What was found out about each picture of a set, kept: no step is done twice, and an interrupted run goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import resources
from importlib.metadata import version
from pathlib import Path

from agenticiqa.cache import Cache, cache_key
from agenticiqa.config import ROLES, Settings
from agenticiqa.errors import ImageError
from agenticiqa.evaluation.runs import TOOLS, Found, carry_out, fitting_tools, seconds_alone
from agenticiqa.evaluation.samples import RatedPicture
from agenticiqa.parts import Parts

NAMESPACE = "evaluation"
CACHE_FILE = "evaluation.sqlite"
# Pictures on which a run is timed with nothing remembered.
TIMED = 3
# Pictures in hand at once while a service is waited for.
_WAITING = 8
Evidence = list[dict[str, Found]]
"""For every picture, what each run gave."""
OnPicture = Callable[[int, int], None]


class EvidenceStore:
    """Results by picture, reference and everything they depend on: version, settings, weights, the user's overlay."""

    def __init__(self, settings: Settings, cache: Cache | None = None) -> None:
        self._cache = cache or Cache(settings.cache_directory() / CACHE_FILE, settings.pipeline.cache.max_bytes)
        self._origin = origin_of(settings)

    def recall(self, image: Path, reference: Path | None) -> dict[str, Found]:
        """What is known of this picture."""
        text = self._cache.get(NAMESPACE, self._key(image, reference))
        known: dict[str, Found] = json.loads(text) if text else {}
        return known

    def keep(self, image: Path, reference: Path | None, found: dict[str, Found]) -> None:
        """Keeps what succeeded; what failed is tried again the next time."""
        good = {name: result for name, result in found.items() if result.get("error") is None}
        self._cache.put(NAMESPACE, self._key(image, reference), json.dumps(good))

    def _key(self, image: Path, reference: Path | None) -> str:
        return cache_key(self._origin, _digest(image), None if reference is None else _digest(reference))


def gather(
    samples: Sequence[RatedPicture],
    runs: list[str],
    parts: Parts,
    store: EvidenceStore,
    on_picture: OnPicture | None = None,
    jobs: int | None = None,
) -> Evidence:
    """The results of these runs on every picture; only what the store does not know is worked out.

    Several pictures are in hand at once where a service is waited for, or as many as `jobs` says.
    """
    gathered: Evidence = []
    pool = ThreadPoolExecutor(jobs or (_WAITING if _is_remote(parts) else 1))
    try:
        for known in pool.map(lambda sample: _known(sample, runs, parts, store), samples):
            gathered.append(known)
            if on_picture:
                on_picture(len(gathered), len(samples))
    finally:
        # After an interruption only the pictures in hand are finished; they are kept.
        pool.shutdown(cancel_futures=True)
    return gathered


def _known(sample: RatedPicture, runs: list[str], parts: Parts, store: EvidenceStore) -> dict[str, Found]:
    known = store.recall(sample.image, sample.reference)
    wanted = [name for name in runs if name not in known]
    if TOOLS in runs and TOOLS in known:
        # A tool may run here now that did not when the picture was measured.
        tried = {*known[TOOLS]["raw"], *known[TOOLS]["tool_errors"]}
        if not tried.issuperset(fitting_tools(parts.tools, sample.reference is not None)):
            wanted.append(TOOLS)
    if wanted:
        found = carry_out(wanted, parts, sample.image, sample.reference)
        if TOOLS in known and TOOLS in found:
            # What was measured before is remembered, and how long it took would be lost.
            found[TOOLS]["tool_seconds"] = found[TOOLS].get("tool_seconds", {}) | known[TOOLS]["tool_seconds"]
        known |= found
        store.keep(sample.image, sample.reference, known)
    return known


def _is_remote(parts: Parts) -> bool:
    return any(client.remote for client in parts.vlm_clients.values())


def time_runs(samples: Sequence[RatedPicture], runs: list[str], parts: Parts, store: EvidenceStore) -> dict[str, float]:
    """Mean seconds of each run alone on the first few pictures; empty where a service would have to be paid for it."""
    if _is_remote(parts):
        return {}
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for sample in samples[:TIMED]:
        known = store.recall(sample.image, sample.reference)
        # A picture that cannot be read has failed in every run already, and takes no time.
        with suppress(ImageError):
            for name in runs:
                found = known.setdefault(f"timed {name}", {})
                if "seconds" not in found:
                    found["seconds"] = seconds_alone(name, parts, sample.image, sample.reference)
                taken[name].append(found["seconds"])
            store.keep(sample.image, sample.reference, known)
    return {name: sum(seconds) / len(seconds) for name, seconds in taken.items() if seconds}


def origin_of(settings: Settings) -> str:
    """One hash of what results depend on besides the picture."""
    pipeline = settings.pipeline.model_dump(exclude={"cache", "logging"})
    roles = [settings.role(role).model_dump() for role in ROLES]
    overlay = settings.tools_overlay_path()
    curves = overlay.read_bytes() if overlay.is_file() else b""
    # Sizes and dates of the shipped models and curves: a new one makes old results stale.
    root = Path(str(resources.files("agenticiqa")))
    files = [path for path in sorted([*root.glob("weights/*"), *root.glob("tools/*.json")]) if path.is_file()]
    shipped = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return cache_key(version("agenticiqa"), pipeline, roles, hashlib.sha256(curves).hexdigest(), shipped)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        # No run succeeds on it, so that nothing is ever kept under this name.
        return f"unreadable {path}"
