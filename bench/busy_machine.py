#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that bench_devices recommends nothing that another run contradicts.

Runs it in pairs, while other processes use the CPU, and compares what the two runs of a pair
recommend for each workload. Exit code 1 if two runs recommend different configurations.

    bench/busy_machine.py                          # 20 pairs beside two busy processes
    bench/busy_machine.py --busy 0 --pairs 3       # the same on a quiet machine
    bench/busy_machine.py -- --model large         # with other options of bench_devices
"""

import argparse
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BUILT = Path(__file__).resolve().parent.parent / "build/release/bin/bench_devices"
BENCH = os.environ.get("BENCH_DEVICES", str(BUILT))
OPTIONS = ["--model", "tiny,mid", "--max-seconds", "1"]


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def recommendations(options: list[str]) -> dict[str, str]:
    """What a run recommends for each of its workloads; "none" where it recommends nothing."""
    result = subprocess.run([BENCH, *options], capture_output=True, text=True, check=True)
    workloads = re.findall(r"^(.+, batch \d+).*\nConfig ", result.stdout, re.MULTILINE)
    common = re.search(r"^Recommendation: (none|device: .*)", result.stdout, re.MULTILINE)
    if common:
        return dict.fromkeys(workloads, common[1])
    return dict(re.findall(r"^  (.+, batch \d+): (none|device: .*)$", result.stdout, re.MULTILINE))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--busy", type=int, default=2, help="processes that use the CPU")
    parser.add_argument(
        "options", nargs="*", help=f"of bench_devices, after --; default: {' '.join(OPTIONS)}"
    )
    return parser.parse_args()


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the busy processes, too
    arguments = parse_arguments()
    options = arguments.options or OPTIONS
    num_contradictions = 0
    num_recommended = 0
    with busy_processes(arguments.busy):
        for pair in range(1, arguments.pairs + 1):
            first, second = recommendations(options), recommendations(options)
            for workload in first:
                both = first[workload], second[workload]
                contradicts = "none" not in both and both[0] != both[1]
                num_contradictions += contradicts
                num_recommended += sum(one != "none" for one in both)
                verdict = "CONTRADICTION" if contradicts else "ok"
                print(f"{pair:3}  {workload:28}  {both[0]}  |  {both[1]}  {verdict}", flush=True)
    print(
        f"{arguments.pairs} pairs: {num_contradictions} contradictions, "
        f"{num_recommended} recommendations"
    )
    return 1 if num_contradictions else 0


if __name__ == "__main__":
    sys.exit(main())
