# SPDX-License-Identifier: Apache-2.0
"""What the files of runs say: the same for two folders if what they hold is the same bit for bit,
but for times, the names of runs, and the speed of the machine.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import re
import subprocess
import zipfile
from pathlib import Path

# Not those of small_runs.py. A number at the end tells apart runs that began in the same second.
RUN = re.compile(r"(?!20260101)\d{8}_\d{6}(_(?:member|fold)_\d+|_[a-z]+)?(_\d+)?")
OF_THE_MACHINE = {
    "communication_seconds",
    "memory_bytes",
    "peak_memory_bytes",
    "run",
    "samples_per_second",
    "time",
    "time_seconds",
}
LEFT_OUT = re.compile(
    r"tfevents|memory_bytes\.tsv|seconds?\.tsv|\.tmp-|/?\.(runs|purged)|checkpoint_(epoch|step)_"
)
TEXTS = {".log", ".html", ".jsonl"}  # for people, with times


def without_start(text: str) -> str:
    """Without when the runs in it began."""
    return RUN.sub(r"RUN\1", text)


class Name:
    """Stands for a class or a function, which only its name is known of."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __call__(self, *arguments: object) -> object:
        return {} if self.name == "OrderedDict" else (self.name, arguments)


class Plain(pickle.Unpickler):
    """Makes tuples of what is no plain value."""

    def find_class(self, module: str, name: str) -> Name:
        return Name(name)

    def persistent_load(self, pid: object) -> object:
        return repr(pid)


def timeless(value: object) -> object:
    if isinstance(value, dict):
        kept = {key: timeless(item) for key, item in value.items() if key not in OF_THE_MACHINE}
        return {key: item for key, item in kept.items() if key != "non_finite" or item}
    if isinstance(value, list):
        return [timeless(item) for item in value]
    return without_start(value) if isinstance(value, str) else value


def without_origins(config: str) -> str:
    """Where each value came from stands behind it."""
    return re.sub(r" *#.*", "", config)


def of_checkpoint(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        values = Plain(io.BytesIO(archive.read("archive/data.pkl"))).load()
        values["progress"].pop("metrics_bytes")  # the length of lines with times
        values["config"] = without_origins(values["config"])
        tensors = [archive.read(name) for name in sorted(archive.namelist()) if "/data/" in name]
    return repr(timeless(values)) + hashlib.sha256(b"".join(tensors)).hexdigest()


def of_file(path: Path) -> str:
    if path.is_symlink():
        return without_start(str(path.readlink()))
    if path.name == "metrics.jsonl":
        return repr([timeless(json.loads(line)) for line in path.read_text().splitlines()])
    if path.name in ("system.json", ".runs.json") or path.suffix in TEXTS:
        return "there"
    if path.suffix == ".json":
        return repr(timeless(json.loads(path.read_text())))
    if path.name == "config_resolved.yaml":
        return without_start(without_origins(path.read_text()))
    if path.suffix == ".pt" and path.parent.name == "checkpoints":
        return of_checkpoint(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def is_left_over(path: Path) -> bool:
    return ".tmp-" in path.name or path.name.startswith((".purged_", ".removed_", "array-"))


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_symlink() or path.is_file())


def is_begun_only(folder: Path) -> bool:
    """A run that ended before it had saved anything: the next start makes another one."""
    is_run = (folder / "checkpoints").is_dir() or (folder / "system.json").is_file()
    return is_run and not any(folder.rglob("*.pt"))


def is_in_begun_run(path: Path, folder: Path) -> bool:
    return any(is_begun_only(one) for one in path.parents if one.is_relative_to(folder))


def contents(folder: Path) -> dict[str, str]:
    """By name, without what is not promised: files of earlier epochs, hidden and temporary files,
    events for TensorBoard, curves of times."""
    found = {}
    for path in files_in(folder):
        name = str(path.relative_to(folder))
        if not LEFT_OUT.search(name) and not is_in_begun_run(path, folder):
            try:
                found[without_start(name)] = of_file(path)
            except (ValueError, zipfile.BadZipFile) as e:
                found[without_start(name)] = f"broken: {e}"
    return found


def broken(folder: Path, program: Path) -> list[str]:
    """What is only half there: files under their final names, and files under temporary ones."""
    problems = []
    for path in files_in(folder):
        try:
            if path.suffix in (".json", ".jsonl"):
                for line in [path.read_text()] if path.suffix == ".json" else path.open():
                    json.loads(line)
            if path.suffix == ".html" and not path.read_text().rstrip().endswith("</html>"):
                problems.append(f"{path}: without an end")
        except ValueError as e:
            problems.append(f"{path}: {e}")
    with_checkpoints = {path.parent.parent for path in folder.rglob("checkpoints/[!.]*.pt")}
    for run in sorted(run for run in with_checkpoints if run.parent.name != "superseded"):
        verified = subprocess.run([program, "verify", run], capture_output=True, text=True)
        if verified.returncode != 0:
            problems.append(f"{run}: verify: {verified.stderr.strip()}")
    return problems


def left_overs(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if is_left_over(path)]
