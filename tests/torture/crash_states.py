#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the operations on files of a command, builds from them what a disk may hold after a power
failure at any moment, and goes on from each: with the result that there is without one.

Usage: tests/torture/crash_states.py [--states N] [--seed 1] [--only NAME,...]
                                     [--program build/release/bin/trainer] [--folder FOLDER]
--states N: at most N different states of each command and set of rules, chosen by the seed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import file_contents
import file_operations
from disk_model import NEVER, Recording, Tree, crash, read_tree
from small_runs import Place, chosen, small_runs


@dataclass
class Scenario:
    name: str
    commands: list[list[str]]
    begin: Callable[[], None]
    recover: Callable[[dict[str, str]], list[str]]  # problems, given what is there without a crash


class Scenarios:
    def __init__(self, place: Place) -> None:
        self.place = place
        self.run = place.run_of(place.out, 2)

    def all(self) -> Iterator[Scenario]:
        place, run = self.place, self.run
        new = place.train(place.out / "runs", "--resume", "auto")
        yield Scenario("new run", [new], place.begin(), lambda e: self.resume(new, e))
        more = place.trainer("--resume", run, "training.epochs=3")
        yield Scenario("resume", [more], place.begin(2), lambda e: self.resume(more, e))
        rewind = place.trainer("--resume", run / "checkpoints" / "checkpoint_epoch_001.pt")
        again = place.trainer("--resume", run)
        yield Scenario(
            "resume from an earlier checkpoint",
            [rewind],
            place.begin(2),
            lambda e: self.resume(again, e),
        )
        runs, folder = place.trainer("runs"), ["--folder", str(place.out)]
        remove = [*runs, "remove", str(run), "--yes"]
        restore = [*runs, "restore", *folder, run.name]
        purge = [*runs, "purge", *folder, "--yes"]
        both = place.begin(1, 2)
        yield Scenario("runs remove and restore", [remove, restore], both, self.restore)
        yield Scenario("runs remove and purge", [remove, purge], both, self.purge)

    def resume(self, command: list[str], expected: dict[str, str]) -> list[str]:
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            return [f"exit {result.returncode}: {result.stderr.strip().splitlines()[-1]}"]
        found = file_contents.contents(self.place.out)
        lost = [name for name in expected if name not in found]
        left = [f"left over: {path}" for path in file_contents.left_overs(self.place.out)]
        if "already complete" in result.stderr:  # nothing was superseded, and no file is changed
            lost, left = [name for name in lost if "superseded" not in name], []
        problems = [f"lost: {name}" for name in lost]
        problems += [f"differs: {n}" for n, text in found.items() if expected.get(n, text) != text]
        return problems + left

    def restore(self, expected: dict[str, str]) -> list[str]:
        name = self.run.name
        command = self.place.trainer("runs", "restore", "--folder", self.place.out, name)
        subprocess.run(command, capture_output=True)  # it may be there already
        found = file_contents.contents(self.place.out)
        problems = [f"lost: {name}" for name in expected if name not in found]
        problems += [f"differs: {n}" for n in found if expected.get(n) != found[n]]
        return [problem for problem in problems if problem != "differs: latest"]  # an earlier run

    def purge(self, expected: dict[str, str]) -> list[str]:
        """What is still there is whole, and can be removed again."""
        out, name = self.place.out, self.run.name
        trash = out / ".trash"
        problems = []
        for run in (out / name, trash / name):
            if run.is_dir():
                found = file_contents.contents(run)
                original = file_contents.contents(self.place.run_of(self.place.base, 2))
                problems += [f"differs: {n}" for n in original if found.get(n) != original[n]]
        for arguments in (["remove", str(out / name)], ["purge", "--folder", str(out)]):
            command = self.place.trainer("runs", *arguments, "--yes")
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode not in (0, 2):
                problems.append(f"{arguments[0]}: {result.stderr.strip()}")
        found = file_contents.contents(out)
        if trash.exists():
            problems.append("the trash is still there")
        return problems + [f"differs: {n}" for n in expected if found.get(n) != expected[n]]


def record(place: Place, scenario: Scenario) -> Recording:
    place.clear()
    scenario.begin()
    before = read_tree(place.out)
    operations = []
    for command in scenario.commands:
        result = file_operations.run(command, [place.out])
        if result.code != 0:
            sys.exit(f"{scenario.name}: {result.err}")
        operations += [o for o in result.operations if o.kind not in file_operations.READING]
    recording = Recording(place.out, before, operations)
    if recording.after.digest() != read_tree(place.out).digest():
        sys.exit(f"{scenario.name}: the recorded operations do not give what is on the disk")
    return recording


def states(recording: Recording, rules: str, choose: random.Random) -> list[tuple[int, Tree]]:
    """Different ones, in random order: three tries for each moment."""
    found: dict[bytes, tuple[int, Tree]] = {}
    for time in range(recording.num_operations + 1):
        for _ in range(4):
            tree = crash(recording, time, rules, choose)
            found.setdefault(tree.digest(), (time, tree))
    different = list(found.values())
    choose.shuffle(different)
    return different


def try_all(place: Place, scenario: Scenario, most: int, choose: random.Random) -> int:
    """The number of states from which there was no way on."""
    recording = record(place, scenario)
    expected = file_contents.contents(place.out)
    failed = 0
    for rules in ("POSIX", "journal"):
        different, problems = states(recording, rules, choose), 0
        for time, tree in different[:most]:
            shutil.rmtree(place.out)
            place.out.mkdir()
            tree.write_to(place.out)
            found = scenario.recover(expected)
            problems += bool(found)
            for problem in found:
                print(f"{scenario.name}: {rules}: after operation {time}: {problem}", flush=True)
        print(
            f"{scenario.name:34} {rules:8} {recording.num_operations:4} operations "
            f"{len(different):4} states {len(different[:most]):4} tried, {problems} not recovered",
            flush=True,
        )
        failed += problems
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=NEVER)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--program", type=Path, default=Path("build/release/bin/trainer"))
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    choose = random.Random(arguments.seed)
    failed = 0
    with small_runs(arguments.folder, arguments.program) as place:
        for scenario in chosen([*Scenarios(place).all()], arguments.only):
            failed += try_all(place, scenario, arguments.states, choose)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
