#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/base/text/character_widths.h from the Unicode Character Database of Python.
Usage: python3 scripts/make_character_widths.py

Wide: East Asian Width W or F (Unicode Standard Annex 11). No width: combining marks (Mn, Me),
format characters (Cf) but the soft hyphen, and the vowels and finals of Hangul that join what
stands before them. That is what terminals and Markus Kuhn's wcwidth do.
"""

from __future__ import annotations

import pathlib
import sys
import unicodedata
from typing import Callable

TARGET = pathlib.Path(__file__).resolve().parent.parent / "src/base/text/character_widths.h"


def is_wide(character: str) -> bool:
    if 0x20000 <= ord(character) <= 0x3FFFD:  # ideographs, also those of later versions
        return True
    if unicodedata.category(character) == "Cn":
        return False
    return unicodedata.east_asian_width(character) in "WF" and not is_joined(character)


def is_joined(character: str) -> bool:
    if character == "\u00ad":
        return False
    return (
        unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff"
    )


def ranges(holds: Callable[[str], bool]) -> list[list[int]]:
    """Ranges of code points that hold; what is not assigned yet goes with both of its sides."""
    found: list[list[int]] = []
    bridge = True
    for code in range(0x80, sys.maxunicode + 1):
        if holds(chr(code)):
            if found and bridge:
                found[-1][1] = code
            else:
                found.append([code, code])
            bridge = True
        elif unicodedata.category(chr(code)) != "Cn":
            bridge = False
    return found


def table(name: str, found: list[list[int]]) -> str:
    cells = [f"{{0x{first:X}, 0x{last:X}}}" for first, last in found]
    lines, line = [], "   "
    for cell in cells:
        if len(line) + len(cell) + 2 > 100:
            lines.append(line)
            line = "   "
        line += f" {cell},"
    lines.append(line)
    body = "\n".join(lines)
    return f"constexpr CharacterRange {name}[] = {{\n{body}\n}};\n"


def main() -> None:
    TARGET.write_text(
        f"""// SPDX-License-Identifier: Apache-2.0
// Made by scripts/make_character_widths.py from Unicode {unicodedata.unidata_version}.
#pragma once

#include <cstdint>

namespace trainer {{

struct CharacterRange {{
  uint32_t first, last;
}};

// clang-format off
/// Two columns of a terminal.
{table("kWideCharacters", ranges(is_wide))}
/// None.
{table("kJoinedCharacters", ranges(is_joined))}// clang-format on

}}  // namespace trainer
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
