"""No photograph on both sides of a split, shown with planted copies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageEnhance
from skimage import data

from training.clusters import LeakError, find_clusters, folds_of, refuse_twins, thumbnail, twins_between


@pytest.fixture(scope="module")
def photographs() -> list[Image.Image]:
    names = ("astronaut", "coffee", "chelsea", "rocket")
    return [Image.fromarray(getattr(data, name)()) for name in names]


def rows(pictures: list[Image.Image]) -> npt.NDArray[np.float32]:
    return np.array([thumbnail(picture) for picture in pictures])


def test_a_planted_copy_is_refused_even_brightened_and_resized(photographs: list[Image.Image]) -> None:
    train, check = photographs[:2], photographs[2:]
    planted = ImageEnhance.Brightness(photographs[0].resize((300, 300))).enhance(1.1)

    with pytest.raises(LeakError, match=r"astronaut.*copy"):
        refuse_twins(rows(train), rows([*check, planted]), ["astronaut", "coffee"], ["chelsea", "rocket", "copy"])


def test_different_photographs_are_not_refused(photographs: list[Image.Image]) -> None:
    refuse_twins(rows(photographs[:2]), rows(photographs[2:]), ["a", "b"], ["c", "d"])


def test_a_copy_joins_its_originals_cluster_and_fold(photographs: list[Image.Image]) -> None:
    copy = photographs[1].resize((200, 133))

    clusters = find_clusters(rows([*photographs, copy]))

    assert clusters[1] == clusters[4]
    assert len(set(clusters.tolist())) == 4
    folds = folds_of(clusters, 5, seed=0)
    assert folds[1] == folds[4]


def test_a_chain_of_similar_pictures_is_one_cluster() -> None:
    angles = np.array([0.0, 0.1, 0.2])
    chain = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)

    clusters = find_clusters(chain, threshold=0.99)

    assert len(set(clusters.tolist())) == 1
    assert twins_between(chain[:1], chain[2:], threshold=0.99) == []
