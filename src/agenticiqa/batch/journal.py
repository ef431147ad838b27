"""A file of records that survives: one JSON line each, appended whole and flushed; the last line of an id wins.

The disk is a class so that whoever tests a batch can let it fail. The lock that keeps two runs from one output
is let go of by the system when the process ends, however it ends.
"""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from pathlib import Path

from filelock import FileLock, Timeout

from agenticiqa.batch.samples import BatchRecord, id_digest
from agenticiqa.errors import JournalError, OutputError, OutputInUseError, cannot_write

logger = logging.getLogger("agenticiqa.batch.journal")

_CHUNK = 2**20
_BEGINNING = b'{"sample_id": '


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
        os.fsync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        os.ftruncate(descriptor, size)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        os.replace(source, target)

    def sync_folder(self, folder: Path) -> None:
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


@contextmanager
def output_lock(output: Path) -> Iterator[None]:
    """Held while a run writes to the output; raises OutputInUseError when another one holds it."""
    # A file of its own, and never removed: the output itself is replaced, and a lock on a removed file is no lock.
    lock = FileLock(output.with_name(f".{output.name}.lock"), timeout=0, mode=0o644)
    holder = output.with_name(f".{output.name}.holder")
    try:
        lock.acquire()
    except Timeout:
        held_by = ""
        with suppress(OSError):
            held_by = holder.read_text(encoding="utf-8", errors="replace").strip()
        raise OutputInUseError(
            f"{output}: another run is writing to it ({held_by or 'unknown'}); wait for it or choose another output"
        ) from None
    except (OSError, NotImplementedError) as error:
        raise cannot_write(output, error) from error
    try:
        # On a full disk it goes unsaid who holds the lock.
        with suppress(OSError):
            holder.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


class Journal:
    """The records of one output while a run holds it; knows nothing of assessing.

    Entering takes the lock and mends a last line that was cut off by a crash.
    """

    def __init__(self, path: Path, disk: Disk | None = None) -> None:
        self.path = path
        self.disk = disk or Disk()
        self._held = ExitStack()
        self._descriptor = -1
        self._size = 0

    def __enter__(self) -> Journal:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(self.path, error) from error
        with ExitStack() as held:
            held.enter_context(output_lock(self.path))
            held.callback(self._close)
            self._open()
            self._mend()
            self._held = held.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

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
        offsets: dict[bytes, int] = {}
        lines = 0
        for offset, record in _read(self.path):
            offsets[id_digest(record.sample_id)] = offset
            lines += 1
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
            if _parsed(tail) is not None:
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

    def __exit__(self, *error: object) -> None:
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
            record = _parsed(line) if line.strip() else None
            is_cut_off = not line.endswith(b"\n") and _may_be_ours(line)
            if record is not None:
                yield offset, record
            elif line.strip() and not is_cut_off:
                raise JournalError(f"{path}: line {number} is no record; remove that line, or choose another output")
            offset += len(line)


def _may_be_ours(tail: bytes) -> bool:
    """Whether a line without an end may be what a crash left of a record; a file of another kind is not touched."""
    # After a power failure a file may have grown by zeros where data should be.
    begun = tail.rstrip(b"\0")
    return begun.startswith(_BEGINNING) or _BEGINNING.startswith(begun)


def _parsed(line: bytes) -> BatchRecord | None:
    try:
        return BatchRecord.model_validate(json.loads(line))
    except (ValueError, RecursionError):
        return None
