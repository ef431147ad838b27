"""A file of records that survives: one JSON line each, appended whole and flushed; the last line of an id wins.

Disk and clock are classes so that whoever tests a batch can let them fail. The lock that keeps two runs from one output
is let go of by the system when the process ends, however it ends.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout
from pydantic import ValidationError

from agenticiqa.batch.samples import BatchRecord, id_digest
from agenticiqa.errors import JournalError, OutputError, OutputInUseError, cannot_write


class Disk:
    """Writing that is on the disk when it returns; every method may raise OSError."""

    def open(self, path: Path, *, empty: bool = False) -> int:
        """A descriptor that appends to the file, which is created; `empty` begins it anew."""
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if empty else 0) | getattr(os, "O_BINARY", 0)
        return os.open(path, flags, 0o644)

    def write(self, descriptor: int, content: bytes) -> int:
        """How many bytes were taken."""
        return os.write(descriptor, content)

    def sync(self, descriptor: int) -> None:
        """Waits until what was written is on the disk."""
        os.fsync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        """Cuts the file to this size."""
        os.ftruncate(descriptor, size)

    def close(self, descriptor: int) -> None:
        """Lets go of the file."""
        os.close(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        """Puts one file in the place of another in one step."""
        os.replace(source, target)

    def sync_folder(self, folder: Path) -> None:
        """Waits until the names in a folder are on the disk."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def write_all(self, descriptor: int, content: bytes) -> None:
        """Writes everything in as few steps as the system takes, one as a rule."""
        view = memoryview(content)
        while view:
            view = view[self.write(descriptor, bytes(view)) :]


class Clock:
    """The time that passes."""

    def monotonic(self) -> float:
        """Seconds since some moment, never going back."""
        return time.monotonic()


class OutputLock:
    """Held while a run writes to the output; raises OutputInUseError when another one holds it."""

    def __init__(self, output: Path) -> None:
        self._output = output
        # A file of its own, and never removed: the output itself is replaced, and a lock on a removed file is no lock.
        self._lock = FileLock(output.with_name(f".{output.name}.lock"), timeout=0, mode=0o644)
        self._holder = output.with_name(f".{output.name}.holder")

    def __enter__(self) -> OutputLock:
        try:
            self._lock.acquire()
        except Timeout:
            raise OutputInUseError(
                f"{self._output}: another run is writing to it ({self._held_by()}); "
                "wait for it or choose another output"
            ) from None
        except (OSError, NotImplementedError) as error:
            raise cannot_write(self._output, error) from error
        self._sign()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._holder.unlink(missing_ok=True)
        self._lock.release()

    def _held_by(self) -> str:
        try:
            return self._holder.read_text(encoding="utf-8", errors="replace").strip() or "unknown"
        except OSError:
            return "unknown"

    def _sign(self) -> None:
        """Says who holds the lock; on a full disk it goes unsaid."""
        try:
            self._holder.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        except OSError:
            return


logger = logging.getLogger("agenticiqa.batch.journal")

_CHUNK = 2**20
_BEGINNING = b'{"sample_id": '


