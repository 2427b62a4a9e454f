# SPDX-License-Identifier: Apache-2.0
"""Runs a program and sees every operation on files below given folders before the kernel does it,
so that it can be recorded, or fail.

The kernel asks by seccomp's user notification (Linux 5.9 and newer, without root), which sees all
threads and children, and what the C library does by itself. For failures.py and crash_states.py.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

# Of each system call: its numbers on x86-64 and on Arm (-1: there is none), what it is for us, and
# the index of the argument that names the file: a descriptor, a text, or a folder and then a text.
CALLS: dict[str, tuple[int, int, str, str, int]] = {
    "read": (0, 63, "read", "descriptor", 0),
    "pread64": (17, 67, "read", "descriptor", 0),
    "readv": (19, 65, "read", "descriptor", 0),
    "mmap": (9, 222, "mmap", "descriptor", 4),
    "write": (1, 64, "write", "descriptor", 0),
    "pwrite64": (18, 68, "write", "descriptor", 0),
    "writev": (20, 66, "write", "descriptor", 0),
    "fsync": (74, 82, "fsync", "descriptor", 0),
    "fdatasync": (75, 83, "fsync", "descriptor", 0),
    "ftruncate": (77, 46, "truncate", "descriptor", 0),
    "flock": (73, 32, "lock", "descriptor", 0),
    "open": (2, -1, "open", "text", 0),
    "openat": (257, 56, "open", "at", 0),
    "rename": (82, -1, "rename", "text", 0),
    "renameat": (264, 38, "rename", "at", 0),
    "renameat2": (316, 276, "rename", "at", 0),
    "link": (86, -1, "link", "text", 0),
    "linkat": (265, 37, "link", "at", 0),
    "symlink": (88, -1, "symlink", "text", 1),
    "symlinkat": (266, 36, "symlink", "at", 1),
    "unlink": (87, -1, "unlink", "text", 0),
    "rmdir": (84, -1, "unlink", "text", 0),
    "unlinkat": (263, 35, "unlink", "at", 0),
    "mkdir": (83, -1, "mkdir", "text", 0),
    "mkdirat": (258, 34, "mkdir", "at", 0),
}
READING = {"open_to_read", "read", "mmap", "lock"}

IS_ARM = platform.machine() == "aarch64"
NUMBERS = {name: call[1] if IS_ARM else call[0] for name, call in CALLS.items()}
NAMES = {number: name for name, number in NUMBERS.items() if number >= 0}
SECCOMP = 277 if IS_ARM else 317
PIDFD_GETFD = 438
AT_FDCWD = -100
PR_SET_NO_NEW_PRIVS = 38
RECEIVE, SEND = 0xC0502100, 0xC0182101  # of linux/seccomp.h
REQUEST, RESPONSE = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The kernel does not let this process watch another one."""


@dataclass
class Operation:
    kind: str
    path: str
    other: str = ""  # new name, or where a symbolic link leads
    flags: int = 0  # of open
    position: int = -1  # of write; -1: at the end. Of truncate: the size
    data: bytes = b""


@dataclass(frozen=True)
class Short:
    """Half of a write, as if it had been interrupted."""


# What becomes of an operation: None: it is done.
Fault = int | Short | None


@dataclass
class Result:
    code: int  # negative: the signal that ended it
    out: str
    err: str
    operations: list[Operation] = field(default_factory=list)
    failed: list[Operation] = field(default_factory=list)


def install_filter() -> int:
    """Lets the kernel ask about the calls of this process, and returns where it asks."""
    numbers = sorted(NAMES)
    code = [(0x20, 0, 0, 0)]  # load the number of the call
    for i, number in enumerate(numbers):
        to_ask = len(numbers) - i + (0 if NAMES[number] != "mmap" else 1)
        code.append((0x15, to_ask, 0, number))  # jump if it is this one
    allow, ask = 0x7FFF0000, 0x7FC00000
    anonymous = [(0x20, 0, 0, 16 + 4 * 8), (0x15, 0, 1, 0xFFFFFFFF)]  # mmap without a file
    code += [(6, 0, 0, allow), (6, 0, 0, ask), *anonymous, (6, 0, 0, allow), (6, 0, 0, ask)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in code))
    about = struct.pack("@HP", len(code), ctypes.addressof(program))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    listener: int = libc.syscall(SECCOMP, 1, 8, about)  # a new filter, with a listener
    if listener < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return listener


