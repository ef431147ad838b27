"""The images an agent may name: files under allowed folders, and images sent along as data URLs."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path

from agenticiqa.config import Settings
from agenticiqa.errors import ImageFormatError, ImageOutsideRootError
from agenticiqa.images import NamedBytes
from agenticiqa.images.files import check_byte_count, read_file, require_folders


class Images:
    """Opens what an agent names; never a URL, never a file outside the folders."""

    def __init__(self, folders: tuple[Path, ...], settings: Settings) -> None:
        require_folders(folders, settings.pipeline.allowed_root)
        self._folders = tuple(folder.resolve() for folder in folders)
        self._max_bytes = settings.pipeline.limits.max_file_megabytes * 2**20

    def open(self, named: str, sent: str = "the image sent") -> NamedBytes:
        """The image, one that came along called `sent`; raises an ImageError with the way out."""
        if named.startswith("data:"):
            return NamedBytes(sent, self._decoded(named, sent))
        if "://" in named:
            raise ImageFormatError(f"{named}: addresses are not fetched; name a file or send a data URL")
        inside = [folder for folder in self._folders if _leads_into(folder / named, folder)]
        if inside:
            # A relative name is looked for in each folder in turn.
            folder = next((folder for folder in inside if (folder / named).exists()), inside[0])
            return NamedBytes(named, read_file(folder / named, self._max_bytes, folder))
        allowed = ", ".join(map(str, self._folders)) or "none"
        raise ImageOutsideRootError(f"{named}: lies outside the allowed folders ({allowed}); move the image into one")

    def folder(self, named: str) -> Path:
        """A folder under the allowed ones; raises an ImageError with the way out."""
        for allowed in self._folders:
            found = (allowed / named).resolve()
            if found.is_dir() and found.is_relative_to(allowed):
                return found
        listed = ", ".join(map(str, self._folders)) or "none"
        raise ImageOutsideRootError(f"{named}: no folder under the allowed folders ({listed}); name one of those")

    def _decoded(self, url: str, sent: str) -> bytes:
        head, _, text = url.partition(",")
        if not head.endswith(";base64"):
            raise ImageFormatError(f"{sent}: a data URL must be base64, as in data:image/png;base64,…")
        # Three bytes are four letters; what is too large is not decoded first.
        check_byte_count(len(text) * 3 // 4, sent, self._max_bytes)
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise ImageFormatError(f"{sent}: is not base64; encode its bytes again") from None


def _leads_into(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder)
    except (ValueError, RuntimeError):
        # A name with a zero byte, or a link to itself, leads nowhere.
        return False
