#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the operators that LibTorch has for the CPU and, in a given version, not for MPS.

    list_missing_on_mps.py VERSION=native_functions.yaml... > missing_on_mps.txt

The files are part of PyTorch (torchgen/packaged/ATen/native). Debian's python3-torch has them;
those of other releases come with `apt-get download python3-torch` and `dpkg-deb --extract`.
"""
import sys
from typing import Any

import yaml

Function = dict[str, Any]


def name_of(function: Function) -> str:
    """ "add.out" of "add.out(Tensor self, ...) -> Tensor(a!)"."""
    return str(function["func"]).split("(", 1)[0]


def kernel_keys(function: Function) -> set[str]:
    """The dispatch keys that have a kernel: "CPU", "MPS", "CompositeExplicitAutograd"."""
    keys: set[str] = set()
    for listed in function.get("dispatch", {}):
        keys.update(key.strip() for key in listed.split(","))
    if "ufunc_inner_loop" in function:
        keys.update(["CPU", "CUDA"])
    return keys


def missing_operators(path: str) -> set[str]:
    with open(path, encoding="utf-8") as file:
        functions: list[Function] = yaml.safe_load(file)
    by_name = {name_of(function): function for function in functions}
    missing = set()
    for name, function in by_name.items():
        keys = kernel_keys(function)
        if "structured_delegate" in function:
            keys |= kernel_keys(by_name[function["structured_delegate"]])
        is_composite = not keys or any(key.startswith("Composite") for key in keys)
        if "CPU" in keys and "MPS" not in keys and not is_composite:
            missing.add(name)
    return missing


def main(arguments: list[str]) -> None:
    files = dict(argument.split("=", 1) for argument in arguments)
    if not files:
        sys.exit(__doc__)
    missing: dict[str, list[str]] = {}
    for version, path in files.items():
        for name in missing_operators(path):
            missing.setdefault(name, []).append(version)
    print(
        "# Made by list_missing_on_mps.py from native_functions.yaml of PyTorch "
        + " and ".join(files)
        + ": what has a"
    )
    print("# kernel for the CPU and, in one of them, none for MPS.")
    for name in sorted(missing):
        print(f"aten::{name}")


if __name__ == "__main__":
    main(sys.argv[1:])