class Journal:
    """The records of one output while a run holds it; knows nothing of assessing.

    Entering takes the lock and mends a last line that was cut off by a crash.
    """

    def __init__(self, path: Path, disk: Disk | None = None) -> None:
        self.path = path
        self.disk = disk or Disk()
        self._lock = OutputLock(path)
        self._descriptor = -1
        self._size = 0

    def __enter__(self) -> Journal:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(self.path, error) from error
        self._lock.__enter__()
        try:
            self._open()
            self._mend()
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        self._lock.__exit__(kind, error, trace)

    def append(self, record: BatchRecord) -> None:
        """Adds the record, which is on the disk when this returns; raises JournalError, and then nothing was added."""
        line = record.line()
        try:
            self.disk.write_all(self._descriptor, line)
            self.disk.sync(self._descriptor)
        except OSError as error:
            self._take_back()
            raise self._failed("a record could not be written", error) from error
        self._size += len(line)

    def records(self) -> Iterator[BatchRecord]:
        """Every record in the file, those of the same id one after the other as they were written."""
        for _, record in _read(self.path):
            yield record

    def compact(self, order: Iterable[str] = ()) -> None:
        """Leaves one line per id, ids in this order first; an interruption leaves the old file or the new one."""
        offsets, lines = self._last_lines()
        wanted = [offsets.pop(digest) for digest in map(id_digest, order) if digest in offsets]
        wanted += sorted(offsets.values())
        if len(wanted) == lines and all(first < second for first, second in pairwise(wanted)):
            return
        spare = self.path.with_name(f".{self.path.name}.compact")
        try:
            self._copy(wanted, spare)
            self.disk.replace(spare, self.path)
            self.disk.sync_folder(self.path.parent)
        except OSError as error:
            spare.unlink(missing_ok=True)
            raise self._failed("every record is there, but superseded lines could not be removed", error) from error
        self._close()
        self._open()

    def _open(self) -> None:
        try:
            self._descriptor = self.disk.open(self.path)
            self.disk.sync_folder(self.path.parent)
        except OSError as error:
            raise cannot_write(self.path, error) from error
        self._size = os.fstat(self._descriptor).st_size

    def _close(self) -> None:
        if self._descriptor >= 0:
            self.disk.close(self._descriptor)
            self._descriptor = -1

    def _mend(self) -> None:
        tail = self._tail()
        if not tail:
            return
        if not _may_be_ours(tail):
            raise JournalError(f"{self.path}: ends in a line that is no record; choose another output")
        try:
            if _is_record(tail):
                self.disk.write_all(self._descriptor, b"\n")
                self._size += 1
            else:
                logger.warning("%s: the last line was cut off after %d bytes; it is removed", self.path, len(tail))
                self.disk.truncate(self._descriptor, self._size - len(tail))
                self._size -= len(tail)
            self.disk.sync(self._descriptor)
        except OSError as error:
            raise self._failed("its last line could not be mended", error) from error

    def _tail(self) -> bytes:
        """What follows the last line's end."""
        tail, start = b"", self._size
        with open(self.path, "rb") as file:
            while start > 0 and b"\n" not in tail:
                begin = max(0, start - _CHUNK)
                file.seek(begin)
                tail = file.read(start - begin) + tail
                start = begin
        return tail.rpartition(b"\n")[2]

    def _take_back(self) -> None:
        """Removes what a failed write left; if that fails too, the next run mends it."""
        try:
            self.disk.truncate(self._descriptor, self._size)
        except OSError as error:
            logger.warning("%s: a half-written line stays until the next run (%s)", self.path, error)

    def _last_lines(self) -> tuple[dict[bytes, int], int]:
        """Where each id's last line begins, and how many lines there are."""
        offsets: dict[bytes, int] = {}
        lines = 0
        for offset, record in _read(self.path):
            # Put in anew, so that what is in no given order keeps that of its last line.
            offsets[id_digest(record.sample_id)] = offset
            lines += 1
        return offsets, lines

    def _copy(self, offsets: list[int], spare: Path) -> None:
        target = self.disk.open(spare, empty=True)
        try:
            with open(self.path, "rb") as file:
                buffer = bytearray()
                for offset in offsets:
                    file.seek(offset)
                    buffer += file.readline()
                    if len(buffer) >= _CHUNK:
                        self.disk.write_all(target, bytes(buffer))
                        buffer.clear()
            self.disk.write_all(target, bytes(buffer))
            self.disk.sync(target)
        finally:
            self.disk.close(target)

    def _failed(self, what: str, error: OSError) -> JournalError:
        reason = error.strerror or str(error)
        return JournalError(
            f"{self.path}: {what} ({reason}); what is in the file is kept, "
            "make room or mend the disk and run the same command again"
        )


class LineStream:
    """Records as lines for another program: nothing is locked, read again or put in order.

    Takes a journal's place where the output is standard output, a pipe or a device.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.disk = Disk()
        self._descriptor = -1

    def __enter__(self) -> LineStream:
        try:
            # A copy of standard output, so that closing it closes nobody else's.
            self._descriptor = os.dup(1) if _is_standard_output(self.path) else os.open(self.path, os.O_WRONLY)
        except OSError as error:
            raise cannot_write(self.path, error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def append(self, record: BatchRecord) -> None:
        """Writes the record; raises OutputError when nobody reads any more."""
        try:
            self.disk.write_all(self._descriptor, record.line())
        except BrokenPipeError as error:
            raise OutputError("the program that reads the records has ended; what was not read is lost") from error

    def records(self) -> Iterator[BatchRecord]:
        """None: what was written cannot be read again."""
        return iter(())

    def compact(self, order: Iterable[str] = ()) -> None:
        """Nothing: lines stay in the order in which they were finished."""


def is_stream(path: Path) -> bool:
    """Whether records go to another program: `-`, /dev/stdout, a pipe or a device."""
    if _is_standard_output(path) or path.is_relative_to("/dev") or path.is_relative_to("/proc"):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def _is_standard_output(path: Path) -> bool:
    return str(path) in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def read_records(path: Path) -> Iterator[BatchRecord]:
    """The records of a file that no run is writing to, one per id; raises JournalError with a line that is none.

    A last line that a crash cut off is passed over, as the next run will remove it.
    """
    last = {id_digest(record.sample_id): offset for offset, record in _read(path)}
    for offset, record in _read(path):
        if last[id_digest(record.sample_id)] == offset:
            yield record


def standing_records(path: Path) -> Iterator[BatchRecord]:
    """The records that count: those whose picture is still the one that was judged."""
    return (record for record in read_records(path) if not record.is_gone)


def _read(path: Path) -> Iterator[tuple[int, BatchRecord]]:
    offset = 0
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not _is_cut_off(line):
                yield offset, _record(path, number, line)
            offset += len(line)


def _record(path: Path, number: int, line: bytes) -> BatchRecord:
    record = _parsed(line)
    if record is None:
        raise JournalError(f"{path}: line {number} is no record; remove that line, or choose another output")
    return record


def _may_be_ours(tail: bytes) -> bool:
    """Whether a line without an end may be what a crash left of a record; a file of another kind is not touched."""
    # After a power failure a file may have grown by zeros where data should be.
    begun = tail.rstrip(b"\0")
    return begun.startswith(_BEGINNING) or _BEGINNING.startswith(begun)


def _is_cut_off(line: bytes) -> bool:
    return not line.endswith(b"\n") and _may_be_ours(line) and not _is_record(line)


def _is_record(line: bytes) -> bool:
    return _parsed(line) is not None


def _parsed(line: bytes) -> BatchRecord | None:
    try:
        return BatchRecord.model_validate(json.loads(line))
    except (ValueError, RecursionError, ValidationError):
        return None