def start(command: list[str], output: int, errors: int) -> tuple[int, int]:
    """Process and listener."""
    ours, theirs = socket.socketpair()
    process = os.fork()
    if process == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(output, 1)
            os.dup2(errors, 2)
            socket.send_fds(theirs, [b"."], [install_filter()])  # nothing may be asked before
            os.execvp(command[0], command)
        except OSError as e:
            theirs.send(f"{e.strerror}".encode())
        finally:
            os._exit(127)
    theirs.close()
    text, listeners, _, _ = socket.recv_fds(ours, 1000, 1)
    if not listeners:
        os.waitpid(process, 0)
        raise Refused(f"seccomp with user notification: {text.decode()}")
    return process, listeners[0]


class Process:
    """One process or thread that waits in a system call."""

    def __init__(self, number: int, arguments: tuple[int, ...]) -> None:
        self.proc = f"/proc/{number}"
        self.arguments = arguments

    def descriptor(self, index: int) -> int:
        return ctypes.c_int32(self.arguments[index] & 0xFFFFFFFF).value

    def read(self, address: int, size: int) -> bytes:
        memory = os.open(f"{self.proc}/mem", os.O_RDONLY)
        try:
            return os.pread(memory, size, address)
        finally:
            os.close(memory)

    def text(self, index: int) -> str:
        address, found = self.arguments[index], b""
        while b"\0" not in found:
            page_end = mmap.PAGESIZE - address % mmap.PAGESIZE
            found += self.read(address, min(256, page_end))
            address = self.arguments[index] + len(found)
        return os.fsdecode(found[: found.index(b"\0")])

    def file(self, descriptor: int) -> str:
        try:
            return os.readlink(f"{self.proc}/fd/{descriptor}")
        except OSError:
            return ""

    def path(self, how: str, index: int) -> str:
        if how == "descriptor":
            return self.file(self.descriptor(index))
        path = self.text(index + (1 if how == "at" else 0))
        folder = AT_FDCWD if how == "text" else self.descriptor(index)
        base = os.readlink(f"{self.proc}/cwd") if folder == AT_FDCWD else self.file(folder)
        return os.path.normpath(os.path.join(base, path))

    def about_file(self, key: str) -> str:
        text = Path(f"{self.proc}/fdinfo/{self.descriptor(0)}").read_text()
        return next(line.split()[1] for line in text.splitlines() if line.startswith(key + ":"))

    def written(self, name: str) -> bytes:
        address, size = self.arguments[1:3]
        if name != "writev":
            return self.read(address, size)
        parts = struct.iter_unpack("@PN", self.read(address, size * struct.calcsize("@PN")))
        return b"".join(self.read(*part) for part in parts)

    def write_half(self, data: bytes) -> int:
        """Writes half of the data in place of the process, and returns how much that was."""
        status = Path(f"{self.proc}/status").read_text().splitlines()
        group = next(line.split()[1] for line in status if line.startswith("Tgid:"))
        process = os.pidfd_open(int(group))
        file = libc.syscall(PIDFD_GETFD, process, self.descriptor(0), 0)
        if file < 0:
            raise Refused(f"pidfd_getfd: {os.strerror(ctypes.get_errno())}")
        size = len(data) // 2
        if size > mmap.PAGESIZE:
            size -= size % mmap.PAGESIZE
        with mmap.mmap(-1, max(len(data), 1)) as aligned:  # as direct I/O wants it
            aligned.write(data)
            with memoryview(aligned)[:size] as half:
                done = os.write(file, half)
        os.close(file)
        os.close(process)
        return done


