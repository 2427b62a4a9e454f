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

# project_version: as 1.0.0 or 1.0.0-rc1.
project_version() {
  sed -n -e 's/^project(trainer VERSION \([^ ]*\).*/\1/p' -e 's/^set(TRAINER_PRERELEASE "\(.*\)").*/\1/p' \
    CMakeLists.txt | tr -d '\n'
}

# find_tool NAME VERSION: where a tool of LLVM is, of this version, which the gate is tuned to, or else a
# newer one. Homebrew keeps LLVM out of the PATH.
find_tool() {
  local name version found=""
  for name in "$1-$2" "$1" /opt/homebrew/opt/llvm/bin/"$1" /usr/local/opt/llvm/bin/"$1"; do
    command -v "$name" >/dev/null || continue
    version=$("$name" --version | sed -n '/version [0-9]/{s/.*version \([0-9]*\).*/\1/p;q;}')
    if [ "${version:-0}" -ge "$2" ]; then
      command -v "$name"
      return
    fi
    found=", only version ${version:-unknown}"
  done
  fail "$1 $2 is not installed$found; run scripts/setup.sh gate"
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
