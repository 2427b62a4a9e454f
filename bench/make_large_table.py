#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a CSV file of 20 columns of random numbers and a target y of two classes that follows from
them, to measure tables that are larger than memory: 20,000,000 rows are 3 GB.

Usage: bench/make_large_table.py FILE [ROWS]
"""
import sys
from typing import TextIO

import numpy as np

NUM_COLUMNS = 20
ROWS_AT_ONCE = 200_000


def write_rows(file: TextIO, random: np.random.Generator, num_rows: int) -> None:
    numbers = random.standard_normal((num_rows, NUM_COLUMNS)).astype(np.float32)
    noise = random.standard_normal(num_rows)
    classes = (numbers[:, 0] * numbers[:, 1] + numbers[:, 2] + noise > 0).astype(np.int64)
    columns = [np.char.mod("%.4f", numbers[:, column]) for column in range(NUM_COLUMNS)]
    columns.append(classes.astype(str))
    file.writelines(",".join(cells) + "\n" for cells in zip(*columns))


def main() -> None:
    path = sys.argv[1]
    num_rows = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000_000
    random = np.random.default_rng(1)
    with open(path, "w", encoding="ascii") as file:
        file.write(",".join([f"x{column}" for column in range(NUM_COLUMNS)] + ["y"]) + "\n")
        for begin in range(0, num_rows, ROWS_AT_ONCE):
            write_rows(file, random, min(ROWS_AT_ONCE, num_rows - begin))


if __name__ == "__main__":
    main()
