#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts how often the intervals and sets of `trainer predict --interval` contain the target of
test rows of public tables, for one run and for an ensemble of five folds. The widths of intervals
are compared with those of scikit-learn's gradient boosting for quantiles.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from public_tables import DATA, TARGETS, Split, export_tables, make_split
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.preprocessing import OrdinalEncoder
from trainer_program import PROGRAM, run

MAX_CATEGORIES = 255  # that scikit-learn takes as such; others are ordered numbers


@dataclass
class Result:
    """Of the test rows of one split."""

    covered: float  # the share whose target is in the interval or set
    size: float  # the mean width, in deviations of the target, or the mean number of classes
    raw: float  # covered, if sets could be empty


def lowest_probability(file: Path) -> float:
    """The probability from which a class is in a set, from the metadata of a safetensors file."""
    content = file.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    return float(json.loads(metadata["interval"])["lowest_probability"][0])


def measure(program: Path, folder: Path, split: Split, model: str, coverage: float) -> Result:
    interval = ("--interval", str(coverage))
    run(program, folder, "predict", model, "test.csv", *interval, "-o", "out.csv")
    out = pd.read_csv(folder / "out.csv", dtype={"set": str, "prediction": str})
    truth = split.test[split.target].to_numpy()
    if split.is_regression:
        covered = float(np.mean((truth >= out["lower"]) & (truth <= out["upper"])))
        return Result(covered, float(np.mean(out["upper"] - out["lower"]) / truth.std()), covered)
    sets = out["set"].str.split("|")
    run(program, folder, "export", model, *interval, "-o", "m.safetensors")
    lowest = lowest_probability(folder / "m.safetensors")
    of_truth = [out[f"p_{label}"][row] for row, label in enumerate(truth.astype(str))]
    return Result(
        float(np.mean([label in s for label, s in zip(truth.astype(str), sets)])),
        float(sets.map(len).mean()),
        float(np.mean(np.array(of_truth) >= lowest)),
    )


def measure_boosting(split: Split, coverage: float) -> Result:
    """The interval between two quantiles, each by a model of its own, as in scikit-learn's
    example of prediction intervals."""
    columns = split.train.drop(columns=split.target).columns
    texts = [c for c in columns if not pd.api.types.is_numeric_dtype(split.train[c])]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    train, test = split.train[columns].copy(), split.test[columns].copy()
    if texts:
        train[texts] = encoder.fit_transform(train[texts].astype(str))
        test[texts] = encoder.transform(test[texts].astype(str))
    few = [column for column in texts if train[column].max() < MAX_CATEGORIES]
    ends = []
    for quantile in ((1 - coverage) / 2, (1 + coverage) / 2):
        model = HistGradientBoostingRegressor(
            loss="quantile",
            quantile=quantile,
            early_stopping=True,
            categorical_features=few or None,
            random_state=0,
        )
        ends.append(model.fit(train, split.train[split.target]).predict(test))
    truth = split.test[split.target].to_numpy()
    covered = float(np.mean((truth >= ends[0]) & (truth <= ends[1])))
    return Result(covered, float(np.mean(ends[1] - ends[0]) / truth.std()), covered)


def measure_split(split: Split, arguments: argparse.Namespace) -> dict[str, Result]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        split.train.to_csv(folder / "train.csv", index=False)
        split.test.to_csv(folder / "test.csv", index=False)
        program = arguments.program
        run(program, folder, "init", "train.csv", "--target", split.target, "-o", "c.yaml")
        keys = [f"recipe={arguments.recipe}"] if arguments.recipe else []
        run(program, folder, "--config", "c.yaml", "members=1", *keys, "--quiet",
            "output_dir=runs/one")  # fmt: skip
        run(program, folder, "ensemble", "--members", "5", "--config", "c.yaml", *keys,
            "--quiet", "output_dir=runs/five")  # fmt: skip
        results = {
            "run": measure(program, folder, split, "runs/one/latest", arguments.coverage),
            "ensemble": measure(program, folder, split, "runs/five/latest", arguments.coverage),
        }
        if split.is_regression:
            results["boosting"] = measure_boosting(split, arguments.coverage)
        return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--tables", nargs="+", choices=list(TARGETS), default=list(TARGETS))
    parser.add_argument("--coverage", type=float, default=0.9)
    parser.add_argument("--recipe", default="", help="default: that of init")
    parser.add_argument("--program", type=Path, default=PROGRAM)
    arguments = parser.parse_args()
    export_tables(DATA)
    rows = []
    for table in arguments.tables:
        for number in range(arguments.splits):
            split = make_split(DATA, table, number)
            for model, result in measure_split(split, arguments).items():
                rows.append({"table": table, "model": model, **vars(result)})
                print(f"{table} {number} {model}: {result}", file=sys.stderr, flush=True)
    means = pd.DataFrame(rows).groupby(["table", "model"], sort=False).mean()
    print(means.round(3).to_string())
    print(means.groupby("model", sort=False).mean().round(3).to_string())


if __name__ == "__main__":
    main()
