# SPDX-License-Identifier: Apache-2.0
"""What the peers that are written in Python share: arguments, data, clock and report."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np
import probe

Part = tuple[np.ndarray, np.ndarray]  # features and classes of the same rows


def parser(description: str | None) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=description)
    made.add_argument("folder", type=pathlib.Path, help="has work.json and the data")
    made.add_argument("--epochs", type=int, default=2)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--rows", type=int, help="train with the first ROWS rows only")
    return made


def read_work(folder: pathlib.Path) -> dict[str, Any]:
    return json.loads((folder / "work.json").read_text())


def read_idx(path: pathlib.Path) -> np.ndarray:
    content = path.read_bytes()
    sizes = np.frombuffer(content, ">i4", count=content[3], offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * content[3]).reshape(sizes)


def read_part(folder: pathlib.Path, files: dict[str, str], part: str) -> Part:
    """Features [n, features] as they stand in the file, and classes [n] as int64."""
    if part in files:
        table = np.loadtxt(folder / files[part], np.float32, delimiter=",", skiprows=1)
        return table[:, :-1], table[:, -1].astype(np.int64)
    images = read_idx(folder / files[part + "_images"])
    labels = read_idx(folder / files[part + "_labels"])
    return images.reshape(len(images), -1), labels.astype(np.int64)


def fit_scaling(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column, 1 for a constant one."""
    mean = x.mean(0, dtype=np.float64)
    blocks = np.array_split(x, max(1, len(x) // 4096))
    deviation = np.sqrt(sum(((block - mean) ** 2).sum(0) for block in blocks) / len(x))
    deviation[deviation == 0] = 1
    return mean.astype(np.float32), deviation.astype(np.float32)


def load(given: argparse.Namespace) -> tuple[Part, Part]:
    """Scaled features as float32 and classes of the training and of the test part."""
    files = read_work(given.folder)["files"]
    x, y = read_part(given.folder, files, "train")
    mean, deviation = fit_scaling(x)
    x_test, y_test = read_part(given.folder, files, "test")
    x, y = x[: given.rows], y[: given.rows]
    return ((x - mean) / deviation, y), ((x_test - mean) / deviation, y_test)


@dataclass
class Times:
    epochs: list[float] = field(default_factory=list)  # seconds
    probes: list[float] = field(default_factory=list)  # before and after the epochs that count


def time_epochs(num_epochs: int, train_epoch: Callable[[], object]) -> Times:
    """Of each epoch. After the first one, all CPUs are kept busy for a while, as reading the data
    and compiling have used one only."""
    times = Times()
    for number in range(num_epochs):
        if number == 1:
            times.probes.append(probe.measure(sys.executable, probe.SECONDS_BEFORE))
        start = time.perf_counter()
        train_epoch()
        times.epochs.append(time.perf_counter() - start)
    times.probes.append(probe.measure(sys.executable, probe.SECONDS_AFTER))
    return times


def report(times: Times, predicted: np.ndarray, classes: np.ndarray) -> None:
    print(
        json.dumps(
            {
                "epoch_seconds": times.epochs,
                "probes": times.probes,
                "accuracy": float((predicted == classes).mean()),
            }
        )
    )
