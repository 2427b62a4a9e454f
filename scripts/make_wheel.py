#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the program of the preset `portable` as a Python wheel without Python code: `pip install`
puts `trainer` beside `python`. Two runs of it give the same bytes.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "trainer_cli"  # `trainer` is another package
PROGRAM = 0o755
FILE = 0o644


def metadata(version: str) -> str:
    return f"""Metadata-Version: 2.1
Name: {NAME.replace("_", "-")}
Version: {version}
Summary: Applies, judges and exports multilayer perceptrons of tables, without Python and LibTorch
License: Apache-2.0
Description-Content-Type: text/markdown

The core of trainer, as a program: `trainer predict`, `eval`, `explain`, `report`, `inspect`,
`verify`, `runs` and `export` of models that trainer has trained. It needs the C library only and
starts in milliseconds. It does not train, for which LibTorch is needed.
"""


class Wheel:
    """The files of a wheel in their order, each listed with its hash."""

    def __init__(self, file: Path, version: str, tag: str) -> None:
        self.archive = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        self.info = f"{NAME}-{version}.dist-info"
        self.data = f"{NAME}-{version}.data"
        self.version = version
        self.tag = tag
        self.record: list[str] = []

    def add(self, name: str, content: bytes, mode: int = FILE) -> None:
        entry = zipfile.ZipInfo(name)  # with a date that is always the same
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def finish(self) -> None:
        wheel = f"Wheel-Version: 1.0\nGenerator: trainer\nRoot-Is-Purelib: false\nTag: {self.tag}\n"
        self.add(f"{self.info}/METADATA", metadata(self.version).encode())
        self.add(f"{self.info}/WHEEL", wheel.encode())
        record = f"{self.info}/RECORD"
        self.archive.writestr(zipfile.ZipInfo(record), "\n".join([*self.record, f"{record},,", ""]))
        self.archive.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path, help="stripped")
    parser.add_argument("folder", type=Path, help="for the wheel")
    parser.add_argument("version", help="as 1.0.0 or 1.0.0-rc1")
    parser.add_argument("platform", help="that it runs on, as manylinux_2_28_x86_64")
    parser.add_argument("--licenses", type=Path, help="folder with those of what is compiled in")
    parser.add_argument("--manual", type=Path, help="trainer.1")
    parser.add_argument("--sbom", type=Path, help="CycloneDX file of what is compiled in")
    given = parser.parse_args()
    tag = f"py3-none-{given.platform}"
    version = given.version.replace("-", "")  # of Python: 1.0.0rc1
    file = given.folder / f"{NAME}-{version}-{tag}.whl"
    wheel = Wheel(file, version, tag)
    wheel.add(f"{wheel.data}/scripts/trainer", given.program.read_bytes(), PROGRAM)
    if given.manual:
        wheel.add(f"{wheel.data}/data/share/man/man1/trainer.1", given.manual.read_bytes())
    wheel.add(f"{wheel.info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
    for license_file in sorted(given.licenses.iterdir()) if given.licenses else []:
        wheel.add(f"{wheel.info}/licenses/{license_file.name}", license_file.read_bytes())
    if given.sbom:
        wheel.add(f"{wheel.info}/sboms/trainer.cdx.json", given.sbom.read_bytes())
    wheel.finish()
    print(file)


if __name__ == "__main__":
    main()
