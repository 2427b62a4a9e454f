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

# find_tool NAME VERSION: where a tool of LLVM is. The gate is tuned to one version, so that one is
# preferred; Homebrew keeps LLVM out of the PATH.
find_tool() {
  local name
  for name in "$1-$2" "$1" /opt/homebrew/opt/llvm/bin/"$1" /usr/local/opt/llvm/bin/"$1"; do
    if command -v "$name"; then return; fi
  done
  fail "$1 is not installed; run scripts/setup.sh gate"
}

# own_files: the C++ files of this repository, committed or not.
own_files() {
  find include src tests bench \( -name '*.cpp' -o -name '*.h' \) -print0
}

# configured: makes compile_commands.json and the generated header of the dev tree, which compiles each
# file by itself: the gate reads it and builds nothing there.
configured() {
  [ -f build/dev/build.ninja ] || cmake --preset dev >/dev/null
  cmake --build --preset dev --target build_info >/dev/null
}
