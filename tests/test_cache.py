"""The cache on disk."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agenticiqa.cache import Cache, cache_key


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    opened = Cache(tmp_path / "cache.sqlite")
    yield opened
    opened.close()


def test_what_was_put_is_found_again_after_reopening(tmp_path: Path) -> None:
    first = Cache(tmp_path / "cache.sqlite")
    first.put("tools", "a", "größer")
    first.close()

    second = Cache(tmp_path / "cache.sqlite")
    found = second.get("tools", "a")
    second.close()

    assert found == "größer"


def test_namespaces_do_not_see_each_other(cache: Cache) -> None:
    cache.put("tools", "a", "1")

    assert cache.get("replies", "a") is None


def test_hits_and_misses_are_counted_by_namespace(cache: Cache) -> None:
    cache.put("tools", "a", "1")

    for key in ("a", "a", "b"):
        cache.get("tools", key)
    cache.get("replies", "a")

    statistics = cache.statistics()
    assert (statistics["tools"].hits, statistics["tools"].misses, statistics["tools"].entries) == (2, 1, 1)
    assert (statistics["replies"].hits, statistics["replies"].misses) == (0, 1)


def test_a_damaged_file_that_cannot_be_removed_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "cache.sqlite").write_bytes(b"no database" * 100)
    # A folder in the place of a file that belongs to it cannot be removed like a file, whoever tries.
    (tmp_path / "cache.sqlite-shm").mkdir()
    cache = Cache(tmp_path / "cache.sqlite")

    cache.put("tools", "a", "1")
    cache.close()

    assert (tmp_path / "cache.sqlite-shm").is_dir()


def test_the_least_recently_used_entry_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite", max_bytes=3500)
    for key in "abc":
        cache.put("tools", key, "x" * 1000)
    cache.get("tools", "a")

    cache.put("tools", "d", "x" * 1000)

    kept = [key for key in "abcd" if cache.get("tools", key)]
    cache.close()
    assert kept == ["a", "c", "d"]


def test_the_cap_holds_over_many_writes(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite", max_bytes=100_000)

    for number in range(500):
        cache.put("tools", str(number), "x" * 1000)

    held = cache.statistics()["tools"].bytes
    newest = cache.get("tools", "499")
    cache.close()
    assert held <= 101_000
    assert newest is not None


def test_a_value_larger_than_the_cap_is_not_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite", max_bytes=1000)

    cache.put("tools", "a", "x" * 2000)

    assert cache.get("tools", "a") is None
    cache.close()


def test_a_damaged_file_is_replaced_and_used_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"this is no database, and never was one " * 100)
    cache = Cache(path)

    before = cache.get("tools", "a")
    cache.put("tools", "a", "1")
    after = cache.get("tools", "a")
    cache.close()

    assert (before, after) == (None, "1")
    assert "damaged" in caplog.text


def test_a_file_of_another_version_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version=99")
    other.close()
    cache = Cache(path)

    cache.put("tools", "a", "1")

    assert cache.get("tools", "a") == "1"
    cache.close()


def test_a_damaged_entry_is_a_miss_and_is_dropped(cache: Cache, caplog: pytest.LogCaptureFixture) -> None:
    cache.put("tools", "a", "1.25")
    other = sqlite3.connect(cache.path)
    other.execute("UPDATE entries SET value=?", (b"9.99",))
    other.commit()
    other.close()

    assert cache.get("tools", "a") is None
    assert "damaged" in caplog.text
    assert cache.statistics()["tools"].entries == 0


def test_a_folder_that_cannot_be_made_costs_a_warning_and_no_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache.sqlite")

    cache.put("tools", "a", "1")

    assert cache.get("tools", "a") is None
    assert "going on without it" in caplog.text


def test_many_threads_can_share_it(cache: Cache) -> None:
    def work(number: int) -> str | None:
        cache.put("tools", str(number % 20), str(number % 20))
        return cache.get("tools", str(number % 20))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(400)))

    assert found == [str(number % 20) for number in range(400)]


def _fill(path: Path, start: int) -> None:
    cache = Cache(path)
    for number in range(start, start + 50):
        cache.put("tools", str(number), str(number))
    cache.close()


def test_many_processes_can_share_it(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_fill, args=(path, start)) for start in (0, 50, 100)]

    for process in processes:
        process.start()
    for process in processes:
        process.join()

    cache = Cache(path)
    found = [cache.get("tools", str(number)) for number in range(150)]
    cache.close()
    assert found == [str(number) for number in range(150)]


def test_clearing_one_namespace_leaves_the_others(cache: Cache) -> None:
    cache.put("tools", "a", "1")
    cache.put("replies", "a", "2")

    cache.clear("tools")

    assert (cache.get("tools", "a"), cache.get("replies", "a")) == (None, "2")


def test_keys_differ_whenever_a_part_differs() -> None:
    keys = {cache_key("a", "bc"), cache_key("ab", "c"), cache_key("a", "bc", None), cache_key("abc")}

    assert len(keys) == 4


def test_a_cache_is_for_its_user_alone(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "new" / "cache.sqlite")

    cache.put("replies", "key", "value")

    files = [tmp_path / "new", *(tmp_path / "new").iterdir()]
    assert [oct(path.stat().st_mode & 0o077) for path in files] == ["0o0"] * len(files)
