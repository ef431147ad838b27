"""The data sets that can be read from the folders their owners publish: one entry here and one function each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agenticiqa.errors import DatasetError
from agenticiqa.evaluation.datasets import pairs, photographs, questions
from agenticiqa.evaluation.samples import QuestionSet, RatedSet


@dataclass(frozen=True)
class Dataset:
    """Where a data set is found, what its folder looks like, and what of ours has already seen it."""

    name: str
    title: str
    home: str
    layout: str
    reader: Callable[[Path], RatedSet | QuestionSet]
    seen: str = ""

    def read(self, root: Path) -> RatedSet | QuestionSet:
        """The data set in this folder; DatasetError with home page and layout when it is not there."""
        if not root.is_dir():
            raise DatasetError(f"{root}: no such folder. {self.how_to_get()}")
        try:
            found = self.reader(root)
        except DatasetError as error:
            raise DatasetError(f"{error}. {self.how_to_get()}") from error
        if not (found.samples if isinstance(found, RatedSet) else found.questions):
            gone = f"{len(found.missing)} listed pictures are missing, for example {found.missing[:3]}"
            raise DatasetError(f"{root}: no picture of {self.title} is there ({gone}). {self.how_to_get()}")
        return found

    def how_to_get(self) -> str:
        return f"{self.title} is at {self.home}; expected in the folder: {self.layout}"


_FITTED = "the research weights and curves were fitted on {}; use `terms: commercial` for figures that saw none of it"

DATASETS: dict[str, Dataset] = {
    entry.name: entry
    for entry in (
        Dataset("tid2013", "TID2013", "https://www.ponomarenko.info/tid2013.htm",
                "reference_images/I01.BMP, distorted_images/i01_01_1.bmp, mos_with_names.txt "
                "(or a part of it: reference/, distorted/, scores.csv)",
                pairs.tid2013, seen=_FITTED.format("six of its photographs (I03, I06, I10, I14, I18, I23)")),
        Dataset("kadid10k", "KADID-10k", "https://database.mmsp-kn.de/kadid-10k-database.html",
                "images/I01.png, images/I01_01_01.png, dmos.csv (dist_img,ref_img,dmos,var)", pairs.kadid10k),
        Dataset("csiq", "CSIQ", "https://s2.smu.edu/~eclarson/csiq.html",
                "src_imgs/NAME.png, dst_imgs/TYPE/NAME.TYPE.LEVEL.png, csiq.DMOS.xlsx or csiq.DMOS.txt", pairs.csiq),
        Dataset("live", "LIVE release 2", "https://live.ece.utexas.edu/research/quality/subjective.htm",
                "refimgs/, {jp2k,jpeg,wn,gblur,fastfading}/img1.bmp, dmos_realigned.mat or dmos.mat, refnames_all.mat",
                pairs.live),
        Dataset("live-challenge", "LIVE in the Wild", "https://live.ece.utexas.edu/research/ChallengeDB/index.html",
                "Images/*.bmp, Images/trainingImages/t1.bmp, Data/AllImages_release.mat, Data/AllMOS_release.mat",
                photographs.live_challenge),
        Dataset("koniq10k", "KonIQ-10k", "https://database.mmsp-kn.de/koniq-10k-database.html",
                "1024x768/*.jpg or 512x384/*.jpg, koniq10k_scores_and_distributions.csv", photographs.koniq10k),
        Dataset("spaq", "SPAQ", "https://github.com/h4nwei/SPAQ",
                "TestImage/00001.jpg, Annotations/MOS and Image attribute scores.xlsx", photographs.spaq),
        Dataset("bid", "BID", "http://www02.smt.ufrj.br/~eduardo/ImageDatabase.htm",
                "ImageDatabase/DatabaseImage0001.JPG, DatabaseGrades.xlsx", photographs.bid),
        Dataset("biq2021", "BIQ2021", "https://github.com/nisarahmedrana/BIQ2021",
                "Images/*.jpg, Train (Images and MOS).csv, Test (Images and MOS).csv",
                photographs.biq2021,
                seen=_FITTED.format("its training split, and near twins of test pictures are in it")),
        Dataset("agiqa3k", "AGIQA-3K", "https://github.com/lcysyzxdxc/AGIQA-3k-Database",
                "a folder of *.jpg with data.csv (name,prompt,…,mos_quality)", photographs.agiqa3k),
        Dataset("pipal", "PIPAL", "https://github.com/HaomingCai/PIPAL-dataset",
                "Train_Ref/A0001.bmp, Distortion_1/A0001_00_00.bmp, Train_Label/A0001.txt (name,elo)", pairs.pipal),
        Dataset("qbench", "Q-Bench LLVisionQA", "https://github.com/Q-Future/Q-Bench",
                "images/*.jpg, llvisionqa_dev.json (img_path, question, candidates, correct_ans, type, concern)",
                questions.qbench),
        Dataset("agenticiqa-eval", "AgenticIQA-Eval", "https://arxiv.org/abs/2509.26006",
                "questions.jsonl, .json or .csv with image, question, options, answer, task_type, reference_mode",
                questions.agenticiqa_eval),
    )
}  # fmt: skip


def dataset(name: str) -> Dataset:
    """The data set of this name."""
    try:
        return DATASETS[name.casefold()]
    except KeyError:
        raise DatasetError(f"no data set named {name!r}; there are: {', '.join(DATASETS)}, or use --manifest") from None
