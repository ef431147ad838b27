"""The assessor and the command: one call, one record, clear failures."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

import agenticiqa
from agenticiqa.assessor import DEFAULT_QUERY, Assessment, Assessor
from agenticiqa.cli.assess import assess as assess_command
from agenticiqa.cli.command_frame import FriendlyGroup
from agenticiqa.errors import ImageNotFoundError, ImageSizeMismatchError, QueryError, UnknownBackendError, UsageError
from agenticiqa.parts import Parts, build_parts, parts_from
from agenticiqa.vlm_client import VLMClient
from tests.support.agent import FixedTool, picture, plan_reply, registry, script, scripted, settings

ROLES = ("planner", "executor", "summarizer")


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """The command sets logging up for its process; the tests after it must not notice."""
    logger = logging.getLogger("agenticiqa")
    level, handlers = logger.level, list(logger.handlers)
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers


def assessor(client: VLMClient | None = None, *tools: Any) -> Assessor:
    clients = dict.fromkeys(ROLES, client or scripted())
    return Assessor(parts=Parts(clients, registry(*tools), settings()))


def test_an_assessment_holds_answer_score_evidence_and_cost(tmp_path: Path) -> None:
    result = assessor().assess(picture(tmp_path))

    assert (result.query, result.answer, result.level, result.level_name) == (DEFAULT_QUERY, "C", "C", "Fair")
    assert result.score == result.fused_score
    assert result.tool_score == pytest.approx(2.6)
    assert result.model_score == pytest.approx(3.0)
    assert result.probability_source == "classification"
    assert [(f.object_name, f.type, f.severity) for f in result.distortions] == [("Global", "Blurs", "moderate")]
    (reading,) = result.tools
    assert (reading.tool, reading.raw, reading.calibrated, reading.voted) == ("GAUGE", 2.6, 2.6, True)
    assert result.plan is not None
    assert result.ledger.total.calls == 5
    assert result.answered


def test_an_assessment_says_where_it_comes_from(tmp_path: Path) -> None:
    import hashlib

    image = picture(tmp_path)

    provenance = assessor().assess(image).provenance

    assert provenance.images["test image"].sha256 == hashlib.sha256(Path(image).read_bytes()).hexdigest()
    assert provenance.models == dict.fromkeys(ROLES, "scripted")
    assert provenance.version == agenticiqa.__version__
    assert provenance.terms == "research"
    assert provenance.fusion.eta == pytest.approx(1.0)
    assert {"plan", "detect", "score", "answer"} <= set(provenance.prompt_sha256)
    assert len(provenance.settings_sha256) == 64


def test_a_record_survives_the_way_through_json(tmp_path: Path) -> None:
    result = assessor().assess(picture(tmp_path))

    assert Assessment.model_validate_json(result.to_json()) == result
    assert json.loads(result.to_json())["schema_version"] == 3


def test_bytes_arrays_and_pillow_images_are_assessed_like_files(tmp_path: Path) -> None:
    path = Path(picture(tmp_path))
    pixels = np.asarray(Image.open(path))
    sizes: list[Any] = []

    for source in (path, path.read_bytes(), pixels, Image.open(path)):
        result = assessor().assess(source, reference=pixels)
        sizes.append((result.answer, result.provenance.images["test image"].width, result.plan and
                      result.plan.reference_mode))  # fmt: skip

    assert sizes == [("C", 48, "Full-Reference")] * 4


def test_a_reference_of_another_size_is_scaled_when_asked_and_noted(tmp_path: Path) -> None:
    larger = np.zeros((64, 96, 3), np.uint8)

    result = assessor().assess(picture(tmp_path), reference=larger, align="resize")

    reference = result.provenance.images["reference image"]
    assert (reference.width, reference.height) == (48, 32)
    assert "scaled from 96×64 to 48×32 to match the test image" in reference.notes


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"image": "gone.png"}, ImageNotFoundError),
        ({"query": "   "}, QueryError),
        ({"reference": np.zeros((9, 9, 3), np.uint8)}, ImageSizeMismatchError),
        ({"align": "crop"}, UsageError),
        ({"choices": "Yes or No"}, QueryError),
        ({"choices": ["Yes"]}, QueryError),
        ({"choices": {}}, QueryError),
    ],
)
def test_what_cannot_be_used_raises_its_typed_error(
    tmp_path: Path, arguments: dict[str, Any], error: type[Exception]
) -> None:
    client = scripted()

    with pytest.raises(error):
        assessor(client).assess(**{"image": picture(tmp_path), **arguments})

    assert client.requests == []


def test_an_unusable_backend_raises_when_the_assessor_is_made() -> None:
    with pytest.raises(UnknownBackendError, match="nobody"):
        Assessor(settings(planner={"backend": "nobody.knows"}))


def test_a_planner_that_fails_gives_unable_to_determine_with_the_reason(tmp_path: Path) -> None:
    result = assessor(scripted(plan="no json")).assess(picture(tmp_path))

    assert (result.answer, result.score, result.answered) == ("Unable to determine", None, False)
    assert "no valid reply to the task 'plan'" in result.reasoning
    assert result.error == result.reasoning


def test_a_planner_that_fails_on_a_replan_leaves_the_answer_of_the_pass_before(tmp_path: Path) -> None:
    doubtful = {"distortion_set": {"Global": ["Blurs"]}, "uncertainties": ["too dark"]}
    client = scripted(plan=[plan_reply(), "no", "no", "no"], detect=doubtful)

    result = assessor(client).assess(picture(tmp_path))

    assert (result.answer, result.answered, result.error) == ("C", True, None)
    assert "planner: no valid reply" in result.reasoning
    assert result.replan_history == ["[Iteration 1] Uncertain evidence: too dark"]


def test_a_summarizer_that_fails_is_an_error_of_the_record(tmp_path: Path) -> None:
    result = assessor(scripted(score="no json")).assess(picture(tmp_path))

    assert (result.answer, result.reasoning) == ("Unable to determine", "VLM output parsing failed")
    assert result.error is not None
    assert not result.answered


def test_failed_and_uncalibrated_tools_are_listed_and_do_not_vote(tmp_path: Path) -> None:
    client = scripted(select_tools={"selected_tools": {"Global": {"Blurs": "RAW"}}})

    result = assessor(client, FixedTool("RAW", 17.0, calibrated=False)).assess(picture(tmp_path))

    (reading,) = result.tools
    assert (reading.raw, reading.calibrated, reading.voted) == (17.0, None, False)


def test_parts_are_built_once_per_settings() -> None:
    assert build_parts(settings()) is build_parts(settings())
    assert build_parts(settings()) is not build_parts(settings(pipeline={"max_replan_iterations": 0}))


def test_parts_given_to_a_run_are_used_and_only_the_rest_is_built() -> None:
    tools, clients = registry(), dict.fromkeys(ROLES, scripted())

    parts = parts_from({"tools": tools, "vlm_clients": clients, "settings": settings()})

    assert parts.tools is tools
    assert parts.vlm_clients is clients
    assert not parts.deterministic


def test_a_role_without_a_client_gets_the_one_of_the_settings() -> None:
    mine = scripted()

    parts = parts_from({"vlm_clients": {"planner": mine}, "tools": registry(), "settings": settings()})

    assert parts.vlm_clients["planner"] is mine
    assert parts.vlm_clients["summarizer"].model == "builtin.perception"


def test_the_public_names_are_there() -> None:
    for name in agenticiqa.__all__:
        assert getattr(agenticiqa, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = agenticiqa.nothing


def test_importing_the_package_loads_neither_langgraph_nor_onnxruntime_nor_torch() -> None:
    code = "import sys, agenticiqa; print(sorted({'langgraph', 'onnxruntime', 'torch', 'pydantic'} & set(sys.modules)))"

    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert output.strip() == "[]"


def command(tmp_path: Path, *arguments: str, **changes: Any) -> Any:
    file = tmp_path / "script.json"
    file.write_text(json.dumps(script(select_tools={"selected_tools": {}}, **changes)))
    app = typer.Typer(cls=FriendlyGroup)
    app.callback()(lambda: None)
    app.command()(assess_command)
    return CliRunner().invoke(app, ["assess", *arguments, "--backend", f"scripted.{file}"])


def test_the_command_prints_the_answer_and_one_reason_and_the_evidence_only_when_asked(tmp_path: Path) -> None:
    plain, verbose = (command(tmp_path, picture(tmp_path), *more) for more in ((), ("-v",)))

    assert (plain.exit_code, verbose.exit_code) == (0, 0), plain.output
    assert [line[:15] for line in plain.output.splitlines()[1:]] == ["Why: Moderate b", "The model chose"]
    assert " of 5, " in plain.stdout.splitlines()[0]
    assert not [word for word in ("Global", "Overall", "planner", "PIQE", "raw") if word in plain.output]
    assert "Blurs on Global, moderate" in verbose.stdout
    assert "planner" in verbose.stderr


def test_the_command_prints_the_record_as_json(tmp_path: Path) -> None:
    result = command(tmp_path, picture(tmp_path), "Rate it.", "--json", "--max-replan", "0")

    record = Assessment.model_validate_json(result.stdout)
    assert (record.query, record.answer) == ("Rate it.", record.level)
    assert any(note.endswith("the model chose C") for note in record.notes)


def test_the_command_says_once_that_the_score_is_not_the_level_the_model_chose(tmp_path: Path) -> None:
    plain, verbose = (command(tmp_path, picture(tmp_path), "Rate it.", *more) for more in ((), ("-v",)))

    assert plain.stdout.splitlines()[2] == "The model chose Fair; the score is fused with the tools'."
    assert verbose.stdout.count("; the model chose C") == 1


def test_no_answer_is_exit_code_1_with_the_reason(tmp_path: Path) -> None:
    result = command(tmp_path, picture(tmp_path), plan="no json")

    assert result.exit_code == 1
    assert "Answer: Unable to determine" in result.output
    assert "no valid reply to the task 'plan'" in result.output


def test_a_missing_image_is_a_usage_error(tmp_path: Path) -> None:
    result = command(tmp_path, str(tmp_path / "gone.png"))

    assert result.exit_code == 2
    assert "gone.png: no such file" in result.stderr


def test_progress_goes_to_the_error_stream(tmp_path: Path) -> None:
    result = command(tmp_path, picture(tmp_path), "--verbose", "--json")

    assert "executor: distortion_detection finished" in result.stderr
    Assessment.model_validate_json(result.stdout)


@pytest.mark.parametrize(("eta", "part"), [(0.0, "tools are shown, the model decides"), (1.0, "tools vote")])
def test_the_provenance_says_what_the_tools_did(tmp_path: Path, eta: float, part: str) -> None:
    client = scripted()
    weights = {client.model: {"No-Reference": {"eta": eta}}}
    chosen = settings(pipeline={"fusion_weights": weights})
    parts = Parts(dict.fromkeys(("planner", "executor", "summarizer"), client), registry(), chosen)

    assert Assessor(parts=parts).assess(picture(tmp_path)).provenance.fusion.tools == part
