"""Fusing a hosted model's recorded answers with AIQA_NR, on answers that are simulated."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from benchmarks.recorded_fusion import ALLOWED_LOSS, read_answers, report_recorded, simulated, write_answers


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Opinions, and a tool that errs by .5 as AIQA_NR does."""
    random, path = np.random.default_rng(4), tmp_path / "scores.csv"
    opinions = np.clip(random.normal(3.4, 0.9, 400), 1, 5)
    with path.open("w", newline="") as file:
        rows = zip(opinions, np.clip(opinions + random.normal(0, 0.5, 400), 1, 5), strict=True)
        csv.writer(file).writerows(
            [("image", "opinion", "aiqa_nr"), *((f"{n}.jpg", *row) for n, row in enumerate(rows))]
        )
    return path


@pytest.mark.parametrize("target", [0.6, 0.75, 0.9])
def test_fused_answers_are_not_worse_than_the_better_part(target: float, scores: Path, tmp_path: Path) -> None:
    write_answers(tmp_path / "recorded.csv", simulated(scores, target))
    lines: list[str] = []

    found = report_recorded(read_answers(tmp_path / "recorded.csv"), lines.append)

    assert found.model[0] == pytest.approx(target, abs=0.06)
    assert found.loss <= ALLOWED_LOSS
    assert found.fused[1] < found.fused[0] < found.fused[2]
    assert "400 pictures" in lines[0]


def test_a_bare_score_is_read_as_beliefs_around_it(tmp_path: Path) -> None:
    (tmp_path / "recorded.csv").write_text("image,opinion,score,aiqa_nr\na.jpg,3,3.2,3\nb.jpg,4,4.4,4\n")

    answers = read_answers(tmp_path / "recorded.csv")

    assert answers.model_only() == pytest.approx([3.2, 4.4], abs=1e-3)
