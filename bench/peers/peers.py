# SPDX-License-Identifier: Apache-2.0
"""The peers: whether one is here, which settings it has, how it is run, what it says."""

import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class PeerError(Exception):
    """A peer failed; the message says which command and why."""


@dataclass
class Outcome:
    epoch_seconds: list
    accuracy: float
    setting: dict
    system: dict = None  # trainer's own description of the machine and of itself


def usable_cpus():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def thread_counts():
    """1, 2, 3, 4, then powers of two, and all."""
    cpus = usable_cpus()
    return [n for n in range(1, cpus + 1) if n <= 4 or n & (n - 1) == 0 or n == cpus]


def environment(threads=None):
    """This one without what steers threads, but for `threads` where it is given."""
    steering = ("OMP_", "GOMP_", "KMP_", "OPENBLAS_", "GOTO_", "MKL_", "BLIS_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(steering)}
    return kept if threads is None else {**kept, **dict.fromkeys(THREAD_VARIABLES, str(threads))}


def run_command(words, threads=None):
    """What the command prints."""
    words = [str(word) for word in words]
    done = subprocess.run(words, env=environment(threads), text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        said = "\n  ".join(done.stderr.strip().splitlines()[-5:])
        raise PeerError(f"status {done.returncode} from: {' '.join(words)}\n  {said}")
    return done.stdout


@functools.lru_cache
def find_python(module):
    """A Python that has NumPy and `module`, and the module's version; (None, None) without one."""
    given = os.environ.get("TRAINER_PYTHON")
    for python in [given] if given else dict.fromkeys([sys.executable, "/usr/bin/python3"]):
        try:
            code = f"import numpy, {module} as module; print(module.__version__)"
            return python, run_command([python, "-c", code]).strip()
        except (PeerError, OSError):
            continue
    return None, None


class ScriptPeer:
    """A peer that is a Python script of this folder."""

    def __init__(self, name, module, script, words=(), install=""):
        self.name, self.module, self.script, self.words = name, module, script, words
        self.python, self.version = find_python(module)
        self.absent = None if self.python else install

    def axes(self):
        return {"threads": thread_counts()}

    def run(self, folder, setting, epochs, seed, rows=None):
        words = [self.python, FOLDER / self.script, folder, "--epochs", epochs, "--seed", seed,
                 *self.words]
        for key, value in setting.items():
            words += [] if key == "threads" else [f"--{key}", value]
        words += [] if rows is None else ["--rows", rows]
        said = json.loads(run_command(words, setting["threads"]))
        return Outcome(said["epoch_seconds"], said["accuracy"], setting)


class PyTorchPeer(ScriptPeer):
    def __init__(self, feed):
        self.feed = feed
        super().__init__(f"PyTorch, {feed}", "torch", "pytorch_eager.py",
                         ["--feed", feed.lower()], "Debian: apt-get install python3-torch; "
                         "elsewhere: pip install torch numpy")

    def axes(self):
        has_fused = tuple(map(int, self.version.split(".")[:2])) >= (2, 4)  # on the CPU
        axes = {**super().axes(), "optimizer": ["plain", "foreach"] + ["fused"] * has_fused}
        return {**axes, "workers": [0, usable_cpus()]} if self.feed == "DataLoader" else axes


class SklearnPeer(ScriptPeer):
    def __init__(self):
        super().__init__("scikit-learn", "sklearn", "sklearn_mlp.py", install="Debian: apt-get "
                         "install python3-sklearn; elsewhere: pip install scikit-learn")


class LibTorchPeer:
    name = "LibTorch modules"

    def __init__(self, build):
        self.program = build / "bin" / "libtorch_modules"
        self.absent = None if self.program.exists() else (
            f"cmake --build {build} --target libtorch_modules")

    def axes(self):
        return {"threads": thread_counts()}

    def run(self, folder, setting, epochs, seed, rows=None):
        words = [self.program, folder, epochs, seed, *([] if rows is None else [rows])]
        said = json.loads(run_command(words, setting["threads"]))
        return Outcome(said["epoch_seconds"], said["accuracy"], setting)


class TrainerPeer:
    """The program itself, as a user runs it. It chooses its threads, so it has no settings."""

    name = "trainer"

    def __init__(self, build, overrides):
        self.program = build / "bin" / "trainer"
        self.overrides = overrides
        self.absent = None if self.program.exists() else f"cmake --build {build} --target trainer"
        self.python, _ = find_python("numpy")

    def axes(self):
        return {}

    def run(self, folder, _setting, epochs, seed):
        runs = folder / "runs"
        run_command([self.program, "-q", "--config", folder / "trainer.yaml", "--epochs", epochs,
                     "--seed", seed, "--output-dir", runs, *self.overrides])
        last = runs / "latest"
        records = [json.loads(line) for line in (last / "metrics.jsonl").read_text().splitlines()]
        seconds = [record["time_seconds"] for record in records
                   if record["split"] == "train" and "time_seconds" in record]
        accuracy = run_command([self.python, FOLDER / "trainer_accuracy.py", folder,
                                last / "checkpoints" / "last.pt"])
        system = json.loads((last / "system.json").read_text())
        threads = {"threads": system["starts"][-1]["threads"]}
        return Outcome(seconds, float(accuracy), threads, system)


def all_peers(build, overrides):
    """trainer, the first, is what the others are compared with."""
    return [TrainerPeer(build, overrides), PyTorchPeer("resident"), PyTorchPeer("DataLoader"),
            LibTorchPeer(build), SklearnPeer()]
