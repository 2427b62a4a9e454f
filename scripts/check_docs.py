#!/usr/bin/env python3
"""Checks that documents speak of what is there: links lead somewhere, files and folders in code
font exist (`src/nn/cpu/kernels_*.cpp`, `nn/cpu/blocks.h`), names of a namespace (`data::encode`)
occur in its files, and the table of docs/architecture.md has every folder of every layer of
src/CMakeLists.txt.
Usage: scripts/check_docs.py [ROOT]    prints FILE:LINE: what is wrong; status 1 if anything is
"""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path

from check_layers import read_layers

CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)")
TOP_FOLDERS = ("src", "include", "tests", "bench", "docs", "scripts", "configs", ".github", ".ci")
PATH = re.compile(r"[\w.*-]+(/[\w.*-]+)+/?")
NAMESPACE = re.compile(r"^namespace trainer::(\w+)", re.MULTILINE)
NAME = re.compile(r"(?:trainer::)?(\w+)::(\w+)(?:::\w+)*(?:\(\))?")


def anchor(heading: str) -> str:
    """The anchor that GitHub makes of a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


@functools.lru_cache(maxsize=None)
def anchors(path: Path) -> frozenset[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return frozenset(anchor(match[1]) for match in map(HEADING.match, lines) if match)


@functools.lru_cache(maxsize=None)
def text_of_namespaces(root: Path) -> dict[str, str]:
    """The files of each namespace within `trainer`."""
    texts: dict[str, str] = {}
    for folder in (root / "include" / "trainer", root / "src"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".h", ".cpp"):
                text = path.read_text(encoding="utf-8")
                for name in set(NAMESPACE.findall(text)):
                    texts[name] = texts.get(name, "") + text
    return texts


def check_link(document: Path, target: str) -> str | None:
    if re.match(r"\w+:", target):
        return None
    name, _, fragment = target.partition("#")
    path = document.parent / name if name else document
    if not path.exists():
        return f"link to {target}: no such file"
    if fragment and path.suffix == ".md" and fragment not in anchors(path):
        return f"link to {target}: no such heading"
    return None


def check_code(root: Path, layers: list[str], code: str) -> str | None:
    """What is wrong with a text in code font; None for anything that is no path and no name."""
    name = NAME.fullmatch(code)
    namespaces = text_of_namespaces(root)
    if name and name[1] in namespaces:
        found = re.search(rf"\b{name[2]}\b", namespaces[name[1]])
        return None if found else f"{code}: namespace {name[1]} has no {name[2]}"
    if not PATH.fullmatch(code):
        return None
    first = code.split("/")[0]
    if first in TOP_FOLDERS:
        bases = [root]
    elif first in layers and code.endswith((".h", ".cpp")):
        bases = [root / "include" / "trainer", root / "src"]
    else:
        return None
    if any(True for base in bases for _ in base.glob(code.rstrip("/"))):
        return None
    return f"{code}: no such file"


def check_document(root: Path, document: Path, layers: list[str]) -> list[str]:
    problems = []
    in_block = False
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            in_block = not in_block
        if in_block:
            continue
        found = [check_link(document, target) for target in LINK.findall(line)]
        found += [check_code(root, layers, code) for code in CODE.findall(line)]
        problems += [
            f"{document.relative_to(root)}:{number}: {problem}" for problem in found if problem
        ]
    return problems


def check_folder_table(root: Path, layers: list[str]) -> list[str]:
    """The table of docs/architecture.md that is headed 'folder'."""
    path = root / "docs" / "architecture.md"
    named = re.findall(r"^\| `([\w/]+)` \|", path.read_text(encoding="utf-8"), re.MULTILINE)
    folders = {
        file.parent.relative_to(root / "src").as_posix()
        for layer in layers
        for file in (root / "src" / layer).rglob("*.cpp")
    }
    place = path.relative_to(root)
    return [
        f"{place}:1: the table of folders "
        + (f"lacks {folder}" if folder in folders else f"has {folder}, which does not exist")
        for folder in sorted(folders.symmetric_difference(named))
    ]


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    layers = list(read_layers(root))
    documents = sorted([*root.glob("*.md"), *(root / "docs").glob("*.md")])
    problems = check_folder_table(root, layers)
    for document in documents:
        problems += check_document(root, document, layers)
    print(
        "\n".join(problems) if problems else f"docs: {len(documents)} documents in order",
        file=sys.stderr,
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
