#!/usr/bin/env python3
"""Runs one tool over each source of compile_commands.json, in parallel; a source that passed is not
looked at again until it, a header that it includes, its flags, the settings or the tool change.
Usage: scripts/check_sources.py tidy|types|includes TOOL BUILD_FOLDER [FILE...]
  tidy: TOOL is clang-tidy, with the checks of .clang-tidy
  types: TOOL is clang++, with strict warnings as errors
  includes: TOOL is clang-include-cleaner: unused includes, also in own headers, and the warnings of
    types, because both checks spend most of their time parsing the same headers
Status 1 if any fails.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRELUDE = ROOT / "scripts" / "clang_prelude.h"
OWN = ("src", "tests", "bench")
INCLUDE = re.compile(rb'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
LIBTORCH = re.compile(rb"(ATen|torch|c10|caffe2)/")

# The static analyser follows every path: seconds for a core file, a minute where LibTorch comes in.
# Benchmarks are left to the other checks: Google Benchmark's loops and registry look like defects.
ANALYSER = "clang-analyzer-*,-clang-analyzer-optin.performance.Padding"
# For tests in place of the list of .clang-tidy: GoogleTest's macros make other checks speak of code
# that nobody wrote, and a short list takes half the time.
IN_TESTS = ",".join((
    "-*", "bugprone-argument-comment", "bugprone-dangling-handle", "bugprone-infinite-loop",
    "bugprone-integer-division", "bugprone-sizeof-expression", "bugprone-unused-raii",
    "bugprone-unused-return-value", "bugprone-use-after-move", "google-build-using-namespace",
    "google-global-names-in-headers", "misc-definitions-in-headers", "misc-unused-parameters",
    "misc-unused-using-decls", "modernize-use-nullptr", "modernize-use-override",
    "performance-for-range-copy", "readability-function-size",
    "readability-identifier-naming"))
STRICT = ["-fsyntax-only", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wthread-safety",
          "-Werror", "-Wno-unknown-pragmas"]

# Headers that export what other headers declare: never unused. For a single line, use the comment
# "// IWYU pragma: keep".
UMBRELLAS = ",".join(("ATen/core/Tensor.h", "CLI/CLI.hpp", "fmt/.*", "nlohmann/json.hpp",
                      "onnx/onnx_pb.h", "torch/torch.h", "yaml-cpp/yaml.h"))
UNUSED = re.compile(r"- (\S+) @Line:(\d+)")


class Source:
    """One translation unit: its flags, and the own files that it reads."""

    def __init__(self, path: Path, flags: list[str]) -> None:
        self.path = path
        self.flags = flags
        self.name = str(path.relative_to(ROOT))
        self.files: list[Path] = []
        self.uses_libtorch = False
        folders = [Path(flag[2:]) for flag in flags if flag.startswith("-I")]
        self._follow(path, folders)
        if self.uses_libtorch:
            self.flags = [*flags, "-include", str(PRELUDE)]
            self.files.append(PRELUDE)

    def _follow(self, path: Path, folders: list[Path]) -> None:
        self.files.append(path)
        for quote, name in INCLUDE.findall(read(path)):
            if quote == b"<":
                self.uses_libtorch = self.uses_libtorch or bool(LIBTORCH.match(name))
                continue
            for folder in [path.parent, *folders]:
                header = folder / os.fsdecode(name)
                if header.is_file():
                    if header not in self.files:
                        self._follow(header, folders)
                    break

    def key(self, command: list[str], settings: str) -> str:
        digest = hashlib.sha256("\0".join([*command, settings]).encode())
        for path in sorted(self.files):
            # The generated header tells the commit; its text has no say in what the tools find.
            content = b"" if path.name == "build_info.h" else read(path)
            digest.update(f"\0{path}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()


@functools.lru_cache(maxsize=None)
def read(path: Path) -> bytes:
    return path.read_bytes()


def true_folder(flag: str) -> str:
    """The include root of a layer is a folder of links (src/add_layer.cmake): where they lead."""
    link = re.search(r"/layers/\w+/(public|private)$", flag)
    return f"-I{ROOT / ('include' if link[1] == 'public' else 'src')}" if link else flag


def flags_for_clang(command: str) -> list[str]:
    """What a source means: names, folders, language. The rest is for g++ only."""
    kept: list[str] = []
    words = iter(shlex.split(command))
    for word in words:
        if word in ("-isystem", "-D", "-I"):
            kept += [word, next(words)] if word == "-isystem" else [word + next(words)]
        elif word.startswith(("-D", "-U", "-I", "-std=")):
            flag = true_folder(word)
            if flag not in kept:
                kept.append(flag)
    return kept


def is_in(path: Path, folders: tuple[str, ...]) -> bool:
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in folders


def load_sources(build: Path, with_headers: bool) -> list[Source]:
    """The sources, and their own headers with the flags of the first source that reads each."""
    sources: dict[Path, Source] = {}
    headers: dict[Path, list[str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        if is_in(path, OWN) and path not in sources:
            flags = flags_for_clang(entry["command"])
            sources[path] = Source(path, flags)
            for header in sources[path].files[1:] if with_headers else []:
                if is_in(header, (*OWN, "include")):
                    headers.setdefault(header, [*flags, "-x", "c++-header"])
    return [*sources.values(), *(Source(path, flags) for path, flags in headers.items())]


def command_for(check: str, tool: str, source: Source) -> list[str]:
    if check == "types":
        return [tool, *STRICT, *source.flags, str(source.path)]
    if check == "includes":
        # LLVM 19 reports what std::stable_sort of GCC 12 uses as deprecated.
        return [tool, "--print=changes", f"--ignore-headers={UMBRELLAS}", str(source.path), "--",
                *STRICT, "-Wno-deprecated-declarations", *source.flags]
    words = [tool, "--quiet"]
    if source.name.startswith("tests/"):
        words.append(f"--checks={IN_TESTS}")
    elif source.name.startswith("src/") and not source.uses_libtorch:
        words.append(f"--checks={ANALYSER}")
    return [*words, str(source.path), "--", *source.flags, "-Wno-everything"]


def find_problems(check: str, source: Source, status: int, output: str) -> str:
    """What is wrong with the source; "" when it passes."""
    problems = []
    for line in output.splitlines():
        unused = UNUSED.fullmatch(line) if check == "includes" else None
        if unused:
            problems.append(f"{source.name}:{unused[2]}: unused include {unused[1]}")
        elif status != 0 and not (check == "includes" and line.startswith("+ ")):
            problems.append(line)
    return "\n".join(problems) or (f"status {status}" if status != 0 else "")


class Stamp:
    """What is known of a source from the last time: the key under which it passed, and the time
    that it took."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / (name + ".ok")
        self.passed, self.seconds = "", 1e9  # an unknown one goes first
        if self.path.is_file():
            passed, seconds = self.path.read_text().split()
            self.passed, self.seconds = passed, float(seconds)

    def write(self, key: str, seconds: float) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(f"{key} {seconds:.2f}\n")


