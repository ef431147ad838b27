"""What the model is taught about each synthetic picture, on the common scale of 1 to 5.

Each full-reference measure has one monotone curve to the nominal quality of the level that caused it
(level 1 is barely visible, level 5 severe); the label is their weighted mean, blended with the nominal
level itself, which knows about damage the measures overlook. Clean views are 5 by definition, and the
scale is stretched so that the worst 1 % of pictures are 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

Values = npt.NDArray[np.float64]
MEASURE_WEIGHTS = {"mdsi": 0.5, "gmsd": 0.3, "distance": 0.2}
NOMINAL_SHARE = 0.35
NOMINAL_STEP = 0.8


@dataclass(frozen=True)
class SyntheticSet:
    """The table of pictures with labels, and the rows of their features."""

    table: pd.DataFrame
    labels: Values

    @property
    def training(self) -> npt.NDArray[np.bool_]:
        """Rows whose photograph is not held out."""
        return np.asarray(self.table["split"] == "train")


def read_table(path: Path) -> pd.DataFrame:
    """The list of synthetic pictures with kind and level columns; mixtures have level 0."""
    table = pd.read_csv(path)
    single = ~table["recipe"].str.contains(r"\+") & (table["recipe"] != "clean")
    table["kind"] = np.where(single, table["recipe"].str.split(":").str[0], table["recipe"])
    table.loc[table["recipe"].str.contains(r"\+"), "kind"] = "mix"
    table["level"] = 0
    table.loc[single, "level"] = table.loc[single, "recipe"].str.split(":").str[1].astype(int)
    return table


def label(table: pd.DataFrame) -> SyntheticSet:
    """The table with its labels, the curves fitted on its training photographs."""
    fitted = (table["split"] == "train") & (table["level"] > 0)
    nominal = 5 - NOMINAL_STEP * table["level"].to_numpy(float)
    each_kind_alike = 1 / table["kind"].map(table.loc[fitted, "kind"].value_counts()).fillna(1).to_numpy(float)
    measured = np.zeros(len(table))
    for name, weight in MEASURE_WEIGHTS.items():
        measured += weight * _curve(table[name].to_numpy(), nominal, each_kind_alike, fitted.to_numpy())
    worst, best = np.quantile(measured[fitted], [0.01, 0.995])
    measured = 1 + 4 * (measured - worst) / (best - worst)
    blended = np.where(table["level"] > 0, (1 - NOMINAL_SHARE) * measured + NOMINAL_SHARE * nominal, measured)
    labels = np.where(table["kind"] == "clean", 5.0, np.clip(blended, 1, 5))
    return SyntheticSet(table, labels)


def _curve(measure: Values, nominal: Values, weight: Values, fitted: npt.NDArray[np.bool_]) -> Values:
    from sklearn.isotonic import IsotonicRegression

    curve = IsotonicRegression(increasing=False, out_of_bounds="clip")
    curve.fit(measure[fitted], nominal[fitted], sample_weight=weight[fitted])
    return np.asarray(curve.predict(measure))
