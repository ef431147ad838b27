"""Reading a file that may be missing, forbidden, outside its folder, or no file at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from agenticiqa.errors import (
    ImageError,
    ImageFormatError,
    ImageIsDirectoryError,
    ImageNotFoundError,
    ImageOutsideRootError,
    ImagePermissionError,
    ImageTooLargeError,
)

# A part that is missing or no folder, a name no file can have.
_NO_SUCH_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL)


def read_file(path: Path, max_bytes: int, allowed_root: Path | None) -> bytes:
    """The bytes of a regular file, inside the allowed folder if there is one."""
    try:
        return _read(_within(path, allowed_root), path, max_bytes)
    except PermissionError as error:
        raise ImagePermissionError(f"{path}: may not be read; grant read permission (chmod u+r)") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _looped(path) from error
        if error.errno in _NO_SUCH_FILE:
            raise ImageNotFoundError(f"{path}: no such file; check the path") from error
        raise ImageError(f"{path}: cannot be read ({error.strerror}); try again or copy it elsewhere") from error
    except RuntimeError as error:
        raise _looped(path) from error
    except ValueError as error:
        # A zero byte in the path.
        raise ImageNotFoundError(f"{path}: no such file; check the path") from error


def _looped(path: Path) -> ImageNotFoundError:
    return ImageNotFoundError(f"{path}: is a link that leads back to itself; name the image file instead")


def check_byte_count(count: int, name: str, max_bytes: int) -> None:
    """Nothing, unless there are too many bytes."""
    if count > max_bytes:
        raise ImageTooLargeError(
            f"{name}: has {count} bytes, more than {max_bytes}; make it smaller or raise the limit max_bytes"
        )


def _within(path: Path, root: Path | None) -> Path:
    if root is None:
        return path
    resolved = path.resolve()
    if not resolved.is_relative_to(root.resolve()):
        raise ImageOutsideRootError(f"{path}: lies outside the allowed folder {root}; move the image into it")
    return resolved


def _read(path: Path, name: Path, max_bytes: int) -> bytes:
    status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise ImageIsDirectoryError(f"{name}: is a folder; name an image file inside it")
    # Opening a pipe would wait for ever, and a device never ends.
    if not stat.S_ISREG(status.st_mode):
        raise ImageFormatError(f"{name}: is not a regular file; save the image to a file first")
    check_byte_count(status.st_size, str(name), max_bytes)
    with open(path, "rb") as file:
        return file.read(max_bytes)
