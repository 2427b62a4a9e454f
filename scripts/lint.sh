#!/usr/bin/env bash
# Looks for defects: layers and sizes, names in documents, headers without comments, shell
# (shellcheck), Python (flake8, mypy), C++ (cppcheck, clangd, clang-tidy). What passed before and has
# not changed is not looked at again, so that a second run takes seconds.
# Usage: scripts/lint.sh [FILE...]    (files: clangd on these sources and headers only)
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

clangd=$(find_tool clangd 19)
clang_tidy=$(find_tool clang-tidy 19)
configured
if [ $# -gt 0 ]; then
  exec scripts/check_sources.py clangd "$clangd" build/dev "$@"
fi

status=0
scripts/check_layers.py || status=1
scripts/check_docs.py || status=1
scripts/check_comments.py || status=1

if command -v shellcheck >/dev/null; then
  shellcheck -x scripts/*.sh bench/*.sh bench/*/*.sh tests/package/*.sh tests/scripts/*.sh tests/support/*.sh \
    src/cli/completion/*.bash .ci/run || status=1
else
  say "note: shellcheck is not installed, so the scripts are not checked"
fi

# E203 contradicts black.
if command -v flake8 >/dev/null; then
  flake8 --max-line-length 100 --extend-ignore E203 bench scripts tests || status=1
else
  say "note: flake8 is not installed, so the Python files are not checked with it"
fi

# Ignores installed packages, so that it reports the same everywhere; their types (PyTorch's, NumPy's)
# are Any.
if command -v mypy >/dev/null; then
  mypy --strict --no-site-packages --ignore-missing-imports --allow-subclassing-any \
    --no-warn-return-any --no-error-summary --cache-dir build/dev/checks/mypy \
    bench scripts tests || status=1
else
  say "note: mypy is not installed, so the Python files are not checked with it"
fi

mkdir -p build/dev/checks/cppcheck
cppcheck --quiet --std=c++20 --language=c++ --enable=warning,performance,portability \
  --inline-suppr --suppressions-list=scripts/cppcheck_suppressions.txt --library=googletest \
  --error-exitcode=1 --template='{file}:{line}: {severity}: {message} [{id}]' \
  --cppcheck-build-dir=build/dev/checks/cppcheck -j "$(num_cores)" \
  -I include -I src -I tests src tests bench || status=1

scripts/check_sources.py clangd "$clangd" build/dev || status=1
scripts/check_sources.py analyzer "$clang_tidy" build/dev || status=1
exit "$status"
