"""What holds for every test: hypothesis is seeded and has no deadline, because machines differ in speed."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("agenticiqa", deadline=None, derandomize=True)
settings.load_profile("agenticiqa")
