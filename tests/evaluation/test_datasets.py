"""Data sets read from copies of the folders their owners publish."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.io import savemat

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.datasets import DATASETS, dataset
from agenticiqa.evaluation.datasets.files import Folder
from agenticiqa.evaluation.datasets.manifest import read_manifest
from agenticiqa.evaluation.datasets.pairs import TID2013_SCALE
from agenticiqa.evaluation.datasets.photographs import BIQ2021_SCALE
from agenticiqa.evaluation.samples import OpinionScale, QuestionSet, RatedSet
from tests.evaluation import copies


def read_copy(name: str, root: Path) -> RatedSet:
    """The rated set read from a fresh copy."""
    build: Callable[[Path], None] = getattr(copies, name.replace("-", "_"))
    build(root)
    found = dataset(name).read(root)
    assert isinstance(found, RatedSet)
    return found


def test_every_data_set_has_a_copy_to_be_read_from() -> None:
    assert all(hasattr(copies, name.replace("-", "_")) for name in DATASETS)


def test_tid2013_is_read_whatever_the_case_and_missing_pictures_are_named(tmp_path: Path) -> None:
    found = read_copy("tid2013", tmp_path)

    first = found.samples[0]
    assert (first.opinion, first.group, first.kind, first.level) == (5.51429, "I01", "white_noise", "1")
    assert (first.image.name, first.reference and first.reference.name) == ("i01_01_1.bmp", "I01.BMP")
    assert [sample.kind for sample in found.samples] == ["white_noise", "gaussian_blur", "sparse_sampling"]
    assert found.missing == ("I02_02_2.bmp",)
    assert found.has_references


def test_kadids_dmos_is_higher_better(tmp_path: Path) -> None:
    found = read_copy("kadid10k", tmp_path)

    assert [sample.opinion for sample in found.samples] == [4.57, 1.3]
    assert (found.samples[1].kind, found.samples[1].level, found.samples[1].group) == ("type 25", "5", "I01")
    assert found.common[0] > found.common[1]


def test_csiqs_dmos_is_turned_round(tmp_path: Path) -> None:
    found = read_copy("csiq", tmp_path)

    assert [(sample.kind, sample.opinion) for sample in found.samples] == [("awgn", 0.062), ("jpeg2000", 0.8)]
    assert found.opinions.tolist() == [-0.062, -0.8]
    assert found.common == pytest.approx([1 + 4 * (1 - 0.062), 1 + 4 * 0.2])
    assert "DMOS 0 to 1, lower is better" in found.scale.in_words()


def test_csiq_is_read_from_a_text_export_too(tmp_path: Path) -> None:
    copies.csiq(tmp_path)
    (tmp_path / "csiq.DMOS.xlsx").unlink()
    lines = ["\t".join(str(cell) for cell in row) for row in copies.CSIQ_TABLE[1:]]
    (tmp_path / "csiq.DMOS.txt").write_text("\n".join(lines))

    found = dataset("csiq").read(tmp_path)

    assert isinstance(found, RatedSet)
    assert [sample.opinion for sample in found.samples] == [0.062, 0.8]


def test_lives_originals_are_left_out(tmp_path: Path) -> None:
    found = read_copy("live", tmp_path)

    assert [sample.name for sample in found.samples] == [
        "jp2k/img1.bmp", "jpeg/img1.bmp", "wn/img1.bmp", "gblur/img1.bmp", "fastfading/img1.bmp",
    ]  # fmt: skip
    assert [sample.opinion for sample in found.samples] == [55.0, 56.0, 57.0, 58.0, 59.0]
    assert {sample.group for sample in found.samples} == {"bikes"}


def test_live_in_the_wild_leaves_the_seven_practice_pictures_out(tmp_path: Path) -> None:
    found = read_copy("live-challenge", tmp_path)

    assert [(sample.name, sample.opinion) for sample in found.samples] == [("3.bmp", 63.9), ("5.jpg", 40.5)]
    assert found.missing == ("gone.bmp",)
    assert not found.has_references


@pytest.mark.parametrize(
    ("name", "opinions"),
    [("koniq10k", [3.828571429]), ("spaq", [50.91]), ("agiqa3k", [1.2047]), ("bid", [2.5833])],
)
def test_lists_of_photographs_are_read(name: str, opinions: list[float], tmp_path: Path) -> None:
    assert [sample.opinion for sample in read_copy(name, tmp_path).samples] == opinions


def test_biq2021_keeps_its_splits_and_finds_the_suffix_in_capitals(tmp_path: Path) -> None:
    found = read_copy("biq2021", tmp_path)

    assert [(sample.opinion, sample.split) for sample in found.samples] == [(0.8471, "train"), (0.2874, "test")]
    assert [sample.opinion for sample in found.thinned(None, "test").samples] == [0.2874]


def test_pipals_lists_are_joined_over_its_folders(tmp_path: Path) -> None:
    found = read_copy("pipal", tmp_path)

    assert [(sample.opinion, sample.kind) for sample in found.samples] == [(1448.9605, "type 00"), (1230.5, "type 01")]


def test_qbench_questions_have_letters(tmp_path: Path) -> None:
    copies.qbench(tmp_path)

    found = dataset("qbench").read(tmp_path)

    assert isinstance(found, QuestionSet)
    question = found.questions[0]
    assert (question.choices, question.answer) == ({"A": "Yes", "B": "No"}, "B")
    assert (question.kind, question.category) == ("0", "0")
    assert found.missing == ("gone.jpg",)


def test_agenticiqa_eval_is_read_from_its_manifest(tmp_path: Path) -> None:
    copies.agenticiqa_eval(tmp_path)

    found = dataset("agenticiqa-eval").read(tmp_path)

    assert isinstance(found, QuestionSet)
    question = found.questions[0]
    assert (question.answer, question.task, question.kind) == ("B", "executor_distortion", "Full-Reference")
    assert question.reference is not None


@pytest.mark.parametrize("name", list(DATASETS))
def test_a_data_set_that_is_not_there_is_named_with_home_page_and_layout(name: str, tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(DatasetError) as caught:
            dataset(name).read(root)

        assert DATASETS[name].home in str(caught.value)
        assert DATASETS[name].layout in str(caught.value)


def test_a_folder_with_tables_but_no_pictures_says_so(tmp_path: Path) -> None:
    copies.koniq10k(tmp_path)
    (tmp_path / "512x384/10004473376.jpg").unlink()

    with pytest.raises(DatasetError, match=r"1 listed pictures are missing, for example .*10004473376"):
        dataset("koniq10k").read(tmp_path)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(DatasetError, match="tid2013, kadid10k"):
        dataset("imagenet")


def test_a_spreadsheet_that_is_none_is_named(tmp_path: Path) -> None:
    copies.spaq(tmp_path)
    (tmp_path / "Annotations/MOS and Image attribute scores.xlsx").write_text("no zip")

    with pytest.raises(DatasetError, match=r"cannot be read as \.xlsx"):
        dataset("spaq").read(tmp_path)


def test_a_manifest_takes_ratings_references_and_distortions(tmp_path: Path) -> None:
    for name in ("a.png", "b.PNG", "original.png"):
        copies.picture(tmp_path / name)
    rows = "image,rating,reference,distortion\na.png,4,original.png,Blurs\nb.png,2,original.png,Noise\ngone.png,1,,\n"
    (tmp_path / "ratings.csv").write_text(rows)

    found = read_manifest(tmp_path / "ratings.csv")

    assert isinstance(found, RatedSet)
    assert [(sample.opinion, sample.kind, sample.group) for sample in found.samples] == [
        (4.0, "Blurs", "original"), (2.0, "Noise", "original"),
    ]  # fmt: skip
    assert found.missing == ("gone.png",)
    assert (found.scale.low, found.scale.high) == (1.0, 5.0)


def test_a_manifests_range_can_be_given_and_dmos_is_lower_better(tmp_path: Path) -> None:
    copies.picture(tmp_path / "a.png")
    copies.picture(tmp_path / "b.png", 1)
    (tmp_path / "ratings.csv").write_text("image,dmos\na.png,40\nb.png,10\n")

    guessed = read_manifest(tmp_path / "ratings.csv")
    given = read_manifest(tmp_path / "ratings.csv", scale=OpinionScale(0, 50))

    assert isinstance(guessed, RatedSet)
    assert isinstance(given, RatedSet)
    assert guessed.common.tolist() == pytest.approx([1 + 4 * 0.6, 1 + 4 * 0.9])
    assert given.common.tolist() == pytest.approx([1 + 4 * 0.2, 1 + 4 * 0.8])


def test_a_range_the_wrong_way_round_is_refused(tmp_path: Path) -> None:
    copies.picture(tmp_path / "a.png")
    (tmp_path / "ratings.csv").write_text("image,rating\na.png,4\n")

    with pytest.raises(DatasetError, match="give the lowest rating first"):
        read_manifest(tmp_path / "ratings.csv", scale=OpinionScale(5, 1))


def test_a_rating_outside_the_range_given_is_named_with_its_line(tmp_path: Path) -> None:
    copies.picture(tmp_path / "a.png")
    copies.picture(tmp_path / "b.png", 1)
    (tmp_path / "ratings.csv").write_text("image,rating\na.png,4\nb.png,7\n")

    with pytest.raises(DatasetError, match="line 3, rating: 7 is outside the range 1 to 5"):
        read_manifest(tmp_path / "ratings.csv", scale=OpinionScale(1, 5))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,value\na.png,1\n", "expected a CSV or JSON Lines file"),
        ("image,rating\na.png,good\n", "'good' is no number"),
        ("image,rating\n", "holds no rows"),
        ("image,rating\na.png,nan\n", r"table\.csv: line 2, rating: 'nan' is no number; write one"),
        ("image,question,options,answer\na.png,,A. x | B. y,A\n", "line 2, question: is missing"),
        ("image,question,options,answer\nb.png,Why?,A. x | B. y,A\n", r"none of its 1 pictures is there.*b\.png"),
        ("image,question,options,answer\na.png,Why?,A. x | B. y,C\n", "is none of the options"),
    ],
)
def test_a_manifest_that_cannot_be_used_says_why(text: str, message: str, tmp_path: Path) -> None:
    copies.picture(tmp_path / "a.png")
    (tmp_path / "table.csv").write_text(text)

    with pytest.raises(DatasetError, match=message):
        read_manifest(tmp_path / "table.csv")


@pytest.mark.parametrize(
    "options",
    [
        "A. Yes; a little | B. No",
        "A. Yes; a little\nB. No",
        ["A) Yes; a little", "B) No"],
        '["Yes; a little", "No"]',
        '{"A": "Yes; a little", "B": "No"}',
    ],
)
def test_choices_are_parted_by_one_mark(options: object, tmp_path: Path) -> None:
    copies.picture(tmp_path / "a.png")
    row = {"image": "a.png", "question": "Is it blurred?", "options": options, "answer": "B"}
    (tmp_path / "table.jsonl").write_text(json.dumps(row))

    found = read_manifest(tmp_path / "table.jsonl")

    assert isinstance(found, QuestionSet)
    assert found.questions[0].choices == {"A": "Yes; a little", "B": "No"}


def test_every_fault_of_a_manifest_is_told_at_once_with_the_line_an_editor_shows(tmp_path: Path) -> None:
    copies.picture(tmp_path / "a.png")
    rows = ['"a.png",3,"two\nlines"', "a.png,abc,x", "", "a.png,,x", *["a.png,no,x"] * 10]
    (tmp_path / "table.csv").write_text("\n".join(["image,rating,distortion", *rows]) + "\n")

    with pytest.raises(DatasetError) as caught:
        read_manifest(tmp_path / "table.csv")

    lines = [line.strip() for line in str(caught.value).splitlines()]
    assert lines[0].endswith("table.csv: 12 rows cannot be used")
    assert lines[1] == "line 4, rating: 'abc' is no number; write one, or take the row out"
    assert lines[2].startswith("line 6, rating: ''")
    assert lines[-1] == "and 2 more"


def test_a_row_of_json_without_a_rating_is_named(tmp_path: Path) -> None:
    copies.picture(tmp_path / "a.png")
    (tmp_path / "table.jsonl").write_text('{"image": "a.png", "mos": 3}\n{"image": "a.png"}\n')

    with pytest.raises(DatasetError, match="line 2, mos: None is no number"):
        read_manifest(tmp_path / "table.jsonl")


def test_a_path_names_its_own_file_however_it_is_written(tmp_path: Path) -> None:
    own, copied = copies.picture(tmp_path / "in/img.png", 1), copies.picture(tmp_path / "in/backup/img.png", 2)
    beside = copies.picture(tmp_path / "beside/img.png", 3)
    folder = Folder(tmp_path / "in")

    assert [folder.find(name) for name in ("img.png", "./img.png", "IMG.PNG", str(own))] == [own] * 4
    assert [folder.find(name) for name in ("backup/img.png", "backup\\img.png")] == [copied] * 2
    assert Path(folder.find("../beside/img.png") or "").resolve() == beside


def test_a_bare_name_that_two_folders_hold_is_not_guessed(tmp_path: Path) -> None:
    for place in ("a", "b"):
        copies.picture(tmp_path / place / "img.png")

    with pytest.raises(DatasetError, match=r"img\.png: stands in .*a and in .*b; name its folder too"):
        Folder(tmp_path).find("img.png")


def test_lists_of_different_length_are_not_joined(tmp_path: Path) -> None:
    copies.live(tmp_path)
    savemat(tmp_path / "refnames_all.mat", {"refnames_all": np.array([["bikes.bmp"] * 9], dtype=object)})

    with pytest.raises(DatasetError, match="10 scores, 10 marks, 9 references"):
        dataset("live").read(tmp_path)


def test_lives_realigned_scores_may_have_either_name(tmp_path: Path) -> None:
    copies.live(tmp_path)
    dmos = np.array([[55.0 + place, 0.0] for place in range(5)]).reshape(1, -1)
    savemat(tmp_path / "dmos_realigned.mat", {"dmos": dmos, "orgs": np.array([[0, 1] * 5])})

    found = dataset("live").read(tmp_path)

    assert isinstance(found, RatedSet)
    assert [sample.opinion for sample in found.samples] == [55.0, 56.0, 57.0, 58.0, 59.0]


def test_a_spreadsheets_empty_last_row_is_no_rating(tmp_path: Path) -> None:
    copies.picture(tmp_path / "TestImage/00001.jpg")
    rows: list[list[object]] = [["Image name", "MOS", "Noisiness"], ["00001.jpg", 50.91, 1], ["", "", 0]]
    copies.sheet(tmp_path / "Annotations/MOS and Image attribute scores.xlsx", rows)

    found = dataset("spaq").read(tmp_path)

    assert isinstance(found, RatedSet)
    assert [sample.opinion for sample in found.samples] == [50.91]


def test_the_fitted_maps_are_those_the_models_were_trained_with() -> None:
    scales = yaml.safe_load((Path(__file__).parents[2] / "training/scales.yaml").read_text())

    assert [list(knot) for knot in TID2013_SCALE.knots] == scales["tid2013"]["knots"]
    assert [list(knot) for knot in BIQ2021_SCALE.knots] == scales["biq2021"]["knots"]


def test_a_draw_is_seeded_and_keeps_the_order(tmp_path: Path) -> None:
    for number in range(20):
        copies.picture(tmp_path / f"{number:02d}.png", number)
    lines = [f"{number:02d}.png,{1 + number % 5}" for number in range(20)]
    (tmp_path / "r.csv").write_text("image,mos\n" + "\n".join(lines))
    found = read_manifest(tmp_path / "r.csv")
    assert isinstance(found, RatedSet)

    first, second = (found.thinned(6, seed=3) for _ in range(2))

    names = [sample.name for sample in first.samples]
    assert names == [sample.name for sample in second.samples] == sorted(names)
    assert np.unique(names).size == 6
