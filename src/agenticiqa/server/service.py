"""The service behind the routes: takes runs in, has them carried out, keeps what comes of them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import math
import shutil
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

from agenticiqa.config import Settings
from agenticiqa.errors import ImageError
from agenticiqa.images.files import read_file
from agenticiqa.server.bell import Bell
from agenticiqa.server.examples import Gallery
from agenticiqa.server.metrics import Metrics
from agenticiqa.server.names import display_name
from agenticiqa.server.options import MEGABYTE, ServiceOptions
from agenticiqa.server.pool import Pool
from agenticiqa.server.problems import Problem
from agenticiqa.server.retention import sweep
from agenticiqa.server.store import Job, QueueFullError, Run, Store
from agenticiqa.server.worker import RESULT

logger = logging.getLogger("agenticiqa.server")

Json = dict[str, Any]
SWEEP_EVERY = 600.0


class Service:
    """Store, workers and folders of one running service."""

    def __init__(self, options: ServiceOptions, settings: Settings) -> None:
        self.options = options
        self.settings = options.limited(settings)
        self.folder = options.storage
        self.runs_folder = self.folder / "runs"
        self.runs_folder.mkdir(parents=True, exist_ok=True)
        self.store = Store(self.folder / "service.sqlite")
        self.gallery = Gallery(self.folder / "examples")
        self.metrics = Metrics()
        self.metrics.watch("queued", lambda: self.store.counts().get("queued", 0))
        self.pool = Pool(self, self.settings, options.workers, options.time_limit)
        self.metrics.watch("running", lambda: self.pool.busy)
        self.metrics.watch("workers_ready", lambda: self.pool.ready)
        self.stopping = threading.Event()
        self.bell = Bell()
        self._seconds: deque[float] = deque([1.0], maxlen=32)
        self._settings_key = hashlib.sha256(self.settings.model_dump_json().encode()).hexdigest()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Takes up where the last service ended, and starts the workers."""
        self.bell.hang(loop)
        again = self.store.requeue("the service was restarted; the run begins again")
        if again:
            logger.info("%d interrupted runs begin again", again)
        self.pool.start()
        threading.Thread(target=self._sweep_now_and_then, name="retention", daemon=True).start()

    def begin_stop(self) -> None:
        """Takes no new runs and tells everybody who waits."""
        if not self.stopping.is_set():
            self.stopping.set()
            self.pool.stop(self.options.grace)
            self.bell.ring_all()

    def close(self) -> None:
        """Waits for the workers and closes the store; interrupted runs are queued for the next start."""
        self.begin_stop()
        self.pool.join()
        self.store.close()

    def submit(self, run_id: str, kind: str, request: Json, fresh: bool) -> tuple[Run, bool]:
        """The run for this request, and whether it was there before; raises Problem `queue_full` or `stopping`."""
        self._refuse_when_stopping()
        try:
            run, shared = self.store.submit(
                run_id, kind, request, self.key_of(kind, request), self.options.queue, fresh
            )
        except QueueFullError:
            self.metrics.refused.inc()
            seconds = self.retry_after()
            raise Problem(
                "queue_full",
                f"{self.options.queue} runs are waiting already; try again in {seconds} seconds",
                headers={"Retry-After": str(seconds)},
            ) from None
        if shared:
            self.metrics.shared.inc()
        else:
            self.pool.notify()
        return run, shared

    def submit_job(self, job_id: str, requests: list[tuple[str, Json]]) -> Job:
        """A job of these requests; raises Problem `queue_full` or `stopping`."""
        self._refuse_when_stopping()
        try:
            job = self.store.submit_job(job_id, requests, self.options.max_jobs)
        except QueueFullError:
            raise Problem(
                "queue_full",
                f"{self.options.max_jobs} jobs are open already; wait for one to end or cancel one",
                headers={"Retry-After": "30"},
            ) from None
        self.pool.notify()
        return job

    def key_of(self, kind: str, request: Json) -> str:
        """What makes two requests the same: bytes, question and settings, not the names of the files."""
        asked = {name: value for name, value in request.items() if name not in ("images", "reference")}
        files = [entry["sha256"] for entry in request["images"]]
        reference = request["reference"]["sha256"] if request["reference"] else None
        text = json.dumps([kind, asked, files, reference, self._settings_key], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def retry_after(self) -> int:
        """Seconds after which a place in the queue is likely to be free."""
        typical = sum(self._seconds) / len(self._seconds)
        return max(1, min(60, math.ceil(typical * self.options.queue / self.options.workers / 2)))

    def folder_of(self, run_id: str) -> Path:
        """Where the files of a run lie."""
        return self.runs_folder / run_id

    def claim(self) -> Run | None:
        """The next run for a worker."""
        run = self.store.claim()
        if run is not None:
            self.bell.ring(run.id)
        return run

    def prepare(self, run: Run) -> Json:
        """The run as a task; files under allowed folders are copied, so that what is assessed cannot change."""
        folder = self.folder_of(run.id)
        folder.mkdir(parents=True, exist_ok=True)
        files = [*run.request["images"], *([run.request["reference"]] if run.request["reference"] else [])]
        for entry in files:
            if "path" in entry:
                (folder / entry["file"]).write_bytes(self.read_allowed(entry["path"], entry["name"]))
        return {**run.request, "kind": run.kind, "folder": str(folder), "pictures": run.job_id is None}

    def read_allowed(self, path: str, name: str) -> bytes:
        """The bytes of a file under an allowed folder; raises Problem or ImageError, naming it only by `name`."""
        wanted, root = self.require_allowed(path)
        try:
            return read_file(wanted, self.options.max_request_megabytes * MEGABYTE, root)
        except ImageError as error:
            raise type(error)(str(error).replace(str(wanted), name)) from None

    def require_allowed(self, path: str) -> tuple[Path, Path]:
        """The path, seen from the allowed folder it lies in, and that folder; raises Problem."""
        for root in self.options.allow_folders:
            wanted = root.resolve() / path
            # A name with a zero byte, or a link to itself, leads nowhere.
            with suppress(ValueError, OSError, RuntimeError):
                if wanted.resolve().is_relative_to(root.resolve()):
                    return wanted, root
        raise Problem("path_not_allowed", f"{display_name(path)}: lies outside the folders this service may read")

    def happened(self, run: Run, kind: str, data: Json) -> None:
        """Keeps an event; the steps of a job's runs are not kept."""
        if run.job_id is None:
            self.store.add_event(run.id, kind, data)
            self.bell.ring(run.id)

    def ended(self, run: Run, outcome: str, data: Json) -> None:
        """Keeps the end of a run."""
        if outcome == RESULT:
            self.store.finish(run, data, _summary(data))
        else:
            self.store.fail(run, data)
        seconds = time.time() - (run.started or run.created)
        self._seconds.append(seconds)
        self.metrics.ended(run.kind, "finished" if outcome == RESULT else data["code"], seconds)
        if run.job_id is not None:
            shutil.rmtree(self.folder_of(run.id), ignore_errors=True)
        self.bell.ring(run.id)

    def put_back(self, run: Run) -> None:
        """Queues an interrupted run again."""
        self.store.requeue("the service is stopping; the run begins again after its restart", run.id)
        self.bell.ring(run.id)

    def _refuse_when_stopping(self) -> None:
        if self.stopping.is_set():
            raise Problem(
                "stopping", "the service is stopping; try again in a few seconds", headers={"Retry-After": "5"}
            )

    def _sweep_now_and_then(self) -> None:
        while True:
            try:
                sweep(self.store, self.runs_folder, self.options.keep_days, self.options.keep_megabytes)
            except Exception:
                # The store may be closed under it at the end; at any other time the next sweep has another try.
                if not self.stopping.is_set():
                    logger.exception("old runs could not be removed; it is tried again")
            if self.stopping.wait(SWEEP_EVERY):
                return


def _summary(result: Json) -> Json:
    """What the last event says of a result."""
    if "ranking" in result:
        best = result["ranking"]["entries"][0]
        return {"best": best["name"], "score": best["assessment"]["score"], "level": best["assessment"]["level"]}
    found = result["assessment"]
    return {"answer": found["answer"], "score": found["score"], "level": found["level"]}
