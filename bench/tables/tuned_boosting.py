# SPDX-License-Identifier: Apache-2.0
"""Gradient boosting, tuned by Optuna for so many seconds on one thread: TPE over the usual ranges,
each trial on five folds with early stopping, of which the worse half ends after the first. The
model is the mean of the fold models of the best trial.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from public_tables import Split
from sklearn.model_selection import KFold, StratifiedKFold

PREFIX = "tuned "  # begins a name such as "tuned LightGBM 60"
ROUNDS = 4000
PATIENCE = 50


def lightgbm_space(trial: Any) -> dict[str, Any]:
    return {
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "num_leaves": trial.suggest_int("num_leaves", 4, 256, log=True),
        "min_child_samples": trial.suggest_int("min_child_samples", 2, 100, log=True),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.4, 1),
        "subsample": trial.suggest_float("subsample", 0.5, 1),
        "subsample_freq": 1,
        "reg_lambda": trial.suggest_float("reg_lambda", 1e-3, 100, log=True),
        "reg_alpha": trial.suggest_float("reg_alpha", 1e-4, 10, log=True),
        "cat_smooth": trial.suggest_float("cat_smooth", 1, 100, log=True),
    }


def xgboost_space(trial: Any) -> dict[str, Any]:
    return {
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "max_depth": trial.suggest_int("max_depth", 3, 10),
        "min_child_weight": trial.suggest_float("min_child_weight", 0.1, 100, log=True),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.4, 1),
        "subsample": trial.suggest_float("subsample", 0.5, 1),
        "reg_lambda": trial.suggest_float("reg_lambda", 1e-3, 100, log=True),
        "gamma": trial.suggest_float("gamma", 1e-4, 10, log=True),
    }


def catboost_space(trial: Any) -> dict[str, Any]:
    return {
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "depth": trial.suggest_int("depth", 3, 9),
        "l2_leaf_reg": trial.suggest_float("l2_leaf_reg", 0.5, 50, log=True),
        "random_strength": trial.suggest_float("random_strength", 0.1, 20, log=True),
        "bagging_temperature": trial.suggest_float("bagging_temperature", 0, 1),
    }


@dataclass
class Rows:
    """Training and test rows with categories as a library wants them, and classes as numbers."""

    features: pd.DataFrame
    test: pd.DataFrame
    targets: Any
    labels: Any  # None for a regression
    categories: list[str]


def rows_of(split: Split, as_text: bool) -> Rows:
    features = split.train.drop(columns=split.target)
    test = split.test.drop(columns=split.target)
    texts = [name for name in features if not pd.api.types.is_numeric_dtype(features[name])]
    for name in texts:
        known = sorted(set(features[name].dropna().astype(str)))
        for rows in (features, test):
            values = rows[name].astype(str)
            rows[name] = (
                values if as_text else pd.Categorical(values.where(rows[name].notna()), known)
            )
    targets = split.train[split.target]
    if split.is_regression:
        return Rows(features, test, targets.to_numpy(float), None, texts)
    labels = np.array(sorted(set(targets.astype(str))))
    return Rows(features, test, np.searchsorted(labels, targets.astype(str)), labels, texts)


def fit_lightgbm(rows: Rows, train: Any, valid: Any, keys: dict[str, Any]) -> Any:
    import lightgbm

    kind = lightgbm.LGBMRegressor if rows.labels is None else lightgbm.LGBMClassifier
    model = kind(n_estimators=ROUNDS, n_jobs=1, verbose=-1, **keys)
    return model.fit(
        rows.features.iloc[train],
        rows.targets[train],
        eval_set=[(rows.features.iloc[valid], rows.targets[valid])],
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )


def fit_xgboost(rows: Rows, train: Any, valid: Any, keys: dict[str, Any]) -> Any:
    import xgboost

    kind = xgboost.XGBRegressor if rows.labels is None else xgboost.XGBClassifier
    model = kind(
        n_estimators=ROUNDS,
        n_jobs=1,
        tree_method="hist",
        enable_categorical=True,
        early_stopping_rounds=PATIENCE,
        **keys,
    )
    return model.fit(
        rows.features.iloc[train],
        rows.targets[train],
        eval_set=[(rows.features.iloc[valid], rows.targets[valid])],
        verbose=False,
    )


def fit_catboost(rows: Rows, train: Any, valid: Any, keys: dict[str, Any]) -> Any:
    import catboost

    kind = catboost.CatBoostRegressor if rows.labels is None else catboost.CatBoostClassifier
    model = kind(
        iterations=ROUNDS // 4,  # the default; its rounds take longer
        thread_count=1,
        verbose=0,
        allow_writing_files=False,
        early_stopping_rounds=PATIENCE,
        **keys,
    )
    return model.fit(
        rows.features.iloc[train],
        rows.targets[train],
        eval_set=(rows.features.iloc[valid], rows.targets[valid]),
        cat_features=rows.categories,
    )


Fit = Callable[[Rows, Any, Any, dict[str, Any]], Any]
LIBRARIES: dict[str, tuple[Fit, Callable[[Any], dict[str, Any]]]] = {
    "LightGBM": (fit_lightgbm, lightgbm_space),
    "XGBoost": (fit_xgboost, xgboost_space),
    "CatBoost": (fit_catboost, catboost_space),
}


def loss_of(outputs: Any, targets: Any, labels: Any) -> float:
    if labels is None:
        return float(np.sqrt(np.mean((outputs - targets) ** 2)))
    right = outputs[np.arange(len(targets)), targets]
    return float(-np.mean(np.log(np.clip(right, 1e-12, 1))))


@dataclass
class Search:
    """The folds of all trials, and the best one so far."""

    rows: Rows
    library: str
    seconds: float
    number: int
    begin: float = field(default_factory=time.perf_counter)
    first_losses: list[float] = field(default_factory=list)
    best_loss: float = float("inf")
    best: list[Any] = field(default_factory=list)

    def spent(self) -> float:
        return time.perf_counter() - self.begin

    def outputs(self, model: Any, features: pd.DataFrame) -> Any:
        return (
            model.predict(features) if self.rows.labels is None else model.predict_proba(features)
        )

    def trial(self, trial: Any) -> float:
        fit, space = LIBRARIES[self.library]
        keys = space(trial) if trial.number > 0 else {}  # at first the defaults
        kind = KFold if self.rows.labels is None else StratifiedKFold
        folds = kind(5, shuffle=True, random_state=self.number)
        begin = time.perf_counter()
        models: list[Any] = []
        found: Any = None
        for train, valid in folds.split(self.rows.features, self.rows.targets):
            models.append(fit(self.rows, train, valid, keys))
            part = self.outputs(models[-1], self.rows.features.iloc[valid])
            if found is None:
                found = np.zeros((len(self.rows.targets), *part.shape[1:]))
                loss = loss_of(part, self.rows.targets[valid], self.rows.labels)
                is_worse = len(self.first_losses) > 2 and loss > np.median(self.first_losses)
                self.first_losses.append(loss)
                is_late = self.spent() + 4 * (time.perf_counter() - begin) > self.seconds
                if is_worse or (self.best and is_late):
                    return loss
            found[valid] = part
        loss = loss_of(found, self.rows.targets, self.rows.labels)
        if loss < self.best_loss:
            self.best_loss, self.best = loss, models
        return loss


def predict_tuned(split: Split, name: str) -> tuple[Any, float, float]:
    """Predictions for the test rows, and the seconds of the search and of the predictions; a name
    is such as "tuned LightGBM 60"."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    _, library, seconds = name.split()
    rows = rows_of(split, as_text=library == "CatBoost")
    search = Search(rows, library, float(seconds), split.number)
    sampler = optuna.samplers.TPESampler(multivariate=True, seed=split.number)
    study = optuna.create_study(sampler=sampler)
    while search.spent() < search.seconds:
        study.optimize(search.trial, n_trials=1)
    fitted = search.spent()
    outputs = np.mean([search.outputs(model, rows.test) for model in search.best], axis=0)
    predictions = outputs if rows.labels is None else rows.labels[outputs.argmax(axis=1)]
    return predictions, fitted, search.spent() - fitted
