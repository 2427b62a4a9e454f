#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes all CPUs busy and prints how many GFLOP/s they do: which state the machine is in.

    python3 bench/peers/probe.py [SECONDS]

On a virtual machine two CPUs may be one core, or two that other guests use as well, and that
changes from second to second: everything then takes up to twice the time. One thread a CPU
multiplies matrices that fit in its cache; the second half of the time counts, the first warms up.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
import time
from typing import Any

SIZE = 128
SECONDS_BEFORE, SECONDS_AFTER = 2.0, 0.5  # of what is measured


def count_products(np: Any, end: float, counts: list[int]) -> None:
    """Multiplies until the end; adds the number of products of the second half."""
    a = np.full((SIZE, SIZE), 0.5, np.float32)
    out = np.empty_like(a)
    middle = (time.perf_counter() + end) / 2
    count = 0
    while (now := time.perf_counter()) < end:
        for _ in range(8):
            np.dot(a, a, out=out)
        count += 8 * (now >= middle)
    counts.append(count)


def keep_busy(seconds: float) -> float:
    """GFLOP/s of all CPUs together."""
    counts: list[int] = []
    np = importlib.import_module("numpy")  # the Python of compare.py may lack it
    end = time.perf_counter() + seconds
    num_cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = [
        threading.Thread(target=count_products, args=(np, end, counts))
        for _ in range(num_cpus or 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) * 2e-9 * SIZE**3 / (seconds / 2)


def measure(python: str, seconds: float) -> float:
    """The same in a process of its own, whatever this one has set for threads and kernels."""
    done = subprocess.run(
        [python, __file__, str(seconds)],
        check=True,
        capture_output=True,
        text=True,
        env={key: value for key, value in os.environ.items() if "OPENBLAS" not in key},
    )
    return float(done.stdout)


if __name__ == "__main__":
    os.environ.update({f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")})
    print(keep_busy(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0))
