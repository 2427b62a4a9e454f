#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures two things that `trainer` does not do; docs/quality.md has the results.

refit: the five members of folds beside five networks that learn from all rows, up to the median of
the epochs that the members chose, or up to the last one.
draws: 60 configurations drawn at random beside 30 at random and 30 by Optuna's multivariate TPE,
each a cross-validation of five members: the mean of the five best by their out-of-fold rows.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import optuna
import pandas as pd
from compare_tables import ROOT, tables
from public_tables import DATA, Split, export_tables, make_split
from quality_report import geometric_mean

DRAWS, AT_RANDOM, BEST = 60, 30, 5
RECIPE = "realmlp"  # and the ranges are those of its `trainer search --print-space`


class Table:
    """A folder with the rows of a split and what `trainer init` writes for them."""

    def __init__(self, program: Path, folder: Path, split: Split) -> None:
        self.program, self.folder, self.split = program, folder, split
        split.train.to_csv(folder / "train.csv", index=False)
        split.test.to_csv(folder / "test.csv", index=False)
        self.run("init", "train.csv", "--target", split.target, "-o", "table.yaml")

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [self.program, *arguments], cwd=self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(arguments)}\n{done.stderr}")
        return done.stdout

    def ensemble(self, *keys: str) -> dict[str, Any]:
        return json.loads(
            self.run("ensemble", "--recipes", RECIPE, "--members", "5", "--config", "table.yaml",
                     "--quiet", "--json", "threads=1", *keys)
        )  # fmt: skip

    def outputs(self, model: str) -> pd.DataFrame:
        """The predicted number or the probabilities of the test rows."""
        self.run("predict", model, "test.csv", "-o", "out.csv")
        rows = pd.read_csv(self.folder / "out.csv")
        if self.split.is_regression:
            return rows[["prediction"]]
        return rows.filter(regex="^p_").rename(columns=lambda name: name.removeprefix("p_"))

    def error(self, outputs: list[pd.DataFrame]) -> float:
        mean = sum(outputs) / len(outputs)
        number = mean.iloc[:, 0] if self.split.is_regression else mean.idxmax(axis=1)
        return self.split.error(number.to_numpy())


def refit(table: Table) -> dict[str, float]:
    folds = table.ensemble()
    members = table.outputs(folds["folder"])
    epoch = int(statistics.median(member["best"]["epoch"] for member in folds["members"]))
    outputs: dict[str, list[pd.DataFrame]] = {"median epoch": [], "last epoch": []}
    for seed in range(5):
        table.run("--config", "table.yaml", "--quiet", f"recipe={RECIPE}", "members=1", "threads=1",
                  "data.validation_fraction=0", "data.test_fraction=0", f"seed={seed + 100}",
                  "training.best_metric=loss", "training.early_stopping.patience=0",
                  "checkpoint.keep_last=1000", "output_dir=refit")  # fmt: skip
        checkpoints = Path("refit/latest/checkpoints")
        for name, file in (
            ("median epoch", f"checkpoint_epoch_{epoch:03}.pt"),
            ("last epoch", "last.pt"),
        ):
            outputs[name].append(table.outputs(str(checkpoints / file)))
    base = table.error([members])
    ratios = {name: table.error(of) / base for name, of in outputs.items()}
    ratios["median epoch and folds"] = (
        table.error([*outputs["median epoch"], *[members] * 5]) / base
    )
    return ratios


def draws(table: Table) -> dict[str, float]:
    found: dict[str, tuple[float, pd.DataFrame]] = {}  # of a configuration: loss and outputs

    def loss(trial: optuna.Trial) -> float:
        keys = {
            "training.learning_rate": trial.suggest_float("lr", 0.02, 0.3, log=True),
            "training.optimizer.weight_decay": trial.suggest_float("wd", 0.001, 0.05, log=True),
            "model.dropout": trial.suggest_float("dropout", 0, 0.4),
            "model.num_layers": trial.suggest_int("layers", 2, 4),
            "model.hidden_size": trial.suggest_categorical("size", [128, 256, 384]),
            "training.epochs": trial.suggest_categorical("epochs", [16, 32, 64, 128]),
        }
        name = " ".join(f"{key}={value}" for key, value in keys.items())
        if name not in found:
            model = table.ensemble(*name.split())
            metric = "rmse" if table.split.is_regression else "log_loss"
            found[name] = (model["out_of_fold"][metric], table.outputs(model["folder"]))
        trial.set_user_attr("name", name)
        return found[name][0]

    seed = table.split.number
    samplers = {
        "random": optuna.samplers.RandomSampler(seed=seed),
        "TPE": optuna.samplers.TPESampler(
            multivariate=True, constant_liar=True, n_startup_trials=AT_RANDOM, seed=seed
        ),
    }
    errors = {}
    for sampler_name, sampler in samplers.items():
        study = optuna.create_study(sampler=sampler)
        study.optimize(loss, n_trials=DRAWS)
        for number in (AT_RANDOM, DRAWS):
            best = sorted(study.trials[:number], key=lambda trial: trial.value)[:BEST]
            errors[sampler_name, number] = table.error(
                [found[trial.user_attrs["name"]][1] for trial in best]
            )
    return {
        f"{DRAWS} at random / {AT_RANDOM}": errors["random", DRAWS] / errors["random", AT_RANDOM],
        f"{AT_RANDOM} at random, TPE / {DRAWS} at random": (
            errors["TPE", DRAWS] / errors["random", DRAWS]
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("variant", choices=["refit", "draws"])
    parser.add_argument("--tables", type=tables, required=True)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/bin/trainer")
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    export_tables(DATA)
    all_ratios = []
    for name in arguments.tables:
        for number in range(1, arguments.splits + 1):
            with tempfile.TemporaryDirectory(prefix="trainer_tables_") as folder:
                table = Table(arguments.program, Path(folder), make_split(DATA, name, number))
                ratios = refit(table) if arguments.variant == "refit" else draws(table)
            all_ratios.append(ratios)
            print(name, number, {key: round(value, 3) for key, value in ratios.items()},
                  file=sys.stderr, flush=True)  # fmt: skip
    for key in all_ratios[0]:
        print(f"{key}: {geometric_mean([ratios[key] for ratios in all_ratios]):.3f}")


if __name__ == "__main__":
    main()
