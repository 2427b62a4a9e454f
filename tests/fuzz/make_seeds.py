#!/usr/bin/env python3
"""Writes the seeds of the corpus that are no text: what a file of each kind looks like.
Usage: tests/fuzz/make_seeds.py    writes tests/fuzz/corpus/*/seed_*
"""

from __future__ import annotations

import gzip
import sqlite3
import struct
import tempfile
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"
CHOICES = b"00000000"  # as in tests/fuzz/input.h
TABLE = b"a,k,y\n1,p,u\n2.5,q,v\n,p,u\n4,q,v\n"


def write(target: str, name: str, content: bytes) -> None:
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"seed_{name}").write_bytes(content)


def npy(descr: str, order: bool, shape: tuple[int, ...], elements: bytes) -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + elements


def write_npy() -> None:
    numbers = struct.pack("<8f", *range(8))
    write("npy", "f4", npy("<f4", False, (4, 2), numbers))
    write("npy", "fortran", npy("<f4", True, (4, 2), numbers))
    write("npy", "f2", npy("<f2", False, (4,), struct.pack("<4e", 0, 1, 0.5, 2)))
    write("npy", "big_endian", npy(">i8", False, (4,), struct.pack(">4q", 0, 1, 2, 2**40)))
    write("npy", "bytes", npy("|u1", False, (3, 2, 2), bytes(range(12))))
    write("npy", "bool", npy("|b1", False, (4, 1), b"\0\1\1\0"))


def idx(*sizes: int) -> bytes:
    count = 1
    for size in sizes:
        count *= size
    elements = bytes(number % 3 for number in range(count))
    return bytes([0, 0, 8, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes) + elements


def write_idx() -> None:
    write("idx", "labels", idx(6))
    write("idx", "images", idx(4, 2, 2))
    write("idx", "gzip", gzip.compress(idx(4, 3), mtime=0))


def zstd(content: bytes, block: int = 0) -> bytes:
    """One frame with one block: 0 as it is, 1 of one byte that is repeated."""
    header = (len(content) << 3 | block << 1 | 1).to_bytes(3, "little")
    return (
        b"\x28\xb5\x2f\xfd\x20" + bytes([len(content)]) + header + content[: 1 if block else None]
    )


def write_packed() -> None:
    write("packed", "gzip", gzip.compress(TABLE, mtime=0))
    write(
        "packed", "gzip_twice", gzip.compress(TABLE, mtime=0) + gzip.compress(b"5,p,u\n", mtime=0)
    )
    write("packed", "zstd", zstd(TABLE))
    write("packed", "zstd_repeated", zstd(b"1" * 200, block=1))
    write(
        "packed", "zstd_skipped", b"\x50\x2a\x4d\x18" + struct.pack("<I", 3) + b"abc" + zstd(TABLE)
    )


def database(*statements: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.sqlite"
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA page_size = 512")
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()
        return path.read_bytes()


def write_sqlite() -> None:
    rows = "INSERT INTO t VALUES (0.1, 9007199254740993, 'p', x'00ff', 'u')"
    rows += ", (1e300, -1, 'a,b', x'', 'v'), (NULL, NULL, NULL, NULL, 'u'), (2, 3, '', 'text', 'v')"
    write(
        "sqlite",
        "types",
        CHOICES + database("CREATE TABLE t (a REAL, n INTEGER, c TEXT, b BLOB, y TEXT)", rows),
    )
    dates = (
        "INSERT INTO t VALUES ('2026-03-01', 1), ('2026-03-02 12:30:00', 0), (NULL, 1), ('x', 0)"
    )
    write("sqlite", "dates", CHOICES + database("CREATE TABLE t (d, y)", dates))


def frame(*texts: bytes) -> bytes:
    body = b"".join(struct.pack("<I", len(text)) + text for text in texts)
    return struct.pack("<I", len(body)) + body


def write_store() -> None:
    requests = [
        frame(b"set", b"key", b"value"),
        frame(b"find", b"key"),
        frame(b"swap", b"key", b"value", b"other"),
        frame(b"add", b"number", b"9223372036854775807"),
        frame(b"add", b"number", b"1"),
        frame(b"erase", b"key"),
        frame(b"count"),
    ]
    # What the first eight bytes choose: bit 0 the token, bit 1 who answers.
    write(
        "store",
        "stranger",
        struct.pack(">Q", 0) + frame(b"trainer store 1", b"token") + b"".join(requests),
    )
    write("store", "member", struct.pack(">Q", 1) + b"".join(requests))
    answers = [
        frame(b"done", b"value"),
        frame(b"done", b"1"),
        frame(b"done", b"value"),
        frame(b"done", b"7"),
    ]
    write("store", "server", struct.pack(">Q", 3) + b"".join(answers))
    write("store", "refusal", struct.pack(">Q", 3) + frame(b"nothing") + frame(b"refused", b"why"))
    write("store", "no_greeting", struct.pack(">Q", 2) + frame(b"refused", b"it has another token"))


def text(content: bytes) -> bytes:
    return bytes([len(content)]) + content


def write_tensorboard() -> None:
    record = struct.pack("<qqq", 0, 12, 3)
    record += b"\1" + struct.pack("<d", 0.5) + b"\0" + struct.pack("<d", 0.25) + b"\0\0"
    matrix = b"\1" + struct.pack("<4I", 1, 2, 3, 4) + text(b"no") + text(b"yes")
    rest = text(b"lr") + text(b"0.5") + text(b"tag") + text(b"# text") + struct.pack("<q", 2)
    histogram = text(b"weights") + b"\4" + struct.pack("<4f", 1, 1, -2, float("inf"))
    write("tensorboard", "record", record + matrix + rest + histogram)


def main() -> None:
    write_npy()
    write_idx()
    write_packed()
    write_sqlite()
    write_store()
    write_tensorboard()


if __name__ == "__main__":
    main()
