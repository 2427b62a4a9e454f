#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the data of one work: a made table as CSV, or images as IDX files.
Usage: make_data.py FOLDER WORK NUM_ROWS [FASHION_FOLDER]
Without the folder of Fashion-MNIST's files images are made that are learned, but not in one epoch.
"""

from __future__ import annotations

import gzip
import pathlib
import sys

import numpy as np

from works import WORKS, Work, data_files


def make_table(
    random: np.random.Generator, num_rows: int, num_columns: int
) -> tuple[np.ndarray, np.ndarray]:
    """Normal features; the label is a curved function of six of them, one in twenty is wrong."""
    x = random.standard_normal((num_rows, num_columns))
    score = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + x[:, 3] ** 2 - 1 + x[:, 4] * x[:, 5]
    return x, (score > 0) ^ (random.random(num_rows) < 0.05)


def write_table(path: pathlib.Path, x: np.ndarray, labels: np.ndarray) -> None:
    header = ",".join([*(f"x{i}" for i in range(x.shape[1])), "label"])
    np.savetxt(
        path,
        np.column_stack([x, labels]),
        fmt=["%.6g"] * x.shape[1] + ["%d"],
        delimiter=",",
        header=header,
        comments="",
    )


def make_images(
    random: np.random.Generator, num_rows: int, patterns: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """28 x 28 pixels: a pattern of the label's class, a weaker one of any class, noise."""
    num_classes, num_variants = patterns.shape[:2]
    labels = random.integers(num_classes, size=num_rows)
    variants = random.integers(num_variants, size=(2, num_rows))
    others = random.integers(num_classes, size=num_rows)
    weights = random.uniform(0.5, 0.8, size=(num_rows, 1, 1)).astype(np.float32)
    small = weights * patterns[labels, variants[0]] + (1 - weights) * patterns[others, variants[1]]
    images = np.kron(small, np.ones((1, 4, 4), np.float32))
    images += 0.3 * random.standard_normal(images.shape, dtype=np.float32)
    return (images.clip(0, 1) * 255).astype(np.uint8), labels.astype(np.uint8)


def read_idx(path: pathlib.Path) -> np.ndarray:
    content = gzip.decompress(path.read_bytes())
    sizes = np.frombuffer(content, ">i4", count=content[3], offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * content[3]).reshape(sizes)


def write_idx(path: pathlib.Path, values: np.ndarray) -> None:
    sizes = np.array(values.shape, ">i4").tobytes()
    path.write_bytes(bytes([0, 0, 8, values.ndim]) + sizes + values.tobytes())


def images_of(work: Work, num_rows: int, fashion: pathlib.Path | None) -> list[np.ndarray]:
    """The arrays of the four files, in the order of data_files."""
    if fashion:
        arrays = [read_idx(fashion / f"{name}.gz") for name in data_files(work).values()]
        return [*(array[:num_rows] for array in arrays[:2]), *arrays[2:]]
    random = np.random.default_rng(42)
    patterns = random.random((10, 12, 7, 7), dtype=np.float32)
    return [
        *make_images(random, num_rows, patterns),
        *make_images(random, work.num_test_rows, patterns),
    ]


def main() -> None:
    folder, work, num_rows = pathlib.Path(sys.argv[1]), WORKS[sys.argv[2]], int(sys.argv[3])
    paths = [folder / name for name in data_files(work).values()]
    if work.is_table():
        random = np.random.default_rng(42)
        for path, count in zip(paths, (num_rows, work.num_test_rows)):
            write_table(path, *make_table(random, count, work.layers[0]))
        return
    fashion = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    for path, values in zip(paths, images_of(work, num_rows, fashion)):
        write_idx(path, values)


if __name__ == "__main__":
    main()
