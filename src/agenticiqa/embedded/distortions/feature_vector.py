"""What the detector is shown of one picture as a whole: the trunk's pooled features and everything measured."""

from __future__ import annotations

import numpy as np

from agenticiqa.embedded.distortions.light_features import light_traces
from agenticiqa.embedded.distortions.noise_features import grain_traces
from agenticiqa.embedded.distortions.structure_features import structure_traces
from agenticiqa.embedded.distortions.tile_features import Tiles, tile_traces
from agenticiqa.embedded.distortions.tone_features import Traces, colour_traces, curve_traces, tone_traces
from agenticiqa.embedded.trunk import Features, TailFeatures
from agenticiqa.tools.metrics.planes import Plane, opponent_planes
from agenticiqa.tools.tool import Pixels


def measure_all(pixels: Pixels, working: Pixels, tiles: Tiles) -> Traces:
    """Named statistics of a picture at its working size and of tiles cut from that, in a fixed order."""
    return measure_traces(pixels, working) | light_traces(working) | tile_traces(tiles)


def measure_traces(pixels: Pixels, working: Pixels) -> Traces:
    """The traces of damage among them."""
    planes = opponent_planes(working)
    return (
        tone_traces(working, planes[0])
        | colour_traces(working, *planes)
        | grain_traces(working, planes)
        | structure_traces(working, planes)
        # Scaling fills the gaps of a histogram, so the file's own values are counted.
        | curve_traces(pixels)
    )


def whole_vector(features: Features, last: TailFeatures, traces: Traces) -> Plane:
    """The pooled trunk at both sizes, its last stages, and the statistics."""
    named = np.array(list(traces.values()))
    return np.concatenate([features.pooled, features.pooled_half, last.pooled, named]).astype(np.float32)
