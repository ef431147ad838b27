"""What the distortion model is shown of one picture: the trunk's pooled features and the traces of damage."""

from __future__ import annotations

import numpy as np

from agenticiqa.backbone.features import Features, to_working_size
from agenticiqa.perception.distortions_curves import curve_traces
from agenticiqa.perception.distortions_grain import grain_traces
from agenticiqa.perception.distortions_structure import structure_traces
from agenticiqa.perception.distortions_tone import Traces, colour_traces, tone_traces
from agenticiqa.perception.opponent import Pixels, Plane, opponent_planes


def measure_traces(pixels: Pixels, working: Pixels | None = None) -> Traces:
    """Named statistics of a picture at its working size (made here unless it is at hand), in a fixed order."""
    working = to_working_size(pixels)[0] if working is None else working
    planes = opponent_planes(working)
    return (
        tone_traces(working, planes[0])
        | colour_traces(working, *planes)
        | grain_traces(working, planes)
        | structure_traces(working, planes)
        # Scaling fills the gaps of a histogram, so the file's own values are counted.
        | curve_traces(pixels)
    )


def as_vector(features: Features, traces: Traces) -> Plane:
    """Both pooled vectors of the trunk, then the traces."""
    return np.concatenate([features.pooled, features.pooled_half, np.array(list(traces.values()))]).astype(np.float32)
