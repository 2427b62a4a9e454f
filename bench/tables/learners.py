# SPDX-License-Identifier: Apache-2.0
"""What is compared: trainer's recipes and the peers, each with its defaults."""

from __future__ import annotations

import shlex
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import reference_models
import tuned_boosting
from public_tables import VALIDATION_FRACTION, Split
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from trainer_program import run
from xgboost import XGBClassifier, XGBRegressor

MAX_CATEGORIES = 255  # of HistGradientBoosting


@dataclass
class Outcome:
    error: float
    fit_seconds: float
    predict_seconds: float


Learner = Callable[[Split], Outcome]


# ---- trainer: its commands, as a user types them -------------------------------------------------


@dataclass
class Trainer:
    """`trainer init`, then training, with these arguments; reading and writing files counts."""

    program: Path
    arguments: list[str]
    command: str = "train"
    init_arguments: list[str] = field(default_factory=list)

    def __call__(self, split: Split) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="trainer_tables_") as name:
            folder = Path(name)
            split.train.to_csv(folder / "train.csv", index=False)
            split.test.drop(columns=split.target).to_csv(folder / "test.csv", index=False)
            run(
                self.program,
                folder,
                "init",
                "--data",
                "train.csv",
                "--target",
                split.target,
                "--output",
                "table.yaml",
                *self.init_arguments,
            )
            begin = time.perf_counter()
            run(
                self.program,
                folder,
                self.command,
                "--config",
                "table.yaml",
                "--seed",
                str(split.number),
                "data.test_fraction=0",
                f"data.validation_fraction={VALIDATION_FRACTION}",
                *self.arguments,
            )
            trained = time.perf_counter()
            run(
                self.program,
                folder,
                "predict",
                "runs/latest",
                "--data",
                "test.csv",
                "--output",
                "predictions.csv",
            )
            end = time.perf_counter()
            predictions = pd.read_csv(
                folder / "predictions.csv",
                keep_default_na=False,
                dtype=None if split.is_regression else str,
            )
            return Outcome(
                split.error(predictions["prediction"].to_numpy()), trained - begin, end - trained
            )


# ---- the peers: their functions ------------------------------------------------------------------


@dataclass
class Peer:
    """A model of a Python library: `fit` gets features and targets and returns a predictor."""

    encode: Callable[[Split], tuple[Any, Any]]
    fit: Callable[[Split, Any, np.ndarray], Callable[[Any], np.ndarray]]

    def __call__(self, split: Split) -> Outcome:
        features, test_features = self.encode(split)
        targets = split.train[split.target].to_numpy()
        labels = np.empty(0)
        if not split.is_regression:
            labels, targets = np.unique(targets.astype(str), return_inverse=True)
        begin = time.perf_counter()
        predict = self.fit(split, features, targets)
        trained = time.perf_counter()
        predictions = predict(test_features)
        end = time.perf_counter()
        if not split.is_regression:
            predictions = labels[predictions.astype(int)]
        return Outcome(split.error(predictions), trained - begin, end - trained)


def categorical_columns(split: Split) -> list[str]:
    return [
        name
        for name in split.train.columns
        if name != split.target and not pd.api.types.is_numeric_dtype(split.train[name])
    ]


def with_categories(split: Split) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Texts as pandas' categories of the training rows; unknown ones are missing."""
    train, test = split.train.drop(columns=split.target), split.test.drop(columns=split.target)
    for name in categorical_columns(split):
        train[name] = train[name].astype("category")
        test[name] = pd.Categorical(test[name], categories=train[name].cat.categories)
    return train, test


def with_numbers(split: Split) -> tuple[pd.DataFrame, pd.DataFrame]:
    return reference_models.without_gaps(with_categories(split))


def with_codes(split: Split) -> tuple[np.ndarray, np.ndarray]:
    """Texts as numbers, missing and unknown ones as NaN."""
    encoded = []
    for rows in with_categories(split):
        for name in categorical_columns(split):
            codes = rows[name].cat.codes.astype(float)
            rows[name] = codes.where(codes >= 0)
        encoded.append(rows.to_numpy(dtype=float))
    return encoded[0], encoded[1]


