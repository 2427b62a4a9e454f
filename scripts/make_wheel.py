#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs a program of trainer as a Python wheel without Python code: that of the preset `portable`
as trainer-cli, whose `trainer` pip puts beside `python`, or the files of the preset `wheel` as
trainer-cli-engine, which that program finds (src/cli/engine_wheel.h). Two runs give the same bytes.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "trainer-cli"  # `trainer` is another package
ENGINE = f"{NAME}-engine"
PROGRAM = 0o755
FILE = 0o644


def core_metadata(version: str) -> str:
    return f"""Summary: Applies and exports multilayer perceptrons of tables, without LibTorch
Provides-Extra: train
Requires-Dist: {ENGINE}=={version}; extra == "train"
License: Apache-2.0
Description-Content-Type: text/markdown

The core of trainer, as a program: `trainer predict`, `eval`, `explain`, `report`, `inspect`,
`verify`, `runs` and `export` of models that trainer has trained. It needs the C library only and
starts in milliseconds. `pip install "{NAME}[train]"` adds training, with the LibTorch of torch.
"""


def engine_metadata(version: str, libtorch: str) -> str:
    minor = ".".join(libtorch.split(".")[:2])
    return f"""Summary: Training for {NAME}, with the LibTorch of torch {minor}
Requires-Dist: {NAME}=={version}
Requires-Dist: torch=={minor}.*
License: Apache-2.0
Description-Content-Type: text/markdown

What `pip install "{NAME}[train]"` adds: the program of {NAME} with its engine, for the CPU.
"""


class Wheel:
    """The files of a wheel in their order, each listed with its hash."""

    def __init__(self, folder: Path, name: str, version: str, tag: str) -> None:
        stem = f"{name.replace('-', '_')}-{version}"
        self.file = folder / f"{stem}-{tag}.whl"
        self.archive = zipfile.ZipFile(self.file, "w", zipfile.ZIP_DEFLATED)
        self.info = f"{stem}.dist-info"
        self.data = f"{stem}.data"
        self.head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        self.tag = tag
        self.record: list[str] = []

    def add(self, name: str, content: bytes, mode: int = FILE) -> None:
        entry = zipfile.ZipInfo(name)  # with a date that is always the same
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def finish(self, metadata: str) -> None:
        wheel = f"Wheel-Version: 1.0\nGenerator: trainer\nRoot-Is-Purelib: false\nTag: {self.tag}\n"
        self.add(f"{self.info}/METADATA", (self.head + metadata).encode())
        self.add(f"{self.info}/WHEEL", wheel.encode())
        record = f"{self.info}/RECORD"
        self.archive.writestr(zipfile.ZipInfo(record), "\n".join([*self.record, f"{record},,", ""]))
        self.archive.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path, help="stripped; of the engine its bin/ and lib/")
    parser.add_argument("folder", type=Path, help="for the wheel")
    parser.add_argument("version", help="as 1.0.0 or 1.0.0-rc1")
    parser.add_argument("platform", help="that it runs on, as manylinux_2_28_x86_64")
    parser.add_argument("--licenses", type=Path, help="folder with those of what is compiled in")
    parser.add_argument("--manual", type=Path, help="trainer.1")
    parser.add_argument("--sbom", type=Path, help="CycloneDX file of what is compiled in")
    parser.add_argument("--libtorch", help="makes the wheel of the engine: the version it needs")
    given = parser.parse_args()
    tag = f"py3-none-{given.platform}"
    version = given.version.replace("-", "")  # of Python: 1.0.0rc1
    wheel = Wheel(given.folder, ENGINE if given.libtorch else NAME, version, tag)
    if given.libtorch:
        # The folder has the name of the version, for which the program of trainer-cli looks.
        for file in sorted(file for file in given.program.rglob("*") if file.is_file()):
            name = file.relative_to(given.program)
            wheel.add(f"trainer_engine/{given.version}/{name}", file.read_bytes(), PROGRAM)
        # With a file beside that folder pip removes the folder too.
        wheel.add("trainer_engine/version", f"{given.version}\n".encode())
        metadata = engine_metadata(version, given.libtorch)
    else:
        wheel.add(f"{wheel.data}/scripts/trainer", given.program.read_bytes(), PROGRAM)
        metadata = core_metadata(version)
    if given.manual:
        wheel.add(f"{wheel.data}/data/share/man/man1/trainer.1", given.manual.read_bytes())
    wheel.add(f"{wheel.info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
    for license_file in sorted(given.licenses.iterdir()) if given.licenses else []:
        wheel.add(f"{wheel.info}/licenses/{license_file.name}", license_file.read_bytes())
    if given.sbom:
        wheel.add(f"{wheel.info}/sboms/trainer.cdx.json", given.sbom.read_bytes())
    wheel.finish(metadata)
    print(wheel.file)


if __name__ == "__main__":
    main()
