# SPDX-License-Identifier: Apache-2.0
"""The three works of the comparison, and what all peers must agree on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OPTIMIZER = {
    "learning_rate": 1e-3,
    "weight_decay": 0.01,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "gradient_clip_norm": 1.0,
}


@dataclass(frozen=True)
class Work:
    name: str
    layers: tuple[int, ...]  # widths, from the features to the classes
    batch_size: int
    num_rows: int  # of the training part
    quick_rows: int  # the same with --quick
    trial_rows: int  # of a trial that looks for the best setting
    num_test_rows: int
    unit: str  # "us/step", "ms/step" or "s/epoch"

    def is_table(self) -> bool:
        return self.layers[0] != 784

    def title(self) -> str:
        return f"{'-'.join(map(str, self.layers))}, batch {self.batch_size}"

    def num_steps(self, num_rows: int) -> int:
        return -(-num_rows // self.batch_size)


WORKS = {
    work.name: work
    for work in (
        Work("tiny", (10, 128, 128, 2), 32, 32_000, 9_600, 9_600, 10_000, "us/step"),
        Work("mid", (784, 256, 256, 10), 128, 60_000, 12_800, 7_680, 10_000, "s/epoch"),
        Work("large", (784, 1024, 1024, 10), 512, 15_360, 5_120, 4_096, 10_000, "ms/step"),
    )
}


def data_files(work: Work) -> dict[str, str]:
    """Names of the data files in the folder of a work."""
    if work.is_table():
        return {"train": "train.csv", "test": "test.csv"}
    return {
        "train_images": "train-images-idx3-ubyte",
        "train_labels": "train-labels-idx1-ubyte",
        "test_images": "t10k-images-idx3-ubyte",
        "test_labels": "t10k-labels-idx1-ubyte",
    }


def write_description(work: Work, folder: Path) -> None:
    """Writes work.json, which tells the peers everything but the rows themselves."""
    description = {
        "layers": work.layers,
        "batch_size": work.batch_size,
        **OPTIMIZER,
        "files": data_files(work),
    }
    (folder / "work.json").write_text(json.dumps(description, indent=1) + "\n")


def write_trainer_config(work: Work, folder: Path) -> None:
    """Writes the same as a configuration of trainer (JSON is YAML)."""
    files = data_files(work)
    data: dict[str, Any] = {"validation_fraction": 0, "test_fraction": 0, "scaling": "standard"}
    if work.is_table():
        data.update(source="csv", path=files["train"], target="label", task="classification")
    else:
        data.update(source="idx", idx={name: files[name] for name in files if "train" in name})
    optimizer = {
        "name": "adamw",
        "decay_bias_and_norm": True,
        **{key: OPTIMIZER[key] for key in ("weight_decay", "beta1", "beta2", "epsilon")},
    }
    training = {
        "batch_size": work.batch_size,
        "learning_rate": OPTIMIZER["learning_rate"],
        "gradient_clip_norm": OPTIMIZER["gradient_clip_norm"],
        "optimizer": optimizer,
        "schedule": {"name": "constant"},
        "early_stopping": {"min_delta": 1e9},
    }  # only the first epoch is a best one
    config = {
        "device": "cpu",
        "threads": "auto",
        "data": data,
        "model": {"hidden_sizes": work.layers[1:-1], "activation": "relu", "init": "pytorch"},
        "training": training,
        "checkpoint": {"every_epochs": 1_000_000, "every_seconds": 0},
        "logging": {"save_interval": 1_000_000},
    }
    (folder / "trainer.yaml").write_text(json.dumps(config, indent=1) + "\n")
