"""Reports: what is read, what is counted, what is drawn, and what may never happen on the page."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from agenticiqa.errors import OutputError, ReportError
from agenticiqa.images import ImageSource, ImageStore, LoadedImage
from agenticiqa.report.figures import extremes, figures_of, histogram, most_disputed
from agenticiqa.report.page import render_page, single_page, write_report
from agenticiqa.report.pictures import picture_of
from agenticiqa.report.records import read_rows, rows_of
from tests.support.agent import picture
from tests.support.results import finding, reading, record

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> <!-- \u2028"


def write_lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in records), encoding="utf-8")
    return path


def embedded(page: str) -> Any:
    """What the page's script will read."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found is not None
    return json.loads(found.group(1))


def test_assessments_and_batch_records_are_read_alike(tmp_path: Path) -> None:
    failed = {"sample_id": "s2", "image_path": "b.png", "assessment": None, "error": "b.png: no such file"}
    path = write_lines(
        tmp_path / "r.jsonl",
        record(score=2.0),
        {"sample_id": "s1", "image_path": "folder/a.png", "assessment": record(score=3.0), "error": None},
        failed,
    )

    rows = read_rows(path)

    assert [(row["id"], row["score"], row["error"]) for row in rows] == [
        ("result 1", 2.0, None),
        ("s1", 3.0, None),
        ("s2", None, "b.png: no such file"),
    ]


def test_of_the_tries_of_one_sample_the_last_counts(tmp_path: Path) -> None:
    failed = {"sample_id": "s1", "image_path": "a.png", "assessment": None, "error": "no key"}
    answered = {**failed, "assessment": record(score=3.0), "error": None}
    file = tmp_path / "results.jsonl"
    file.write_text("\n".join(map(json.dumps, [failed, record(), record(), answered])))

    assert [(row["score"], row["error"]) for row in read_rows(file)][:1] == [(3.0, None)]
    assert len(read_rows(file)) == 3


def test_the_json_of_one_assessment_is_a_report_too(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(record(), indent=2), encoding="utf-8")

    (row,) = read_rows(path)

    assert row["answer"] == "C"


