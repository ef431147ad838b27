"""What uploaded files are called in results and messages."""

from __future__ import annotations

import unicodedata
from pathlib import PurePosixPath

LONGEST_NAME = 120


def uploaded_name(name: str | None) -> str:
    """What an upload is called in results; browsers and curl write line ends and quotes in a form as %0D, %0A, %22."""
    plain = (name or "").replace("%0D", "").replace("%0A", " ").replace("%22", '"')
    return display_name(plain)


def display_name(name: str | None) -> str:
    """What a file is called in results: the last part of its name, without control characters."""
    last = PurePosixPath((name or "").replace("\\", "/")).name
    shown = "".join(sign for sign in last if unicodedata.category(sign)[0] != "C").strip()
    return shown[-LONGEST_NAME:] or "image"
