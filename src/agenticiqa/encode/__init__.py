"""The smallest file that still reaches a score, found by encoding and judging against the original."""

from agenticiqa.encode.judges import Metric, judge_by
from agenticiqa.encode.originals import Format
from agenticiqa.encode.searching import SUFFIXES, Encoded, Encoding, encode, find_quality

__all__ = ["SUFFIXES", "Encoded", "Encoding", "Format", "Metric", "encode", "find_quality", "judge_by"]