def run(command: list[str]) -> tuple[int, str, float]:
    """Status, output and seconds."""
    start = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout, time.monotonic() - start


def check_all(check: str, tool: str, build: Path, only: set[Path]) -> int:
    """The number of sources that fail."""
    settings = run([tool, "--version"])[1]
    if check == "tidy":
        settings += (ROOT / ".clang-tidy").read_text()
    sources = load_sources(build, with_headers=check == "includes")
    if only:
        sources = [source for source in sources if source.path in only]
    work = []
    for source in sources:
        command = command_for(check, tool, source)
        stamp = Stamp(build / "checks" / check, source.name)
        key = source.key(command, settings)
        if stamp.passed != key:
            work.append((source, command, stamp, key))
    work.sort(key=lambda item: (-item[2].seconds, not item[0].uses_libtorch))

    num_failed = 0
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = {pool.submit(run, item[1]): item for item in work}
        for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
            source, _, stamp, key = futures[future]
            status, output, seconds = future.result()
            problems = find_problems(check, source, status, output)
            stamp.write("failed" if problems else key, seconds)
            num_failed += bool(problems)
            print(f"{check} [{number}/{len(work)}] {source.name} {seconds:.1f} s"
                  f"{' FAILED' if problems else ''}", file=sys.stderr, flush=True)
            if problems:
                print(problems, flush=True)
    print(f"{check}: {len(sources)} sources, {len(work)} looked at, {num_failed} failed, "
          f"{time.monotonic() - start:.0f} s", file=sys.stderr)
    return num_failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("check", choices=["tidy", "types", "includes"])
    parser.add_argument("tool")
    parser.add_argument("build", type=Path)
    parser.add_argument("files", nargs="*", type=lambda name: Path(name).resolve())
    given = parser.parse_args()
    return 1 if check_all(given.check, given.tool, given.build.resolve(), set(given.files)) else 0


if __name__ == "__main__":
    sys.exit(main())
