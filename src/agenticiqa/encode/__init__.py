"""The smallest file that still reaches a score, found by encoding and judging against the original."""

from agenticiqa.encode.originals import Format
from agenticiqa.encode.searching import SUFFIXES, Encoded, Encoding, Metric, encode, find_quality, judge_by

__all__ = ["SUFFIXES", "Encoded", "Encoding", "Format", "Metric", "encode", "find_quality", "judge_by"]
