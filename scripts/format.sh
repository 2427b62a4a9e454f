#!/usr/bin/env bash
# Formats the C++ files of this repository with clang-format (the gate uses version 14), and the Python
# files with black where it is installed.
# Usage: scripts/format.sh            rewrites the files that differ
#        scripts/format.sh --check    changes nothing; status 1 and the locations if any differ
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

clang_format=$(find_tool clang-format 14)
case "$("$clang_format" --version)" in
  *" version 14."*) ;;
  *) say "note: $("$clang_format" --version) may format differently from version 14, which the gate uses" ;;
esac

python() {  # python OPTION...: black over the Python files
  if command -v black >/dev/null; then
    black --quiet --line-length 100 --target-version py311 "$@" bench scripts tests
  else
    say "note: black is not installed, so the Python files are left alone"
  fi
}

if [ "${1:-}" = --check ]; then
  own_files | xargs -0 -P "$(num_cores)" -n 40 "$clang_format" --dry-run --Werror ||
    fail "the files above are not formatted; run: make format"
  python --check --diff || fail "the Python files above are not formatted; run: make format"
else
  own_files | xargs -0 -P "$(num_cores)" -n 40 "$clang_format" -i
  python
fi
