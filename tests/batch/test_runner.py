"""Running a batch: finishing the rest, retrying failures, keeping to limits, refusing to mix."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agenticiqa.batch import BatchOptions, BatchProgress, BatchSummary, Limits, Manifest, Sample, run_batch
from agenticiqa.batch.journal import standing_records
from agenticiqa.batch.runner import preview_batch
from agenticiqa.config import load_settings
from agenticiqa.errors import (
    AuthenticationError,
    ChangedSettingsError,
    JournalError,
    ManifestError,
    OutputError,
    UsageError,
)
from tests.batch.making import (
    THREADS,
    DyingOnce,
    FailingDisk,
    Judging,
    Unprepared,
    batch_settings,
    ids,
    manifest,
    results,
    samples,
)

PROCESSES = BatchOptions(engine="processes", concurrency=2)


def run(output: Path, count: int = 8, options: BatchOptions = THREADS, **more: Any) -> BatchSummary:
    more = {"settings": batch_settings(), "prepare": Judging(), **more}
    return run_batch(more.pop("manifest", manifest(count)), output, options, **more)


def test_every_sample_has_one_record_in_the_manifests_order(tmp_path: Path) -> None:
    summary = run(tmp_path / "out.jsonl")

    assert (summary.answered, summary.failed, summary.remaining, summary.stopped) == (8, 0, 0, None)
    assert ids(tmp_path / "out.jsonl") == [sample.sample_id for sample in samples(8)]


def test_a_record_carries_the_sample_and_the_assessment(tmp_path: Path) -> None:
    sample = Sample("one", "/a.png", "Sharp?", "/b.png", {"A": "Yes"}, "A", 3.5, {"split": "test"})

    run(tmp_path / "out.jsonl", manifest=Manifest.of([sample]))

    (record,) = results(tmp_path / "out.jsonl")
    assert {name: record[name] for name in sample.carried()} == sample.carried()
    assert (record["assessment"]["query"], record["error"]) == ("Sharp?", None)


def test_a_second_run_has_nothing_to_do(tmp_path: Path) -> None:
    run(tmp_path / "out.jsonl")
    before = (tmp_path / "out.jsonl").read_bytes()

    summary = run(tmp_path / "out.jsonl", prepare=Unprepared())

    assert (summary.done_before, summary.answered, summary.calls) == (8, 0, 0)
    assert (tmp_path / "out.jsonl").read_bytes() == before


def test_a_second_run_repeats_only_the_failures(tmp_path: Path) -> None:
    first = run(tmp_path / "out.jsonl", prepare=Judging(failing=("s003", "s005")))
    second = run(tmp_path / "out.jsonl")

    assert (first.answered, first.failed, first.remaining) == (6, 2, 2)
    assert (second.done_before, second.answered, second.remaining) == (6, 2, 0)
    assert [record["error"] for record in results(tmp_path / "out.jsonl")] == [None] * 8


def test_a_failure_says_why(tmp_path: Path) -> None:
    run(tmp_path / "out.jsonl", prepare=Judging(failing=("s003",)))

    record = results(tmp_path / "out.jsonl")[3]
    assert (record["assessment"], record["error"]) == (None, "/pictures/003.png: no such file; check the path")


def test_an_assessment_with_an_error_counts_as_failed(tmp_path: Path) -> None:
    summary = run(
        tmp_path / "out.jsonl", 1, prepare=lambda: lambda sample: {"error": "planner: no reply", "answer": "Unable"}
    )

    assert summary.failed == 1
    assert results(tmp_path / "out.jsonl")[0]["error"] == "planner: no reply"


def test_an_error_nobody_foresaw_ends_one_sample_and_not_the_batch(tmp_path: Path) -> None:
    def assess(sample: Sample) -> dict[str, Any]:
        return {} if sample.sample_id != "s001" else 1 / 0  # type: ignore[return-value]

    summary = run(tmp_path / "out.jsonl", 3, prepare=lambda: assess)

    assert summary.failed == 1
    assert results(tmp_path / "out.jsonl")[1]["error"] == "unexpected ZeroDivisionError: division by zero"


def test_a_longer_manifest_adds_to_the_records(tmp_path: Path) -> None:
    run(tmp_path / "out.jsonl", 3)
    summary = run(tmp_path / "out.jsonl", 5)

    assert (summary.done_before, summary.answered) == (3, 2)


def test_a_shorter_manifest_loses_no_record(tmp_path: Path) -> None:
    run(tmp_path / "out.jsonl", 5)
    run(tmp_path / "out.jsonl", 3)

    assert len(ids(tmp_path / "out.jsonl")) == 5


def test_another_question_under_the_same_id_is_refused_or_asked_again(tmp_path: Path) -> None:
    run(tmp_path / "out.jsonl")
    changed = Manifest.of([*samples(7), replace(samples(8)[7], query="Is it noisy?")])

    with pytest.raises(ChangedSettingsError, match="another question about 's007'"):
        run(tmp_path / "out.jsonl", manifest=changed)
    summary = run(tmp_path / "out.jsonl", manifest=changed, options=replace(THREADS, force=True))

    assert summary.answered == 1
    assert results(tmp_path / "out.jsonl")[7]["assessment"]["query"] == "Is it noisy?"


def pictures_of(folder: Path, *names: str) -> Manifest:
    return Manifest.of([Sample(name, str(folder / name)) for name in names])


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    (tmp_path / "pictures").mkdir()
    for name in ("a.png", "b.png", "c.png"):
        (tmp_path / "pictures" / name).write_text(f"the content of {name}")
    return tmp_path / "pictures"


def test_a_picture_that_was_overwritten_is_judged_again_and_counted(tmp_path: Path, pictures: Path) -> None:
    asked = pictures_of(pictures, "a.png", "b.png", "c.png")
    run(tmp_path / "out.jsonl", manifest=asked)
    before = (pictures / "b.png").stat()
    (pictures / "b.png").write_text("another content")
    # Neither size nor time gives the change away: `cp -p` and `rsync -t` keep them.
    os.utime(pictures / "b.png", ns=(before.st_atime_ns, before.st_mtime_ns))

    summary = run(tmp_path / "out.jsonl", manifest=asked)

    assert (summary.done_before, summary.answered, summary.judged_again) == (2, 1, 1)
    assert run(tmp_path / "out.jsonl", manifest=asked, prepare=Unprepared()).done_before == 3


def test_a_reference_that_was_overwritten_has_its_copy_judged_again(tmp_path: Path, pictures: Path) -> None:
    asked = Manifest.of([Sample("a", str(pictures / "a.png"), reference_path=str(pictures / "b.png"))])
    run(tmp_path / "out.jsonl", manifest=asked)
    (pictures / "b.png").write_text("another original")

    assert run(tmp_path / "out.jsonl", manifest=asked).judged_again == 1


def test_deleted_pictures_are_marked_gone_and_leave_the_table(tmp_path: Path, pictures: Path) -> None:
    run(tmp_path / "out.jsonl", manifest=pictures_of(pictures, "a.png", "b.png", "c.png"))
    (pictures / "c.png").unlink()

    summary = run(tmp_path / "out.jsonl", manifest=pictures_of(pictures, "a.png"))

    assert (summary.gone, summary.done_before) == (1, 1)
    assert ids(tmp_path / "out.jsonl") == ["a.png", "b.png", "c.png"]
    assert [record.sample_id for record in standing_records(tmp_path / "out.jsonl")] == ["a.png", "b.png"]
    assert results(tmp_path / "out.jsonl")[2]["gone"] == "deleted"


def test_a_picture_that_comes_back_is_judged_again(tmp_path: Path, pictures: Path) -> None:
    run(tmp_path / "out.jsonl", manifest=pictures_of(pictures, "a.png", "b.png"))
    (pictures / "b.png").unlink()
    run(tmp_path / "out.jsonl", manifest=pictures_of(pictures, "a.png"))
    (pictures / "b.png").write_text("the content of b.png")

    assert run(tmp_path / "out.jsonl", manifest=pictures_of(pictures, "a.png", "b.png")).answered == 1
    assert len(list(standing_records(tmp_path / "out.jsonl"))) == 2


def test_images_may_be_moved_between_two_runs(tmp_path: Path) -> None:
    run(tmp_path / "out.jsonl")
    moved = [replace(sample, image_path=f"/elsewhere{sample.image_path}") for sample in samples(8)]

    assert run(tmp_path / "out.jsonl", manifest=Manifest.of(moved)).done_before == 8


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"settings": batch_settings(summarizer={"backend": "scripted"})}, "summarizer.backend: builtin.perception → "),
        ({"options": replace(THREADS, query="Is it sharp?")}, "query: None → Is it sharp?"),
        ({"identity": {"variant": "no tools"}}, "variant: None → no tools"),
    ],
)
def test_changed_settings_are_refused_by_name_unless_forced(
    tmp_path: Path, more: dict[str, Any], message: str
) -> None:  # fmt: skip
    run(tmp_path / "out.jsonl", 3)
    options = more.pop("options", THREADS)

    with pytest.raises(ChangedSettingsError, match=message.replace("?", r"\?")):
        run(tmp_path / "out.jsonl", options=options, **more)
    summary = run(tmp_path / "out.jsonl", 3, options=replace(options, force=True), **more)

    assert (summary.done_before, summary.answered, summary.judged_again) == (0, 3, 3)


def test_a_forced_run_that_was_killed_mixes_no_settings(tmp_path: Path) -> None:
    run(tmp_path / "out.jsonl", 3)
    other: dict[str, Any] = {"identity": {"variant": "no tools"}}
    run(tmp_path / "out.jsonl", 3, replace(THREADS, concurrency=1, force=True, limits=Limits(max_calls=5)), **other)

    summary = run(tmp_path / "out.jsonl", 3, **other)

    assert (summary.done_before, summary.answered) == (1, 2)


def test_settings_that_change_no_result_are_not_compared(tmp_path: Path) -> None:
    run(tmp_path / "out.jsonl", 3)
    other = batch_settings(
        planner={"timeout": 5.0}, pipeline={"logging": {"level": "ERROR"}, "transport": {"attempts": 2}}
    )

    assert run(tmp_path / "out.jsonl", 3, settings=other).done_before == 3


def test_a_file_that_no_batch_began_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text('{"sample_id": "mine')

    with pytest.raises(ChangedSettingsError, match="nothing says with which settings"):
        run(tmp_path / "out.jsonl")

    assert (tmp_path / "out.jsonl").read_text() == '{"sample_id": "mine'


def test_a_table_as_output_is_refused_with_the_right_command(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"out\.jsonl --to csv"):
        run(tmp_path / "out.csv")


def test_a_wrong_manifest_is_refused_before_anything_is_prepared(tmp_path: Path) -> None:
    twice = Manifest.of([*samples(2), samples(1)[0]])

    with pytest.raises(ManifestError, match="'s000' was used before"):
        run(tmp_path / "out.jsonl", manifest=twice, prepare=Unprepared())

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("limits", "answered", "reason"),
    [
        (Limits(max_calls=23), 4, "20 paid calls were made and --max-calls is 23"),
        (Limits(max_cost=0.05), 5, "0.0500 USD were spent and --max-cost is 0.05"),
    ],
)
def test_a_budget_is_not_passed_and_the_rest_is_named(
    tmp_path: Path, limits: Limits, answered: int, reason: str
) -> None:  # fmt: skip
    options = BatchOptions(engine="threads", concurrency=3, limits=limits)

    summary = run(tmp_path / "out.jsonl", 8, options)

    assert (summary.answered, summary.remaining, summary.stopped) == (answered, 8 - answered, reason)
    assert run(tmp_path / "out.jsonl", 8).remaining == 0


def test_too_many_failures_stop_the_batch(tmp_path: Path) -> None:
    options = BatchOptions(engine="threads", concurrency=1, limits=Limits(max_failures=2))

    summary = run(tmp_path / "out.jsonl", 8, options, prepare=Judging(failing=tuple(s.sample_id for s in samples(8))))

    assert (summary.failed, summary.stopped) == (2, "2 samples failed and --max-failures is 2")


def test_a_budget_that_is_just_enough_stops_nothing(tmp_path: Path) -> None:
    options = BatchOptions(engine="threads", concurrency=2, limits=Limits(max_calls=40))

    summary = run(tmp_path / "out.jsonl", 8, options)

    assert (summary.remaining, summary.stopped) == (0, None)


def test_a_reply_without_a_price_ends_a_run_with_a_limit_on_cost(tmp_path: Path) -> None:
    options = BatchOptions(engine="threads", concurrency=1, limits=Limits(max_cost=1.0))

    summary = run(tmp_path / "out.jsonl", 8, options, prepare=Judging(cost=None))

    assert (summary.answered, summary.cost_usd) == (1, None)
    assert "no known price" in str(summary.stopped)


def test_a_limit_on_cost_needs_a_known_price(tmp_path: Path) -> None:
    settings = batch_settings(planner={"backend": "compatible.llava", "base_url": "http://127.0.0.1:9/v1"})

    with pytest.raises(UsageError, match=r"the price of compatible\.llava is unknown"):
        run(tmp_path / "out.jsonl", options=BatchOptions(limits=Limits(max_cost=1.0)), settings=settings)


def test_after_a_stop_nothing_new_is_begun_and_the_next_run_finishes(tmp_path: Path) -> None:
    seen: list[BatchProgress] = []

    stopped = run(tmp_path / "out.jsonl", stop=lambda: len(seen) > 3, on_progress=seen.append)
    finished = run(tmp_path / "out.jsonl")

    assert stopped.stopped == "interrupted"
    assert 3 <= stopped.answered < 8
    assert finished.answered == 8 - stopped.answered


def test_progress_tells_counts_rate_and_time_left() -> None:
    progress = BatchProgress(
        samples=100, done_before=20, answered=15, failed=5, calls=75, cost_usd=0.15, seconds=10.0
    )  # fmt: skip

    assert (progress.rate, progress.seconds_left) == (2.0, 30.0)


@pytest.mark.parametrize("operation", ["write", "sync"])
def test_a_full_disk_ends_the_run_and_the_next_one_finishes(tmp_path: Path, operation: str) -> None:
    with pytest.raises(JournalError, match="No space left"):
        run(tmp_path / "out.jsonl", disk=FailingDisk(operation, 3))
    kept = len(ids(tmp_path / "out.jsonl"))

    summary = run(tmp_path / "out.jsonl")

    assert kept == 3
    assert (summary.done_before, summary.answered) == (3, 5)
    assert len(ids(tmp_path / "out.jsonl")) == 8


def test_a_half_written_line_that_could_not_be_taken_back_is_mended_by_the_next_run(tmp_path: Path) -> None:
    class Stuck(FailingDisk):
        def truncate(self, descriptor: int, size: int) -> None:
            raise OSError(5, "Input/output error")

    with pytest.raises(JournalError):
        run(tmp_path / "out.jsonl", disk=Stuck("write", 3))
    assert not (tmp_path / "out.jsonl").read_bytes().endswith(b"\n")

    run(tmp_path / "out.jsonl")

    assert len(ids(tmp_path / "out.jsonl")) == 8


def test_processes_give_the_same_records_as_threads(tmp_path: Path) -> None:
    prepare = Judging(failing=("s002",))

    run(tmp_path / "threads.jsonl", prepare=prepare)
    summary = run(tmp_path / "processes.jsonl", options=PROCESSES, prepare=prepare)

    assert (summary.engine, summary.concurrency) == ("processes", 2)
    assert results(tmp_path / "processes.jsonl") == results(tmp_path / "threads.jsonl")


def test_a_process_that_dies_loses_nothing(tmp_path: Path) -> None:
    summary = run(tmp_path / "out.jsonl", options=PROCESSES, prepare=DyingOnce("s004", str(tmp_path / "died")))

    assert (tmp_path / "died").exists()
    assert (summary.answered, summary.failed) == (8, 0)


def test_a_sample_that_ends_every_process_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    summary = run(tmp_path / "out.jsonl", 3, PROCESSES, prepare=Judging(deadly=("s001",)))

    assert (summary.answered, summary.failed) == (2, 1)
    assert "3 workers ended on this sample (SIGKILL)" in results(tmp_path / "out.jsonl")[1]["error"]


@pytest.mark.parametrize("options", [THREADS, PROCESSES])
def test_what_keeps_a_worker_from_loading_is_raised(tmp_path: Path, options: BatchOptions) -> None:
    with pytest.raises(AuthenticationError, match="OPENAI_API_KEY"):
        run(tmp_path / "out.jsonl", options=options, prepare=Unprepared())


def test_a_preview_counts_and_writes_nothing(tmp_path: Path) -> None:
    preview = preview_batch(manifest(8), tmp_path / "out.jsonl", BatchOptions(), batch_settings())

    assert (preview.plan.new, preview.plan.to_do, preview.total.calls, preview.measured) == (8, 8, 40, False)
    assert list(tmp_path.iterdir()) == []


def test_a_preview_refuses_what_the_run_would_refuse(tmp_path: Path) -> None:
    run(tmp_path / "out.jsonl", 3)
    other = BatchOptions(query="Is it sharp?")

    with pytest.raises(ChangedSettingsError, match="query: None"):
        preview_batch(manifest(3), tmp_path / "out.jsonl", other, batch_settings())

    forced = preview_batch(manifest(3), tmp_path / "out.jsonl", replace(other, force=True), batch_settings())
    assert forced.plan.done + forced.plan.changed == 3


def test_a_preview_of_a_priced_backend_gives_the_cost_of_the_rest(tmp_path: Path) -> None:
    priced = load_settings(
        environ={"OPENAI_API_KEY": "not a key"},
        directory=tmp_path,
        overrides={"planner": {"backend": "openai.gpt-4o"}},
    )

    preview = preview_batch(manifest(8), tmp_path / "out.jsonl", BatchOptions(), priced)

    # One planner's call each: 2000 tokens at 2.50 and 250 at 10 dollars per million.
    assert preview.total.cost_usd == pytest.approx(8 * (2000 * 2.5 + 250 * 10) / 1e6)
    assert (preview.engine, preview.concurrency) == ("threads", 8)


def test_a_preview_of_a_begun_batch_counts_what_was_measured(tmp_path: Path) -> None:
    run(tmp_path / "out.jsonl", 8, prepare=Judging(failing=("s003",), calls=7))

    preview = preview_batch(manifest(10), tmp_path / "out.jsonl", BatchOptions(), batch_settings())

    assert (preview.plan.done, preview.plan.failed, preview.plan.new) == (7, 1, 2)
    assert (preview.total.calls, preview.measured) == (21, True)
    assert preview.total.cost_usd == pytest.approx(0.03)
