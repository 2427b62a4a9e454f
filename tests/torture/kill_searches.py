#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills `trainer search` at random moments and starts it again. What a kill leaves after the first
trial is a model that predicts; what a resumed search finds are the trials, losses and weights of an
undisturbed one.

Usage: tests/torture/kill_searches.py [--kills 100] [--seed 1] [--program PROGRAM]
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from small_runs import Place

TRIALS = 6
SEARCH = [
    "--trials", TRIALS, "--folds", 3, "--resume", "auto", "--quiet", "training.epochs=6",
    "training.learning_rate=log(1e-3,3e-2)", "model.num_layers=int(1,3)",
    "model.hidden_size=choice(4,16)",
]  # fmt: skip


def start(place: Place, name: str) -> subprocess.Popen[bytes]:
    arguments = ["search", "--config", place.config, *SEARCH, f"output_dir={place.folder / name}"]
    return subprocess.Popen(place.trainer(*arguments), stderr=subprocess.PIPE)


def end(process: subprocess.Popen[bytes]) -> None:
    _, said = process.communicate()
    if process.returncode != 0:
        sys.exit(f"kill_searches: status {process.returncode}: {said.decode()}")


def found(place: Place, name: str) -> list[Any]:
    """What does not depend on the time: settings, losses and weights."""
    trials = json.loads((place.folder / name / "latest" / "search.json").read_text())["trials"]
    return [
        {key: trial[key] for key in ("trial", "recipe", "settings", "loss", "weight")}
        for trial in trials
    ]


def predicts(place: Place, name: str) -> bool:
    """Whether there is a model; one that does not predict ends the test."""
    model = place.folder / name / "latest"
    if not (model / "ensemble.json").exists():
        return False
    output = place.folder / "predictions.csv"
    arguments = ["predict", model, place.table, "--output", output]
    done = subprocess.run(place.trainer(*arguments), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"kill_searches: after a kill of {name}: {done.stderr}")
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=Path, default=Path("build/release/bin/trainer"))
    arguments = parser.parse_args()
    choose = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), arguments.program.resolve())
        begin = time.monotonic()
        end(start(place, "whole"))
        seconds = time.monotonic() - begin
        expected = found(place, "whole")
        assert len(expected) == TRIALS
        kills = models = searches = 0
        while kills < arguments.kills:
            searches += 1
            name = f"killed{searches}"
            while True:
                process = start(place, name)
                try:
                    process.wait(timeout=choose.uniform(0, seconds / 2))
                    break
                except subprocess.TimeoutExpired:
                    process.kill()
                process.communicate()
                kills += 1
                models += predicts(place, name)
            end(process)
            if found(place, name) != expected:
                sys.exit(f"kill_searches: {name} found other trials than an undisturbed search")
    print(
        f"kill_searches: {kills} kills, {models} of them after the first model, all valid; "
        f"{searches} searches with the trials of an undisturbed one"
    )


if __name__ == "__main__":
    main()