def one_hot_and_scaled(split: Split) -> tuple[np.ndarray, np.ndarray]:
    """Texts one-hot, numbers with the mean 0 and the deviation 1, missing ones the median."""
    texts = categorical_columns(split)
    numbers = [name for name in split.train.columns if name not in [*texts, split.target]]
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts),
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
    )
    return encoder.fit_transform(split.train), encoder.transform(split.test)


def validation_part(split: Split, features: Any, targets: np.ndarray) -> list[Any]:
    """Features and targets of the rows to train on and of those to validate on, alternating."""
    return train_test_split(
        features,
        targets,
        test_size=VALIDATION_FRACTION,
        random_state=split.number,
        stratify=None if split.is_regression else targets,
    )


def fit_hist_gradient_boosting(split: Split, features: Any, targets: np.ndarray) -> Any:
    texts = categorical_columns(split)
    is_categorical = [
        name in texts and split.train[name].nunique() <= MAX_CATEGORIES
        for name in split.train.columns
        if name != split.target
    ]
    kind = HistGradientBoostingRegressor if split.is_regression else HistGradientBoostingClassifier
    return (
        kind(categorical_features=is_categorical, random_state=split.number)
        .fit(features, targets)
        .predict
    )


def fit_hist_gradient_boosting_held_out(split: Split, features: Any, targets: np.ndarray) -> Any:
    train, _, train_targets, _ = validation_part(split, features, targets)
    return fit_hist_gradient_boosting(split, train, train_targets)


def xgboost_kind(split: Split) -> Any:
    return XGBRegressor if split.is_regression else XGBClassifier


def fit_xgboost(split: Split, features: Any, targets: np.ndarray) -> Any:
    model = xgboost_kind(split)(
        tree_method="hist", enable_categorical=True, random_state=split.number
    )
    return model.fit(features, targets).predict


def fit_xgboost_held_out(split: Split, features: Any, targets: np.ndarray) -> Any:
    train, _, train_targets, _ = validation_part(split, features, targets)
    return fit_xgboost(split, train, train_targets)


def fit_xgboost_tuned(split: Split, features: Any, targets: np.ndarray) -> Any:
    """XGB-TD, the defaults that the authors of RealMLP tuned (arXiv:2407.04491, table B.1)."""
    numbers = {
        "n_estimators": 1000,
        "colsample_bylevel": 0.9,
        "reg_lambda": 0.0,
        "tree_method": "hist",
        "enable_categorical": True,
        "early_stopping_rounds": 300,
        "random_state": split.number,
    }
    if split.is_regression:
        numbers |= {
            "learning_rate": 0.05,
            "max_depth": 9,
            "min_child_weight": 2.0,
            "subsample": 0.7,
        }
    else:
        numbers |= {
            "learning_rate": 0.08,
            "max_depth": 6,
            "min_child_weight": 5e-6,
            "subsample": 0.65,
            "eval_metric": "merror" if targets.max() > 1 else "error",
        }
    train, valid, train_targets, valid_targets = validation_part(split, features, targets)
    model = xgboost_kind(split)(**numbers)
    return model.fit(train, train_targets, eval_set=[(valid, valid_targets)], verbose=False).predict


def fit_random_forest(split: Split, features: Any, targets: np.ndarray) -> Any:
    kind = RandomForestRegressor if split.is_regression else RandomForestClassifier
    return kind(n_jobs=-1, random_state=split.number).fit(features, targets).predict


def fit_mlp(split: Split, features: Any, targets: np.ndarray) -> Any:
    kind = MLPRegressor if split.is_regression else MLPClassifier
    mean, scale = (targets.mean(), targets.std()) if split.is_regression else (0, 1)
    model = kind(
        hidden_layer_sizes=(128, 128),
        early_stopping=True,
        validation_fraction=VALIDATION_FRACTION,
        random_state=split.number,
    )
    model.fit(features, (targets - mean) / scale if split.is_regression else targets)
    if not split.is_regression:
        return model.predict
    return lambda test: model.predict(test) * scale + mean


