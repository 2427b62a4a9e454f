#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the examples in fp32 and in bf16, with five seeds each, and prints mean and standard
deviation of their results on the test split. Takes a minute or two, and with Fashion-MNIST
(scripts/fetch_fashion_mnist.sh) five more.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from statistics import mean, stdev

ROOT = Path(__file__).resolve().parent.parent
WORKS = (
    ("digits", "train.yaml", ()),
    ("digits", "train.yaml", ("recipe=realmlp",)),
    ("penguins", "penguins.yaml", ("recipe=realmlp",)),
    ("auto_mpg", "auto_mpg.yaml", ("recipe=realmlp",)),
    ("fashion", "fashion_mnist.yaml", ()),
)


def result(
    program: Path, folder: Path, config: str, words: tuple[str, ...], precision: str, seed: int
) -> float:
    """Accuracy in percent, or the root mean square error of a regression."""
    subprocess.run(
        [
            program,
            "-q",
            "--config",
            ROOT / "configs" / config,
            *words,
            "--seed",
            str(seed),
            "--precision",
            precision,
            "--output-dir",
            folder,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    test = json.loads((folder / "latest" / "summary.json").read_text())["test"]
    return 100 * test["accuracy"] if "accuracy" in test else test["rmse"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--program",
        type=Path,
        metavar="FILE",
        default=ROOT / "build" / "release" / "bin" / "trainer",
    )
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    given = parser.parse_args()
    has_fashion = (ROOT / "configs" / "data" / "fashion-mnist").is_dir()
    for name, config, words in WORKS if has_fashion else WORKS[:-1]:
        for precision in ("fp32", "bf16"):
            with tempfile.TemporaryDirectory() as scratch:
                results = [
                    result(given.program, Path(scratch), config, words, precision, seed)
                    for seed in range(1, given.seeds + 1)
                ]
            print(
                f"{' '.join((name, *words)):28}  {precision}  {mean(results):8.3f} "
                f"+- {stdev(results):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
