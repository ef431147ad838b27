"""What copies are judged by: our learned score, or a measure people know from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from agenticiqa.encode.originals import Pixels
from agenticiqa.errors import MissingExtraError, is_installed
from agenticiqa.weights import weight_set

Judge = Callable[[Pixels, Pixels], float]
"""The value of a picture against its original; higher is better."""
Metric = Literal["score", "ssim", "ms_ssim", "ssimulacra2"]
METRIC_NAMES: dict[Metric, str] = {
    "score": "score", "ssim": "SSIM", "ms_ssim": "MS-SSIM", "ssimulacra2": "SSIMULACRA2",
}  # fmt: skip
RANGES: dict[Metric, tuple[float, float]] = {
    "score": (1, 5),
    "ssim": (0, 1),
    "ms_ssim": (0, 1),
    "ssimulacra2": (0, 100),
}
"""The targets that make sense."""


def judge_by(metric: Metric, terms: str = "research") -> Judge:
    """The judge of this name; MissingExtraError where ssimulacra2 is not installed."""
    if metric == "score":
        return shipped_judge(terms)
    if metric == "ssimulacra2":
        return _ssimulacra2()
    from agenticiqa.tools.metrics.ssim import ms_ssim, ssim

    return ssim if metric == "ssim" else ms_ssim


def shipped_judge(terms: str = "research") -> Judge:
    """The learned full-reference score from 1 to 5."""
    from agenticiqa.embedded.tools import FullReferenceTool

    tool = FullReferenceTool(weight_set(terms))
    return lambda test, reference: tool.measure(test, reference)


def _ssimulacra2() -> Judge:
    if not is_installed("ssimulacra2"):
        raise MissingExtraError("judging by SSIMULACRA2", "ssimulacra2")
    import io

    from PIL import Image
    from ssimulacra2 import compute_ssimulacra2

    def stream(pixels: Pixels) -> io.BytesIO:
        held = io.BytesIO()
        Image.fromarray(pixels).save(held, "PNG", compress_level=0)
        held.seek(0)
        return held

    return lambda test, reference: float(compute_ssimulacra2(stream(reference), stream(test)))
