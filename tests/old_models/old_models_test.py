#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model of every format version is verified, predicts what it always did, and can be read without
trainer: exported, it is applied by the few lines here, after docs/file-formats.md.

old_models_test.py TRAINER
"""

from __future__ import annotations

import csv
import json
import math
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent


def run(*command: str | Path) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: exit code {done.returncode}: {done.stderr}"


def read_rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def is_close(value: float, text: str) -> bool:
    return math.isclose(value, float(text), rel_tol=0, abs_tol=1e-4)


def compare(found: list[dict[str, str]], expected: list[dict[str, str]]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert list(one) == list(other), f"columns {list(one)}, expected {list(other)}"
        for name, text in other.items():
            assert one[name] == text or is_close(
                float(one[name]), text
            ), f"{name}: {one[name]}, expected {text}"


def read_safetensors(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns metadata, and vectors and matrices by name."""
    content = file.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        values: Any = struct.unpack(f"<{(end - begin) // 4}f", content[begin:end])
        if len(entry["shape"]) == 2:
            width = entry["shape"][1]
            values = [values[i : i + width] for i in range(0, len(values), width)]
        tensors[name] = values
    return metadata, tensors


def features(row: dict[str, str], metadata: dict[str, Any]) -> list[float]:
    """In the order of `feature_names`; a category is 1 in the feature that has its name."""
    result = []
    scaling = json.loads(metadata["feature_scaling"])
    columns = {column["name"]: column for column in json.loads(metadata.get("columns", "[]"))}
    names = json.loads(metadata["feature_names"])
    for name, shift, scale in zip(names, scaling["shift"], scaling["scale"]):
        if name in row:
            value = float(row[name])
            low, high = columns.get(name, {}).get("limits", [-math.inf, math.inf])
            value = min(max(value, low), high)
        else:
            column, category = name.split("=")
            value = float(row[column] == category)
        result.append((value - shift) * scale)
    return result


def forward(x: list[float], metadata: dict[str, Any], tensors: dict[str, Any]) -> list[float]:
    num_layers = len(json.loads(metadata["model"])["hidden_sizes"]) + 1
    for i in range(num_layers):
        weight, bias = tensors[f"layers.{i}.weight"], tensors[f"layers.{i}.bias"]
        x = [sum(a * b for a, b in zip(x, w)) + c for w, c in zip(weight, bias)]
        if i + 1 < num_layers:
            x = [max(value, 0.0) for value in x]
    if metadata["task"] == "classification":
        powers = [math.exp(value - max(x)) for value in x]
        return [power / sum(powers) for power in powers]
    scaling = json.loads(metadata["target_scaling"])
    offsets = scaling.get("offset", [0.0] * len(x))
    terms = zip(x, scaling["shift"], scaling["scale"], offsets)
    return [value / scale + shift + offset for value, shift, scale, offset in terms]


def check_export(file: Path, rows: list[dict[str, str]], expected: list[dict[str, str]]) -> None:
    metadata, tensors = read_safetensors(file)
    for row, other in zip(rows, expected):
        outputs = forward(features(row, metadata), metadata, tensors)
        for value, text in zip(outputs, list(other.values())[-len(outputs) :]):
            assert is_close(value, text), f"{value} without trainer, expected {text}"


def main() -> None:
    trainer = sys.argv[1]
    rows = read_rows(FOLDER / "rows.csv")
    source = FOLDER.parents[1] / "include/trainer/table/schema/schema_format.h"
    [newest] = re.findall(r"kFormatVersion = (\d+);", source.read_text())
    with tempfile.TemporaryDirectory() as folder:
        for model in (FOLDER / f"version_{i + 1}.pt" for i in range(int(newest))):
            expected = read_rows(model.with_suffix(".csv"))
            output = Path(folder) / f"{model.stem}.csv"
            run(trainer, "verify", model)
            run(trainer, "predict", model, FOLDER / "rows.csv", "--output", output)
            compare(read_rows(output), expected)
            exported = Path(folder) / f"{model.stem}.safetensors"
            run(trainer, "export", model, "--output", exported)
            # Embedded columns and dates take more lines than these.
            if model.stem not in ("version_4", "version_6"):
                check_export(exported, rows, expected)
            print(f"ok: {model.stem}")
    print("old_models: good")


if __name__ == "__main__":
    main()
