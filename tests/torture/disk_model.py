# SPDX-License-Identifier: Apache-2.0
"""What a disk may hold after a power failure, given the operations that were done.

Two sets of rules. POSIX: what was not synced is lost or torn; the names in a folder that was not
synced are each lost or not. A journal (ext4, XFS): the names are in their order up to some moment,
and all older ones are there after a sync; data that was not synced is lost or torn. A rename is one
change in both: no file system loses a file over it.
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from file_operations import Operation

NEVER = 1 << 62
ROOT = 0


@dataclass
class Event:
    """A change of a name, or of the data of a file."""

    time: int  # number of the operation
    file: int
    added: tuple[int, str] | None = None  # folder and name
    removed: tuple[int, str] | None = None
    position: int = 0
    data: bytes | None = None  # None: the file is cut at the position, or a name is changed
    target: str = ""  # of a symbolic link
    synced: int = NEVER  # when it was certainly on the disk
    synced_by_any: int = NEVER  # the same where a journal keeps all names in their order

    def is_name(self) -> bool:
        return self.added is not None or self.removed is not None


@dataclass
class Tree:
    """Folders and files by number. The root has number 0."""

    folders: dict[int, dict[str, int]] = field(default_factory=lambda: {ROOT: {}})
    files: dict[int, bytearray] = field(default_factory=dict)
    links: dict[int, str] = field(default_factory=dict)

    def copy(self) -> Tree:
        folders = {number: dict(names) for number, names in self.folders.items()}
        files = {number: bytearray(data) for number, data in self.files.items()}
        return Tree(folders, files, dict(self.links))

    def apply(self, event: Event) -> None:
        if event.removed and self.folders[event.removed[0]].get(event.removed[1]) == event.file:
            del self.folders[event.removed[0]][event.removed[1]]
        if event.added:
            self.folders[event.added[0]][event.added[1]] = event.file
        if not event.is_name():
            self.change(event, event.data)

    def change(self, event: Event, data: bytes | None) -> None:
        file = self.files[event.file]
        file.extend(bytes(max(0, event.position - len(file))))
        if data is None:
            del file[event.position :]
        else:
            file[event.position : event.position + len(data)] = data

    def walk(self, folder: int = ROOT, at: str = "") -> Iterator[tuple[str, int]]:
        for name, number in sorted(self.folders[folder].items()):
            yield f"{at}/{name}", number
            if number in self.folders:
                yield from self.walk(number, f"{at}/{name}")

    def digest(self) -> bytes:
        text = hashlib.sha256()
        for path, number in self.walk():
            text.update(f"{path}\0{self.links.get(number)}\0".encode())
            text.update(self.files.get(number, b""))
        return text.digest()

    def write_to(self, folder: Path) -> None:
        first: dict[int, Path] = {}
        for name, number in self.walk():
            path = folder / name[1:]
            if number in self.folders:
                path.mkdir()
            elif number in self.links:
                path.symlink_to(self.links[number])
            elif number in first:
                os.link(first[number], path)
            else:
                path.write_bytes(self.files[number])
                first[number] = path


def read_tree(folder: Path) -> Tree:
    tree = Tree()
    known: dict[int, int] = {}

    def read(number: int, at: Path) -> None:
        for path in sorted(at.iterdir()):
            inode = path.lstat().st_ino
            other = known.setdefault(inode, len(known) + 1)
            tree.folders[number][path.name] = other
            if path.is_symlink():
                tree.links[other] = str(path.readlink())
            elif path.is_dir():
                tree.folders[other] = {}
                read(other, path)
            else:
                tree.files[other] = bytearray(path.read_bytes())

    read(ROOT, folder)
    return tree


class Recording:
    """The events of operations that were done one after the other, and what was there before."""

    def __init__(self, folder: Path, before: Tree, operations: list[Operation]) -> None:
        self.folder = os.path.realpath(folder)
        self.before, self.after = before, before.copy()
        self.events: list[Event] = []
        self.next = 1 + max([*before.folders, *before.files, *before.links])
        self.num_operations = len(operations)
        for self.time, operation in enumerate(operations, 1):
            method = getattr(self, f"do_{operation.kind}", None)
            if method is not None and not operation.path.endswith(" (deleted)"):
                method(operation)
        for events in (self.before, self.after):  # what appears later has no data yet
            for number in self.after.files:
                events.files.setdefault(number, bytearray())
            events.links.update(self.after.links)
            for number in self.after.folders:
                events.folders.setdefault(number, {})

    def find(self, path: str) -> int | None:
        number: int | None = ROOT
        for part in Path(path).relative_to(self.folder).parts:
            number = self.after.folders.get(number, {}).get(part) if number is not None else None
        return number

    def place(self, path: str) -> tuple[int, str]:
        folder = self.find(os.path.dirname(path))
        return (folder if folder is not None else -1), os.path.basename(path)

    def add(self, event: Event) -> None:
        self.events.append(event)
        self.after.apply(event)

    def add_new(self, path: str) -> int | None:
        """The number of what is made, if that is possible."""
        folder, name = self.place(path)
        if folder < 0 or name in self.after.folders[folder]:
            return None
        self.next += 1
        self.add(Event(self.time, self.next, added=(folder, name)))
        return self.next

    def do_mkdir(self, operation: Operation) -> None:
        number = self.add_new(operation.path)
        if number is not None:
            self.after.folders[number] = {}

    def do_symlink(self, operation: Operation) -> None:
        number = self.add_new(operation.path)
        if number is not None:
            self.after.links[number] = operation.other

    def do_open(self, operation: Operation) -> None:
        file = self.find(operation.path)
        if file is None and operation.flags & os.O_CREAT:
            number = self.add_new(operation.path)
            if number is not None:
                self.after.files[number] = bytearray()
        elif file is not None and operation.flags & os.O_TRUNC:
            self.add(Event(self.time, file))

    def do_write(self, operation: Operation) -> None:
        file = self.find(operation.path)
        if file is not None:
            end = len(self.after.files[file])
            position = operation.position if operation.position >= 0 else end
            self.add(Event(self.time, file, position=position, data=operation.data))

    def do_truncate(self, operation: Operation) -> None:
        file = self.find(operation.path)
        if file is not None and operation.position != len(self.after.files[file]):
            self.add(Event(self.time, file, position=operation.position))

    def do_rename(self, operation: Operation) -> None:
        file, old = self.find(operation.path), self.place(operation.path)
        if file is not None:
            new = self.place(operation.other)
            self.add(Event(self.time, file, added=new, removed=old))

    def do_link(self, operation: Operation) -> None:
        file, place = self.find(operation.path), self.place(operation.other)
        if file is not None and place[1] not in self.after.folders[place[0]]:
            self.add(Event(self.time, file, added=place))

    def do_unlink(self, operation: Operation) -> None:
        file = self.find(operation.path)
        if file is not None and not self.after.folders.get(file):
            self.add(Event(self.time, file, removed=self.place(operation.path)))

    def do_fsync(self, operation: Operation) -> None:
        file = self.find(operation.path)
        for event in self.events:
            if event.is_name():
                event.synced_by_any = min(event.synced_by_any, self.time)
                places = [place[0] for place in (event.added, event.removed) if place]
                is_synced = file in places
            else:
                is_synced = event.file == file
            if is_synced:
                event.synced = min(event.synced, self.time)


def crash(recording: Recording, time: int, rules: str, choose: random.Random) -> Tree:
    """What the disk may hold when the power fails after the operation `time`."""
    tree = recording.before.copy()
    share = choose.choice((0.0, 0.5, 1.0))  # of what was not synced, and is there all the same
    earlier = [event for event in recording.events if event.time <= time]
    in_journal = [event.synced_by_any for event in earlier if event.synced_by_any <= time]
    journal_end = time if share == 1 else choose.randint(max(in_journal, default=0), time)
    torn: set[int] = set()  # files whose further data are lost
    for event in earlier:
        if not event.is_name():
            if event.synced > time and (event.file in torn or choose.random() >= share):
                if event.file not in torn and event.data:
                    tree.change(event, event.data[: choose.randint(0, len(event.data))])
                torn.add(event.file)
            else:
                tree.apply(event)
        elif rules == "journal":
            if event.time <= journal_end:
                tree.apply(event)
        elif event.synced <= time or choose.random() < share:
            tree.apply(event)
    return tree
