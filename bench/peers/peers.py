# SPDX-License-Identifier: Apache-2.0
"""The peers: whether one is here, which settings it has, how it is run, what it says."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import probe

FOLDER = Path(__file__).resolve().parent
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
Setting = dict[str, Any]  # a value for each key of Peer.axes()


class PeerError(Exception):
    """A peer failed; the message says which command and why."""


@dataclass
class Outcome:
    epoch_seconds: list[float]
    accuracy: float
    setting: Setting
    probes: list[float]  # GFLOP/s of all CPUs (probe.py), before and after the epochs that count
    # trainer's own description of the machine and of itself
    system: dict[str, Any] = field(default_factory=dict)


class Peer(Protocol):
    """What every peer has."""

    name: str
    absent: str | None  # how to get it; None for one that is here

    def axes(self) -> dict[str, list[Any]]:
        """The settings to search, of one that is here: the values of each key."""

    def run(
        self, folder: Path, setting: Setting, epochs: int, seed: int, rows: int | None = None
    ) -> Outcome:
        """Does the work of the folder, with the first rows only where `rows` is given."""


def usable_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_counts() -> list[int]:
    """1, 2, 3, 4, then powers of two, and all."""
    cpus = usable_cpus()
    return [n for n in range(1, cpus + 1) if n <= 4 or n & (n - 1) == 0 or n == cpus]


def core_types() -> list[str]:
    """What OpenBLAS can be told this CPU is, which it does not always find out: the kernels of
    these are for x86-64 with AVX2, with AVX-512 and with AVX512-BF16. "auto": as it finds.
    """
    try:
        flags = Path("/proc/cpuinfo").read_text().split("flags", 1)[1].split("\n", 1)[0].split()
    except (OSError, IndexError):
        return ["auto"]
    return (
        ["auto"]
        + ["Haswell", "Zen"] * ("avx2" in flags)
        + ["SkylakeX"] * ("avx512bw" in flags)
        + ["Cooperlake"] * ("avx512_bf16" in flags)
    )


def environment(setting: Setting) -> dict[str, str]:
    """This one without what steers threads and BLAS, but for what the setting gives."""
    steering = ("OMP_", "GOMP_", "KMP_", "OPENBLAS_", "GOTO_", "MKL_", "BLIS_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(steering)}
    if "threads" in setting:
        kept.update(dict.fromkeys(THREAD_VARIABLES, str(setting["threads"])))
    if setting.get("coretype", "auto") != "auto":
        kept["OPENBLAS_CORETYPE"] = setting["coretype"]
    return kept


def run_command(command: Sequence[object], setting: Setting | None = None) -> str:
    """What the command prints."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        env=environment(setting or {}),
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode != 0:
        said = "\n  ".join(done.stderr.strip().splitlines()[-5:])
        raise PeerError(f"status {done.returncode} from: {' '.join(words)}\n  {said}")
    return done.stdout


@functools.lru_cache
def find_python(module: str) -> tuple[str | None, str | None]:
    """A Python that has NumPy and `module`, and the module's version; (None, None) without one."""
    given = os.environ.get("TRAINER_PYTHON")
    for python in [given] if given else dict.fromkeys([sys.executable, "/usr/bin/python3"]):
        try:
            code = f"import numpy, {module} as module; print(module.__version__)"
            return python, run_command([python, "-c", code]).strip()
        except (PeerError, OSError):
            continue
    return None, None


@contextlib.contextmanager
def probed() -> Iterator[list[float]]:
    """Keeps all CPUs busy before what is run; has the probes before and after it in the end."""
    python = find_python("numpy")[0] or sys.executable
    probes = [probe.measure(python, probe.SECONDS_BEFORE)]
    yield probes
    probes.append(probe.measure(python, probe.SECONDS_AFTER))


class ScriptPeer:
    """A peer that is a Python script of this folder."""

    def __init__(
        self, name: str, module: str, script: str, words: Sequence[str] = (), install: str = ""
    ) -> None:
        self.name, self.module, self.script, self.words = name, module, script, words
        self.python, self.version = find_python(module)
        self.absent = None if self.python else install

    def axes(self) -> dict[str, list[Any]]:
        return {"threads": thread_counts(), "coretype": core_types()}

    def run(
        self, folder: Path, setting: Setting, epochs: int, seed: int, rows: int | None = None
    ) -> Outcome:
        words: list[object] = [
            self.python,
            FOLDER / self.script,
            folder,
            "--epochs",
            epochs,
            "--seed",
            seed,
            *self.words,
        ]
        for key, value in setting.items():
            if key not in ("threads", "coretype"):
                words += [f"--{key}", value]
        if rows is not None:
            words += ["--rows", rows]
        said = json.loads(run_command(words, setting))
        return Outcome(said["epoch_seconds"], said["accuracy"], setting, said["probes"])


