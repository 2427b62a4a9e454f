#!/usr/bin/env python3
"""Checks that the headers of include/trainer are documented: every class and struct, every free
function and every public member function has a doc comment (`///`) directly above it.
Usage: scripts/check_comments.py [ROOT]    prints FILE:LINE: what is wrong; status 1 if anything is

Exempt are constructors, destructors, `= default` and `= delete`, overrides, one-line getters
(`T name() const { return name_; }`, or without const), explicit specializations (`template <>`),
uses of macros, and overloads directly below a documented one. Enumerations, aliases, constants and
data members need no comment. The parser relies on the layout that clang-format produces.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'')
NAMESPACE = re.compile(r'(inline )?namespace\b[^=]*\{$|extern "" \{$')
CLASS = re.compile(
    r"(?:template <.*> )?(class|struct|union) (?:\[\[.*?\]\] )?"
    r"(\w+)(?:<.*>)?(?: final)?(?: : .*)? ?\{(\};)?$"
)
NO_FUNCTION = re.compile(r"(using|typedef|friend|static_assert|enum|[A-Z][A-Z_]+(?=\())\b")
OPERATOR = re.compile(r"\boperator ?(\(\)|[^(]+)\(")
# Words that take parentheses and are not the name of a function.
DECORATION = re.compile(
    r"\[\[.*?\]\]|\b(requires|alignas|decltype|explicit) ?" r"\(([^()]|\([^()]*\))*\)"
)
NEEDS_NONE = re.compile(r"\).* = (default|delete);$|\)[^()]* (override|final)\b")
GETTER = re.compile(r"\w+\(\)( const)?( noexcept)? \{ return .*; \}$")


@dataclass
class Declaration:
    """Joined to one line; a body of several lines is left out."""

    text: str
    line: int
    last_line: int


@dataclass
class Scope:
    """A class, or, with an empty name, the namespaces."""

    name: str
    visible: bool  # to users of the header
    public: bool  # the current access label


def code_of(line: str) -> str:
    """The line without comments and without the contents of literals."""
    return LITERAL.sub('""', line).split("//")[0].rstrip()


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def read_declaration(lines: list[str], first: int) -> Declaration:
    """The declaration that begins in lines[first]."""
    text = ""
    for number in range(first, len(lines)):
        text = f"{text} {lines[number].strip()}".strip()
        if text.endswith((";", "{", "}")) and text.count("(") == text.count(")"):
            break
    return Declaration(text, first + 1, number + 1)


def function_name(text: str) -> str:
    """The name of the declared function, "" for anything else."""
    operator = OPERATOR.search(text.split("{")[0])
    if operator:
        return "operator" + operator[1].strip()
    text, shorter = "", DECORATION.sub("", text)
    while shorter != text:  # template arguments may contain parentheses
        text, shorter = shorter, re.sub(r"<[^<>]*>", "", shorter)
    match = re.match(r"[^=({]*?([\w:~]+) ?\((?![*&])", text)
    return match[1] if match and not NO_FUNCTION.match(text) else ""


def declarations(lines: list[str]) -> Iterator[tuple[Declaration, Scope, str]]:
    """All visible declarations, each with its scope and its name, which is "" unless it declares a
    class or a function."""
    scopes = [Scope("", True, True)]
    number = 0
    while number < len(lines):
        line, scope, indent = lines[number], scopes[-1], 2 * (len(scopes) - 1)
        label = re.fullmatch(r" +(public|protected|private):", line)
        if label and indent_of(line) == indent - 1:
            scope.public = label[1] == "public"
        elif indent > 0 and line.startswith(" " * (indent - 2) + "}"):
            scopes.pop()
        elif line and indent_of(line) == indent and line[indent] not in "#}":
            declaration = read_declaration(lines, number)
            number = declaration.last_line - 1
            class_head = CLASS.match(declaration.text)
            if scope.visible and scope.public and not NAMESPACE.match(declaration.text):
                name = class_head[2] if class_head else function_name(declaration.text)
                yield declaration, scope, name
            if class_head and not class_head[3]:
                scopes.append(
                    Scope(class_head[2], scope.visible and scope.public, class_head[1] != "class")
                )
        number += 1


def needs_comment(declaration: Declaration, scope: Scope, name: str) -> bool:
    if name in ("", scope.name, "~" + scope.name) or NEEDS_NONE.search(declaration.text):
        return False
    if declaration.text.startswith("template <>"):
        return False
    on_one_line = declaration.line == declaration.last_line
    return not (scope.name and on_one_line and GETTER.search(declaration.text))


def has_comment(lines: list[str], line: int) -> bool:
    """Whether the comment block above a line has a `///`; it may also have others (NOLINT)."""
    while line > 1 and lines[line - 2].lstrip().startswith("//"):
        if lines[line - 2].lstrip().startswith("///"):
            return True
        line -= 1
    return False


def find_problems(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of each undocumented declaration."""
    lines = path.read_text(encoding="utf-8").splitlines()
    documented = ("", 0)  # the last documented name, and the line below its declaration
    for declaration, scope, name in declarations([code_of(line) for line in lines]):
        if has_comment(lines, declaration.line) or documented == (name, declaration.line):
            documented = (name, declaration.last_line + 1)
        elif needs_comment(declaration, scope, name):
            yield declaration.line, f"{scope.name}::{name}" if scope.name else name


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    paths = sorted((root / "include" / "trainer").rglob("*.h"))
    problems = [
        f"{path.relative_to(root)}:{line}: {name} has no doc comment (///)"
        for path in paths
        for line, name in find_problems(path)
    ]
    print(
        "\n".join(problems) if problems else f"comments: {len(paths)} headers documented",
        file=sys.stderr,
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
