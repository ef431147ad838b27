"""Data sets of single pictures, one function each: photographs as cameras took them, and generated pictures."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.datasets import files
from agenticiqa.evaluation.datasets.files import Folder
from agenticiqa.evaluation.samples import OpinionScale, RatedSet

# Half of the photographs lie above 0.72: a straight line would call most of them good.
BIQ2021_SCALE = OpinionScale(
    0, 1, knots=((0.149, 1.0), (0.42, 1.9), (0.53, 2.7), (0.62, 3.5), (0.70, 4.2), (0.78, 4.6), (0.891, 5.0))
)
LIVE_CHALLENGE_PRACTICE = 7


def agiqa3k(root: Path) -> RatedSet:
    """AGIQA-3K: generated pictures; opinions on their quality, not on how well they fit the prompt."""
    rows = files.table(files.require(root, "data.csv"), "name", "mos_quality")
    rated = [(row["name"], files.number(row["mos_quality"], "data.csv"), None) for row in rows]
    note = "knowing only which generator made a picture is reported to give SRCC .626"
    return files.listed("agiqa3k", Folder(root), rated, OpinionScale(0, 4.5), note)


def bid(root: Path) -> RatedSet:
    """BID: large photographs with real blur; the spreadsheet holds the number of each and its average grade."""
    path = files.require(root, "DatabaseGrades.xlsx")
    rated: list[tuple[str, float, None]] = []
    for row in files.sheets(path)[0]:
        # Headings have no numbers.
        with suppress(ValueError, IndexError):
            place, grade = int(float(row[0])), float(row[1])
            if 0 <= grade <= 5:
                rated.append((f"DatabaseImage{place:04d}.JPG", grade, None))
    if not rated:
        raise DatasetError(f"{path}: no row holds an image number and an average grade from 0 to 5")
    return files.listed("bid", Folder(files.require(root, "ImageDatabase")), rated, OpinionScale(0, 5))


def biq2021(root: Path) -> RatedSet:
    """BIQ2021: photographs with authentic distortions, with their owners' `split` train or test."""
    tables = {split.lower(): files.require(root, f"{split} (Images and MOS).csv") for split in ("Train", "Test")}
    rated = [
        (row["image name"], files.number(row["mos"], path.name), split)
        for split, path in tables.items()
        for row in files.table(path, "Image Name", "MOS")
        if row["image name"]
    ]
    return files.listed(
        "biq2021", Folder(files.require(root, "Images")), rated, BIQ2021_SCALE, "near twins across its splits"
    )


def koniq10k(root: Path) -> RatedSet:
    """KonIQ-10k, at full or half size."""
    path = files.require(root, "koniq10k_scores_and_distributions.csv")
    rated = [
        (row["image_name"], files.number(row["mos"], path.name), None) for row in files.table(path, "image_name", "MOS")
    ]
    folder = files.require(root, "1024x768", "512x384")
    return files.listed("koniq10k", Folder(folder), rated, OpinionScale(1, 5), f"pictures of {folder.name}")


def live_challenge(root: Path) -> RatedSet:
    """LIVE in the Wild: photographs as phones took them, without the seven for the raters' practice."""
    inner = root / "ChallengeDB_release"
    base = inner if inner.is_dir() else root
    names = list(files.texts(files.matrix(files.require(base, "Data/AllImages_release.mat"), "AllImages_release")))
    opinions = files.matrix(files.require(base, "Data/AllMOS_release.mat"), "AllMOS_release")
    files.require_equal(base, names=len(names), scores=len(opinions))
    rated = [(name, float(opinion), None) for name, opinion in zip(names, opinions, strict=True)]
    note = f"the first {LIVE_CHALLENGE_PRACTICE} rated photographs, shown for practice, are left out"
    pictures = Folder(files.require(base, "Images"))
    return files.listed("live-challenge", pictures, rated[LIVE_CHALLENGE_PRACTICE:], OpinionScale(0, 100), note)


def spaq(root: Path) -> RatedSet:
    """SPAQ: smartphone photographs with opinions in a spreadsheet."""
    path = files.require(root, "Annotations/MOS and Image attribute scores.xlsx")
    rows = files.rows_under(path, files.sheets(path), "image name", "mos")
    rated = [(row["image name"], files.number(row["mos"], path.name), None) for row in rows]
    return files.listed("spaq", Folder(files.require(root, "TestImage")), rated, OpinionScale(0, 100))
