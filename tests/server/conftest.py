"""One service for all tests that do not need one of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.server.running import RunningService, picture, running_service


@pytest.fixture(scope="package")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder the service may read, with a way out that it must not take."""
    base = tmp_path_factory.mktemp("photos")
    allowed = base / "allowed"
    allowed.mkdir()
    for seed in range(3):
        (allowed / f"photo{seed}.png").write_bytes(picture(seed))
    (base / "secret.png").write_bytes(picture(9))
    (allowed / "link.png").symlink_to(base / "secret.png")
    return allowed


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory, photos: Path) -> Iterator[RunningService]:
    """A service on this machine, with one allowed folder and small limits."""
    folder = tmp_path_factory.mktemp("service")
    options = ("--allow-folder", str(photos), "--max-megabytes", "4", "--max-megapixels", "2")
    with running_service(folder, *options) as running:
        yield running


@pytest.fixture
def client(service: RunningService) -> Iterator[httpx.Client]:
    """A client for it."""
    with service.client() as found:
        yield found