def describe(process: Process, name: str) -> Operation:
    _, _, kind, how, index = CALLS[name]
    operation = Operation(kind, process.path(how, index))
    arguments = process.arguments
    if kind == "open":
        operation.flags = arguments[index + (2 if how == "at" else 1)]
        if not operation.flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            operation.kind = "open_to_read"
    elif kind in ("rename", "link"):
        operation.other = process.path(how, index + (2 if how == "at" else 1))
    elif kind == "symlink":
        operation.other = process.text(0)
    elif kind == "truncate":
        operation.position = arguments[1]
    return operation


def add_data(operation: Operation, process: Process, name: str) -> None:
    if operation.kind != "write":
        return
    operation.data = process.written(name)
    if name == "pwrite64":
        operation.position = process.arguments[3]
    elif not int(process.about_file("flags"), 8) & os.O_APPEND:
        operation.position = int(process.about_file("pos"))


class Watch:
    """Answers what the kernel asks while a program runs."""

    def __init__(
        self, listener: int, folders: list[Path], decide: Callable[[Operation], Fault]
    ) -> None:
        self.listener = listener
        self.folders = [os.path.realpath(folder) for folder in folders]
        self.decide = decide
        self.operations: list[Operation] = []
        self.failed: list[Operation] = []

    def is_ours(self, path: str) -> bool:
        return any(path == folder or path.startswith(folder + "/") for folder in self.folders)

    def answer(self) -> None:
        request = bytearray(REQUEST.size)
        try:
            fcntl.ioctl(self.listener, RECEIVE, request)
        except OSError as e:
            if e.errno in (errno.ENOENT, errno.EINTR):
                return  # it was killed meanwhile
            raise
        identity, number, _, call, _, _, *arguments = REQUEST.unpack(request)
        value, error, go_on = 0, 0, 1
        try:
            fault, done = self.look_at(Process(number, tuple(arguments)), NAMES[call])
            if fault is not None:
                value, go_on = done, 0
                error = -fault if isinstance(fault, int) else 0
        except (FileNotFoundError, ProcessLookupError):
            pass  # it was killed meanwhile
        except PermissionError as e:
            raise Refused(f"{e.filename}: {e.strerror}") from e
        try:
            fcntl.ioctl(self.listener, SEND, RESPONSE.pack(identity, value, error, go_on))
        except OSError as e:
            if e.errno != errno.ENOENT:
                raise

    def look_at(self, process: Process, name: str) -> tuple[Fault, int]:
        operation = describe(process, name)
        is_link = operation.kind == "symlink"
        if not self.is_ours(operation.path) and (is_link or not self.is_ours(operation.other)):
            return None, 0
        add_data(operation, process, name)
        fault = self.decide(operation)
        if isinstance(fault, Short) and (name != "write" or len(operation.data) < 2):
            fault = None
        if fault is None:
            self.operations.append(operation)
            return None, 0
        self.failed.append(operation)
        if isinstance(fault, int):
            return fault, 0
        done = process.write_half(operation.data)
        operation.data = operation.data[:done]
        self.operations.append(operation)
        return fault, done


def contents(file: int) -> str:
    size = os.fstat(file).st_size
    return os.pread(file, size, 0).decode(errors="replace")


def run(
    command: list[str],
    folders: list[Path],
    decide: Callable[[Operation], Fault] = lambda operation: None,
    timeout_seconds: float = 300,
) -> Result:
    """The result of the command, whose operations below the folders end as `decide` says. Throws
    Refused where the kernel does not allow it, and TimeoutError."""
    output, errors = os.memfd_create("out"), os.memfd_create("err")
    process, listener = start(command, output, errors)
    watch = Watch(listener, folders, decide)
    ended = os.pidfd_open(process)
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    poll.register(ended, select.POLLIN)
    deadline = time.monotonic() + timeout_seconds
    try:
        while True:
            events = dict(poll.poll(1000))
            if events.get(listener, 0) & select.POLLIN:
                watch.answer()
            elif ended in events:
                break
            if time.monotonic() > deadline:
                raise TimeoutError(f"still running after {timeout_seconds} s: {command}")
    except BaseException:
        os.kill(process, signal.SIGKILL)
        raise
    finally:
        os.close(listener)
        os.close(ended)
        _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    result = Result(code, contents(output), contents(errors), watch.operations, watch.failed)
    os.close(output)
    os.close(errors)
    return result
