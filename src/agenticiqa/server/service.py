"""The service behind the routes: takes runs in, has them carried out, keeps what comes of them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import math
import os
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from agenticiqa.config import Settings
from agenticiqa.errors import ImageError
from agenticiqa.images.files import find_below, read_file
from agenticiqa.server.change_signal import ChangeSignal
from agenticiqa.server.display_names import display_name, named_problem, named_result
from agenticiqa.server.examples import Gallery
from agenticiqa.server.metrics import Metrics
from agenticiqa.server.problems import Problem, storage_full
from agenticiqa.server.service_options import MEGABYTE, ServiceOptions
from agenticiqa.server.storage.database import Job, Run
from agenticiqa.server.storage.retention import Retention, folder_size, is_disk_full
from agenticiqa.server.storage.store import QueueFullError, Store
from agenticiqa.server.workers.messages import Json, Kind, RunRequest
from agenticiqa.server.workers.pool import Pool
from agenticiqa.server.workers.worker import RESULT

logger = logging.getLogger("agenticiqa.server")

# What these say of a request holds for every identical one; other problems may have passed by the next try.
_LASTING = ("image", "query", "invalid", "path", "encoding")
# Seconds between two sweeps, and until the next one after one that did not succeed.
_SWEEP_PAUSE, _SWEEP_AGAIN = 60.0, 5.0


class Service:
    """Store, workers and folders of one running service."""

    def __init__(self, options: ServiceOptions, settings: Settings) -> None:
        self.options = options
        self.settings = options.limited(settings)
        self.runs_folder = options.storage / "runs"
        options.storage.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.store = Store(options.storage / "service.sqlite")
        if self.store.moved_aside is not None and self.runs_folder.exists():
            # Without the file that names them they would be taken for strays and removed.
            self.runs_folder.rename(self.store.moved_aside.with_suffix(".runs"))
        self.runs_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.retention = Retention(self.store, self.runs_folder, options.keep_days, options.keep_megabytes)
        self.gallery = Gallery(options.storage / "examples")
        self.pool = Pool(self, self.settings, options.workers, options.time_limit)
        self.metrics = Metrics()
        self.metrics.watch("queued", "Runs waiting.", self.store.waiting)
        self.metrics.watch("running", "Runs at work.", lambda: self.pool.busy)
        self.metrics.watch("workers_ready", "Workers with loaded models.", lambda: self.pool.ready)
        self.stopping = threading.Event()
        self.changes = ChangeSignal()
        self._seconds: deque[float] = deque([1.0], maxlen=32)
        self._sweep_now = threading.Event()
        # Ends of runs that could not be written down, because the disk is full.
        self._unsaved: dict[str, Json] = {}
        self._settings_key = hashlib.sha256(self.settings.model_dump_json().encode()).hexdigest()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Takes up where the last service ended, and starts the workers."""
        self.changes.attach(loop)
        try:
            self._write_or_make_room(self._take_up)
        except Exception as error:
            if not is_disk_full(error):
                raise
            logger.exception("the disk is full; interrupted runs begin again with the next start")
        self.pool.start()
        threading.Thread(target=self._sweep_now_and_then, name="retention", daemon=True).start()

    def _take_up(self) -> None:
        again = self.store.requeue("the service was restarted; the run begins again")
        if again:
            logger.info("%d interrupted runs begin again", again)
        self.store.release_orphans()

    def begin_stop(self) -> None:
        """Takes no new runs and tells everybody who waits."""
        if not self.stopping.is_set():
            self.stopping.set()
            self._sweep_now.set()
            self.pool.stop(self.options.grace)
            self.changes.notify()

    def close(self) -> None:
        """Waits for the workers and closes the store; interrupted runs are queued for the next start."""
        self.begin_stop()
        self.pool.join()
        self.store.close()

    def submit(self, run_id: str, kind: Kind, request: RunRequest, fresh: bool) -> Run:
        """The run of this request, which shares the work of an identical one.

        Raises Problem `queue_full`, `storage_full` or `stopping`.
        """
        self._require_running()
        self.require_room()
        size = folder_size(self.folder_of(run_id))
        try:
            run, leader = self.store.submit(
                run_id, kind, request, self.key_of(kind, request), self.options.queue, fresh, size
            )
        except QueueFullError:
            self.metrics.refused.inc()
            typical = sum(self._seconds) / len(self._seconds)
            # When a place in the queue is likely to be free.
            seconds = max(1, min(60, math.ceil(typical * self.options.queue / self.options.workers / 2)))
            said = f"{self.options.queue} runs are waiting already; try again in {seconds} seconds"
            raise Problem("queue_full", said, retry_after=seconds) from None
        if leader is None:
            self.pool.notify()
            return run
        self.metrics.shared.inc()
        if leader.result is not None:
            self._share_with(leader, run, leader.result)
        return self.run(run_id) or run

    def submit_job(
        self, job_id: str, requests: list[tuple[str, RunRequest]], client_key: str | None, digest: str
    ) -> tuple[Job, bool]:
        """A job of these requests, and True; or the job the client's key already stands for, and False.

        Raises Problem `queue_full`, `key_reused`, `storage_full` or `stopping`.
        """
        self._require_running()
        self.require_room()
        sizes = {run_id: folder_size(self.folder_of(run_id)) for run_id, _ in requests}
        most = self.options.max_jobs
        try:
            job, is_new = self.store.submit_job(job_id, requests, most, client_key, digest, sizes)
        except QueueFullError:
            said = f"{most} jobs are open already; wait for one to end or cancel one"
            raise Problem("queue_full", said, retry_after=30) from None
        if not is_new and job.digest != digest:
            raise Problem("key_reused", "this Idempotency-Key stands for another job; choose a new one")
        self.pool.notify()
        return job, is_new

    def run(self, run_id: str) -> Run | None:
        """The run of this name, as it is."""
        found, unsaved = self.store.run(run_id), self._unsaved.get(run_id)
        if found is None or unsaved is None or found.has_ended:
            return found
        return replace(found, status="failed", problem=unsaved, finished=time.time())

    def cancel_run(self, run_id: str) -> Run | None:
        """The run, cancelled unless it has ended; a worker that has it is restarted."""
        run = self.store.cancel_run(run_id)
        if run is not None and run.status == "cancelled":
            self.pool.cancel(run_id)
            self._drop_originals(run)
            self._release_followers(run_id)
            self.changes.notify(run_id)
        return run

    def fetched(self, what: Literal["runs", "jobs"], name: str) -> None:
        """Notes that a result has been handed out; not being able to note it must not keep it from the client."""
        try:
            self.store.mark_fetched(what, name)
        except Exception:
            logger.warning("it could not be noted that %s was fetched", name)

    def free_room(self) -> None:
        """Gives up what may go because the disk is full."""
        self.retention.release_ballast()
        with suppress(Exception):
            self.retention.make_room(part=0.5)

    def require_room(self) -> None:
        if self.retention.is_full():
            self.retention.make_room()
            if self.retention.is_full():
                raise storage_full()

    def key_of(self, kind: Kind, request: RunRequest) -> str:
        """What makes two requests the same: bytes, question and settings, not the names of the files."""
        asked = request.model_dump(exclude={"images", "reference"})
        files = [image.sha256 for image in request.images]
        reference = request.reference.sha256 if request.reference else None
        # An audit says which image is a copy of which.
        names = request.names if kind == "audit" else None
        text = json.dumps([kind, asked, files, reference, self._settings_key, names], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def folder_of(self, run_id: str) -> Path:
        return self.runs_folder / run_id

    def claim(self) -> Run | None:
        run = self.store.claim()
        if run is not None:
            self.changes.notify(run.id)
        return run

    def prepare(self, run: Run) -> Path:
        """The folder of a run; files under allowed folders are copied, so that what is assessed cannot change."""
        folder = self.folder_of(run.id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for entry in run.request.files:
            if entry.path is not None:
                (folder / entry.file).write_bytes(self.read_allowed(entry.path, entry.name))
        return folder

    def read_allowed(self, path: str, name: str) -> bytes:
        """The bytes of a file under an allowed folder; raises Problem or ImageError, naming it only by `name`."""
        wanted, root = self.require_allowed(path)
        try:
            return read_file(wanted, self.options.max_request_megabytes * MEGABYTE, root)
        except ImageError as error:
            raise type(error)(str(error).replace(str(wanted), name)) from None

    def require_allowed(self, path: str) -> tuple[Path, Path]:
        """The path, seen from the allowed folder it lies in, and that folder; raises Problem.

        A relative name is looked for in each folder in turn.
        """
        if "://" in path:
            raise Problem("path_not_allowed", f"{display_name(path)}: addresses are not fetched; upload the file")
        found = find_below(path, self.options.allow_folders)
        if found is None:
            raise Problem("path_not_allowed", f"{display_name(path)}: lies outside the folders this service may read")
        return found

    def happened(self, run: Run, kind: str, data: Json) -> None:
        """Keeps an event; the steps of a job's runs are not kept."""
        if run.job_id is None:
            self.store.add_event(run.id, kind, data)
            self.changes.notify(run.id)

    def ended(self, run: Run, outcome: str, data: Json) -> None:
        """Keeps the end of a run, and hands it to those that share its work."""
        self._drop_originals(run)
        if outcome == RESULT:
            self._keep_result(run, data)
        else:
            self._keep_problem(run, data)
        seconds = time.time() - (run.started or run.created)
        self._seconds.append(seconds)
        self.metrics.ended(run.kind, "finished" if outcome == RESULT else data["code"], seconds)
        self.changes.notify(run.id)
        if self.retention.is_full():
            self._sweep_now.set()

    def put_back(self, run: Run) -> None:
        """Queues an interrupted run again."""
        self.store.requeue("the run was interrupted and begins again", run.id)
        self.changes.notify(run.id)

    def _keep_result(self, run: Run, data: Json) -> None:
        try:
            self._finish(run, data, folder_size(self.folder_of(run.id)))
        except Exception as error:
            if not is_disk_full(error):
                raise
            self._keep_problem(run, storage_full().as_details())
            return
        if run.job_id is None:
            for follower in self.store.followers(run.id):
                self._share_with(run, follower, data)

    def _finish(self, run: Run, data: Json, file_bytes: int) -> None:
        named = named_result(data, run.request)
        self._write_or_make_room(lambda: self.store.finish(run, named, _summary(named), file_bytes))

    def _keep_problem(self, run: Run, data: Json) -> None:
        shutil.rmtree(self.folder_of(run.id), ignore_errors=True)
        problem = named_problem(data, run.request)
        try:
            self._write_or_make_room(lambda: self.store.fail(run, problem))
            if run.job_id is None:
                self._share_problem(run, data)
        except Exception as error:
            if not is_disk_full(error):
                raise
            logger.error("the end of run %s cannot be written down, the disk is full; it is kept in memory", run.id)
            self._unsaved[run.id] = problem

    def _share_with(self, run: Run, follower: Run, data: Json) -> None:
        """Gives one run the result of another, under its own names."""
        self._drop_originals(follower)
        source, target = self.folder_of(run.id), self.folder_of(follower.id)
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        for picture in source.glob("*"):
            with suppress(OSError):
                os.link(picture, target / picture.name)
        # Linked files take room only once.
        self._finish(follower, data, file_bytes=0)
        self.changes.notify(follower.id)

    def _share_problem(self, run: Run, data: Json) -> None:
        """Fails the runs that wait for this one if it was their common fault; otherwise they try for themselves."""
        if not data["code"].startswith(_LASTING):
            self._release_followers(run.id)
            return
        for follower in self.store.followers(run.id):
            shutil.rmtree(self.folder_of(follower.id), ignore_errors=True)
            self.store.fail(follower, named_problem(data, follower.request))
            self.changes.notify(follower.id)

    def _release_followers(self, run_id: str) -> None:
        if self.store.release_followers(run_id):
            self.pool.notify()

    def _drop_originals(self, run: Run) -> None:
        """Removes the uploads of a run that has ended; previews and maps stay, where any are drawn."""
        folder = self.folder_of(run.id)
        if not run.request.pictures:
            shutil.rmtree(folder, ignore_errors=True)
        for entry in run.request.files:
            with suppress(OSError):
                (folder / entry.file).unlink(missing_ok=True)

    def _write_or_make_room(self, write: Callable[[], object]) -> None:
        """Writes; when the disk is full, once more with the room that can be freed."""
        try:
            write()
        except Exception as error:
            if not is_disk_full(error):
                raise
            self.free_room()
            write()

    def _require_running(self) -> None:
        if self.stopping.is_set():
            raise Problem("stopping", "the service is stopping; try again in a few seconds", retry_after=5)

    def _sweep_now_and_then(self) -> None:
        while not self.stopping.is_set():
            self._sweep_now.clear()
            pause = _SWEEP_PAUSE
            try:
                self._save_unsaved()
                self.retention.sweep()
                self.retention.restore_ballast()
            except Exception:
                # The store may be closed under it at the end; at any other time the next sweep has another try.
                if not self.stopping.is_set():
                    logger.exception("old runs could not be removed; it is tried again")
                pause = _SWEEP_AGAIN
            self._sweep_now.wait(_SWEEP_AGAIN if self._unsaved else pause)

    def _save_unsaved(self) -> None:
        for run_id, problem in list(self._unsaved.items()):
            run = self.store.run(run_id)
            if run is not None:
                self.store.fail(run, problem)
                self._share_problem(run, problem)
            del self._unsaved[run_id]


def _summary(result: Json) -> Json:
    """What the last event says of a result."""
    if "ranking" in result:
        best = result["ranking"]["entries"][0]
        return {"best": best["name"], "score": best["assessment"]["score"], "level": best["assessment"]["level"]}
    if "assessment" in result:
        found = result["assessment"]
        return {"answer": found["answer"], "score": found["score"], "level": found["level"]}
    # What is measured, audited or encoded has no answer in a word.
    return {}
