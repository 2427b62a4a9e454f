#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long one row takes where a model leaves `trainer`: the digits of configs/train.yaml.

bench/one_row.py [TRAINER]    prints median and 99th percentile of 5,000 rows

Needs a C compiler; ONNX files are measured if this Python has onnxruntime.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NUM_ROWS = 5000
C_PROGRAM = """
#include <stdio.h>
#include <time.h>
#include "digits.c"
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}
int main(void) {
  double x[digits_NUM_FEATURES], y[digits_NUM_OUTPUTS];
  int row, i;
  for (row = 0; row < 5000; row++) {
    double begin;
    for (i = 0; i < digits_NUM_FEATURES; i++) x[i] = (row + i) % 17;
    begin = now();
    digits_predict_features(x, y);
    printf("%.2f\\n", now() - begin);
  }
  return 0;
}
"""


def show(name: str, times: list[float], size: int | None = None) -> None:
    """Times in microseconds."""
    ordered = sorted(times)
    file = "" if size is None else f"  file of {size / 1000:.0f} kB"
    median, late = (ordered[len(ordered) * percent // 100] for percent in (50, 99))
    print(f"{name:24} p50 {median:7.1f} us  p99 {late:7.1f} us{file}", flush=True)


def timed(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return (time.perf_counter() - begin) * 1e6


def measure_c(folder: Path, compiler: str) -> None:
    (folder / "main.c").write_text(C_PROGRAM, encoding="utf-8")
    command = [compiler, "-std=gnu99", "-O2", "-o", "main", "main.c", "-lm"]
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True)
    seconds = time.perf_counter() - begin
    lines = subprocess.check_output(["./main"], cwd=folder, text=True).split()
    show(f"C, {compiler} ({seconds:.1f} s)", [float(line) for line in lines])


def measure_onnx(file: Path) -> None:
    import numpy
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(file), options, ["CPUExecutionProvider"])
    x = (numpy.arange(64, dtype="float32") % 17)[None]
    times = [timed(lambda: session.run(None, {"features": x})) for _ in range(NUM_ROWS)]
    show(f"ONNX, {file.stem}", times, file.stat().st_size)


def measure_follow(trainer: str, folder: Path) -> None:
    header, *rows = (ROOT / "configs/data/digits.csv").read_text(encoding="utf-8").splitlines()
    command = [trainer, "-q", "predict", "runs/latest", "--follow"]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as program:
        assert program.stdin is not None and program.stdout is not None
        send, receive = program.stdin.fileno(), program.stdout.fileno()

        def answer(line: str) -> None:
            os.write(send, line.encode() + b"\n")
            while not os.read(receive, 1 << 16).endswith(b"\n"):
                pass

        answer(header)
        lines = [rows[i % len(rows)] for i in range(NUM_ROWS)]
        times = [timed(partial(answer, line)) for line in lines]
        program.stdin.close()
    show("predict --follow", times)


def main() -> None:
    trainer = str(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/bin/trainer"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def run(*arguments: str) -> None:
            subprocess.run(
                [trainer, "-q", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL
            )

        run("--config", str(ROOT / "configs/train.yaml"))
        run("export", "runs/latest", "--output", "digits.c")
        print(f"digits.c: {(folder / 'digits.c').stat().st_size / 1000:.0f} kB")
        for compiler in ("gcc", "clang", "clang-19"):
            if shutil.which(compiler):
                measure_c(folder, compiler)
        try:
            import onnxruntime  # noqa: F401
        except ImportError:
            print("ONNX: not measured, this Python has no onnxruntime")
        else:
            for weights in ("float32", "float16", "int8"):
                run("export", "runs/latest", "-o", f"{weights}.onnx", "--weights", weights)
                measure_onnx(folder / f"{weights}.onnx")
        measure_follow(trainer, folder)


if __name__ == "__main__":
    main()
