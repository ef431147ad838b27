"""The built-in metrics against values other libraries gave for the same pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.built_in_metrics import FULL_REFERENCE, score
from tests.support.metric_pictures import NAMES, fingerprint, pair

DOCUMENT = json.loads((Path(__file__).parents[1] / "reference_values" / "metrics.json").read_text())
TOLERANCES = dict.fromkeys((*FULL_REFERENCE, "PIQE"), 0.001)


@pytest.fixture(scope="module", params=NAMES)
def picture(request: pytest.FixtureRequest) -> tuple[str, Any, Any]:
    return request.param, *pair(request.param)


def test_the_test_pictures_are_the_ones_the_reference_values_were_made_from(picture: tuple[str, Any, Any]) -> None:
    name, test, _ = picture

    assert fingerprint(test) == DOCUMENT["pictures"][name]["pixels"]


def test_every_metric_agrees_with_the_other_library(picture: tuple[str, Any, Any]) -> None:
    name, test, reference = picture

    differences = {
        metric: abs(score(metric, test, reference) - value)
        for metric, value in DOCUMENT["pictures"][name]["values"].items()
    }

    assert {metric: d for metric, d in differences.items() if d > TOLERANCES[metric]} == {}


def test_every_full_reference_metric_has_reference_values() -> None:
    assert set(FULL_REFERENCE) <= set(DOCUMENT["peers"])
