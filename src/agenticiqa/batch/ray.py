"""Ray actors on one machine or many: the same records, resume and failures as with the other engines."""

from __future__ import annotations

import os
import threading
from typing import Any

from agenticiqa.batch.samples import Assess, BatchRecord, Prepare, Sample, attempt, lost_record
from agenticiqa.batch.workers import MAX_WORKER_DEATHS, WorkerSetup, worker_environment
from agenticiqa.errors import AgenticIQAError, MissingExtraError, UsageError


class RayPool:
    """Actors that each load the parts once and work on so many samples at a time; Ray replaces a lost one.

    Samples go only to actors that are loaded, so that one the cluster has no room for yet holds nothing up.
    """

    def __init__(self, prepare: Prepare, actors: int, lanes: int, address: str | None, setup: WorkerSetup) -> None:
        self._ray = _load_ray()
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._connect(actors, address)
        retries = {"max_restarts": -1, "max_task_retries": MAX_WORKER_DEATHS - 1}
        actor_class = self._ray.remote(num_cpus=1, max_concurrency=lanes, **retries)(_Assessing)
        self._actors = [actor_class.remote(prepare, setup) for _ in range(actors)]
        self._loading = {actor.load.remote(): place for place, actor in enumerate(self._actors)}
        self._lanes, self._free = lanes, [0] * actors
        self._under_way: dict[Any, tuple[int, Sample]] = {}

    def has_room(self) -> bool:
        return any(self._free)

    def submit(self, sample: Sample) -> None:
        """Gives the sample to the actor with the fewest."""
        place = self._free.index(max(self._free))
        self._free[place] -= 1
        self._under_way[self._actors[place].attempt.remote(sample)] = place, sample

    def wait(self) -> list[BatchRecord]:
        """The records that arrived; raises what kept an actor from loading its parts."""
        awaited = [*self._loading, *self._under_way]
        self._ray.wait(awaited, num_returns=1)
        # All that is there already, not one at a time.
        finished, _ = self._ray.wait(awaited, num_returns=len(awaited), timeout=0)
        return [record for reference in finished if (record := self._receive(reference))]

    def close(self) -> None:
        """Ends the actors, and Ray if it was started here."""
        for actor in self._actors:
            self._ray.kill(actor)
        if self._ours:
            self._ray.shutdown()

    def _connect(self, actors: int, address: str | None) -> None:
        # A Ray of our own works as hard as the other engines; by default Ray's workers stand back.
        os.environ.setdefault("RAY_worker_niceness", "0")
        local: dict[str, Any] = {} if address else {"num_cpus": actors, "include_dashboard": False}
        try:
            with worker_environment():
                self._ray.init(address=address, log_to_driver=False, logging_level="ERROR", **local)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise UsageError(f"no Ray at {address or 'this machine'} ({error}); start one with `ray start`") from error

    def _receive(self, reference: Any) -> BatchRecord | None:
        sample = None
        if reference in self._loading:
            self._free[self._loading.pop(reference)] = self._lanes
        else:
            place, sample = self._under_way.pop(reference)
            self._free[place] += 1
        try:
            record: BatchRecord | None = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, Exception) else error
            raise cause from None
        except self._ray.exceptions.RayError as error:
            if sample is None:
                reason = f"Ray's actors end while they load ({error}); is agenticiqa installed there?"
                raise AgenticIQAError(reason) from error
            return lost_record(sample, f"{MAX_WORKER_DEATHS} actors were lost on this sample; is there enough memory?")
        return record


class _Assessing:
    """What runs in an actor; after a restart it loads the parts anew."""

    def __init__(self, prepare: Prepare, setup: WorkerSetup) -> None:
        setup.apply()
        self._prepare = prepare
        self._lock = threading.Lock()
        self._assess: Assess | None = None

    def load(self) -> None:
        """Loads the parts, once for all lanes."""
        with self._lock:
            self._assess = self._assess or self._prepare()

    def attempt(self, sample: Sample) -> BatchRecord:
        self.load()
        assert self._assess is not None
        return attempt(self._assess, sample)


def _load_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("the engine ray", "ray") from error
    return ray
