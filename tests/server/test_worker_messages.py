"""What a worker is told and hands back: models, whose JSON is what the service keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agenticiqa.assessor import Assessment, Ranking
from agenticiqa.server.workers.messages import RunRequest
from agenticiqa.server.workers.worker import carry_out
from tests.support.agent import picture
from tests.support.results import scripted_assessor


def task(folder: Path, *files: str, **changes: Any) -> dict[str, Any]:
    """A run as the service sends it, with what it keeps besides."""
    images = [{"file": file, "name": f"my {file}", "sha256": "0"} for file in files]
    return {
        "kind": "assess", "folder": str(folder), "images": images, "reference": None, "query": None, "choices": None,
        "max_replan_iterations": None, "align": None, "pictures": False, "language": "en", **changes,
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # A worker goes into the folder of its run.
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("a.png", "b.png")):
        picture(tmp_path, name, seed=seed)
    return tmp_path


def test_an_assessment_comes_back_under_its_own_key(folder: Path) -> None:
    request = RunRequest.model_validate(task(folder, "a.png", reference={"file": "b.png", "name": "original"}))

    kept = carry_out(scripted_assessor(), request, lambda *_: None).as_json()

    assert set(kept) == {"maps", "assessment"}
    assert Assessment.model_validate(kept["assessment"]).provenance.images["reference image"].path == "b.png"


def test_a_comparison_comes_back_as_a_ranking_by_places(folder: Path) -> None:
    told: list[str] = []
    request = RunRequest.model_validate(task(folder, "a.png", "b.png", kind="compare"))

    kept = carry_out(scripted_assessor(), request, lambda kind, _: told.append(kind)).as_json()

    assert set(kept) == {"maps", "ranking", "order"}
    assert {entry.name for entry in Ranking.model_validate(kept["ranking"]).entries} == {"1", "2"}
    assert sorted(kept["order"]) == [1, 2]
    assert told.count("image") == 2


@pytest.mark.parametrize("wrong", [{"images": []}, {"kind": "paint"}, {"align": "crop"}])
def test_a_run_that_cannot_be_carried_out_is_no_request(folder: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        RunRequest.model_validate(task(folder, "a.png") | wrong)