ON_REQUEST = ["trainer plain", *reference_models.OURS, "pytabkit RealMLP", "pytabkit TabM"]


# ---- learners whose name says the rest -----------------------------------------------------------


def variant(program: Path, name: str) -> Learner:
    """The learner that is called, for example, "trainer: ensemble --members 4 recipe=realmlp"."""
    command, *arguments = shlex.split(name.removeprefix("trainer: "))
    if command == "init":
        return Trainer(program, [], init_arguments=arguments)
    if command in ("train", "ensemble", "cv", "search"):
        return Trainer(program, arguments, command)
    return Trainer(program, [command, *arguments])


def tuned(_: Path, name: str) -> Learner:
    """The learner that is called, for example, "tuned LightGBM 60"."""

    def learn(split: Split) -> Outcome:
        predictions, fit_seconds, predict_seconds = tuned_boosting.predict_tuned(split, name)
        return Outcome(split.error(predictions), fit_seconds, predict_seconds)

    return learn


def autogluon(_: Path, name: str) -> Learner:
    """The learner that is called, for example, "AutoGluon 60": its best preset on a CPU."""

    def learn(split: Split) -> Outcome:
        from autogluon.tabular import TabularPredictor  # of an environment of its own

        metric = "root_mean_squared_error" if split.is_regression else "accuracy"
        train = split.train
        if not split.is_regression:
            train = train.assign(**{split.target: train[split.target].astype(str)})
        with tempfile.TemporaryDirectory(prefix="autogluon_") as folder:
            begin = time.perf_counter()
            predictor = TabularPredictor(split.target, None, metric, folder, verbosity=0)
            predictor.fit(
                train, time_limit=float(name.split()[1]), presets="best_quality", num_gpus=0
            )
            trained = time.perf_counter()
            predictions = predictor.predict(split.test.drop(columns=split.target))
            end = time.perf_counter()
        return Outcome(split.error(predictions.to_numpy()), trained - begin, end - trained)

    return learn


NAMED = {"trainer: ": variant, tuned_boosting.PREFIX: tuned, "AutoGluon ": autogluon}


def named_learner(program: Path, name: str) -> Learner | None:
    """None if its name says nothing."""
    for prefix, make in NAMED.items():
        if name.startswith(prefix):
            return make(program, name)
    return None


def all_learners(program: Path, plain_program: Path) -> dict[str, Learner]:
    """By name, in the order of the report. `plain_program` is one whose `init` knows no recipes.
    Peers whose defaults need no validation split learn from all training rows; with "held out" from
    those that trainer learns from."""
    single = ["members=1", "training.epochs=256"]
    return {
        "trainer": Trainer(program, []),
        "trainer plain": Trainer(plain_program, []),
        "trainer realmlp": Trainer(program, ["recipe=realmlp", *single]),
        "trainer tabm": Trainer(program, ["recipe=tabm", *single]),
        "trainer ensemble": Trainer(
            program, ["--recipes", "realmlp,tabm", "training.epochs=256"], "ensemble"
        ),
        "HistGradientBoosting": Peer(with_codes, fit_hist_gradient_boosting),
        "HistGradientBoosting, held out": Peer(with_codes, fit_hist_gradient_boosting_held_out),
        "XGBoost": Peer(with_categories, fit_xgboost),
        "XGBoost, held out": Peer(with_categories, fit_xgboost_held_out),
        "XGB-TD": Peer(with_categories, fit_xgboost_tuned),
        "RandomForest": Peer(one_hot_and_scaled, fit_random_forest),
        "scikit-learn MLP": Peer(one_hot_and_scaled, fit_mlp),
        **{
            name: Trainer(program, [*arguments, f"training.epochs={reference_models.EPOCHS}"])
            for name, arguments in reference_models.OURS.items()
        },
        "pytabkit RealMLP": Peer(with_numbers, reference_models.fit_realmlp),
        "pytabkit TabM": Peer(with_numbers, reference_models.fit_tabm),
    }
