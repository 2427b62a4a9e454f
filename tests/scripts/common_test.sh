#!/usr/bin/env bash
# Tests that find_tool of scripts/common.sh finds a tool that is new enough.
# Usage: tests/scripts/common_test.sh
# shellcheck source=tests/scripts/house.sh
source "$(dirname "$0")/house.sh"

tool() {  # tool NAME VERSION_TEXT: a program that says its version
  printf '#!/bin/sh\necho "%s"\n' "$2" >"$house/$1"
  chmod +x "$house/$1"
}

found() {  # found NAME STATUS TEXT: what find_tool says of "tidy" 19
  # shellcheck disable=SC2016  # the inner shell's
  expect_of "$1" "$2" "$3" env PATH="$house:$PATH" bash -c \
    'source "$1/scripts/common.sh" && find_tool tidy 19' check "$root"
}

found "none" 1 "check: tidy 19 is not installed; run scripts/setup.sh gate"
tool tidy "Debian tidy version 14.0.6"
found "too old" 1 \
  "check: tidy 19 is not installed, only version 14; run scripts/setup.sh gate"
tool tidy "Homebrew LLVM version 21.1.0
  Optimized build, version 3.0."
found "newer" 0 "$house/tidy"
tool tidy-19 "Debian tidy version 19.1.7 (3)"
found "the version of the gate" 0 "$house/tidy-19"

finish
