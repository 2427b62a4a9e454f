#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints which operators a run on MPS needs, and whether PyTorch's wheel for macOS has them.

    tests/simulated_device/mps_operators.py [--build build/release] [--wheel FOLDER]

The operators: those that runs of all kinds launch on the simulated device, now and with the
versions that launched_operators.txt is about, those that the engine's library calls, and the
backward passes of both. The wheel, which pip installs unless it is there, lists its kernels in
native_functions.yaml; the library for macOS must also have their functions in at::mps. Exit
status 1: an operator is missing. Needs llvm-nm and PyYAML.
"""
from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import yaml
from list_missing_on_mps import Function, kernel_keys, name_of

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
WHEEL = "torch==2.15.0"  # as scripts/check_for_macos.sh


def run(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words],
        check=True,
        text=True,
        capture_output=True,
        env={**os.environ, **environment},
    )


def bring_wheel(folder: Path) -> None:
    if not (folder / "torch").exists():
        pip = [sys.executable, "-m", "pip", "-q", "install", "--no-deps", "--target", folder, WHEEL]
        platform = ["--only-binary=:all:", "--platform", "macosx_14_0_arm64"]
        run(*pip, *platform, "--python-version", "3.12")


def launched_operators(build: Path) -> set[str]:
    """Such as "add.out": of runs of all kinds, with the LibTorch of the build and with others."""
    tests = build / "bin/simulated_device_tests"
    said = run(tests, "--gtest_filter=LaunchedOperatorsTest.*", SIMULATED_DEVICE_COUNTERS="1")
    listed = (FOLDER / "launched_operators.txt").read_text()
    return set(re.findall(r"aten::(\S+)", said.stderr + listed))


def called_operators(build: Path) -> set[str]:
    """Such as "add_out", without what tells a '.' from a '_': what the engine calls itself."""
    said = run("llvm-nm", "-D", "-u", "-C", build / "lib/libtrainer_engine.so").stdout
    return set(re.findall(r"at::_ops::(\w+)::call", said))


def functions_of(wheel: Path) -> dict[str, Function]:
    path = wheel / "torchgen/packaged/ATen/native/native_functions.yaml"
    return {name_of(function): function for function in yaml.safe_load(path.read_text())}


def mps_functions(wheel: Path) -> set[str]:
    """The functions of at::mps that the library for macOS defines."""
    library = wheel / "torch/lib/libtorch_cpu.dylib"
    said = run("llvm-nm", "--defined-only", "--extern-only", "-C", library).stdout
    return set(re.findall(r" T at::mps::(\w+)\(", said))


def state_of(name: str, by_name: dict[str, Function], linked: set[str]) -> str:
    function = by_name[name]
    keys = kernel_keys(function)
    if "structured_delegate" in function:
        keys |= kernel_keys(by_name[function["structured_delegate"]])
    if "MPS" in keys:
        base = name.split(".", 1)[0]
        is_linked = not linked.isdisjoint([base, f"{base}_out", f"{base}_outf"])
        return "kernel" if is_linked else "missing"
    inner = by_name.get(f"_{name}")
    is_composite = not keys or any(key.startswith("Composite") for key in keys)
    is_whole = inner is None or state_of(f"_{name}", by_name, linked) != "missing"
    return "composite" if is_composite and is_whole else "missing"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument(
        "--wheel",
        type=Path,
        default=ROOT / "build/macos_packages",
        help="where the wheel is installed (default: %(default)s)",
    )
    given = parser.parse_args()
    bring_wheel(given.wheel)
    by_name = functions_of(given.wheel)
    by_symbol = {name.replace(".", "_"): name for name in by_name}
    linked = mps_functions(given.wheel)
    launched = launched_operators(given.build) & set(by_name)
    called = {by_symbol[name] for name in called_operators(given.build) if name in by_symbol}
    backward = {
        f"{name.split('.', 1)[0]}_backward"
        for name in launched | called
        if state_of(name, by_name, linked) == "kernel"
    } & set(by_name)
    states: dict[str, list[str]] = {"kernel": [], "composite": [], "missing": []}
    for name in sorted(launched | called | backward):
        states[state_of(name, by_name, linked)].append(name)
    print(f"{len(launched)} launched, {len(called)} called, {len(backward)} backward; {WHEEL}:\n")
    print("| for MPS | number | operators |\n|---|---|---|")
    for state, names in states.items():
        print(f"| {state} | {len(names)} | {', '.join(f'`{name}`' for name in names)} |")
    return 1 if states["missing"] else 0


if __name__ == "__main__":
    sys.exit(main())
