"""Small copies of public data sets, laid out as their owners lay them out, and the files they come in."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
from scipy.io import savemat

from tests.support.photos import save


def picture(path: Path, seed: int = 0, size: tuple[int, int] = (24, 20)) -> Path:
    """A picture of random pixels at this place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return save(path, np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8))


def sheet(path: Path, *tables: Sequence[Sequence[object]]) -> None:
    """An .xlsx file with these sheets; texts are shared, numbers stand in their cells."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shared: list[str] = []

    def cell(place: str, value: object) -> str:
        if value == "":
            return ""
        if isinstance(value, str):
            shared.append(value)
            return f'<c r="{place}" t="s"><v>{len(shared) - 1}</v></c>'
        return f'<c r="{place}"><v>{value}</v></c>'

    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    with zipfile.ZipFile(path, "w") as archive:
        for number, rows in enumerate(tables, 1):
            lines = [
                f'<row r="{r}">' + "".join(cell(f"{chr(65 + c)}{r}", value) for c, value in enumerate(row)) + "</row>"
                for r, row in enumerate(rows, 1)
            ]
            body = f"<worksheet {space}><sheetData>{''.join(lines)}</sheetData></worksheet>"
            archive.writestr(f"xl/worksheets/sheet{number}.xml", body)
        items = "".join(f"<si><t>{escape(text)}</t></si>" for text in shared)
        archive.writestr("xl/sharedStrings.xml", f"<sst {space}>{items}</sst>")


def tid2013(root: Path) -> None:
    """Two references with four pictures, one of which is missing; names in mixed case as published."""
    for name in ("I01.BMP", "I02.BMP"):
        picture(root / "reference_images" / name)
    for name in ("i01_01_1.bmp", "I01_08_5.bmp", "i02_24_3.bmp"):
        picture(root / "distorted_images" / name)
    lines = ["5.51429 I01_01_1.bmp", "1.2 i01_08_5.bmp", "3.0 I02_24_3.bmp", "2.0 I02_02_2.bmp"]
    (root / "mos_with_names.txt").write_text("\n".join(lines) + "\n")


def kadid10k(root: Path) -> None:
    for name in ("I01.png", "I01_01_01.png", "I01_25_05.png"):
        picture(root / "images" / name)
    rows = ["dist_img,ref_img,dmos,var", "I01_01_01.png,I01.png,4.57,0.5", "I01_25_05.png,I01.png,1.3,0.4"]
    (root / "dmos.csv").write_text("\n".join(rows))


CSIQ_TABLE: list[list[object]] = [
    ["all by image", "", "", "", "", ""],
    ["#", "image", "dst_idx", "dst_type", "dst_lev", "dmos_std", "dmos"],
    [1, "1600", 1, "noise", 1, 0.05, 0.062],
    [2, "1600", 6, "jpeg 2000", 5, 0.06, 0.8],
]


def csiq(root: Path) -> None:
    picture(root / "src_imgs/1600.png")
    picture(root / "dst_imgs/awgn/1600.AWGN.1.png")
    picture(root / "dst_imgs/jpeg2000/1600.jpeg2000.5.png")
    sheet(root / "csiq.DMOS.xlsx", [["a sheet of notes"]], CSIQ_TABLE)


def live(root: Path) -> None:
    """Each folder with two pictures, the second of which is an original, as `info.txt` lists them."""
    folders = ("jp2k", "jpeg", "wn", "gblur", "fastfading")
    for name in ("bikes.bmp", "caps.bmp"):
        picture(root / "refimgs" / name)
    for folder in folders:
        for number in (1, 2):
            picture(root / folder / f"img{number}.bmp")
        (root / folder / "info.txt").write_text("bikes.bmp img1.bmp 0.5\ncaps.bmp img2.bmp 0.0\n")
    dmos = np.array([[55.0 + place, 0.0] for place in range(5)]).reshape(1, -1)
    savemat(root / "dmos_realigned.mat", {"dmos_new": dmos, "orgs": np.array([[0, 1] * 5])})
    names = np.array([["bikes.bmp", "caps.bmp"] * 5], dtype=object)
    savemat(root / "refnames_all.mat", {"refnames_all": names})


def live_challenge(root: Path) -> None:
    practice = [f"t{number}.bmp" for number in range(1, 8)]
    for name in practice:
        picture(root / "ChallengeDB_release/Images/trainingImages" / name)
    for name in ("3.bmp", "5.JPG"):
        picture(root / "ChallengeDB_release/Images" / name)
    names = [*practice, "3.bmp", "5.jpg", "gone.bmp"]
    data = root / "ChallengeDB_release/Data"
    data.mkdir()
    savemat(data / "AllImages_release.mat", {"AllImages_release": np.array([[name] for name in names], dtype=object)})
    savemat(data / "AllMOS_release.mat", {"AllMOS_release": np.array([[1.0] * 7 + [63.9, 40.5, 50.0]])})


def koniq10k(root: Path) -> None:
    picture(root / "512x384/10004473376.jpg")
    header = '"image_name","c1","c2","c3","c4","c5","c_total","MOS","SD","MOS_zscore"'
    row = '"10004473376.jpg",0,0,25,73,7,105,3.828571429,0.527,70.1'
    (root / "koniq10k_scores_and_distributions.csv").write_text(f"{header}\n{row}\n")


def spaq(root: Path) -> None:
    picture(root / "TestImage/00001.jpg")
    header = ["Image name", "MOS", "Brightness", "Colorfulness", "Contrast", "Noisiness", "Sharpness"]
    sheet(
        root / "Annotations/MOS and Image attribute scores.xlsx", [header, ["00001.jpg", 50.91, 71.7, 63, 65, 50, 49]]
    )


def bid(root: Path) -> None:
    picture(root / "ImageDatabase/DatabaseImage0001.JPG")
    sheet(root / "DatabaseGrades.xlsx", [["Image Number", "Average Subjective Grade"], [1, 2.5833], [2, 4.0]])


def biq2021(root: Path) -> None:
    for name in ("ss01 (1).jpg", "ss02 (7).JPG"):
        picture(root / "Images" / name)
    (root / "Train (Images and MOS).csv").write_text("\ufeffImage Name,MOS,,\nss01 (1).jpg,0.8471,,\n", "utf-8")
    (root / "Test (Images and MOS).csv").write_text("\ufeffImage Name,MOS\nss02 (7).jpg,0.2874\n", "utf-8")


def agiqa3k(root: Path) -> None:
    picture(root / "glide_low_001.jpg")
    header = "name,prompt,adj1,adj2,style,mos_quality,std_quality,mos_align,std_align"
    (root / "data.csv").write_text(f'{header}\nglide_low_001.jpg,"a cat, sitting",,,,1.2047,0.6,1.0,0.5\n')


def pipal(root: Path) -> None:
    picture(root / "Train_Ref/A0001.bmp")
    picture(root / "Distortion_1/A0001_00_00.bmp")
    picture(root / "Distortion_2/A0001_01_02.bmp")
    (root / "Train_Label").mkdir()
    (root / "Train_Label/A0001.txt").write_text("A0001_00_00.bmp,1448.9605\nA0001_01_02.bmp,1230.5\n")


def qbench(root: Path) -> None:
    picture(root / "images/10115712533.jpg")
    entry = {"img_path": "10115712533.jpg", "question": "Is the image clear?", "candidates": ["Yes", "No"],
             "correct_ans": "No", "type": 0, "concern": 0}  # fmt: skip
    (root / "llvisionqa_dev.json").write_text(json.dumps([entry, {**entry, "img_path": "gone.jpg"}]))


def agenticiqa_eval(root: Path) -> None:
    picture(root / "pictures/a.png")
    picture(root / "pictures/b.png")
    entry = {"image": "pictures/a.png", "reference": "pictures/b.png", "question": "Which distortion is worst?",
             "options": ["Blur", "Noise"], "answer": "B. Noise", "task_type": "executor_distortion",
             "reference_mode": "Full-Reference"}  # fmt: skip
    (root / "questions.jsonl").write_text(json.dumps(entry) + "\n")
