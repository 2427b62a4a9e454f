# What the scripts share; they read it with: source "$(dirname "$0")/common.sh"
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2; }
fail() {
  say "$@"
  exit 1
}

num_cores() { getconf _NPROCESSORS_ONLN; }

# find_tool NAME: where a tool is. The gate is tuned to LLVM 14, Debian 12's, so that version is
# preferred; Homebrew keeps LLVM out of the PATH.
find_tool() {
  local name
  for name in "$1-14" "$1" /opt/homebrew/opt/llvm/bin/"$1" /usr/local/opt/llvm/bin/"$1"; do
    if command -v "$name"; then return; fi
  done
  fail "$1 is not installed; run scripts/setup.sh gate"
}

# find_include_cleaner: where clang-include-cleaner (LLVM 17 or newer) is; empty if not installed.
find_include_cleaner() {
  local folder name
  for name in clang-include-cleaner-19 clang-include-cleaner; do
    for folder in "" /opt/homebrew/opt/llvm/bin/ /usr/local/opt/llvm/bin/; do
      if command -v "$folder$name"; then return; fi
    done
  done
}

# own_files: the C++ files of this repository, committed or not.
own_files() {
  find include src tests bench \( -name '*.cpp' -o -name '*.h' \) -print0
}

# configured: makes compile_commands.json and the generated header of the release tree.
configured() {
  [ -f build/release/build.ninja ] || cmake --preset release >/dev/null
  cmake --build --preset release --target build_info >/dev/null
}
