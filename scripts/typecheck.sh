#!/usr/bin/env bash
# Compiles everything with strict warnings as errors, with two compilers: the release tree with its
# own compiler (from then on that tree stays strict), and a pass of clang++ that only judges.
# Usage: scripts/typecheck.sh
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

clang=$(find_tool clang++)
if ! grep -qs '^TRAINER_STRICT:BOOL=ON' build/release/CMakeCache.txt ||
  [ ! -f build/release/build.ninja ]; then
  cmake --preset release -DTRAINER_STRICT=ON >/dev/null
fi
cmake --build --preset release
scripts/check_sources.py types "$clang" build/release
