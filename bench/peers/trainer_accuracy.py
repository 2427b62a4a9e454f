#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the test accuracy of the weights in a checkpoint of trainer, computed by NumPy alone.
Usage: trainer_accuracy.py WORK_FOLDER CHECKPOINT
"""

from __future__ import annotations

import io
import pathlib
import pickle
import sys
import zipfile
from typing import Any

import numpy as np

import peer


class Reader(pickle.Unpickler):
    """Reads PyTorch's format: tensors of float32 as arrays, nothing else but plain values."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        super().__init__(io.BytesIO(archive.read("archive/data.pkl")))
        self.archive = archive

    def find_class(self, module: str, name: str) -> Any:
        known = {
            "_rebuild_tensor_v2": lambda values, offset, sizes, *_: values[
                offset : offset + int(np.prod(sizes))
            ].reshape(sizes),
            "FloatStorage": "<f4",
            "OrderedDict": dict,
        }
        if name not in known:
            raise pickle.UnpicklingError(f"unexpected {module}.{name}")
        return known[name]

    def persistent_load(self, pid: Any) -> np.ndarray:
        _, element_type, key, _, _ = pid
        return np.frombuffer(self.archive.read(f"archive/data/{key}"), element_type)


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    with zipfile.ZipFile(sys.argv[2]) as archive:
        state = Reader(archive).load()
    work = peer.read_work(folder)
    x, y = peer.read_part(folder, work["files"], "test")
    hidden = (x - state["schema"]["shift"]) * state["schema"]["scale"]
    num_layers = len(work["layers"]) - 1
    for i in range(num_layers):
        weight, bias = (state["model"][f"layers.{i}.{name}"] for name in ("weight", "bias"))
        hidden = hidden @ weight.T + bias
        if i < num_layers - 1:
            hidden = np.maximum(hidden, 0)
    print((hidden.argmax(1) == y).mean())


if __name__ == "__main__":
    main()
