# SPDX-License-Identifier: Apache-2.0
"""The public tables and how their rows are split."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

FOLDER = Path(__file__).resolve().parent
DATA = FOLDER.parent.parent / "build" / "bench-tables"  # where the tables are exported to
TEST_FRACTION = 0.25
VALIDATION_FRACTION = 0.2  # of the training rows, for what needs a validation split

TARGETS = {
    "ames": "Sale_Price",
    "churn": "churn",
    "concrete": "compressive_strength",
    "credit": "Status",
    "diamonds": "price",
    "lending": "Class",
    "letters": "lettr",
    "salaries": "salary",
    "satellite": "classes",
    "spam": "type",
    "stackoverflow": "Salary",
    "vowel": "Class",
}

# To choose settings on tables that the results are not about.
OTHER_TARGETS = {
    "attrition": "Attrition",
    "beps": "vote",
    "biomass": "HHV",
    "boston": "medv",
    "cars": "Price",
    "cells": "class",
    "checks": "check_time",
    "chile": "vote",
    "diabetes": "diabetes",
    "dna": "Class",
    "hpc": "class",
    "income": "INCOME",
    "ionosphere": "Class",
    "quakes": "mag",
    "sacramento": "price",
    "slid": "wages",
    "soybean": "Class",
    "titanic": "survived",
    "vehicle": "Class",
    "wachurn": "churn",
}
ALL_TARGETS = TARGETS | OTHER_TARGETS


@dataclass
class Split:
    """The training rows, which a model may divide as it likes, and the test rows of a table."""

    table: str
    number: int
    target: str
    is_regression: bool
    train: pd.DataFrame
    test: pd.DataFrame

    def error(self, predictions: np.ndarray) -> float:
        """1 - accuracy, but at least half a row, or RMSE / deviation of the test targets."""
        truth = self.test[self.target].to_numpy()
        if self.is_regression:
            return float(np.sqrt(np.mean((predictions - truth) ** 2)) / truth.std())
        wrong = np.sum(predictions.astype(str) != truth.astype(str))
        return float(max(wrong, 0.5) / len(truth))


def export_tables(folder: Path) -> None:
    """Writes those tables that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    if all((folder / f"{name}.csv").exists() for name in ALL_TARGETS):
        return
    subprocess.run(["Rscript", str(FOLDER / "export_tables.R"), str(folder)], check=True)


def make_split(folder: Path, table: str, number: int) -> Split:
    """Split `number` of a table, the same for every model. Rows without a target are left out."""
    target = ALL_TARGETS[table]
    rows = pd.read_csv(folder / f"{table}.csv")
    rows = rows[rows[target].notna()]
    is_regression = pd.api.types.is_numeric_dtype(rows[target])
    train, test = train_test_split(
        rows,
        test_size=TEST_FRACTION,
        random_state=number,
        stratify=None if is_regression else rows[target],
    )
    return Split(table, number, target, is_regression, train, test)
