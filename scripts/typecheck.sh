#!/usr/bin/env bash
# Compiles everything with strict warnings as errors, with two compilers: the release tree with its
# own compiler (from then on that tree stays strict), and Clang as clangd, which generates no code;
# scripts/lint.sh shares its results.
# Usage: scripts/typecheck.sh
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

clangd=$(find_tool clangd 19)
if ! grep -qs '^TRAINER_STRICT:BOOL=ON' build/release/CMakeCache.txt ||
  [ ! -f build/release/build.ninja ]; then
  cmake --preset release -DTRAINER_STRICT=ON >/dev/null
fi
cmake --build --preset release
configured
scripts/check_sources.py clangd "$clangd" build/dev
