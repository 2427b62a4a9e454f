#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the errors of trainer's recipes with gradient boosting and others on public tables,
nothing tuned. Can be interrupted: what is measured is in the JSON file and not measured again.
docs/quality.md has the method and the results.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from learners import NAMED, ON_REQUEST, Learner, all_learners, named_learner
from public_tables import (
    ALL_TARGETS,
    DATA,
    OTHER_TARGETS,
    TARGETS,
    Split,
    export_tables,
    make_split,
)
from quality_report import Record, render
from trainer_program import PROGRAM


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def words(choices: list[str]) -> Any:
    """A list of choices, separated by commas."""

    def parse(text: str) -> list[str]:
        chosen = [word.strip() for word in text.split(";" if ";" in text else ",")]
        for word in chosen:
            if word not in choices and not word.startswith(tuple(NAMED)):
                raise argparse.ArgumentTypeError(
                    f"unknown: {word}; choose from: {', '.join(choices)}"
                )
        return chosen

    return parse


def tables(text: str) -> list[str]:
    """A list of tables."""
    return list(OTHER_TARGETS) if text == "others" else words(list(ALL_TARGETS))(text)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    names = list(all_learners(Path(), Path()))
    parser.add_argument(
        "--tables",
        type=tables,
        default=list(TARGETS),
        help="tables, separated by commas, or others: those that the results are "
        f"not about (default: {', '.join(TARGETS)})",
    )
    parser.add_argument(
        "--learners",
        type=words(names),
        default=[name for name in names if name not in ON_REQUEST],
        help="what to compare, separated by semicolons (default: all but "
        f"{', '.join(ON_REQUEST)}, which needs bench/peers/setup_peers.sh); "
        "'trainer: ensemble --members 4' is trainer with these arguments, "
        "'trainer: init --time 3s' init with them, 'tuned LightGBM 60' that library (or XGBoost, "
        "CatBoost) tuned by Optuna for so many seconds, 'AutoGluon 60' its best preset",
    )
    parser.add_argument("--splits", type=int, default=5, help="splits of each table (default: 5)")
    parser.add_argument(
        "--json",
        type=Path,
        default=DATA / "results.json",
        help="file of the results, which is continued (default: %(default)s)",
    )
    parser.add_argument(
        "--redo", type=words(names), default=[], help="of these, forget what was measured before"
    )
    parser.add_argument("--markdown", action="store_true", help="print tables for a document")
    parser.add_argument(
        "--trainer",
        type=Path,
        default=PROGRAM,
        help="the program (default: %(default)s)",
    )
    parser.add_argument(
        "--plain-trainer", type=Path, help="a program that knows no recipes, for trainer plain"
    )
    return parser.parse_args()


def key_of(record: Record) -> tuple[str, int, str]:
    return record["table"], record["split"], record["learner"]


def read_records(path: Path, redo: list[str]) -> list[Record]:
    if not path.exists():
        return []
    records: list[Record] = json.loads(path.read_text())["results"]
    return [record for record in records if record["learner"] not in redo]


def write_records(path: Path, records: list[Record]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps({"results": records}, indent=1) + "\n")
    os.replace(temporary, path)


def measure(split: Split, name: str, learner: Learner) -> Record:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of peers that would like more iterations
        outcome = learner(split)
    return {"table": split.table, "split": split.number, "learner": name, **asdict(outcome)}


def main() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    arguments = parse_arguments()
    export_tables(DATA)
    records = read_records(arguments.json, arguments.redo)
    done = {key_of(record) for record in records}
    learners = all_learners(arguments.trainer, arguments.plain_trainer or arguments.trainer)
    for name in arguments.learners:
        if learner := named_learner(arguments.trainer, name):
            learners[name] = learner
    todo = [
        (table, number, name)
        for number in range(1, arguments.splits + 1)
        for table in arguments.tables
        for name in arguments.learners
        if (table, number, name) not in done
    ]
    begin = time.monotonic()
    try:
        for index, (table, number, name) in enumerate(todo, start=1):
            say(
                f"[{index}/{len(todo)}, {time.monotonic() - begin:.0f} s] {table}, split {number}: "
                f"{name}"
            )
            records.append(measure(make_split(DATA, table, number), name, learners[name]))
            write_records(arguments.json, records)
    except KeyboardInterrupt:
        say("interrupted; the same command continues")
    shown = [
        record
        for record in records
        if record["table"] in arguments.tables
        and record["learner"] in arguments.learners
        and record["split"] <= arguments.splits
    ]
    print(render(shown, arguments.learners, arguments.markdown))
    return (
        0
        if len(shown) == len(arguments.tables) * len(arguments.learners) * arguments.splits
        else 130
    )


if __name__ == "__main__":
    sys.exit(main())
