"""The two last stages, fine-tuned for quality under one set of terms or the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agenticiqa.backbone.weight_files import open_session

Floats = npt.NDArray[np.float32]
Terms = Literal["research", "open"]


@dataclass(frozen=True)
class TailFeatures:
    """Maps after stages six and seven (192 and 320 channels, stride 32) and their pooled statistics."""

    maps: tuple[Floats, Floats]
    pooled: Floats


class Tail:
    """The last stages, loaded; safe to share between threads."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def features(self, stage5: Floats) -> TailFeatures:
        """What the last stages make of the trunk's last map."""
        stage6, stage7, pooled = self._session.run(None, {"stage5": stage5[None]})
        return TailFeatures((stage6[0], stage7[0]), pooled[0])


@lru_cache(maxsize=2)
def load_tail(terms: Terms) -> Tail:
    """The last stages tuned under these terms, loaded once per process."""
    return Tail(open_session(f"tail_{terms}.onnx"))
