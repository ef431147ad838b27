"""What the service keeps, shares and removes, without its processes: runs are ended by hand."""

from __future__ import annotations

import errno
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenticiqa.server.problems import Problem
from agenticiqa.server.service import Service
from agenticiqa.server.service_options import MEGABYTE, ServiceOptions
from agenticiqa.server.storage.database import Run, new_id
from agenticiqa.server.storage.retention import is_disk_full
from agenticiqa.server.storage.store import Store
from agenticiqa.server.workers.messages import RunFile, RunRequest
from agenticiqa.server.workers.worker import PROBLEM, RESULT
from tests.support.agent import settings

Json = dict[str, Any]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(ServiceOptions(folder=tmp_path / "service", keep_megabytes=1, queue=3), settings())
    yield made
    made.store.close()


def submitted(service: Service, name: str, content: bytes = b"x", fresh: bool = False) -> Run:
    """A run of one upload of this name."""
    run_id = new_id()
    folder = service.folder_of(run_id)
    folder.mkdir()
    (folder / "image-1").write_bytes(content)
    image = RunFile(file="image-1", name=name, sha256=str(hash(content)))
    return service.submit(run_id, "assess", RunRequest(images=[image]), fresh)


def job_of(service: Service, names: list[str], key: str | None = None, digest: str = "d") -> tuple[Any, bool]:
    """A job of uploads of these names."""
    requests = [RunRequest(images=[RunFile(file="image-1", name=name)], pictures=False) for name in names]
    items = [(new_id(), request) for request in requests]
    return service.submit_job(new_id(), items, key, digest)


def finish_next(service: Service, pad: int = 0) -> Run:
    """The next run, finished with a result of about that many bytes."""
    run = service.claim()
    assert run is not None
    origin = {"test image": {"path": None}}
    found = {"answer": "B", "score": 4.0, "level": "B", "provenance": {"images": origin}, "reasoning": "r" * pad}
    service.ended(run, RESULT, {"assessment": found, "maps": []})
    return run


def problem(code: str, detail: str) -> Json:
    return Problem(code, detail).as_details()


def path_of(run: Run | None) -> Any:
    assert run is not None
    assert run.result is not None
    return run.result["assessment"]["provenance"]["images"]["test image"]["path"]


def test_identical_uploads_wait_for_one_piece_of_work_and_each_gets_its_own_names(service: Service) -> None:
    first, second = submitted(service, "mine.png"), submitted(service, "yours.png")

    finish_next(service)
    third = submitted(service, "theirs.png")

    assert service.claim() is None
    names = [path_of(service.run(run.id)) for run in (first, second, third)]
    assert names == ["mine.png", "yours.png", "theirs.png"]


def test_an_outage_is_shared_with_nobody_and_kept_as_no_result(service: Service) -> None:
    first, second = submitted(service, "a.png"), submitted(service, "b.png")
    run = service.claim()
    assert run is not None

    service.ended(run, PROBLEM, problem("backend", "the model refused: 401"))
    then = service.claim()
    later = submitted(service, "c.png")

    assert service.run(first.id).status == "failed"  # type: ignore[union-attr]
    assert then is not None
    assert then.id == second.id
    assert later.shares == second.id


def test_a_broken_image_is_broken_for_everybody_who_sent_it_under_its_own_name(service: Service) -> None:
    submitted(service, "mine.png")
    second = submitted(service, "yours.png")
    run = service.claim()
    assert run is not None

    service.ended(run, PROBLEM, problem("image_truncated", "image-1: ends early"))

    kept = service.run(second.id).problem  # type: ignore[union-attr]
    assert kept is not None
    assert kept["detail"] == "yours.png: ends early"


def test_a_cancelled_leader_leaves_the_work_to_those_who_waited(service: Service) -> None:
    first, second = submitted(service, "a.png"), submitted(service, "b.png")

    service.cancel_run(first.id)
    then = service.claim()

    assert then is not None
    assert then.id == second.id


def test_after_a_restart_who_waited_for_a_run_that_has_ended_since_is_served_and_nobody_else(service: Service) -> None:
    first, second = submitted(service, "a.png"), submitted(service, "b.png")
    third, fourth = submitted(service, "c.png", b"other"), submitted(service, "d.png", b"other")
    service.store.fail(first, {})

    service.store.release_orphans()
    claimed = [service.claim(), service.claim(), service.claim()]

    assert [run and run.id for run in claimed] == [second.id, third.id, None]
    assert fourth.shares == third.id


def test_no_run_of_a_running_or_unfetched_job_is_removed_to_make_room(service: Service) -> None:
    job, _ = job_of(service, ["a.png", "b.png", "c.png"])
    finish_next(service, pad=600_000)
    finish_next(service, pad=600_000)
    service.retention.sweep()
    while_running = service.store.job(job.id)

    finish_next(service, pad=10)
    service.retention.sweep()
    unfetched = service.store.job(job.id)
    service.fetched("jobs", job.id)
    service.retention.sweep()

    assert while_running is not None
    assert while_running.counts == {"finished": 2, "queued": 1}
    assert unfetched is not None
    assert unfetched.counts == {"finished": 3}
    assert service.store.job(job.id) is None
    assert service.store.why_gone(job.id) == "it had been fetched, and room was needed"


