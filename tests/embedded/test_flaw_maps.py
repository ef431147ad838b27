"""Where a flaw lies: what is measured in the cells of a picture, and the maps people are shown."""

from __future__ import annotations

import cv2

from agenticiqa.embedded.distortions.cells import measure_cells
from agenticiqa.embedded.distortions.distortion_detector import MAPPED, find_distortions, map_flaws
from agenticiqa.embedded.trunk import load_backbone
from agenticiqa.limits import STRONGEST
from tests.support.photos import photo


def test_the_cells_show_where_a_flaw_was_made() -> None:
    picture = photo("astronaut").copy()
    picture[:128, :128] = 255
    picture[-128:, :128] = cv2.GaussianBlur(picture[-128:, :128], (0, 0), 6)

    softness, lights, _, _ = measure_cells(picture)

    assert lights[:8, :8].min() == 1
    assert softness[-8:, :8].mean() > measure_cells(photo("astronaut"))[0][-8:, :8].mean() + 0.2


def test_a_map_says_what_the_finding_says() -> None:
    picture = cv2.GaussianBlur(photo("astronaut"), (0, 0), 6)

    maps = map_flaws(picture)

    assert set(maps) == set(MAPPED)
    blur = find_distortions(picture, load_backbone().features(picture))[0]
    assert blur.disturbs
    assert abs(maps["softness"].max() * STRONGEST - blur.strength) < 0.01
