"""A damaged file of runs: found at the start, put aside with everything that belongs to it, and told."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from agenticiqa.server.storage.store import Store
from tests.server.running import picture, running_service


def damage(path: Path) -> None:
    """Overwrites every page but the first."""
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("content", [b"no database at all" * 400, None])
def test_a_service_on_a_damaged_file_puts_it_aside_and_works(tmp_path: Path, content: bytes | None) -> None:
    Store(tmp_path / "service.sqlite").close()
    if content is None:
        damage(tmp_path / "service.sqlite")
    else:
        (tmp_path / "service.sqlite").write_bytes(content)
    (tmp_path / "runs" / "abc").mkdir(parents=True)
    (tmp_path / "runs" / "abc" / "upload.png").write_bytes(picture(1))

    with running_service(tmp_path) as service, service.client() as client:
        health = client.get("/v1/health/ready")
        answer = client.post("/v1/assess", files={"image": ("x.png", picture(2))})

    assert (health.status_code, health.json()["status"]) == (200, "ready")
    assert answer.status_code < 300
    aside = tmp_path / health.json()["moved_aside"]
    assert aside.is_file()
    assert [file.name for file in tmp_path.glob("*.runs/abc/*")] == ["upload.png"]


def test_a_sound_file_stays_where_it_is(tmp_path: Path) -> None:
    Store(tmp_path / "service.sqlite").close()

    again = Store(tmp_path / "service.sqlite")

    assert again.moved_aside is None
    again.close()


def test_damage_that_comes_later_is_noticed_when_it_is_met(tmp_path: Path) -> None:
    store = Store(tmp_path / "service.sqlite")
    store.close()
    store = Store(tmp_path / "service.sqlite")
    damage(tmp_path / "service.sqlite")

    with pytest.raises(sqlite3.DatabaseError):
        store.list_runs(None, 10)

    assert store.is_damaged
