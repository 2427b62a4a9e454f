#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills processes of runs at random moments, starts each run again with another number of
processes, and compares its end with that of an undisturbed run of one process.

Usage: tests/torture/kill_processes.py [--kills 100] [--seed 1] [--program PROGRAM]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

EPOCHS = 150
ARGUMENTS = [
    "-q", "data.synthetic.num_samples=400", "training.batch_size=40", "model.hidden_sizes=[16,16]",
    "model.dropout=0.2", "checkpoint.every_steps=7", "logging.save_interval=5",
    "distributed.shards=4", "distributed.start_timeout=8", "distributed.timeout=20", "threads=1",
    f"training.epochs={EPOCHS}",
]
TIMES = {"samples_per_second", "time_seconds", "communication_seconds", "memory_bytes", "peak_memory_bytes"}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Processes:
    """The processes of a run, as a launcher starts them."""

    def __init__(self, program: Path, arguments: list[str], size: int) -> None:
        port = free_port()
        self.all = []
        for rank in range(size):
            variables = {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank,
                         "LOCAL_WORLD_SIZE": size, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
            environment = os.environ | {name: str(value) for name, value in variables.items()}
            self.all.append(subprocess.Popen([program, *arguments], env=environment,
                                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                             text=True))

    def wait(self, seconds: float) -> bool:
        """Whether all have ended within the time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if all(process.poll() is not None for process in self.all):
                return True
            time.sleep(0.02)
        return False

    def codes(self) -> list[int]:
        return [process.wait() for process in self.all]

    def errors(self) -> str:
        return "".join(process.stderr.read() for process in self.all if process.stderr)


def timeless(run: Path) -> list[dict[str, object]]:
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in record.items() if key not in TIMES}
            for record in records]


def tensors(checkpoint: Path) -> dict[str, bytes]:
    """Weights and moments; the rest of the file has paths and lengths of records."""
    with zipfile.ZipFile(checkpoint) as archive:
        return {name: archive.read(name) for name in archive.namelist() if "/data/" in name}


def newest(folder: Path) -> Path:
    return (folder / "latest").resolve()


def fail(problem: str, folder: Path) -> None:
    print(f"FAILED: {problem}; see {folder}", file=sys.stderr)
    sys.exit(1)


def torture(program: Path, kills: int, seed: int) -> None:
    choose = random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="trainer_torture_"))
    counts = {"runs": 0, "kills": 0, "before training": 0}
    norms = ["batch", "layer", "none"]
    slowest = 0.0
    while counts["kills"] < kills:
        norm = norms[counts["runs"] % len(norms)]
        arguments = [*ARGUMENTS, f"model.norm={norm}", f"seed={seed + counts['runs']}"]
        whole = folder / f"whole_{counts['runs']}"
        subprocess.run([program, *arguments, f"output_dir={whole}"], check=True)
        parts = folder / f"parts_{counts['runs']}"
        again = [*arguments, "--resume", "auto", f"output_dir={parts}"]
        while True:
            size = choose.randint(1, 5)
            run = Processes(program, again, size)
            moment = choose.uniform(0.3, 2.5)
            if counts["kills"] < kills and not run.wait(moment):
                victim = choose.randrange(size)
                run.all[victim].send_signal(signal.SIGKILL)
                killed_at = time.monotonic()
                counts["kills"] += 1
                counts["before training"] += int(not (parts / "latest").exists())
                if not run.wait(60):
                    fail(f"{size} processes, rank {victim} killed: the others do not end", folder)
                slowest = max(slowest, time.monotonic() - killed_at)
                others = {code for rank, code in enumerate(run.codes()) if rank != victim}
                # 4: killed before the others had found it; 0: at the very end.
                if not others <= {0, 4, 9}:
                    fail(f"exit codes {run.codes()}: {run.errors()}", folder)
                continue
            if not run.wait(300):
                fail("a run does not end", folder)
            if set(run.codes()) == {0}:
                break
            fail(f"exit codes {run.codes()}: {run.errors()}", folder)
        counts["runs"] += 1
        if timeless(newest(whole)) != timeless(newest(parts)):
            fail("the metrics differ", folder)
        for name in ("last.pt", "best.pt"):
            if tensors(newest(whole) / "checkpoints" / name) != tensors(
                    newest(parts) / "checkpoints" / name):
                fail(f"{name} differs", folder)
        print(f"{counts['kills']} kills ({counts['before training']} before training), "
              f"{counts['runs']} runs, all with the bits of the undisturbed one; "
              f"the others ended within {slowest:.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=Path, default=Path("build/release/bin/trainer"))
    arguments = parser.parse_args()
    torture(arguments.program.resolve(), arguments.kills, arguments.seed)


if __name__ == "__main__":
    main()
