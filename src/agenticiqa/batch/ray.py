"""Ray actors on one machine or many: the same records, resume and failures as with the other engines."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from agenticiqa.batch.samples import BatchRecord, Prepare, Sample, attempt, lost_record
from agenticiqa.batch.workers import MAX_WORKER_DEATHS, WorkerSetup, worker_environment
from agenticiqa.errors import AgenticIQAError, MissingExtraError, UsageError


@dataclass(eq=False)
class _Actor:
    handle: Any
    loading: Any
    samples: dict[Any, Sample] = field(default_factory=dict)
    ready: bool = False


class RayPool:
    """Actors that each load the parts once and work on so many samples at a time; a lost one is replaced.

    Samples go only to actors that are loaded, so that one the cluster has no room for yet holds nothing up.
    """

    def __init__(self, prepare: Prepare, actors: int, lanes: int, address: str | None, setup: WorkerSetup) -> None:
        self._ray = _load_ray()
        self._prepare, self._lanes, self._setup = prepare, lanes, setup
        self._deaths: Counter[str] = Counter()
        self._failed_starts = 0
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._connect(actors, address)
        self._class = self._ray.remote(num_cpus=1, max_concurrency=lanes)(_Assessing)
        self._actors = [self._start_worker() for _ in range(actors)]
        self._unassigned: list[Sample] = []

    def has_room(self) -> bool:
        """Whether an actor that is loaded has a lane free, and nobody waits for it already."""
        return not self._unassigned and self._waiting() is not None

    def submit(self, sample: Sample) -> None:
        """Gives the sample to the actor with the fewest."""
        actor = self._waiting()
        if actor is None:
            raise RuntimeError("no actor has room")
        actor.samples[actor.handle.attempt.remote(sample)] = sample

    def wait(self) -> list[BatchRecord]:
        """The records that arrived; raises what kept an actor from loading its parts."""
        awaited = {reference: actor for actor in self._actors for reference in self._references(actor)}
        finished, _ = self._ray.wait(list(awaited), num_returns=1)
        # All that is there already, not one at a time.
        finished, _ = self._ray.wait(list(awaited), num_returns=len(awaited), timeout=0)
        records = [record for reference in finished for record in self._receive(awaited[reference], reference)]
        while self._unassigned and self._waiting() is not None:
            self.submit(self._unassigned.pop())
        return records

    def close(self) -> None:
        """Ends the actors, and Ray if it was started here."""
        for actor in self._actors:
            self._ray.kill(actor.handle)
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

    def _waiting(self) -> _Actor | None:
        free = [actor for actor in self._actors if actor.ready and len(actor.samples) < self._lanes]
        return min(free, key=lambda actor: len(actor.samples), default=None)

    def _start_worker(self) -> _Actor:
        handle = self._class.remote(self._setup)
        return _Actor(handle, handle.load.remote(self._prepare))

    def _references(self, actor: _Actor) -> list[Any]:
        return [*actor.samples] if actor.ready else [actor.loading]

    def _receive(self, actor: _Actor, reference: Any) -> list[BatchRecord]:
        if actor not in self._actors:
            return []
        try:
            result = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, Exception) else error
            raise cause from None
        except self._ray.exceptions.RayError as error:
            return self._replace_dead(actor, error)
        if not actor.ready:
            actor.ready = True
            return []
        del actor.samples[reference]
        record: BatchRecord = result
        return [record]

    def _replace_dead(self, actor: _Actor, error: Exception) -> list[BatchRecord]:
        """Puts a new actor in the place of a lost one, and gives up the samples that have cost too many."""
        if not actor.ready:
            self._failed_starts += 1
            if self._failed_starts >= MAX_WORKER_DEATHS:
                raise AgenticIQAError(f"Ray's actors end while they load ({error}); is agenticiqa installed there?")
        self._actors[self._actors.index(actor)] = self._start_worker()
        self._deaths.update(sample.sample_id for sample in actor.samples.values())
        given_up = [s for s in actor.samples.values() if self._deaths[s.sample_id] >= MAX_WORKER_DEATHS]
        self._unassigned += [s for s in actor.samples.values() if self._deaths[s.sample_id] < MAX_WORKER_DEATHS]
        return [
            lost_record(sample, f"{MAX_WORKER_DEATHS} actors were lost on this sample; is there enough memory?")
            for sample in given_up
        ]


class _Assessing:
    """What runs in an actor."""

    def __init__(self, setup: WorkerSetup) -> None:
        setup.apply()
        self._assess: Any = None

    def load(self, prepare: Prepare) -> None:
        """Loads the parts."""
        self._assess = prepare()

    def attempt(self, sample: Sample) -> BatchRecord:
        """The sample's record."""
        return attempt(self._assess, sample)


def _load_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("the engine ray", "ray") from error
    return ray
