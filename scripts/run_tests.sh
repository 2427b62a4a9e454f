#!/usr/bin/env bash
# Runs the tests of a build tree and lists in its last lines which were skipped, and what they need.
# Usage: scripts/run_tests.sh PRESET [ctest's arguments]
# TRAINER_REQUIRE_ALL=1: a skipped test fails (scripts/setup.sh test then installs everything it needs).
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

preset=${1:?"usage: scripts/run_tests.sh PRESET"}
shift
export TRAINER_SKIPPED_TESTS=$PWD/build/$preset/skipped_tests.txt
rm -f "$TRAINER_SKIPPED_TESTS"
status=0
ctest --preset "$preset" "$@" || status=$?

if [ -s "$TRAINER_SKIPPED_TESTS" ]; then
  printf '\nskipped %d tests, which need:\n' "$(wc -l <"$TRAINER_SKIPPED_TESTS")"
  cut -f 1 "$TRAINER_SKIPPED_TESTS" | sort | uniq -c | sort -k1,1nr |
    while read -r count need; do printf '%4d  %s\n' "$count" "$need"; done
  printf 'TRAINER_REQUIRE_ALL=1 scripts/setup.sh test installs what is available on this system.\n'
fi
exit "$status"
