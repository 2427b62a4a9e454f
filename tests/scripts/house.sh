# shellcheck shell=bash
# For the tests of scripts, which source it: $root is the repository, $house a new folder that is
# removed in the end. A test ends with `finish`.
set -euo pipefail

# shellcheck disable=SC2034  # the tests use it
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
house=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$house"' EXIT
num_failed=0

put() {  # put PATH LINE...: writes a file of the house
  mkdir -p "$house/$(dirname "$1")"
  printf '%s\n' "${@:2}" >"$house/$1"
}

report() {  # report NAME EXPECTED GOT: two texts that should be equal
  if [ "$2" = "$3" ]; then
    printf 'ok: %s\n' "$1"
  else
    printf 'FAILED: %s\nexpected %s\ngot %s\n' "$1" "$2" "$3"
    num_failed=$((num_failed + 1))
  fi
}

expect_of() {  # expect_of NAME STATUS TEXT COMMAND...: what the command says, whole
  local said status=0
  said=$("${@:4}" 2>&1) || status=$?
  report "$1" "status $2: $3" "status $status: $said"
}

skip() {  # skip NAME NEED: what tests/support/test_main.cpp does for a skipped test of a test program
  printf 'skipped: %s: %s\n' "$1" "$2"
  [ -z "${TRAINER_SKIPPED_TESTS:-}" ] || printf '%s\t%s\n' "$2" "$1" >>"$TRAINER_SKIPPED_TESTS"
  [ -z "${TRAINER_REQUIRE_ALL:-}" ] || report "$1" "not skipped" "skipped, and TRAINER_REQUIRE_ALL is set"
}

finish() { [ "$num_failed" -eq 0 ]; }