class PyTorchPeer(ScriptPeer):
    def __init__(self, feed: str, precision: str) -> None:
        self.feed = feed
        words = ["--feed", feed.lower(), "--precision", precision]
        super().__init__(
            f"PyTorch, {feed}",
            "torch",
            "pytorch_eager.py",
            words,
            "Debian: apt-get install python3-torch; elsewhere: pip install torch "
            "numpy; a newer one: bench/peers/debian_python.sh",
        )

    def axes(self) -> dict[str, list[Any]]:
        assert self.version and self.python, "only a peer that is here is asked"
        version = tuple(map(int, self.version.split(".")[:2]))
        has_fused = version >= (2, 4)  # on the CPU
        axes = {**super().axes(), "optimizer": ["plain", "foreach"] + ["fused"] * has_fused}
        code = "import torch; print(torch.__config__.show())"
        if "BLAS_INFO=mkl" in run_command([self.python, "-c", code]):
            axes["coretype"] = ["auto"]
        if version >= (2, 0) and self.feed == "resident":
            axes["compile"] = ["off", "default", "max-autotune"]
        return {**axes, "workers": [0, usable_cpus()]} if self.feed == "DataLoader" else axes


class SklearnPeer(ScriptPeer):
    def __init__(self) -> None:
        super().__init__(
            "scikit-learn",
            "sklearn",
            "sklearn_mlp.py",
            install="Debian: apt-get "
            "install python3-sklearn; elsewhere: pip install scikit-learn",
        )


class MlxPeer(ScriptPeer):
    def __init__(self) -> None:
        super().__init__(
            "MLX",
            "mlx.core",
            "mlx_mlp.py",
            install="macOS: pip install mlx numpy; Linux: pip install 'mlx[cpu]' numpy",
        )

    def axes(self) -> dict[str, list[Any]]:
        return {**super().axes(), "compile": ["off", "on"]}


class XGBoost:
    """No peer with epochs: it is asked how long it takes to be right as often."""

    name = "XGBoost"
    module = "xgboost"

    def __init__(self) -> None:
        self.python, self.version = find_python(self.module)
        self.absent = (
            None
            if self.python
            else ("Debian: apt-get install python3-xgboost; " "elsewhere: pip install xgboost")
        )

    def rounds(
        self, folder: Path, accuracy: float, seed: int, threads: int, most: int = 1000
    ) -> dict[str, Any]:
        """ "seconds" and "rounds" of boosting until the "accuracy", or as far as it came."""
        words = [
            self.python,
            FOLDER / "xgboost_rounds.py",
            folder,
            "--accuracy",
            accuracy,
            "--seed",
            seed,
            "--threads",
            threads,
            "--rounds",
            most,
        ]
        return {"threads": threads, "wanted": accuracy, **json.loads(run_command(words))}

    def time_to(self, folder: Path, accuracies: list[float]) -> list[dict[str, Any]]:
        """For each accuracy, with the number of threads that was fastest in a few rounds."""
        threads = min(
            thread_counts(), key=lambda count: self.rounds(folder, 1, 0, count, most=5)["seconds"]
        )
        return [
            self.rounds(folder, accuracy, seed, threads) for seed, accuracy in enumerate(accuracies)
        ]


class LibTorchPeer:
    name = "LibTorch modules"

    def __init__(self, build: Path) -> None:
        self.program = build / "bin" / "libtorch_modules"
        self.absent = (
            None if self.program.exists() else (f"cmake --build {build} --target libtorch_modules")
        )

    def axes(self) -> dict[str, list[Any]]:
        return {"threads": thread_counts(), "coretype": core_types()}

    def run(
        self, folder: Path, setting: Setting, epochs: int, seed: int, rows: int | None = None
    ) -> Outcome:
        words = [self.program, folder, epochs, seed, *([] if rows is None else [rows])]
        with probed() as probes:
            said = json.loads(run_command(words, setting))
        return Outcome(said["epoch_seconds"], said["accuracy"], setting, probes)


class TrainerPeer:
    """The program itself, as a user runs it. It chooses its threads, so it has no settings."""

    name = "trainer"

    def __init__(self, build: Path, overrides: list[str]) -> None:
        self.program = build / "bin" / "trainer"
        self.overrides = overrides
        self.absent = None if self.program.exists() else f"cmake --build {build} --target trainer"
        self.python, _ = find_python("numpy")

    def axes(self) -> dict[str, list[Any]]:
        return {}

    def run(
        self, folder: Path, setting: Setting, epochs: int, seed: int, rows: int | None = None
    ) -> Outcome:
        assert not setting and rows is None, "without settings there is nothing to try"
        runs = folder / "runs"
        with probed() as probes:
            run_command(
                [
                    self.program,
                    "-q",
                    "--config",
                    folder / "trainer.yaml",
                    "--epochs",
                    epochs,
                    "--seed",
                    seed,
                    "--output-dir",
                    runs,
                    *self.overrides,
                ]
            )
        last = runs / "latest"
        records = [json.loads(line) for line in (last / "metrics.jsonl").read_text().splitlines()]
        seconds = [
            record["time_seconds"]
            for record in records
            if record["split"] == "train" and "time_seconds" in record
        ]
        accuracy = run_command(
            [self.python, FOLDER / "trainer_accuracy.py", folder, last / "checkpoints" / "last.pt"]
        )
        system = json.loads((last / "system.json").read_text())
        threads = {"threads": system["starts"][-1]["threads"]}
        return Outcome(seconds, float(accuracy), threads, probes, system)


def all_peers(build: Path, overrides: list[str], precision: str) -> list[Peer]:
    """trainer, the first, is what the others are compared with."""
    ours = TrainerPeer(build, [f"precision={precision}", *overrides])
    pytorch = [PyTorchPeer(feed, precision) for feed in ("resident", "DataLoader")]
    if precision != "fp32":
        return [ours, *pytorch]
    return [ours, *pytorch, LibTorchPeer(build), SklearnPeer(), MlxPeer()]
