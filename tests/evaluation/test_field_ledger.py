"""The ledger of the field: paired differences, what turns red, what turns it green again, and the list of looks."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from agenticiqa.errors import UsageError
from agenticiqa.evaluation.statistics import mean, srcc
from benchmarks.field.__main__ import main
from benchmarks.field.figures import Measured, difference, is_fall, opinion_figures, share_figure
from benchmarks.field.flaws import Labelled, flaw_figures
from benchmarks.field.ledger import LEDGER, FieldLedger
from benchmarks.field.sources import Data, Picture, Source
from benchmarks.field.table import FRONT, README, WHOLE, markdown, quoted
from benchmarks.field.versions import RECORDS, Versions

COUNT = 40


def measured(values: list[float], observed: list[float] | None = None, half: str = "check") -> Measured:
    ids = tuple(map(str, range(len(values))))
    truth = np.array(observed if observed is not None else values)
    statistic = mean if observed is None else srcc
    return Measured("a figure", "check" if half == "check" else "decide", statistic, ids, np.array(values), truth, ids)


def write_sample(folder: Path, scores: dict[str, list[float]]) -> list[str]:
    """A KonIQ sample of made-up opinions with records of made-up scores by version; the arguments that read them."""
    (folder / "data/field/test_data/koniq").mkdir(parents=True)
    names = [f"{number:02}.jpg" for number in range(COUNT)]
    columns = ("image", "mos", "vlm_direct", "vlm_reasoned", "vlm_skills", "vlm_router")
    rows = [(name, 1 + number / 10, *[2 + number % 3] * 4) for number, name in enumerate(names)]
    write_table(folder / "data/field/koniq-200.csv", columns, rows)
    for version, told in scores.items():
        (folder / "records" / version).mkdir(parents=True)
        write_table(
            folder / "records" / version / "koniq.csv",
            ("id", "score", "low", "high", "low80", "high80", "findings"),
            [(name, score, score - 1, score + 1, "", "", "") for name, score in zip(names, told, strict=True)],
        )
    return ["check", "--recorded", "--only", "koniq", "--for", "a test", "--data", str(folder / "data"), "--records",
            str(folder / "records"), "--ledger", str(folder / "field.json")]  # fmt: skip


def write_table(path: Path, columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as lines:
        csv.writer(lines).writerows([columns, *rows])


def rising() -> list[float]:
    return [1 + number / 10 for number in range(COUNT)]


def shuffled() -> list[float]:
    return [float(value) for value in np.random.default_rng(0).permutation(rising())]


def test_a_constant_difference_of_means_has_an_interval_of_no_width() -> None:
    found = difference(measured([0.1, 0.4, 0.7]), measured([0.2, 0.5, 0.8]))
    assert (found.value, found.low, found.high) == pytest.approx((-0.1, -0.1, -0.1))


def test_a_reversed_order_is_two_apart_in_every_resample() -> None:
    opinions = [1.0, 2.0, 3.0, 4.0, 5.0]
    found = difference(measured(opinions[::-1], opinions), measured(opinions, opinions))
    assert (found.value, found.low, found.high) == pytest.approx((-2.0, -2.0, -2.0))


def test_only_pictures_both_versions_have_are_compared() -> None:
    old, new = measured([0.0, 1.0, 0.5]), measured([0.0, 1.0])
    assert difference(new, old).value == 0.0


def test_a_difference_whose_interval_holds_zero_is_no_fall() -> None:
    new, old = measured([0.0, 1.0, 0.0, 1.0]), measured([1.0, 0.0, 1.0, 0.0])
    assert not is_fall(difference(new, old), "higher")


def test_more_false_alarms_are_a_fall_and_fewer_are_not() -> None:
    many, few = (share_figure("alarms", "check", dict.fromkeys("abcd", value), "lower") for value in (0.3, 0.1))
    assert is_fall(difference(many, few), "lower")
    assert not is_fall(difference(few, many), "lower")


def test_agreement_coverage_and_width_are_those_worked_out_by_hand() -> None:
    pictures = tuple(Picture(str(n), Path(), 1 + n / 10, str(n)) for n in range(COUNT))
    # Scores half a step too high, intervals of 0.4 below and above: none holds its opinion but the first ten.
    rows = {p.id: {"score": str(p.opinion + 0.5), "low": str(p.opinion + (0.1 if n >= 10 else -0.1)),
                   "high": str(p.opinion + 0.9)} for n, p in enumerate(pictures)}  # fmt: skip
    found = {f.name: f.interval().value for f in opinion_figures(Source("s", "check", pictures, (1, 5)), rows)}
    assert found["s SRCC"] == pytest.approx(1.0)
    assert found["s PLCC"] == pytest.approx(1.0)
    assert found["s covered by 95 %"] == pytest.approx(10 / 40)
    assert found["s width of 95 %"] == pytest.approx((10 * 1.0 + 30 * 0.8) / 40)


def test_flaws_found_and_false_alarms_are_counted_and_slight_ones_count_neither_way() -> None:
    names = [f"{n:02}" for n in range(30)]
    blurred, slight = names[:10], names[10:15]
    labelled = Labelled("s", "check", dict.fromkeys(names, Path()),
                        {n: frozenset({"Blurs"} if n in blurred else ()) for n in names},
                        {n: frozenset({"Blurs"} if n in slight else ()) for n in names})  # fmt: skip
    said = {n: {"findings": "Blurs:2" if n in names[4:18] else "Blurs:1"} for n in names}
    found = {f.name: f.interval().value for f in flaw_figures(labelled, said)}
    assert found == {"s Blurs found": pytest.approx(6 / 10), "s Blurs false alarms": pytest.approx(3 / 15)}


def test_a_planted_fall_is_red_until_its_reason_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = write_sample(tmp_path, {"0.1.0": rising(), "0.2.0": shuffled()})
    assert main([*command, "--version", "0.1.0"]) == 0
    assert main([*command, "--version", "0.2.0"]) == 1
    assert "koniq SRCC, koniq PLCC" in capsys.readouterr().out
    ledger = FieldLedger.read(tmp_path / "field.json")
    fallen = [entry for entry in ledger.figures.values() if entry.is_red]
    assert {(entry.best, entry.best_value) for entry in fallen[:1]} == {("0.1.0", 1.0)}
    for entry in fallen:
        entry.reason = "the opinions were shuffled"
    ledger.write(tmp_path / "field.json")
    assert main([*command, "--version", "0.2.0"]) == 0


def test_a_reason_does_not_cover_a_further_fall() -> None:
    opinions = rising()
    ledger, best = FieldLedger(), {"0.1.0": measured(opinions, opinions)}
    worse = [*opinions[20:], *opinions[:20]]
    ledger.enter("0.2.0", measured(worse, opinions), best).reason = "known"
    assert not ledger.enter("0.2.0", measured(worse, opinions), best).is_red
    assert ledger.enter("0.3.0", measured(opinions[::-1], opinions), best).is_red


def test_a_fall_in_the_half_that_decides_is_told_and_not_red() -> None:
    opinions = rising()
    ledger, best = FieldLedger(), {"0.1.0": measured(opinions, opinions, "decide")}
    entry = ledger.enter("0.2.0", measured(opinions[::-1], opinions, "decide"), best)
    assert entry.fall
    assert not entry.is_red


def test_every_look_at_the_check_half_is_listed_with_what_it_is_for(tmp_path: Path) -> None:
    command = write_sample(tmp_path, {"0.1.0": rising()})
    main([*command, "--version", "0.1.0"])
    main([*command, "--version", "0.1.0", "--for", "another one"])
    looks = FieldLedger.read(tmp_path / "field.json").looks
    assert [(look.version, look.sources, look.purpose) for look in looks] == [
        ("0.1.0", ["koniq"], "a test"),
        ("0.1.0", ["koniq"], "another one"),
    ]


def test_a_look_without_a_purpose_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["check", "--data", str(tmp_path), "--ledger", str(tmp_path / "field.json")])
    assert refused.value.code == 2
    assert "--for" in capsys.readouterr().err


def test_a_missing_source_is_named_with_the_way_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["decide", "--only", "mmp2k", "--data", str(tmp_path), "--records", str(tmp_path), "--ledger",
              str(tmp_path / "field.json")])  # fmt: skip
    assert refused.value.code == 2
    assert "mmp2k-table/MMP-2k.csv" in capsys.readouterr().err


def test_this_version_orders_damage_of_bundled_photographs_no_worse_than_the_best_release(tmp_path: Path) -> None:
    """The part of the check half that needs no outside data: recorded now, paired with the releases' records.

    A fall is excused by its reason in the committed ledger, and by nothing else.
    """
    (tmp_path / "field.json").write_bytes(LEDGER.read_bytes())
    for release in RECORDS.iterdir():
        if (release / "ladders.csv").exists():
            (tmp_path / "records" / release.name).mkdir(parents=True)
            (tmp_path / "records" / release.name / "ladders.csv").write_bytes((release / "ladders.csv").read_bytes())
    (tmp_path / "records" / "unreleased" / "ladders.csv").unlink(missing_ok=True)
    main(["check", "--only", "ladders", "--for", "the test suite", "--records", str(tmp_path / "records"),
                 "--ledger", str(tmp_path / "field.json")])  # fmt: skip
    figures = FieldLedger.read(tmp_path / "field.json").figures
    entry = figures["ladders SRCC"]
    assert [name for name, each in figures.items() if each.is_red and name.startswith("ladders")] == []
    assert entry.n == 40
    assert entry.best is not None
    assert entry.value > 0.7


def test_one_part_is_recorded_anew_without_touching_the_others(tmp_path: Path) -> None:
    package = tmp_path / "src" / "agenticiqa"
    package.mkdir(parents=True)
    (package / "code.py").write_text("one = 1\n")
    versions = Versions(Data([]), tmp_path / "records")
    for part in ("koniq", "spaq"):
        versions.stamp("unreleased", part, tmp_path / "src")
        (tmp_path / "records/unreleased" / f"{part}.csv").write_text("id,score\n")
    (package / "code.py").write_text("one = 2\n")
    versions.stamp("unreleased", "koniq", tmp_path / "src")
    assert [path.name for path in sorted((tmp_path / "records/unreleased").glob("*.csv"))] == ["spaq.csv"]
    versions.stamp("0.2.0", "koniq", tmp_path / "src")
    (package / "code.py").write_text("one = 3\n")
    with pytest.raises(UsageError, match=r"koniq of 0\.2\.0 was recorded with other code"):
        versions.stamp("0.2.0", "koniq", tmp_path / "src")


def test_an_unknown_part_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", "--only", "konik", "--for", "a test", "--ledger", str(tmp_path / "field.json")])
    assert ended.value.code == 2
    assert "--only konik" in capsys.readouterr().err


def test_the_table_for_documents_tells_wins_and_losses_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = write_sample(tmp_path, {"0.1.0": shuffled(), "0.2.0": rising()})
    main([*command, "--version", "0.1.0"])
    main([*command, "--version", "0.2.0"])
    capsys.readouterr()
    main(["table", "--markdown", "--ledger", str(tmp_path / "field.json")])
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| KonIQ-10k"))
    before = f"{srcc(np.array(shuffled()), np.array(rising())):.3f}"
    assert [cell.strip() for cell in row.split("|")[2:6]] == ["40", "", before, "1.000"]
    assert row.endswith("better |")


def test_readme_and_the_ledgers_page_quote_the_ledger() -> None:
    """`python -m benchmarks.field table --write` brings them up to date."""
    ledger = FieldLedger.read()
    assert quoted(README) == markdown(ledger, FRONT)
    assert quoted(WHOLE) == markdown(ledger)
