"""The smallest file that still reaches a score, found by encoding and judging against the original."""

from agenticiqa.encode.originals import Format
from agenticiqa.encode.searching import Encoded, encode, find_quality

__all__ = ["Encoded", "Format", "encode", "find_quality"]
