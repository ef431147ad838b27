"""The door to images: roles, limits, and references of another size."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenticiqa.errors import ImageAspectMismatchError, ImageSizeMismatchError, ImageTooLargeError
from agenticiqa.images import ImageLimits, ImageStore, LabelledImage, in_role, load_image
from tests.support.agent import picture
from tests.support.photos import photo


def test_images_are_known_by_their_role_in_whatever_order_they_stand() -> None:
    whole, part = load_image(photo("chelsea")), load_image(photo("chelsea")[:64, :64])
    images = (LabelledImage("closeup", part), LabelledImage("image", whole))

    assert in_role(images, "image") is whole
    assert in_role(images, "closeup") is part
    assert in_role(images, "reference") is None


def test_a_reference_of_another_size_is_refused_or_scaled_by_the_door(tmp_path: Path) -> None:
    small, large = picture(tmp_path, "a.png", (48, 32)), picture(tmp_path, "b.png", (96, 64))

    with pytest.raises(ImageSizeMismatchError, match=r"48×32 and 96×64"):
        ImageStore().images(small, large)
    _, scaled = ImageStore(align="resize").images(small, large)

    assert (scaled.role, scaled.image.size) == ("reference", (48, 32))
    assert "scaled from 96×64 to 48×32" in scaled.image.notes[-1]


def test_a_reference_of_another_shape_is_never_stretched(tmp_path: Path) -> None:
    wide, tall = picture(tmp_path, "a.png", (96, 32)), picture(tmp_path, "b.png", (48, 64))

    with pytest.raises(ImageAspectMismatchError, match="another aspect ratio"):
        ImageStore(align="resize").images(wide, tall)


def test_limits_hold_for_every_kind_of_source(tmp_path: Path) -> None:
    path, store = picture(tmp_path, size=(48, 32)), ImageStore(ImageLimits(max_pixels=100))

    for source in (path, Path(path), Path(path).read_bytes(), load_image(path).pixels):
        with pytest.raises(ImageTooLargeError):
            store.open(source)


def test_a_run_opens_each_file_once(tmp_path: Path) -> None:
    store, path = ImageStore(), picture(tmp_path)
    first = store.images(path)

    Path(path).unlink()

    assert store.images(path) == first
