"""Reading a file that may be missing, forbidden, outside its folder, or no file at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from agenticiqa.errors import (
    ImageError,
    ImageFormatError,
    ImageIsDirectoryError,
    ImageNotFoundError,
    ImageOutsideRootError,
    ImagePermissionError,
    ImageTooLargeError,
    UsageError,
)

# A part that is missing or no folder, a name no file can have.
_NO_SUCH_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL)
# Without waiting, where there are pipes: opening one would wait for ever. As bytes, where files may be read as text.
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_file(path: Path, max_bytes: int, allowed_root: Path | None) -> bytes:
    """The bytes of a regular file, inside the allowed folder if there is one."""
    try:
        if allowed_root is None:
            descriptor = os.open(path, _READING)
        else:
            descriptor = _open_below(allowed_root, path_below(path, allowed_root))
        try:
            return _read(descriptor, path, max_bytes)
        finally:
            os.close(descriptor)
    except PermissionError as error:
        raise ImagePermissionError(f"{path}: may not be read; grant read permission (chmod u+r)") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _looped(path) from error
        if error.errno == errno.ENXIO:
            raise ImageFormatError(f"{path}: is not a regular file; save the image to a file first") from error
        if error.errno in _NO_SUCH_FILE:
            if is_address(str(path)):
                raise ImageNotFoundError(f"{path}: is an address; download the image and name the file") from error
            raise ImageNotFoundError(f"{path}: no such file; check the path") from error
        raise ImageError(f"{path}: cannot be read ({error.strerror}); try again or copy it elsewhere") from error
    except RuntimeError as error:
        raise _looped(path) from error
    except ValueError as error:
        # A zero byte in the path.
        raise ImageNotFoundError(f"{path}: no such file; check the path") from error


def is_address(named: str) -> bool:
    """Whether a name is one of the web's; as a path its slashes may have been made one."""
    return named.lower().startswith(("http:/", "https:/"))


def require_folders(folders: Iterable[Path], allowed_root: str | None) -> None:
    """Nothing; a UsageError unless every folder exists and lies below `pipeline.allowed_root`, where that is set."""
    root = Path(allowed_root).expanduser().resolve() if allowed_root else None
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder}: no such folder; --allow-folder needs one that exists")
        if root is not None and not folder.resolve().is_relative_to(root):
            raise UsageError(f"{folder}: lies outside pipeline.allowed_root ({root}); allow a folder below it")


def find_below(named: str, folders: Iterable[Path]) -> tuple[Path, Path] | None:
    """The path and the first of these folders in which it lies, links followed; None when it leads out of all of them.

    A relative name is looked for in each folder in turn; one that is in none is seen from the first it would lie in.
    """
    inside: tuple[Path, Path] | None = None
    for folder in folders:
        wanted = folder.resolve() / named
        # A name with a zero byte, or a link to itself, leads nowhere.
        with suppress(ValueError, OSError, RuntimeError):
            if wanted.resolve().is_relative_to(folder.resolve()):
                inside = inside or (wanted, folder)
                if wanted.exists():
                    return wanted, folder
    return inside


def _looped(path: Path) -> ImageNotFoundError:
    return ImageNotFoundError(f"{path}: is a link that leads back to itself; name the image file instead")


def check_byte_count(count: int, name: str, max_bytes: int) -> None:
    """Nothing, unless there are too many bytes."""
    if count > max_bytes:
        raise ImageTooLargeError(
            f"{name}: has {count} bytes, more than {max_bytes}; make it smaller or raise "
            "pipeline.limits.max_file_megabytes"
        )


def path_below(path: Path, root: Path) -> Path:
    """Where the path leads, links followed, seen from the folder; raises ImageOutsideRootError when it leads out."""
    base = root.resolve()
    resolved = path.resolve()
    if not resolved.is_relative_to(base):
        raise ImageOutsideRootError(f"{path}: lies outside the allowed folder {root}; move the image into it")
    return resolved.relative_to(base)


def _open_below(root: Path, inside: Path) -> int:
    """A descriptor of the file, reached from folder to folder without following a link.

    All links were followed when the path was checked; one that is there now was put there since.
    """
    if os.open not in os.supports_dir_fd:
        # A system that opens nothing from a folder's descriptor: the path as it was checked.
        return os.open(root.resolve() / inside, _READING)
    folder = os.open(root.resolve(), os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in inside.parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(inside.name or ".", _READING | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def _read(descriptor: int, name: Path, max_bytes: int) -> bytes:
    """The bytes behind the descriptor; what is no regular file is refused unread."""
    status = os.fstat(descriptor)
    if stat.S_ISDIR(status.st_mode):
        raise ImageIsDirectoryError(f"{name}: is a folder; name an image file inside it")
    if not stat.S_ISREG(status.st_mode):
        raise ImageFormatError(f"{name}: is not a regular file; save the image to a file first")
    check_byte_count(status.st_size, str(name), max_bytes)
    with open(descriptor, "rb", closefd=False) as file:
        return file.read(max_bytes)
