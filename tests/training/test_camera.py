"""Pictures through a camera: faults do what they say, and every picture may end as a file."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.photos import photo
from training.camera import FLAWS, Shot, draw_shot, recode, severities, take


def test_a_shot_without_faults_returns_the_scene() -> None:
    scene = photo("coffee")[:200, :200]

    assert np.abs(take(scene, Shot(), 0).pixels.astype(int) - scene).max() <= 1


@pytest.mark.parametrize(
    ("shot", "flaw"),
    [
        (Shot(defocus=5), "blur"),
        (Shot(motion=20), "blur"),
        (Shot(noise=25), "noise"),
        (Shot(stops=-3), "dark"),
        (Shot(stops=3), "bright"),
        (Shot(haze=0.6), "contrast"),
        (Shot(contrast=0.3), "contrast"),
        (Shot(cast=(1.2, 0.0, -1.2)), "colour"),
        (Shot(saturation=3), "colour"),
        (Shot(sharpening=5), "oversharp"),
        (Shot(codec="jpeg", quality=8), "compression"),
    ],
)
def test_a_fault_is_at_least_moderate_and_the_strongest_flaw(shot: Shot, flaw: str) -> None:
    found = severities(shot, take(photo("astronaut")[:240, :240], shot, 1))

    assert found[flaw] >= 1.5
    assert max(found, key=lambda name: found[name]) == flaw


def test_a_good_file_is_no_flaw() -> None:
    shot = Shot(codec="jpeg", quality=80)

    assert max(severities(shot, take(photo("astronaut")[:240, :240], shot, 1)).values()) < 0.5


def test_the_same_seed_takes_the_same_picture() -> None:
    shot = draw_shot(np.random.default_rng(2), 2)

    first, second = (take(photo("coffee")[:160, :160], shot, 7).pixels for _ in range(2))

    assert np.array_equal(first, second)
    assert set(severities(shot, take(photo("coffee")[:160, :160], shot, 7))) == set(FLAWS)


def test_no_codec_leaves_the_pixels_alone() -> None:
    scene = photo("coffee")[:64, :64]

    assert recode(scene, "none", 10) is scene
