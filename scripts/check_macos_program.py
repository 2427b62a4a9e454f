#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a program for macOS on Apple silicon without a Mac. It starts nothing without a signature:
each page must have the hash that the ad-hoc code directory names. All libraries that it loads are
those of the system or found beside it, and it is for the version of macOS that is expected.
Usage: check_macos_program.py PROGRAM [VERSION]    (as 11.0)
"""

import hashlib
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

LOAD_DYLIB = 0xC
CODE_SIGNATURE = 0x1D
BUILD_VERSION = 0x32
EMBEDDED_SIGNATURE = 0xFADE0CC0
CODE_DIRECTORY = 0xFADE0C02
AD_HOC = 2


def commands(program: bytes, kind: int) -> Iterator[int]:
    """Yields where the load commands of the kind begin."""
    magic, _, _, _, num_commands = struct.unpack_from("<5I", program)
    assert magic == 0xFEEDFACF, "no 64-bit program for macOS"
    at = 32
    for _ in range(num_commands):
        command, size = struct.unpack_from("<2I", program, at)
        if command == kind:
            yield at
        at += size


def libraries(program: bytes) -> list[str]:
    found = []
    for at in commands(program, LOAD_DYLIB):
        size, name = struct.unpack_from("<2I", program, at + 4)
        found.append(program[at + name : at + size].split(b"\0")[0].decode())
    return found


def oldest_system(program: bytes) -> str:
    [at] = commands(program, BUILD_VERSION)
    [version] = struct.unpack_from("<I", program, at + 12)
    return f"{version >> 16}.{version >> 8 & 0xFF}"


def check_signature(program: bytes) -> str:
    [command] = commands(program, CODE_SIGNATURE)
    begin, length = struct.unpack_from("<2I", program, command + 8)
    blob = program[begin : begin + length]
    magic, _, num_blobs = struct.unpack_from(">3I", blob)
    assert magic == EMBEDDED_SIGNATURE and num_blobs > 0
    _, at = struct.unpack_from(">2I", blob, 12)
    fields = struct.unpack_from(">9I4B", blob, at)
    magic, flags, hashes, num_pages, limit = fields[0], *(fields[i] for i in (3, 4, 7, 8))
    hash_size, hash_kind, _, page_power = fields[9:]
    assert magic == CODE_DIRECTORY and hash_kind == 2, "expected a code directory of SHA-256"
    assert flags & AD_HOC, f"flags {flags:#x}: not ad hoc"
    assert limit == begin, f"signed up to {limit}, the signature begins at {begin}"
    page = 1 << page_power
    for i in range(num_pages):
        digest = hashlib.sha256(program[i * page : min((i + 1) * page, limit)]).digest()
        stored = blob[at + hashes + i * hash_size :][:hash_size]
        assert digest == stored, f"page {i} is not what was signed"
    return f"ad-hoc signature of {num_pages} pages of {page} bytes: good"


def main() -> None:
    program = Path(sys.argv[1]).read_bytes()
    names = libraries(program)
    foreign = [name for name in names if not name.startswith(("/usr/lib/", "@rpath/"))]
    assert not foreign, f"{foreign} may not be there"
    version = oldest_system(program)
    assert sys.argv[2:] in ([], [version]), f"for macOS {version}, not {sys.argv[2:]}"
    print(f"{check_signature(program)}, for macOS {version}, needs {', '.join(names)}")


if __name__ == "__main__":
    main()
