"""Photographs listed in a table with one opinion each: what most sets without references are."""

from __future__ import annotations

from collections.abc import Iterable

from agenticiqa.evaluation.datasets.files import Folder
from agenticiqa.evaluation.samples import RatedSet, Sample, Scale


def listed(
    name: str, pictures: Folder, rated: Iterable[tuple[str, float, str | None]], scale: Scale, *notes: str
) -> RatedSet:
    """The set of these (file name, opinion, split), those whose picture is missing counted."""
    samples, missing = [], []
    for file, opinion, split in rated:
        image = pictures.find(file)
        if image is None:
            missing.append(file)
        else:
            samples.append(Sample(file, image, opinion, split=split))
    return RatedSet(name, tuple(samples), scale, tuple(missing), notes)