def test_words_with_unusual_line_ends_stay_in_their_line(tmp_path: Path) -> None:
    rows = read_rows(write_lines(tmp_path / "r.jsonl", record(reasoning="one\u2028two\x85three")))

    assert [row["reasoning"] for row in rows] == ["one\u2028two\x85three"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "holds no results"),
        ('{"answer": "A"}\n{"answer": ', "line 2 is not JSON"),
        ('{"colour": "red"}\n', "line 1 is no result"),
        ("[1, 2]\n", "line 1 is no result"),
        ("[" * 100_000, "line 1 is not JSON"),
        ('{"answer": "A", "score": NaN}', "line 1 is not JSON"),
        ('{"answer": "A", "score": "high"}', "line 1 is no result"),
        ('{"answer": "A", "tools": [3]}', "line 1 is no result"),
    ],
)
def test_a_file_that_holds_no_results_is_refused_with_the_line(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(ReportError, match=words):
        read_rows(path)


@pytest.mark.parametrize("name", ["gone.jsonl", ".", "binary"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(ReportError, match="cannot be read"):
        read_rows(tmp_path / name)


def test_a_lone_surrogate_in_a_name_does_not_stop_the_page(tmp_path: Path) -> None:
    write_report([{"sample_id": "caf\udce9", "assessment": record()}], tmp_path / "r.html", title="caf\udce9")

    assert embedded((tmp_path / "r.html").read_text(encoding="utf-8"))["rows"][0]["id"] == "caf\udce9"


def test_figures_are_what_one_counts_by_hand() -> None:
    ledger = {
        "nodes": {"planner": {"calls": 2, "input_tokens": 30, "output_tokens": 5, "cost_usd": 0.25, "seconds": 2}}
    }
    rows = rows_of(
        [
            record(score=2.0, distortions=[finding("Blurs", "slight"), finding("Blurs", "severe", "car")],
                   tools=[reading("ONE", 2.5), reading("TWO", 1.0)], ledger=ledger),
            record(score=4.0, distortions=[finding("Blurs", None), finding("Noise", "none")],
                   tools=[reading("ONE", 3.5), reading("TWO", None, "broke")], ledger=ledger),
            {"sample_id": "x", "assessment": None, "error": "no key"},
        ]
    )  # fmt: skip

    figures = figures_of(rows)

    assert (figures.results, figures.scored, figures.failed) == (3, 2, 1)
    assert (figures.mean, figures.median) == (3.0, 3.0)
    assert figures.distortions == {"Blurs": {"severe": 1, "not judged": 1}}
    one, two = figures.tools
    assert (one.tool, one.readings, one.failures, one.bias, one.distance) == ("ONE", 2, 0, 0.0, 0.5)
    assert (two.tool, two.readings, two.failures, two.bias, two.distance) == ("TWO", 2, 1, -1.0, 1.0)
    assert figures.failures == {"no key": 1}
    assert (figures.calls, figures.tokens, figures.cost) == (4, 70, 0.5)
    assert figures.seconds == pytest.approx(6.0)
    assert [row["disagreement"] for row in rows] == [1.5, None, None]
    assert most_disputed(rows, 5) == [0]


def test_a_cost_that_is_not_known_stays_unknown() -> None:
    rows = rows_of([record(ledger={"nodes": {"planner": {"calls": 1, "cost_usd": None}}}), record()])

    assert figures_of(rows).cost is None


def test_scores_are_counted_by_quarters_of_a_point() -> None:
    counts = histogram([1.0, 1.24, 1.25, 3.0, 5.0])

    assert (counts[0], counts[1], counts[8], counts[15], sum(counts)) == (2, 1, 1, 1, 5)


@pytest.mark.parametrize(
    ("scores", "worst", "best"),
    [
        ([3.0, 1.0, 2.0, 5.0, 4.0], [1, 2], [3, 4]),
        ([3.0, None, 2.0], [2], [0]),
        ([3.0], [0], []),
        ([None], [], []),
    ],
)
def test_no_image_is_among_the_worst_and_the_best(
    scores: list[float | None], worst: list[int], best: list[int]
) -> None:
    assert extremes(rows_of([record(score=score) for score in scores]), 2) == (worst, best)


def test_words_of_users_and_models_cannot_leave_their_place_on_the_page() -> None:
    hostile = record(query=HOSTILE, answer=HOSTILE, reasoning=HOSTILE, error=HOSTILE,
                     distortions=[finding(HOSTILE, HOSTILE)], notes=[HOSTILE])  # fmt: skip

    page = render_page(rows_of([hostile, record()]), {}, HOSTILE)

    assert embedded(page)["rows"][0]["answer"] == HOSTILE
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<img" not in page


def test_the_page_allows_its_own_style_and_script_and_nothing_else() -> None:
    page = render_page(rows_of([record()]), {}, "one")

    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1))  # type: ignore[union-attr]
    style, script = (re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S).group(1) for tag in ("style", "script"))  # type: ignore[union-attr]
    for text in (style, script):
        assert "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'" in policy
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "unsafe" not in policy
    assert not re.search(r"https?://|@import|\ssrc=", page)


def test_the_worst_and_the_best_images_get_pictures(tmp_path: Path) -> None:
    records = [
        {"image_path": picture(tmp_path, f"{score}.png"), "assessment": record(score=score)}
        for score in (1.0, 2.0, 3.0, 4.0, 5.0)
    ]

    count = write_report(records, tmp_path / "r.html", shown=1)

    pictures = embedded((tmp_path / "r.html").read_text(encoding="utf-8"))["pictures"]
    assert count == 5
    assert set(pictures) == {"0", "4"}
    assert all(url.startswith("data:image/jpeg;base64,") for url in pictures["0"].values() if url)


def test_a_picture_is_small_and_has_a_map(tmp_path: Path) -> None:
    import io

    from PIL import Image

    found = picture_of(picture(tmp_path, size=(800, 400)))

    sizes = [
        Image.open(io.BytesIO(base64.b64decode((url or "").partition(",")[2]))).size
        for url in (found.thumbnail, found.quality_map)
    ]
    assert sizes == [(360, 180), (360, 180)]
    assert found.note is None


def test_an_image_that_is_gone_leaves_a_note_instead_of_a_picture() -> None:
    found = picture_of("gone.png")

    assert (found.thumbnail, found.quality_map) == (None, None)
    assert "gone.png: no such file" in str(found.note)


def test_a_single_page_shows_the_one_result() -> None:
    page = single_page(record())

    assert '<body class="one">' in page
    assert len(embedded(page)["rows"]) == 1


def test_an_interrupted_report_leaves_the_old_one(tmp_path: Path) -> None:
    output = tmp_path / "r.html"
    output.write_text("old")

    class Interrupting(ImageStore):
        def open(self, source: ImageSource) -> LoadedImage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_report([{"image_path": "a.png", "assessment": record()}], output, store=Interrupting())

    assert output.read_text() == "old"
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize("place", ["missing/r.html", "file/r.html", "folder"])
def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder" / "inside").mkdir(parents=True)

    with pytest.raises(OutputError, match="cannot be written"):
        write_report([record()], tmp_path / place)

    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]
