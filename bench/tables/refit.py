#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the five members of folds with five networks that learn from all rows, up to the median
of the epochs that the members chose or up to the last one, which trainer does not do.

docs/quality.md has the results.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

import pandas as pd
from compare_tables import tables
from public_tables import DATA, Split, export_tables, make_split
from quality_report import geometric_mean
from trainer_program import PROGRAM, run

RECIPE = "realmlp"


def error(split: Split, outputs: list[pd.DataFrame]) -> float:
    """Of the mean of numbers or probabilities of the test rows."""
    mean = sum(outputs) / len(outputs)
    return split.error(
        (mean["prediction"] if split.is_regression else mean.idxmax(axis=1)).to_numpy()
    )


def measure(program: Path, folder: Path, split: Split) -> dict[str, float]:
    """Errors by that of the members."""
    trainer = partial(run, program, folder)
    split.train.to_csv(folder / "train.csv", index=False)
    split.test.to_csv(folder / "test.csv", index=False)

    def outputs(model: str) -> pd.DataFrame:
        trainer("predict", model, "test.csv", "-o", "out.csv")
        rows = pd.read_csv(folder / "out.csv")
        if split.is_regression:
            return rows[["prediction"]]
        return rows.filter(regex="^p_").rename(columns=lambda name: name.removeprefix("p_"))

    trainer("init", "train.csv", "--target", split.target, "-o", "table.yaml")
    common = ["--config", "table.yaml", "--quiet", "threads=1"]
    folds = json.loads(
        trainer("ensemble", "--recipes", RECIPE, "--members", "5", "--json", *common)
    )
    members = outputs(folds["folder"])
    epoch = int(statistics.median(member["best"]["epoch"] for member in folds["members"]))
    files = {"median epoch": f"checkpoint_epoch_{epoch:03}.pt", "last epoch": "last.pt"}
    refitted: dict[str, list[pd.DataFrame]] = {name: [] for name in files}
    for seed in range(5):
        trainer(*common, f"recipe={RECIPE}", "members=1", f"seed={seed + 100}",
                "data.validation_fraction=0", "data.test_fraction=0",
                "training.best_metric=loss", "training.early_stopping.patience=0",
                "checkpoint.keep_last=1000", "output_dir=refit")  # fmt: skip
        for name, file in files.items():
            refitted[name].append(outputs(f"refit/latest/checkpoints/{file}"))
    refitted["median epoch and folds"] = [*refitted["median epoch"], *[members] * 5]
    return {name: error(split, of) / error(split, [members]) for name, of in refitted.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--tables", type=tables, required=True)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--program", type=Path, default=PROGRAM)
    arguments = parser.parse_args()
    export_tables(DATA)
    measured = []
    for table in arguments.tables:
        for number in range(1, arguments.splits + 1):
            with tempfile.TemporaryDirectory(prefix="trainer_tables_") as folder:
                split = make_split(DATA, table, number)
                measured.append(measure(arguments.program, Path(folder), split))
            rounded = {name: round(ratio, 3) for name, ratio in measured[-1].items()}
            print(table, number, rounded, file=sys.stderr, flush=True)
    for name in measured[0]:
        print(f"{name}: {geometric_mean([ratios[name] for ratios in measured]):.3f}")


if __name__ == "__main__":
    main()
