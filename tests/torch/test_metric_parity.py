"""The built-in metrics against the other libraries, run side by side; also that the kept values are theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.built_in_metrics import score
from tests.support.metric_pictures import NAMES, pair
from training.reference_values import peers

KEPT = json.loads((Path(__file__).parents[1] / "reference_values" / "metrics.json").read_text())["pictures"]


@pytest.fixture(scope="module")
def libraries() -> dict[str, Any]:
    return {metric: function for metric, (_, function) in peers().items()}


@pytest.mark.parametrize("name", NAMES)
def test_ours_theirs_and_the_kept_values_agree(name: str, libraries: dict[str, Any]) -> None:
    test, reference = pair(name)

    theirs = {metric: function(test, reference) for metric, function in libraries.items()}

    ours = {metric: score(metric, test, reference) for metric in libraries}
    assert ours == pytest.approx(theirs, abs=1e-3)
    assert KEPT[name]["values"] == pytest.approx(theirs, abs=1e-5)
