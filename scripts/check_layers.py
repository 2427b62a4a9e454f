#!/usr/bin/env python3
"""Checks what the compiler does not (src/add_layer.cmake has it enforce which layer sees which):
the half without LibTorch stays without it, the ONNX library is used in one layer and CLI11 in one
file only, and each folder is a layer of src/CMakeLists.txt. Names files that have grown long: a
file is as long as its subject, but a long one may have two.
Usage: scripts/check_layers.py [ROOT]    prints FILE:LINE: what is wrong; status 1 if anything is
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

LIBTORCH = re.compile(r"^(ATen|torch|c10|caffe2)/")
ONNX_LIBRARY = re.compile(r"^(onnx|google/protobuf)/")
CLI11 = re.compile(r"^CLI/")
CLI11_FILE = Path("src/cli/parser.cpp")  # CLI11 takes seconds to compile
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
HALVES = re.compile(r"^set\((core|onnx|engine|program)_layers\s+([^)]*)\)", re.MULTILINE)
SUFFIXES = {".h", ".hpp", ".cpp"}
LONG = {"header": 250, "source": 600, "test": 800}


def read_layers(root: Path) -> dict[str, str]:
    """The half of each layer, in the order of src/CMakeLists.txt."""
    text = (root / "src" / "CMakeLists.txt").read_text(encoding="utf-8")
    return {layer: half for half, names in HALVES.findall(text) for layer in names.split()}


def layer_of(path: Path) -> str:
    """The layer of a source file, '' for one outside the layers (tests, bench)."""
    parts = path.parts
    if parts[:2] == ("include", "trainer") and len(parts) > 3:
        return parts[2]
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return "cli" if path == Path("src/main.cpp") else ""


def included_file(root: Path, including: Path, name: str) -> Path | None:
    """The file of this repository that an include names, or None for one of a package."""
    for folder in (including.parent, Path("include"), Path("src")):
        if (root / folder / name).is_file():
            return folder / name
    return None


def read_includes(root: Path, path: Path) -> list[tuple[int, str]]:
    text = (root / path).read_text(encoding="utf-8")
    matches = ((number, INCLUDE.match(line)) for number, line in enumerate(text.splitlines(), 1))
    return [(number, match.group(2)) for number, match in matches if match]


def libtorch_chain(root: Path, path: Path, name: str, seen: set[Path]) -> list[str]:
    """Which files lead from an included header to LibTorch: [] when none do."""
    if LIBTORCH.match(name):
        return [name]
    header = included_file(root, path, name)
    if header is None or header in seen:
        return []
    seen.add(header)
    for _, inner in read_includes(root, header):
        chain = libtorch_chain(root, header, inner, seen)
        if chain:
            return [name, *chain]
    return []


def check_include(root: Path, path: Path, half: str, name: str) -> str | None:
    """What is wrong with one include, or None."""
    layer = layer_of(path)
    if half != "engine":
        chain = libtorch_chain(root, path, name, set())
        if chain:
            return f"layer {layer} must stay without LibTorch, but includes {' -> '.join(chain)}"
    if ONNX_LIBRARY.match(name) and half != "onnx":
        return f"layer {layer} must stay without ONNX, but includes {name}"
    if CLI11.match(name) and path != CLI11_FILE:
        return f"only {CLI11_FILE} includes CLI11; describe options as cli/option.h does"
    return None


def advice_on_size(root: Path, path: Path) -> str | None:
    lines = (root / path).read_text(encoding="utf-8").count("\n")
    kind = "test" if path.parts[0] == "tests" else "source" if path.suffix == ".cpp" else "header"
    if lines > LONG[kind]:
        return f"advice: {path} has {lines} lines; does it have one subject?"
    return None


def find_problems(root: Path) -> tuple[list[str], list[str], int]:
    """What is wrong, what may be better, and the number of files looked at."""
    layers = read_layers(root)
    folders = [root / name for name in ("include", "src", "tests", "bench")]
    paths = sorted(
        path.relative_to(root)
        for folder in folders
        if folder.is_dir()
        for path in folder.rglob("*")
        if path.suffix in SUFFIXES
    )
    problems: list[str | None] = []
    advice: list[str | None] = []
    for path in paths:
        advice.append(advice_on_size(root, path))
        layer = layer_of(path)
        if layer and layer not in layers:
            problems.append(
                f"{path}:1: folder {layer} is not among the layers of " "src/CMakeLists.txt"
            )
        elif layer:
            for number, name in read_includes(root, path):
                problem = check_include(root, path, layers[layer], name)
                problems.append(problem and f"{path}:{number}: {problem}")
    return (
        [problem for problem in problems if problem],
        [line for line in advice if line],
        len(paths),
    )


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    problems, advice, num_files = find_problems(root)
    lines = advice + (problems or [f"layers: {num_files} files in order"])
    print("\n".join(lines), file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
