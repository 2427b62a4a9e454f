#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the first, the second, the third ... operation on files of a command fail until it ends
without a failure, for one command after the other. After each failure the exit code, the message
and all files are checked, then the command is repeated, which has to give what it gives without.

Usage: tests/torture/failures.py [--sample N] [--seed 1] [--rounds 1] [--only NAME,...]
                                 [--program build/release/bin/trainer] [--folder FOLDER]
--sample N: N failures of each command that trains and 8 N of each other one, chosen by the seed.
--rounds N: each operation fails in N ways.
"""

from __future__ import annotations

import argparse
import collections
import errno
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import file_contents
import file_operations
from file_operations import Fault, Operation, Result, Short
from small_runs import Place, chosen, small_runs

FAULTS: dict[str, list[int | Short]] = {
    "open": [
        errno.EMFILE,
        errno.ENOSPC,
        errno.EROFS,
        errno.EINTR,
        errno.EDQUOT,
        errno.EACCES,
    ],
    "write": [errno.ENOSPC, errno.EIO, Short(), errno.EDQUOT, errno.EINTR],
    "fsync": [errno.EIO, errno.ENOSPC, errno.EINTR, errno.EDQUOT],
    "rename": [errno.EIO, errno.ENOSPC, errno.EACCES, errno.EINTR],
    "link": [errno.EMLINK, errno.EIO, errno.EPERM, errno.EINTR],
    "symlink": [errno.EPERM, errno.ENOSPC, errno.EIO],
    "unlink": [errno.EIO, errno.EROFS, errno.EACCES],
    "mkdir": [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EMLINK],
    "truncate": [errno.EIO, errno.EINTR],
    "open_to_read": [errno.EMFILE, errno.EACCES, errno.EIO, errno.EINTR],
    "read": [errno.EIO, errno.EINTR],
    "mmap": [errno.ENOMEM],
    "lock": [errno.ENOLCK, errno.EINTR],
}
DISK_FULL = {"open", "write", "link", "symlink", "mkdir"}  # what then fails for good
READ_ONLY = {"open", "rename", "link", "symlink", "unlink", "mkdir"}


@dataclass
class Scenario:
    name: str
    command: list[str]
    trains: bool = False
    begin: Callable[[], None] = lambda: None  # fills the folder
    again: list[str] | None = None  # None: the command itself
    watches_reading: bool = False
    also: list[Path] = field(default_factory=list)  # what is watched beside the folder
    same_text: bool = False  # whether it prints the same each time
    may_lack: str = "latest$"  # files that the command can do without, or with as they were
    of_library: str = "^$"  # files that a library writes, which knows no EINTR


def training(place: Place) -> Iterator[Scenario]:
    out, one, two = place.out, place.run_of(place.out, 1), place.run_of(place.out, 2)
    auto = ["--resume", "auto"]
    yield Scenario("train", place.train(out, *auto), trains=True)
    more = ["logging.tensorboard=true", "logging.report=true", "logging.format=json"]
    yield Scenario("train with all logs", place.train(out, *auto, *more), trains=True)
    resume = place.trainer("--resume", one, "training.epochs=2")
    yield Scenario("resume", resume, True, place.begin(1), watches_reading=True)
    rewind = place.trainer("--resume", two / "checkpoints" / "checkpoint_epoch_001.pt")
    yield Scenario(
        "resume from an earlier checkpoint",
        rewind,
        True,
        place.begin(2),
        place.trainer("--resume", two),
        watches_reading=True,
    )
    cv = place.trainer("cv", "--folds", 2, "--config", place.config, "--output-dir", out, *auto)
    # Another process would take over what fails.
    yield Scenario("cv", [*cv, "training.epochs=1", "processes=1"], trains=True)
    members = [
        "ensemble",
        "--members",
        2,
        "--config",
        place.config,
        "--output-dir",
        out,
        *auto,
    ]
    yield Scenario(
        "ensemble", place.trainer(*members, "training.epochs=1", "processes=1"), trains=True
    )


def applying(place: Place) -> Iterator[Scenario]:
    out, table, model = place.out, place.table, place.run_of(place.base, 1)
    init = place.trainer("init", "--data", table, "--target", "y", "-o", out / "i.yaml")
    yield Scenario("init", init, again=[*init, "--force"])
    predict = place.trainer("predict", model, "--data", table, "-o")
    for name in ("p.csv", "p.csv.gz", "p.parquet"):
        duckdb = r"parquet\.tmp-\d+-1$"
        yield Scenario(f"predict {name}", [*predict, str(out / name)], of_library=duckdb)
    skip = [
        *predict,
        str(out / "p.csv"),
        "--on-error",
        "skip",
        "--errors",
        str(out / "e.csv"),
    ]
    yield Scenario("predict and its reading", skip, watches_reading=True, also=[place.base, table])
    for name in ("m.safetensors", "m.onnx", "m.pt"):
        yield Scenario(f"export {name}", place.trainer("export", model, "-o", out / name))
    yield Scenario("report", place.trainer("report", model, "-o", out / "r.html"))
    schedule = ["config", "schedule", "--config", place.config, f"data.cache={out}"]
    cache = Scenario("cache", place.trainer(*schedule), watches_reading=True, same_text=True)
    cache.may_lack = "."
    yield cache


def managing(place: Place) -> Iterator[Scenario]:
    out, run = place.out, place.run_of(place.out, 2)
    both = place.begin(1, 2)
    runs = place.trainer("runs")
    folder = ["--folder", str(out)]

    def removed() -> None:
        both()
        subprocess.run([*runs, "remove", run, "--yes"], check=True, capture_output=True)

    def scenario(*arguments: str, begin: Callable[[], None]) -> Scenario:
        return Scenario(f"runs {arguments[0]}", [*runs, *arguments], False, begin)

    yield scenario("note", str(run), "text", begin=both)
    yield scenario("list", str(out), begin=both)
    yield scenario("remove", str(run), "--yes", begin=both)
    yield scenario("restore", *folder, run.name, begin=removed)
    yield scenario("purge", *folder, "--yes", begin=removed)


class Campaign:
    """Failures of one command."""

    def __init__(self, place: Place, scenario: Scenario) -> None:
        self.place, self.scenario = place, scenario
        self.folders = [place.out, *scenario.also]
        self.counts: collections.Counter[str] = collections.Counter()
        self.problems: list[str] = []
        self.before: dict[str, str] = {}
        self.expected: dict[str, str] = {}
        self.text = ""
        self.num_operations = 0

    def is_counted(self, operation: Operation) -> bool:
        return self.scenario.watches_reading or operation.kind not in file_operations.READING

    def run(self, decide: Callable[[Operation], Fault] = lambda operation: None) -> Result:
        self.place.clear()
        self.scenario.begin()
        return file_operations.run(self.scenario.command, self.folders, decide)

    def learn(self) -> bool:
        """What comes out without a failure; False where a library for it is not here."""
        self.place.clear()
        self.scenario.begin()
        self.before = file_contents.contents(self.place.out)
        result = self.run()
        lacks_library = re.search("DuckDB is needed|no ONNX support", result.err) is not None
        if lacks_library and "TRAINER_REQUIRE_ALL" not in os.environ:
            print(f"{self.scenario.name:<35} left out: {result.err.strip()}", flush=True)
            return False
        if result.code != 0:
            sys.exit(f"{self.scenario.name}: {result.err}")
        self.num_operations = sum(map(self.is_counted, result.operations))
        if self.num_operations == 0:
            sys.exit(f"{self.scenario.name}: it was not seen to write anything")
        self.expected = file_contents.contents(self.place.out)
        self.text = result.out
        return True

    def fail_at(self, number: int, turn: int) -> bool:
        """Whether there was such an operation."""
        count = 0
        fault: Fault = None
        lasts = (number + turn) % 11 == 0  # the disk is full, or read-only, from then on
        lasting = errno.ENOSPC if number % 2 == 0 else errno.EROFS

        def decide(operation: Operation) -> Fault:
            nonlocal count, fault
            if not self.is_counted(operation):
                return None
            count += 1
            if lasts:
                kinds = DISK_FULL if lasting == errno.ENOSPC else READ_ONLY
                fault = lasting if count >= number else None
                return fault if operation.kind in kinds else None
            if count != number:
                return None
            ways = FAULTS[operation.kind]
            fault = ways[(number + turn) % len(ways)]
            return fault

        try:
            result = self.run(decide)
        except TimeoutError as e:
            self.problems.append(f"{number}: {e}")
            return True
        if not result.failed:
            return count >= number
        self.check_result(number, result, fault, lasts)
        return True

    def check_result(self, number: int, result: Result, fault: Fault, lasts: bool) -> None:
        failed = result.failed[0]
        name = errno.errorcode[fault] if isinstance(fault, int) else "short"
        what = f"{failed.kind} {failed.path} {name}{' from then on' if lasts else ''}"
        found = self.check_end(result, fault, lasts)
        if not (lasts or failed.kind == "unlink"):
            left = file_contents.left_overs(self.place.out)
            found += [f"left over: {path}" for path in left if "/.purged_" not in str(path)]
        found += file_contents.broken(self.place.out, self.place.program)
        found += self.check_files(result.code)
        found += self.check_again(result.code, may_leave=lasts or failed.kind == "unlink")
        self.counts["done" if result.code == 0 else "refused"] += 1
        for problem in found:
            last = result.err.strip().splitlines()[-1:] or [""]
            place = f"{self.scenario.name}: {number}: {what}: exit {result.code}"
            self.problems.append(f"{place}: {problem} [{last[0]}]")
            print(self.problems[-1], flush=True)

    def summary(self) -> str:
        counts = self.counts
        return (
            f"{self.scenario.name:34} {self.num_operations:4} operations "
            f"{counts.total():5} failures: {counts['done']:4} done all the same, "
            f"{counts['refused']:4} refused, {len(self.problems)} problems"
        )

    def check_end(self, result: Result, fault: Fault, lasts: bool) -> list[str]:
        code, text = result.code, result.err
        if code == 0:
            return ["prints something else"] if self.is_other_text(result) else []
        problems = []
        reads = result.failed[0].kind in file_operations.READING
        if code not in ((2, 3, 7, 8) if reads else (8,)):
            problems.append("undocumented exit code")
        if isinstance(fault, Short) or fault == errno.EINTR:
            if not re.search(self.scenario.of_library, result.failed[0].path):
                problems.append("not tolerated")
        elif os.strerror(fault or 0) not in text:
            problems.append(f"the message has no reason ({os.strerror(fault or 0)})")
        names = {name for one in result.failed for name in (one.path, one.other) if name}
        names = {re.sub(r"/\.([^/]*)\.tmp-[^/]*", r"/\1", name) for name in names}
        if result.failed[0].kind == "unlink":  # a folder is removed as one
            names |= {str(folder) for name in names for folder in Path(name).parents[:-4]}
        if "error: " not in text or not any(name in text for name in names):
            problems.append("the message does not name the file")
        return problems

    def check_files(self, code: int) -> list[str]:
        """Files of commands that train may also be anything between."""
        found = file_contents.contents(self.place.out)
        if code == 0:
            return self.differences(found, lacks=self.scenario.may_lack)
        if self.scenario.trains:
            return []
        either = {**self.before, **self.expected}
        return [
            f"neither old nor new: {name}"
            for name, text in found.items()
            if text not in (self.before.get(name), self.expected.get(name), either.get(name))
        ]

    def check_again(self, code: int, may_leave: bool) -> list[str]:
        command = self.scenario.again or self.scenario.command
        if code == 0 and not (self.scenario.trains or self.scenario.same_text):
            return []
        result = file_operations.run(command, [])
        if self.is_done(result):
            return []
        if result.code != 0:
            return [f"again: exit {result.code}: {result.err.strip()}"]
        # A complete run was not rewound, so there is nothing that was superseded.
        lacks = "latest$|superseded" if "already complete" in result.err else "latest$"
        problems = self.differences(file_contents.contents(self.place.out), lacks)
        if self.is_other_text(result):
            problems.append("prints something else")
        if self.scenario.trains or not may_leave:
            left = file_contents.left_overs(self.place.out)
            if may_leave:  # nobody else may be writing those of a series
                series = re.compile(r"\.(cv|ensemble)\.json\.tmp-")
                left = [path for path in left if not series.match(path.name)]
                left = [p for p in left if not file_contents.is_in_begun_run(p, self.place.out)]
            problems += [f"left over: {path}" for path in left]
        return [f"again: {problem}" for problem in problems]

    def is_other_text(self, result: Result) -> bool:
        return self.scenario.same_text and result.out != self.text

    def is_done(self, result: Result) -> bool:
        """A removal that failed at its end cannot be repeated."""
        return result.code == 2 and self.scenario.name in (
            "runs remove",
            "runs restore",
        )

    def differences(self, found: dict[str, str], lacks: str) -> list[str]:
        problems = [
            f"differs: {name}"
            for name, text in self.expected.items()
            if found.get(name) != text and not re.search(lacks, name)
        ]
        return problems + [f"new: {name}" for name in found if name not in self.expected]


def numbers(campaign: Campaign, sample: int, choose: random.Random) -> Iterator[int]:
    if sample == 0:
        yield from range(1, 1_000_000)
    size = sample * (1 if campaign.scenario.trains else 8)
    every = range(1, campaign.num_operations + 1)
    yield from sorted(choose.sample(every, min(size, len(every))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--program", type=Path, default=Path("build/release/bin/trainer"))
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    choose = random.Random(arguments.seed)
    failed = False
    with small_runs(arguments.folder, arguments.program) as place:
        every = [*training(place), *applying(place), *managing(place)]
        for scenario in chosen(every, arguments.only):
            campaign = Campaign(place, scenario)
            if not campaign.learn():
                continue
            for turn in range(arguments.rounds):
                for number in numbers(campaign, arguments.sample, choose):
                    if not campaign.fail_at(number, turn):
                        break
            print(campaign.summary(), flush=True)
            failed = failed or bool(campaign.problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
