"""One small call per capability on every service whose key is set: `pytest tests/live --override-ini addopts=`."""

from __future__ import annotations

import pytest

from agenticiqa.cli.doctor_live import live_check
from agenticiqa.config import KEY_VARIABLES, find_api_keys, load_settings

# Small models in service when this was written; name others in AGENTICIQA_BACKEND and use `doctor --live`.
BACKENDS = ("openai.gpt-4o-mini", "anthropic.claude-haiku-4-5", "google.gemini-2.5-flash")
HAS_LEVELS = ("openai",)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_service_sees_images_and_keeps_schemas(backend: str) -> None:
    provider = backend.partition(".")[0]
    if provider not in find_api_keys():
        pytest.skip(f"{KEY_VARIABLES[provider][0]} is not set")

    checks = {check.capability: check for check in live_check(backend, load_settings())}

    assert checks["image"].ok, checks["image"].line()
    assert checks["schema"].ok, checks["schema"].line()
    assert checks["log-probabilities"].ok or provider not in HAS_LEVELS, checks["log-probabilities"].line()
    assert checks["image"].usage.cost_usd is not None
