#!/usr/bin/env bash
# Looks for defects: layers and sizes (check_layers.py), cppcheck, clang-tidy, shellcheck. What
# passed before and has not changed is not looked at again, so that a second run takes seconds.
# Usage: scripts/lint.sh [FILE...]    (files: clang-tidy on these sources only)
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

clang_tidy=$(find_tool clang-tidy)
configured
if [ $# -gt 0 ]; then
  exec scripts/check_sources.py tidy "$clang_tidy" build/release "$@"
fi

status=0
scripts/check_layers.py || status=1

if command -v shellcheck >/dev/null; then
  shellcheck -x scripts/*.sh tests/scripts/*.sh .ci/run || status=1
else
  say "note: shellcheck is not installed, so the scripts are not checked"
fi

mkdir -p build/release/checks/cppcheck
cppcheck --quiet --std=c++20 --language=c++ --enable=warning,performance,portability \
  --inline-suppr --suppressions-list=scripts/cppcheck_suppressions.txt --library=googletest \
  --error-exitcode=1 --template='{file}:{line}: {severity}: {message} [{id}]' \
  --cppcheck-build-dir=build/release/checks/cppcheck -j "$(num_cores)" \
  -I include -I src -I tests src tests bench || status=1

scripts/check_sources.py tidy "$clang_tidy" build/release || status=1
exit "$status"
