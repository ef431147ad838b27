"""Where a flaw lies: the maps of softness, burnt-out lights, black shadows and noise."""

from __future__ import annotations

import cv2

from agenticiqa.embedded.distortions.flaw_maps import MAPPED_FLAWS, flaw_maps
from agenticiqa.state import Region
from tests.support.photos import photo


def test_the_maps_show_where_a_flaw_was_made() -> None:
    picture = photo("astronaut").copy()
    picture[:128, :128] = 255
    picture[-128:, :128] = cv2.GaussianBlur(picture[-128:, :128], (0, 0), 6)

    maps = flaw_maps(picture)

    assert set(maps) == set(MAPPED_FLAWS)
    assert all(0 <= m.array.min() <= m.array.max() <= 1 for m in maps.values())
    assert maps["highlights"].worst == Region(left=0, top=0, right=128, bottom=128)
    before, after = (flaw_maps(p)["softness"].array[-8:, :8].mean() for p in (photo("astronaut"), picture))
    assert after > before + 0.2
