"""The smallest file that still reaches a score, found by encoding and judging against the original."""

from agenticiqa.encode.originals import Format as Format
from agenticiqa.encode.searching import SUFFIXES as SUFFIXES
from agenticiqa.encode.searching import Encoding as Encoding
from agenticiqa.encode.searching import Metric as Metric
from agenticiqa.encode.searching import encode as encode
from agenticiqa.encode.searching import find_quality as find_quality
from agenticiqa.encode.searching import judge_by as judge_by
