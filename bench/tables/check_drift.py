#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts how often `trainer predict --check` warns of test rows of public tables (never,
if all is well), and of the same rows with one of ten faults (always).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from public_tables import ALL_TARGETS, DATA, export_tables, make_split
from trainer_program import PROGRAM, run_program

UNMET = 10  # the exit code

Run = Callable[..., subprocess.CompletedProcess[str]]  # of a folder and arguments
Fault = Callable[[pd.DataFrame, str], None]  # changes a column of the rows


def scale(factor: float) -> Fault:
    def change(rows: pd.DataFrame, column: str) -> None:
        rows[column] = rows[column].astype(float) * factor

    return change


def shift(rows: pd.DataFrame, column: str) -> None:
    numbers = rows[column].astype(float)
    rows[column] = numbers + 2 * (numbers.max() - numbers.min())


def fill(value: object) -> Fault:
    def change(rows: pd.DataFrame, column: str) -> None:
        rows[column] = rows[column].astype(object)
        rows[column] = value

    return change


def lose_half(rows: pd.DataFrame, column: str) -> None:
    rows[column] = rows[column].where(np.arange(len(rows)) % 2 == 0)


def rename(rows: pd.DataFrame, column: str) -> None:
    rows[column] = rows[column].map(lambda value: f"{value} (new)", na_action="ignore")


def constant(rows: pd.DataFrame, column: str) -> None:
    rows[column] = rows[column].dropna().iloc[0]


NUMBER_FAULTS: dict[str, Fault] = {
    "a unit that is 1,000 times larger": scale(0.001),
    "a unit that is 1,000 times smaller": scale(1000),
    "the other sign": scale(-1),
    "all numbers shifted by twice their range": shift,
    "-999 in place of all numbers": fill(-999),
    "half of the numbers missing": lose_half,
    "all numbers missing": fill(np.nan),
}
CATEGORY_FAULTS: dict[str, Fault] = {
    "other names of the categories": rename,
    "half of the categories missing": lose_half,
    "one category in all rows": constant,
}


def warns(run: Run, folder: Path, rows: pd.DataFrame) -> str:
    """What is said about the rows; empty if nothing is."""
    rows.to_csv(folder / "new.csv", index=False)
    done = run(folder, "predict", "new.csv", "--check", "--output", "out.csv")
    if done.returncode == 0:
        return ""
    if done.returncode != UNMET:
        raise SystemExit(done.stderr)
    lines = [line for line in done.stderr.splitlines() if "unlike the training data" in line]
    return "\n".join(lines)


def changed(rows: pd.DataFrame, column: str, fault: Fault) -> pd.DataFrame | None:
    """The rows with the fault; none if it changes nothing, as the other sign of zeros."""
    other = rows.copy()
    fault(other, column)
    return None if other[column].equals(rows[column]) else other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--tables", nargs="+", choices=list(ALL_TARGETS), default=list(ALL_TARGETS))
    parser.add_argument("--program", type=Path, default=PROGRAM)
    arguments = parser.parse_args()
    run = partial(run_program, arguments.program)
    export_tables(DATA)
    num_clean = 0
    num_false = 0
    found: dict[str, list[int]] = {}
    for table in arguments.tables:
        for number in range(arguments.splits):
            split = make_split(DATA, table, number)
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                split.train.to_csv(folder / "train.csv", index=False)
                run(
                    folder,
                    "init",
                    "train.csv",
                    "--target",
                    split.target,
                    "-o",
                    "c.yaml",
                )
                done = run(
                    folder,
                    "--config",
                    "c.yaml",
                    "recipe=plain",
                    "members=1",
                    "training.epochs=1",
                    "--quiet",
                )
                if done.returncode != 0:
                    raise SystemExit(done.stderr)
                num_clean += 1
                said = warns(run, folder, split.test)
                num_false += said != ""
                print(
                    f"{table} {number}: {said or 'nothing'}",
                    file=sys.stderr,
                    flush=True,
                )
                if number > 0:
                    continue
                features = split.train.drop(columns=split.target)
                for faults, columns in (
                    (NUMBER_FAULTS, features.select_dtypes("number").columns),
                    (CATEGORY_FAULTS, features.select_dtypes("object").columns),
                ):
                    used = [c for c in columns if features[c].nunique() > 2][:1]
                    for title, fault in faults.items():
                        for column in used:
                            rows = changed(split.test, column, fault)
                            if rows is None:
                                continue
                            is_found = warns(run, folder, rows) != ""
                            found.setdefault(title, []).append(int(is_found))
                            if not is_found:
                                print(f"  not found: {column}: {title}", file=sys.stderr)
    print(f"warned of {num_false} of {num_clean} test splits as they are")
    for title, results in found.items():
        print(f"{sum(results):4d} of {len(results):3d}  {title}")


if __name__ == "__main__":
    main()
