"""Memory that a worker has freed goes back to the system: a process that lives long must not grow by its gaps.

The C library keeps what was freed for later, in pieces a large picture does not fit into, and the more so the larger
the pieces were. Where the C library is not glibc nothing is done.
"""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from typing import Any

# The numbers of glibc's malloc.h.
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
# From this size on a block is mapped by itself and leaves with its array; unless it is set, glibc raises it to 32 MB.
LARGE_BLOCK = 8 * 2**20
# Every thread would otherwise bring a heap of its own with gaps of its own.
HEAPS = 2


def keep_little() -> None:
    """Has large blocks mapped one by one from now on."""
    library = _glibc()
    if library is not None:
        library.mallopt(_MMAP_THRESHOLD, LARGE_BLOCK)
        library.mallopt(_ARENA_MAX, HEAPS)


def return_freed() -> None:
    """Gives the system what was freed and is still kept: a few milliseconds."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


@lru_cache(maxsize=1)
def _glibc() -> Any:
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None
