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


def asked(*files: str, **changes: Any) -> RunRequest:
    """What the service keeps of a request, read back."""
    images = [{"file": file, "name": f"my {file}", "sha256": "0"} for file in files]
    return RunRequest.model_validate({"images": images, "reference": None, "pictures": False, **changes})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # A worker goes into the folder of its run.
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("a.png", "b.png")):
        picture(tmp_path, name, seed=seed)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_an_assessment_comes_back_under_its_own_key() -> None:
    request = asked("a.png", reference={"file": "b.png", "name": "original"})

    kept = carry_out(scripted_assessor(), "assess", request, lambda *_: None).as_json()

    assert set(kept) == {"maps", "assessment"}
    assert Assessment.model_validate(kept["assessment"]).provenance.images["reference image"].path == "b.png"


@pytest.mark.usefixtures("folder")
def test_a_comparison_comes_back_as_a_ranking_by_places() -> None:
    told: list[str] = []

    kept = carry_out(
        scripted_assessor(), "compare", asked("a.png", "b.png"), lambda kind, _: told.append(kind)
    ).as_json()

    assert set(kept) == {"maps", "ranking", "order"}
    assert {entry.name for entry in Ranking.model_validate(kept["ranking"]).entries} == {"1", "2"}
    assert sorted(kept["order"]) == [1, 2]
    assert told.count("image") == 2


@pytest.mark.parametrize("wrong", [{"images": []}, {"format": "bmp"}, {"align": "crop"}])
def test_a_run_that_cannot_be_carried_out_is_no_request(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        asked("a.png", **wrong)


def test_a_run_kept_by_an_earlier_version_can_be_carried_out() -> None:
    kept = {"images": [{"file": "image-1", "name": "a.png", "sha256": "0"}], "reference": None, "query": "Noisy?",
            "choices": None, "max_replan_iterations": None, "align": None, "language": "en"}  # fmt: skip

    request = RunRequest.model_validate(kept)

    assert (request.query, request.names, request.pictures) == ("Noisy?", ["a.png"], True)
