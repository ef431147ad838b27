"""The journal: records are appended whole, a crash loses nothing that was reported as kept."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agenticiqa.batch import BatchRecord, Journal, read_records
from agenticiqa.errors import JournalError, OutputError, OutputInUseError
from tests.batch.making import FailingDisk

ROOT = Path(__file__).parents[2]


def record(name: str, value: int = 0) -> BatchRecord:
    return BatchRecord(sample_id=name, assessment={"score": value}, error=None)


def filled(path: Path, *records: BatchRecord) -> Path:
    with Journal(path) as journal:
        for each in records:
            journal.append(each)
    return path


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    path = filled(tmp_path / "out.jsonl", record("a"), record("ü\udce4\n"))

    assert list(read_records(path)) == [record("a"), record("ü\udce4\n")]


@pytest.mark.parametrize("kept", range(1, 40, 3))
def test_a_last_line_that_was_cut_off_is_removed(tmp_path: Path, kept: int) -> None:
    path = filled(tmp_path / "out.jsonl", record("a"), record("b"))
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"\n") + 1 + kept])

    filled(path, record("c"))

    assert [each.sample_id for each in read_records(path)] == ["a", "c"]


def test_a_last_line_that_lacks_only_its_end_is_kept(tmp_path: Path) -> None:
    path = filled(tmp_path / "out.jsonl", record("a"), record("b"))
    path.write_bytes(path.read_bytes()[:-1])

    filled(path, record("c"))

    assert [each.sample_id for each in read_records(path)] == ["a", "b", "c"]


def test_a_last_line_that_was_cut_off_is_passed_over_by_who_only_reads(tmp_path: Path) -> None:
    path = filled(tmp_path / "out.jsonl", record("a"), record("b"))
    path.write_bytes(path.read_bytes()[:-5])

    assert [each.sample_id for each in read_records(path)] == ["a"]


def test_zeros_that_a_power_failure_left_are_removed(tmp_path: Path) -> None:
    path = filled(tmp_path / "out.jsonl", record("a"))
    path.write_bytes(path.read_bytes() + bytes(5000))

    filled(path, record("b"))

    assert [each.sample_id for each in read_records(path)] == ["a", "b"]


def test_a_cut_off_line_longer_than_what_is_read_at_once_is_removed(tmp_path: Path) -> None:
    path = filled(tmp_path / "out.jsonl", record("a"))
    path.write_bytes(path.read_bytes() + b'{"sample_id": "' + b"x" * 3_000_000)

    filled(path, record("b"))

    assert [each.sample_id for each in read_records(path)] == ["a", "b"]


@pytest.mark.parametrize("text", ["a line of somebody's notes", '{"image_path": "a.png"}'])
def test_a_file_of_another_kind_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)

    with pytest.raises(JournalError, match="no record"), Journal(path):
        pass

    assert path.read_text() == text


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = filled(tmp_path / "out.jsonl", record("a"), record("b"))
    path.write_bytes(path.read_bytes().replace(b'"b"', b'"b', 1))

    with pytest.raises(JournalError, match="line 2 is no record"):
        list(read_records(path))


def test_two_runs_on_one_output_are_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with Journal(path), pytest.raises(OutputInUseError, match=f"process {os.getpid()}"), Journal(path):
        pass

    filled(path, record("a"))

    assert len(list(read_records(path))) == 1


def test_a_killed_run_leaves_no_lock_behind(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    script = "import os, sys; from pathlib import Path; from agenticiqa.batch.journal import Journal\n"
    script += "Journal(Path(sys.argv[1])).__enter__(); os.kill(os.getpid(), 9)"

    killed = subprocess.run([sys.executable, "-c", script, str(path)], check=False, cwd=ROOT)

    assert killed.returncode == -signal.SIGKILL
    filled(path, record("a"))


def test_compaction_keeps_the_last_line_of_each_id_in_the_order_asked_for(tmp_path: Path) -> None:
    path = filled(tmp_path / "out.jsonl", record("x"), record("b", 1), record("a"), record("b", 2))

    with Journal(path) as journal:
        journal.compact(["a", "b", "never seen"])
        journal.append(record("c"))

    wanted = [record("a"), record("b", 2), record("x"), record("c")]
    assert list(map(json.loads, path.read_bytes().splitlines())) == [each.values() for each in wanted]


def test_a_file_that_is_in_order_is_not_written_again(tmp_path: Path) -> None:
    path = filled(tmp_path / "out.jsonl", record("a"), record("b"))
    before = path.stat().st_ino

    with Journal(path) as journal:
        journal.compact(["a", "b"])

    assert path.stat().st_ino == before


@pytest.mark.parametrize("operation", ["write", "sync", "replace"])
def test_a_compaction_that_fails_leaves_the_old_file(tmp_path: Path, operation: str) -> None:
    path = filled(tmp_path / "out.jsonl", record("b"), record("a"), record("b", 2))
    before = path.read_bytes()

    with Journal(path, FailingDisk(operation, 0)) as journal, pytest.raises(JournalError, match="No space left"):
        journal.compact(["a", "b"])

    assert path.read_bytes() == before
    assert not list(tmp_path.glob(".*compact"))


@pytest.mark.parametrize("operation", ["write", "sync"])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_record_that_cannot_be_written_leaves_no_trace(tmp_path: Path, operation: str, error: int) -> None:
    path = tmp_path / "out.jsonl"
    disk = FailingDisk(operation, 1, error)

    with Journal(path, disk) as journal:
        journal.append(record("a"))
        with pytest.raises(JournalError, match="run the same command again"):
            journal.append(record("b"))

    assert path.read_bytes() == json.dumps(record("a").values()).encode() + b"\n"


def test_a_disk_that_is_really_full_ends_the_run_with_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
        with pytest.raises(JournalError, match="could not be written"):
            filled(path, *(record(f"s{number}") for number in range(100)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, before)

    assert path.stat().st_size <= 1000
    kept = [each.sample_id for each in read_records(path)]
    assert len(kept) >= 5
    assert kept == [f"s{number}" for number in range(len(kept))]


def test_an_output_that_may_not_be_written_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"out\.jsonl: cannot be written"), Journal(tmp_path / "file" / "out.jsonl"):
        raise AssertionError("entered")  # pragma: no cover


@pytest.fixture(autouse=True)
def _a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
