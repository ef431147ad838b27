"""What the distortion model is shown of one picture: the trunk's pooled features and the traces of damage."""

from __future__ import annotations

import numpy as np

from agenticiqa.embedded.distortions.noise_features import grain_traces
from agenticiqa.embedded.distortions.structure_features import structure_traces
from agenticiqa.embedded.distortions.tone_features import Traces, colour_traces, curve_traces, tone_traces
from agenticiqa.embedded.trunk import Features, to_working_size
from agenticiqa.tools.metrics.planes import Plane, opponent_planes
from agenticiqa.tools.tool import Pixels


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


def photograph_vector(features: Features, last_stages: Plane, traces: Traces, seen: Traces) -> Plane:
    """What the model of photographs is shown: trunk at both sizes, the pooled last stages, traces and measurements."""
    named = np.array([*traces.values(), *seen.values()])
    return np.concatenate([features.pooled, features.pooled_half, last_stages, named]).astype(np.float32)


def as_vector(features: Features, traces: Traces) -> Plane:
    """What the model of made damage is shown: both pooled vectors of the trunk, then the traces."""
    return np.concatenate([features.pooled, features.pooled_half, np.array(list(traces.values()))]).astype(np.float32)
