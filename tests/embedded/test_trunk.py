"""The shared trunk: what its features are, and that only our own weights are ever run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import pytest
from skimage import data

from agenticiqa.embedded.trunk import (
    WORKING_PIXELS,
    Backbone,
    load_backbone,
    to_working_size,
)
from agenticiqa.errors import ModelFileError
from agenticiqa.weights import manifest, read_arrays, read_weights, verify


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return load_backbone()


@pytest.fixture(scope="module")
def photograph() -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(data.astronaut()[:256, :320])


STAGE_CHANNELS = (16, 24, 40, 80, 112)


def test_maps_shrink_by_the_stated_strides(backbone: Backbone, photograph: npt.NDArray[np.uint8]) -> None:
    features = backbone.features(photograph)

    expected = [(c, 256 // s, 320 // s) for c, s in zip(STAGE_CHANNELS, (2, 4, 8, 16, 16), strict=True)]
    assert [m.shape for m in features.maps] == expected
    assert features.pooled.shape == features.pooled_half.shape == (2 * sum(STAGE_CHANNELS),)


def test_pooled_statistics_are_mean_and_deviation_of_the_maps(
    backbone: Backbone, photograph: npt.NDArray[np.uint8]
) -> None:
    features = backbone.features(photograph)

    flat = [m.reshape(len(m), -1).astype(np.float64) for m in features.maps]
    expected = np.concatenate([part for m in flat for part in (m.mean(1), m.std(1))])
    np.testing.assert_allclose(features.pooled, expected, atol=2e-3, rtol=2e-3)


def test_a_large_picture_is_brought_within_the_budget_and_keeps_its_shape() -> None:
    large = np.zeros((1500, 3000, 3), np.uint8)

    working, scale = to_working_size(large)

    height, width = working.shape[:2]
    assert height * width <= WORKING_PIXELS
    assert width / height == pytest.approx(2, rel=0.01)
    assert scale == pytest.approx(height / 1500, rel=0.01)


def test_a_picture_within_the_budget_is_not_touched(photograph: npt.NDArray[np.uint8]) -> None:
    working, scale = to_working_size(photograph)

    assert working is photograph
    assert scale == 1.0


@pytest.mark.parametrize("size", [(16, 16), (17, 300), (65, 129)])
def test_small_and_odd_sizes_have_features(backbone: Backbone, size: tuple[int, int]) -> None:
    features = backbone.features(np.full((*size, 3), 90, np.uint8))

    assert np.isfinite(features.pooled).all()


def test_threads_get_the_same_features(backbone: Backbone, photograph: npt.NDArray[np.uint8]) -> None:
    alone = backbone.features(photograph).pooled

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: backbone.features(photograph).pooled, range(4)))

    assert all(np.array_equal(alone, other) for other in together)


def test_every_shipped_file_has_the_recorded_size_and_all_leave_room_for_a_wheel_of_60_megabytes() -> None:
    sizes = {name: len(read_weights(name)) for name in manifest()}

    assert sizes == {name: entry["bytes"] for name, entry in manifest().items()}
    # All else in the wheel takes less than two megabytes.
    assert sum(sizes.values()) <= 57_000_000


def test_a_changed_weight_file_is_refused() -> None:
    content = bytearray(read_weights("trunk.onnx"))
    content[1000] ^= 1

    with pytest.raises(ModelFileError, match="reinstall"):
        verify("trunk.onnx", bytes(content), manifest()["trunk.onnx"]["sha256"])


def test_a_file_the_manifest_does_not_name_is_refused() -> None:
    with pytest.raises(ModelFileError, match="not among"):
        read_arrays("elsewhere.npz")


@pytest.mark.parametrize("size", [(8, 20_000), (6_000_000, 8), (1, 5000), (3, 3), (300, 1)])
def test_a_strip_is_never_enlarged_beyond_the_budget(size: tuple[int, int]) -> None:
    strip = np.zeros((*size, 3), np.uint8)

    working, scale = to_working_size(strip)

    assert working.shape[0] * working.shape[1] <= WORKING_PIXELS
    assert min(working.shape[:2]) >= 64
    assert scale > 0
