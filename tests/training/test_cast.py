"""The judge of colour casts: what it is taught by, and that it is what the head computes."""

from __future__ import annotations

import numpy as np

from agenticiqa.embedded.quality.quality_head import QualityHead
from training.quality_heads.cast import cast_arrays, fit_cast, standardised


def test_casts_are_told_from_photographs_and_from_other_damage() -> None:
    random = np.random.default_rng(0)
    natural, casts, damaged = (random.normal(0, 0.3, (200, 5)) for _ in range(3))
    casts[:, 0] += 2
    damaged[:, 1] += 2

    weights, offset = fit_cast(natural, casts, damaged)

    assert np.median(casts @ weights + offset) > 0.3
    assert np.median(natural @ weights + offset) < -0.5
    assert np.median(damaged @ weights + offset) < -0.5


def test_a_cast_costs_where_the_trunk_and_the_pixels_agree() -> None:
    weights = np.zeros(544)
    weights[3] = 1.0
    scale = {"centre": np.full(600, 2.0), "spread": np.full(600, 4.0)}
    head = QualityHead(scale | cast_arrays(weights, 0.1))
    pooled = np.full(544, 2.0)
    pooled[3] = 3.6

    # (3.6 − 2) / 4 + 0.1 = 0.5 lies halfway from 0.4 to 0.6, a tint of 11 three quarters of the way from 8 to 12.
    assert np.isclose(standardised(pooled[None].astype(np.float32), scale)[0, 3], 0.4)
    assert np.isclose(head.cast_cost(pooled, 11.0), 0.375, atol=1e-5)
    assert head.cast_cost(pooled, 5.0) == 0
    assert head.cast_cost(np.full(544, 2.0), 40.0) == 0
    assert QualityHead(scale).cast_cost(pooled, 40.0) == 0
