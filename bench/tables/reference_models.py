# SPDX-License-Identifier: Apache-2.0
"""The reference implementations of trainer's recipes, RealMLP and TabM in pytabkit, and trainer
with the same settings: network, batches, epochs, learning rates, validation rows, one model.

What remains different: pytabkit selects the epoch by the error, trainer by the calibrated log
loss; the members of its TabM go through the rows in orders of their own, as share_training_batches
makes its regressions learn nothing (1.7.3); and their random numbers.
"""
from __future__ import annotations

import contextlib
import importlib
import os
import sys
from typing import Any

import numpy as np
import pandas as pd
from public_tables import VALIDATION_FRACTION, Split

EPOCHS = 256
REALMLP = {"batch_size": 256, "n_epochs": EPOCHS}  # all others are its defaults, as in the recipe
TABM = {
    "arch_type": "tabm-mini",
    "tabm_k": 16,
    "num_emb_type": "pwl",
    "num_emb_n_bins": 48,
    "d_embedding": 16,
    "d_block": 256,
    "n_blocks": 2,
    "dropout": 0.1,
    "batch_size": "auto",
    "lr": 0.002,
    "weight_decay": 0.0003,
    "gradient_clipping_norm": 1.0,
    "patience": 16,
    "n_epochs": EPOCHS,
}
# What trainer gets: the same.
OURS = {
    "trainer as RealMLP": ["recipe=realmlp", "members=1", "training.batch_size=256"],
    "trainer as TabM": ["recipe=tabm", "members=1", "model.ensemble_size=16"],
}


def without_gaps(encoded: tuple[pd.DataFrame, pd.DataFrame]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Missing numbers are the median of the training rows: pytabkit takes none."""
    train, test = encoded
    numbers = train.select_dtypes("number").columns
    medians = train[numbers].median()
    for rows in encoded:
        rows[numbers] = rows[numbers].astype(float).fillna(medians)
    return train, test


def fit(split: Split, features: Any, targets: np.ndarray, name: str, settings: Any) -> Any:
    models = importlib.import_module("pytabkit")  # in bench/peers/setup_peers.sh's Python only
    kind = getattr(models, f"{name}_{'Regressor' if split.is_regression else 'Classifier'}")
    model = kind(
        device="cpu",
        random_state=split.number,
        val_fraction=VALIDATION_FRACTION,
        n_threads=len(os.sched_getaffinity(0)),
        **settings,
    )
    with contextlib.redirect_stdout(sys.stderr):
        model.fit(features, targets)
    return model.predict


def fit_realmlp(split: Split, features: Any, targets: np.ndarray) -> Any:
    return fit(split, features, targets, "RealMLP_TD", REALMLP)


def fit_tabm(split: Split, features: Any, targets: np.ndarray) -> Any:
    return fit(split, features, targets, "TabM_D", TABM)
