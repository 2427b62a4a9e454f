# SPDX-License-Identifier: Apache-2.0
"""Runs that take a second, and the commands about them, for failures.py and crash_states.py."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, Protocol, TypeVar

from file_operations import Refused

# The program speaks otherwise where a coding agent runs it.
AGENT_VARIABLES = Path(__file__).parent.parent / "support" / "agent_environment.h"
for variable in re.findall(r'"([A-Z_]+)"', AGENT_VARIABLES.read_text()):
    os.environ.pop(variable, None)

CONFIG = """
data: {{source: csv, path: {table}, target: y, validation_fraction: 0.2, test_fraction: 0.2}}
model: {{hidden_sizes: [4]}}
training: {{epochs: 2, batch_size: 16}}
checkpoint: {{every_steps: 2, keep_last: 2}}
logging: {{save_interval: 2}}
threads: 1
device: cpu
"""


class Place:
    """The folder in which everything happens, and the commands."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.folder, self.program = folder, program
        self.out, self.base = folder / "out", folder / "base"
        self.table, self.config = folder / "table.csv", folder / "train.yaml"
        choose = random.Random(1)
        rows = [(choose.random(), choose.random(), choose.choice("uvw")) for _ in range(70)]
        self.table.write_text(
            "a,b,c,y\n" + "".join(f"{a:.4f},{b:.4f},{c},{int(a > b)}\n" for a, b, c in rows)
        )
        self.config.write_text(CONFIG.format(table=self.table))
        os.utime(self.table, (0, 0))  # a cache is made of files that did not change lately

    def trainer(self, *arguments: object) -> list[str]:
        return [str(self.program), *map(str, arguments)]

    def train(self, folder: Path, *arguments: object) -> list[str]:
        return self.trainer("--config", self.config, "--output-dir", folder, *arguments)

    def make_base(self) -> None:
        """Two complete runs, of one epoch and of two, trained where they are then copied to."""
        self.base.mkdir()
        for epochs in (1, 2):
            self.clear()
            command = self.train(self.out, f"training.epochs={epochs}", "-q")
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            (self.out / "latest").resolve().rename(self.run_of(self.base, epochs))

    def run_of(self, folder: Path, epochs: int) -> Path:
        return folder / f"20260101_00000{epochs}"

    def begin(self, *epochs: int) -> Callable[[], None]:
        def copy() -> None:
            for number in epochs:  # with its hard links
                subprocess.run(["cp", "-a", self.run_of(self.base, number), self.out], check=True)
            if epochs:
                (self.out / "latest").symlink_to(self.run_of(self.out, epochs[-1]).name)

        return copy

    def clear(self) -> None:
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()


class Named(Protocol):
    name: str


Scenario = TypeVar("Scenario", bound=Named)


def chosen(scenarios: list[Scenario], names: str) -> list[Scenario]:
    """Those of the names, or all if there are none."""
    wanted = set(names.split(",")) if names else {scenario.name for scenario in scenarios}
    if unknown := wanted - {scenario.name for scenario in scenarios}:
        sys.exit(f"--only: unknown: {', '.join(sorted(unknown))}")
    return [scenario for scenario in scenarios if scenario.name in wanted]


def skip(reason: str) -> NoReturn:
    """As tests/support/test_main.cpp does it."""
    print(f"skipped: {reason}", file=sys.stderr)
    if skipped := os.environ.get("TRAINER_SKIPPED_TESTS"):
        with open(skipped, "a") as file:
            file.write(f"{reason}\t{Path(sys.argv[0]).stem}\n")
    sys.exit(1 if "TRAINER_REQUIRE_ALL" in os.environ else 77)


@contextmanager
def small_runs(folder: Path | None, program: Path) -> Iterator[Place]:
    """A place in the folder, else in memory, where nobody waits for a disk."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = folder or Path(tempfile.mkdtemp(prefix="trainer_torture_", dir=memory))
    try:
        place = Place(folder, program.resolve())
        place.make_base()
        yield place
    except Refused as e:
        skip(str(e))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