def test_new_uploads_are_refused_when_the_room_is_taken_by_results_nobody_fetched(service: Service) -> None:
    run = submitted(service, "a.png")
    finish_next(service, pad=2 * MEGABYTE)

    with pytest.raises(Problem) as refused:
        submitted(service, "b.png", b"other")
    service.fetched("runs", run.id)
    taken = submitted(service, "c.png", b"another")

    assert refused.value.status_code == 507
    assert taken.status == "queued"
    assert service.run(run.id) is None


def test_what_is_stored_is_the_size_of_results_and_files_and_counts_once(service: Service) -> None:
    first, _ = submitted(service, "a.png"), submitted(service, "b.png")
    (service.folder_of(first.id) / "map-1.png").write_bytes(bytes(1000))

    finish_next(service, pad=5000)

    assert 2 * 5000 + 1000 < service.store.stored_bytes() < 2 * 5500 + 1000


def test_what_is_too_old_goes_at_once_and_is_said(tmp_path: Path) -> None:
    service = Service(ServiceOptions(folder=tmp_path, keep_days=0.2 / 86_400), settings())
    run = submitted(service, "a.png")
    finish_next(service)

    time.sleep(0.3)
    service.retention.sweep()

    assert service.store.why_gone(run.id) == f"it was kept for {0.2 / 86_400:g} days"
    service.store.close()


def test_deleting_a_finished_job_does_not_make_it_a_cancelled_one(service: Service) -> None:
    job, _ = job_of(service, ["a.png"])
    finish_next(service)

    service.store.cancel_job(job.id)

    assert service.store.job(job.id).status == "finished"  # type: ignore[union-attr]


def test_one_key_is_one_job_and_stands_for_nothing_else(service: Service) -> None:
    first, is_new = job_of(service, ["a.png"], key="k")
    again, is_new_again = job_of(service, ["a.png"], key="k")

    with pytest.raises(Problem, match="another job"):
        job_of(service, ["b.png"], key="k", digest="other")

    assert (is_new, is_new_again, again.id) == (True, False, first.id)


def test_uploads_are_gone_once_a_run_has_ended(service: Service) -> None:
    run = submitted(service, "a.png")

    finish_next(service)

    assert list(service.folder_of(run.id).iterdir()) == []


def test_a_name_is_looked_for_in_every_allowed_folder(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "two" / "b.png").write_bytes(b"x")
    options = ServiceOptions(folder=tmp_path / "s", allow_folders=(tmp_path / "one", tmp_path / "two"))
    service = Service(options, settings())

    found, root = service.require_allowed("b.png")

    assert (found, root) == (tmp_path / "two" / "b.png", tmp_path / "two")
    service.store.close()


class FullStore(Store):
    """Cannot write for a while."""

    refusals = 0

    def _end(self, *arguments: Any, **columns: Any) -> None:
        if self.refusals:
            self.refusals -= 1
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        super()._end(*arguments, **columns)


@pytest.mark.parametrize(("refusals", "status"), [(1, "finished"), (2, "failed"), (4, "failed")])
def test_a_full_disk_ends_a_run_as_failed_at_worst(service: Service, refusals: int, status: str) -> None:
    run = submitted(service, "a.png")
    service.store.close()
    store = FullStore(service.options.storage / "service.sqlite")
    service.store = service.retention._store = store
    store.refusals = refusals

    finish_next(service)
    seen = service.run(run.id)
    service._save_unsaved()

    assert seen is not None
    assert seen.status == status
    assert status == "finished" or (seen.problem is not None and seen.problem["code"] == "storage_full")
    assert store.run(run.id).status == status  # type: ignore[union-attr]


def test_a_full_disk_is_known_by_its_error_and_by_what_caused_it() -> None:
    found = ValueError("the body cannot be read")
    found.__cause__ = OSError(errno.ENOSPC, "no space left")

    assert is_disk_full(found)
    assert not is_disk_full(OSError(errno.EACCES, "no"))


def test_a_database_of_the_first_release_is_taken_over(tmp_path: Path) -> None:
    old = sqlite3.connect(tmp_path / "old.sqlite")
    old.executescript(
        "CREATE TABLE runs (place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, "
        "status TEXT NOT NULL, key TEXT, job_id TEXT, request TEXT NOT NULL, created REAL NOT NULL, started REAL, "
        "finished REAL, result TEXT, problem TEXT);"
        "CREATE TABLE jobs (id TEXT PRIMARY KEY, created REAL NOT NULL, cancelled INTEGER NOT NULL DEFAULT 0);"
        "INSERT INTO runs (id, kind, status, request, created) VALUES ('r', 'assess', 'queued', "
        '\'{"images": [{"file": "image-1", "name": "a.png"}]}\', 1.0);'
    )
    old.close()

    store = Store(tmp_path / "old.sqlite")
    run = store.claim()
    store.close()

    assert run is not None
    assert run.id == "r"
