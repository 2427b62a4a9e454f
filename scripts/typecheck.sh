#!/usr/bin/env bash
# Compiles everything with strict warnings as errors, with two compilers: the release tree with its
# own compiler (from then on that tree stays strict), and a pass of Clang without code generation. With
# clang-include-cleaner that pass also finds unused includes; scripts/lint.sh shares its results.
# Usage: scripts/typecheck.sh
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

include_cleaner=$(find_include_cleaner)
[ -n "$include_cleaner" ] || clang=$(find_tool clang++)
if ! grep -qs '^TRAINER_STRICT:BOOL=ON' build/release/CMakeCache.txt ||
  [ ! -f build/release/build.ninja ]; then
  cmake --preset release -DTRAINER_STRICT=ON >/dev/null
fi
cmake --build --preset release
if [ -n "$include_cleaner" ]; then
  scripts/check_sources.py includes "$include_cleaner" build/release
else
  scripts/check_sources.py types "$clang" build/release
fi
