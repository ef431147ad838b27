"""Measured pairs as the full-reference fits read them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from training.opinions import TID2013_KINDS, on_common_scale

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.str_]
_ROWS = ("features", "metrics", "group", "kind", "source", "level", "score")


@dataclass(frozen=True)
class Pairs:
    """Rows of pair features with their metrics, photograph, kind, where they come from, level and score from 1 to 5."""

    names: tuple[str, ...]
    features: Floats
    metric_names: tuple[str, ...]
    metrics: Floats
    group: Words
    kind: Words
    source: Words
    level: npt.NDArray[np.int_]
    score: Floats

    def __len__(self) -> int:
        return len(self.features)

    def rows(self, chosen: npt.NDArray[np.bool_] | npt.NDArray[np.int_]) -> Pairs:
        """The chosen rows."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in _ROWS})

    def column(self, name: str) -> Floats:
        """One feature of all rows."""
        return self.features[:, self.names.index(name)]

    def metric(self, name: str) -> Floats:
        """One raw metric of all rows."""
        return self.metrics[:, self.metric_names.index(name)]


def read_tid(path: Path) -> Pairs:
    """TID2013's part, its kinds under our names: contrast split by direction."""
    stored = np.load(path)
    pairs = _pairs(stored, on_common_scale("tid2013", stored["mos"]))
    kind = np.array([TID2013_KINDS[int(name.removeprefix("tid")) - 1] for name in pairs.kind])
    direction = np.where(pairs.column("tone.luma_gain") > 1, "contrast_up", "contrast_down")
    return replace(pairs, kind=np.where(kind == "contrast", direction, kind))


def read_made(path: Path) -> Pairs:
    """Made pairs, without scores (NaN); their source is `ladder`, a coder, `enlarged` or `overlay`."""
    stored = np.load(path)
    return _pairs(stored, np.full(len(stored["features"]), np.nan))


def joined(*parts: Pairs) -> Pairs:
    """All rows of several sets, which must have the same features."""
    if len({part.names for part in parts}) != 1:
        raise ValueError("these pairs were measured by different versions of the features; extract them again")
    rows: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _ROWS}
    return replace(parts[0], **rows)


def _pairs(stored: np.lib.npyio.NpzFile, score: Floats) -> Pairs:
    return Pairs(
        tuple(map(str, stored["names"])),
        stored["features"].astype(np.float64),
        tuple(map(str, stored["metric_names"])),
        stored["metrics"],
        stored["group"],
        stored["kind"],
        stored["source"] if "source" in stored else np.full(len(stored["kind"]), "rated"),
        stored["level"],
        score,
    )
