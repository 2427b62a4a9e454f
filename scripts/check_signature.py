#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the ad-hoc signature of a program for macOS on Apple silicon, which starts nothing without
one: each page must have the hash that its code directory names.
"""

import hashlib
import struct
import sys
from pathlib import Path

CODE_SIGNATURE = 0x1D
EMBEDDED_SIGNATURE = 0xFADE0CC0
CODE_DIRECTORY = 0xFADE0C02
AD_HOC = 2


def signature(program: bytes) -> tuple[int, bytes]:
    """Returns where the signature begins, and its bytes."""
    magic, _, _, _, num_commands = struct.unpack_from("<5I", program)
    assert magic == 0xFEEDFACF, "no 64-bit program for macOS"
    at = 32
    for _ in range(num_commands):
        command, size = struct.unpack_from("<2I", program, at)
        if command == CODE_SIGNATURE:
            begin, length = struct.unpack_from("<2I", program, at + 8)
            return begin, program[begin : begin + length]
        at += size
    raise AssertionError("no LC_CODE_SIGNATURE")


def check(program: bytes) -> str:
    begin, blob = signature(program)
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


if __name__ == "__main__":
    print(check(Path(sys.argv[1]).read_bytes()))
