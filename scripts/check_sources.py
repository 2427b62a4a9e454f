#!/usr/bin/env python3
"""Runs one tool over each source, in parallel; a source that passed is not looked at again until
it, a header that it includes, its flags, the settings or the tool change.
Usage: scripts/check_sources.py clangd|analyzer TOOL BUILD_FOLDER [FILE...]
  clangd: TOOL is clangd, over the sources of compile_commands.json and their own headers:
    warnings, the checks of .clang-tidy, unused includes. It checks what a file declares itself, not
    what its headers declare, where clang-tidy spends four fifths of its time.
  analyzer: TOOL is clang-tidy, over src: the checks that follow the paths through a function, which
    clangd leaves out
Status 1 if any fails. With TRAINER_CHECK_MINUTES set, for slow machines of CI, what was changed
last is looked at first, and what has not been begun after that time is left out and counted.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import hashlib
import json
import math
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = (".clangd", ".clang-tidy", "tests/.clang-tidy")
PRELUDE = ROOT / "scripts" / "clang_prelude.h"
OWN = ("src", "tests", "bench")
INCLUDE = re.compile(rb'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
LIBTORCH = re.compile(rb"(ATen|torch|c10|caffe2)/")

WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wconversion",
    "-Wswitch-enum",
    "-Wthread-safety",
    "-Werror",
    "-Wno-unknown-pragmas",
    "-Wno-deprecated-declarations",
]  # by LLVM 19, in std::stable_sort of GCC 12
MOVES = "-*,bugprone-use-after-move"
# The static analyzer needs seconds for a core file, a minute where LibTorch comes in.
ANALYZER = f"{MOVES},clang-analyzer-*,-clang-analyzer-optin.performance.Padding"
DIAGNOSTIC = re.compile(r"^[EW]\[[\d:.]+\] \[(.+?)\] Line (\d+): (.*)$", re.MULTILINE)


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
        digest = hashlib.sha256("\0".join([*command, *self.flags, settings]).encode())
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
    """What a source means: names, folders, language, instructions. The rest is for g++ only."""
    kept: list[str] = []
    words = iter(shlex.split(command))
    for word in words:
        if word in ("-isystem", "-D", "-I"):
            kept += [word, next(words)] if word == "-isystem" else [word + next(words)]
        elif word.startswith(("-D", "-U", "-I", "-std=", "-m")):
            flag = true_folder(word)
            if flag not in kept:
                kept.append(flag)
    return kept


def is_in(path: Path, folders: tuple[str, ...]) -> bool:
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in folders


def load_sources(build: Path) -> list[Source]:
    """The sources, then their own headers with the flags of the first source that reads each."""
    sources: dict[Path, Source] = {}
    headers: dict[Path, list[str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        if is_in(path, OWN) and path not in sources:
            flags = flags_for_clang(entry["command"])
            sources[path] = Source(path, flags)
            for header in sources[path].files[1:]:
                if is_in(header, (*OWN, "include")):
                    headers.setdefault(header, [*flags, "-x", "c++-header"])
    return [*sources.values(), *(Source(path, flags) for path, flags in headers.items())]


def write_commands(sources: list[Source], folder: Path) -> None:
    """The flags of all files, where clangd looks for them."""
    commands = [
        {
            "directory": str(ROOT),
            "file": str(source.path),
            "arguments": ["clang++", *WARNINGS, *source.flags, "-c", str(source.path)],
        }
        for source in sources
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(commands, indent=1) + "\n")


def command_for(check: str, tool: str, source: Source, folder: Path) -> list[str]:
    if check == "clangd":
        return [
            tool,
            f"--check={source.path}",
            f"--compile-commands-dir={folder}",
            "--clang-tidy",
            "--check-warnings",
            "--check-locations=0",
            "-j=1",
            "--pch-storage=memory",
            "--log=error",
        ]
    checks = MOVES if source.uses_libtorch else ANALYZER
    return [
        tool,
        "--quiet",
        f"--checks={checks}",
        "--warnings-as-errors=*",
        str(source.path),
        "--",
        *source.flags,
        "-Wno-everything",
    ]


def find_problems(source: Source, status: int, output: str) -> str:
    """What is wrong with the source; "" when it passes."""
    if status == 0 and not DIAGNOSTIC.search(output):
        return ""  # clang-tidy counts warnings that it does not show
    text = DIAGNOSTIC.sub(lambda it: f"{source.name}:{it[2]}: {it[3]} [{it[1]}]", output)
    return text.strip() or f"status {status}"


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


Work = tuple[Source, list[str], Stamp, str]  # the command, and the key of what it would look at


def run(command: list[str]) -> tuple[int, str, float]:
    """Status, output and seconds."""
    start = time.monotonic()
    done = subprocess.run(
        command,
        cwd=ROOT,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout, time.monotonic() - start


def newest_first(work: list[Work]) -> list[Work]:
    """In the order of the last commits that changed the sources."""
    log = ["git", "log", "--max-count=500", "--name-only", "--format="]
    places: dict[str, int] = {}
    for name in run(log)[1].split():
        places.setdefault(name, len(places))
    return sorted(work, key=lambda item: places.get(item[0].name, len(places)))


def run_before(deadline: float, command: list[str]) -> tuple[int, str, float] | None:
    return run(command) if time.monotonic() < deadline else None


def check_all(check: str, tool: str, build: Path, only: set[Path]) -> int:
    """The number of sources that fail."""
    settings = run([tool, "--version"])[1]
    if check == "clangd":
        settings += " ".join(WARNINGS)
        settings += "".join(
            path.read_text() for path in map(ROOT.joinpath, SETTINGS) if path.exists()
        )
    folder = build / "checks" / check
    sources = load_sources(build)
    if check == "clangd":
        write_commands(sources, folder)
    else:
        sources = [
            source
            for source in sources
            if source.name.endswith(".cpp") and is_in(source.path, ("src",))
        ]
    if only:
        sources = [source for source in sources if source.path in only]
    work: list[Work] = []
    for source in sources:
        command = command_for(check, tool, source, folder)
        stamp = Stamp(folder, source.name)
        key = source.key(command, settings)
        if stamp.passed != key:
            work.append((source, command, stamp, key))
    work.sort(key=lambda item: (-item[2].seconds, not item[0].uses_libtorch))

    num_failed = num_left = 0
    start = time.monotonic()
    deadline = math.inf
    if minutes := os.environ.get("TRAINER_CHECK_MINUTES"):
        deadline = start + 60 * float(minutes)
        work = newest_first(work)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = {pool.submit(run_before, deadline, item[1]): item for item in work}
        for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
            source, _, stamp, key = futures[future]
            done = future.result()
            if done is None:
                num_left += 1
                continue
            status, output, seconds = done
            problems = find_problems(source, status, output)
            stamp.write("failed" if problems else key, seconds)
            num_failed += bool(problems)
            print(
                f"{check} [{number}/{len(work)}] {source.name} {seconds:.1f} s"
                f"{' FAILED' if problems else ''}",
                file=sys.stderr,
                flush=True,
            )
            if problems:
                print(problems, flush=True)
    print(
        f"{check}: {len(sources)} sources, {len(work) - num_left} looked at, {num_failed} failed, "
        f"{time.monotonic() - start:.0f} s"
        + (f"; {num_left} left out for want of time" if num_left else ""),
        file=sys.stderr,
    )
    return num_failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("check", choices=["clangd", "analyzer"])
    parser.add_argument("tool")
    parser.add_argument("build", type=Path)
    parser.add_argument("files", nargs="*", type=lambda name: Path(name).resolve())
    given = parser.parse_args()
    return 1 if check_all(given.check, given.tool, given.build.resolve(), set(given.files)) else 0


if __name__ == "__main__":
    sys.exit(main())
