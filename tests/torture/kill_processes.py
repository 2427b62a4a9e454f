#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills processes of runs at random moments, starts each run again with another number of
processes, and compares its end with that of an undisturbed run of one process. The runs have in
turn all norms, optimizers, schedules and recipes, and one is an ensemble.

With --torchrun torchrun starts the processes, and starts all again when one is killed; after some
kills torchrun itself is stopped, and another number of processes goes on.

Usage: tests/torture/kill_processes.py [--kills 100] [--seed 1] [--torchrun] [--program PROGRAM]
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

ARGUMENTS = [
    "-q",
    "data.synthetic.num_samples=400",
    "training.batch_size=40",
    "model.hidden_sizes=[16,16]",
    "checkpoint.every_steps=7",
    "logging.save_interval=5",
    "distributed.shards=4",
    "distributed.start_timeout=8",
    "distributed.timeout=20",
    "threads=1",
    "--resume",
    "auto",
]
# What differs from run to run, after the command if it is not train.
KINDS = [
    ["model.norm=batch", "model.dropout=0.2", "training.epochs=150"],
    [
        "model.norm=layer",
        "model.dropout=0.2",
        "training.optimizer.name=adam",
        "training.schedule.name=one_cycle",
        "training.ema_decay=0.95",
        "training.epochs=150",
    ],
    [
        "training.optimizer.name=sgd",
        "training.optimizer.momentum=0.9",
        "training.schedule.name=reduce_on_plateau",
        "training.epochs=150",
    ],
    [
        "model.norm=batch",
        "model.residual=true",
        "training.optimizer.name=rmsprop",
        "training.schedule.name=step",
        "training.gradient_accumulation_steps=2",
        "training.epochs=200",
    ],
    ["recipe=realmlp", "training.epochs=80"],
    ["recipe=tabm", "model.ensemble_size=4", "training.epochs=60"],
    [
        "training.step=autograd",
        "model.norm=batch",
        "distributed.sync_batch_norm=false",
        "training.schedule.name=linear",
        "training.epochs=40",
    ],
    ["ensemble", "--members", "4", "model.norm=batch", "training.epochs=60"],
]
TIMES = {
    "samples_per_second",
    "time_seconds",
    "communication_seconds",
    "memory_bytes",
    "peak_memory_bytes",
}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Processes:
    """The processes of a run, as a launcher starts them."""

    def __init__(self, command: list[str], size: int) -> None:
        port = free_port()
        self.all = []
        for rank in range(size):
            variables = {
                "RANK": rank,
                "WORLD_SIZE": size,
                "LOCAL_RANK": rank,
                "LOCAL_WORLD_SIZE": size,
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": port,
            }
            environment = os.environ | {name: str(value) for name, value in variables.items()}
            self.all.append(
                subprocess.Popen(
                    command,
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )

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
    return [{key: value for key, value in record.items() if key not in TIMES} for record in records]


def tensors(checkpoint: Path) -> dict[str, bytes]:
    """Weights and moments; the rest of the file has paths and lengths of records."""
    with zipfile.ZipFile(checkpoint) as archive:
        return {name: archive.read(name) for name in archive.namelist() if "/data/" in name}


def newest(folder: Path) -> Path:
    return (folder / "latest").resolve()


def runs_in(folder: Path) -> list[Path]:
    """The run folder itself, or those of its members in their order."""
    members = [path for path in folder.iterdir() if (path / "metrics.jsonl").exists()]
    return sorted(members, key=lambda path: path.name.split("member_")[-1]) or [folder]


def fail(problem: str, folder: Path) -> None:
    print(f"FAILED: {problem}; see {folder}", file=sys.stderr)
    sys.exit(1)


def require_same(whole: Path, parts: Path, folder: Path) -> None:
    pairs = list(zip(runs_in(newest(whole)), runs_in(newest(parts)), strict=True))
    for one, other in pairs:
        if timeless(one) != timeless(other):
            fail(f"the metrics of {one} and {other} differ", folder)
        for name in ("last.pt", "best.pt"):
            if tensors(one / "checkpoints" / name) != tensors(other / "checkpoints" / name):
                fail(f"{name} of {one} and {other} differ", folder)


class Counts:
    """What has been done so far."""

    def __init__(self, kills: int) -> None:
        self.wanted = kills
        self.runs = 0
        self.kills = 0
        self.before_training = 0
        self.slowest = 0.0

    def are_enough(self) -> bool:
        return self.kills >= self.wanted

    def add_kill(self, has_begun: bool) -> None:
        self.kills += 1
        self.before_training += int(not has_begun)


def kill_and_restart(
    command: list[str], parts: Path, choose: random.Random, counts: Counts, folder: Path
) -> None:
    """Until the run is complete."""
    while True:
        size = choose.randint(1, 5)
        run = Processes(command, size)
        if not counts.are_enough() and not run.wait(choose.uniform(0.3, 2.5)):
            victim = choose.randrange(size)
            run.all[victim].send_signal(signal.SIGKILL)
            killed_at = time.monotonic()
            has_begun = (parts / "latest").exists()
            counts.add_kill(has_begun)
            if not run.wait(60):
                fail(f"{size} processes, rank {victim} killed: the others do not end", folder)
            if has_begun:  # else they may wait for one that never came
                counts.slowest = max(counts.slowest, time.monotonic() - killed_at)
            others = {code for rank, code in enumerate(run.codes()) if rank != victim}
            # 4: killed before the others had found it; 0: at the very end, or an ensemble.
            if not others <= {0, 4, 9}:
                fail(f"exit codes {run.codes()}: {run.errors()}", folder)
            continue
        if not run.wait(300):
            fail("a run does not end", folder)
        if set(run.codes()) == {0}:
            return
        fail(f"exit codes {run.codes()}: {run.errors()}", folder)


def children_of(process: int) -> list[int]:
    children = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if parent == process:
                    children.append(int(entry.name))
        except OSError:
            continue  # it has ended
    return children


def workers_of(torchrun: subprocess.Popen[str], program: str) -> list[int]:
    def is_worker(process: int) -> bool:
        try:
            return os.readlink(f"/proc/{process}/exe") == program
        except OSError:
            return False

    return [child for child in children_of(torchrun.pid) if is_worker(child)]


def kill_under_torchrun(
    command: list[str], parts: Path, choose: random.Random, counts: Counts, folder: Path
) -> None:
    """Until the run is complete."""
    while True:
        size = choose.randint(1, 4)
        # Debian 12's needs -r and -t, on a change of Python 3.11.
        torchrun = subprocess.Popen(
            [
                "/usr/bin/torchrun",
                "-r",
                "9:1",
                "-t",
                "9:1",
                "--nnodes",
                "1",
                "--node_rank",
                "0",
                "--master_addr",
                "127.0.0.1",
                "--master_port",
                str(free_port()),
                "--monitor_interval",
                "0.1",
                "--nproc_per_node",
                str(size),
                "--max_restarts",
                "1000",
                "--no_python",
                *command,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        kills_of_this = choose.randint(2, 6)
        before: list[int] = []
        while kills_of_this > 0 and not counts.are_enough() and torchrun.poll() is None:
            workers = workers_of(torchrun, command[0])
            if len(workers) < size or set(workers) & set(before):
                time.sleep(0.05)
                continue
            time.sleep(choose.uniform(0.05, 1.0))
            if torchrun.poll() is not None:
                break
            try:
                os.kill(choose.choice(workers), signal.SIGKILL)
            except ProcessLookupError:
                continue  # it was complete
            counts.add_kill((parts / "latest").exists())
            kills_of_this -= 1
            before = workers
        if not counts.are_enough() and torchrun.poll() is None:
            torchrun.send_signal(signal.SIGTERM)  # another number of processes goes on
            torchrun.communicate(timeout=60)
            continue
        _, errors = torchrun.communicate(timeout=300)
        if torchrun.returncode != 0:
            fail(f"torchrun ended with {torchrun.returncode}: {errors}", folder)
        return


def torture(program: Path, counts: Counts, seed: int, by_torchrun: bool) -> None:
    choose = random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="trainer_torture_"))
    while not counts.are_enough():
        command = [
            str(program),
            *KINDS[counts.runs % len(KINDS)],
            *ARGUMENTS,
            f"seed={seed + counts.runs}",
        ]
        whole = folder / f"whole_{counts.runs}"
        subprocess.run([*command, f"output_dir={whole}"], check=True)
        parts = folder / f"parts_{counts.runs}"
        disturb = kill_under_torchrun if by_torchrun else kill_and_restart
        disturb([*command, f"output_dir={parts}"], parts, choose, counts, folder)
        require_same(whole, parts, folder)
        counts.runs += 1
        print(
            f"{counts.kills} kills ({counts.before_training} before training), "
            f"{counts.runs} runs, all with the bits of the undisturbed one"
            + ("" if by_torchrun else f"; the others ended within {counts.slowest:.1f} s"),
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--torchrun", action="store_true")
    parser.add_argument("--program", type=Path, default=Path("build/release/bin/trainer"))
    arguments = parser.parse_args()
    torture(
        arguments.program.resolve(), Counts(arguments.kills), arguments.seed, arguments.torchrun
    )


if __name__ == "__main__":
    main()
