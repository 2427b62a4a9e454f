#!/usr/bin/env bash
# Fuzzes all that the program reads of anybody (tests/fuzz/targets.h), with libFuzzer and sanitizers:
# each target for so many seconds, as many at once as there are CPUs, and a line for each. Inputs that
# reach new code stay in build/fuzz/corpus for the next time, faults in build/fuzz/findings.
# Usage: scripts/fuzz.sh [SECONDS [TARGET...]]    (60 seconds, all targets; status 1: a fault was found)
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

seconds=${1:-60}
mapfile -t all < <(ls tests/fuzz/corpus)
targets=("${@:2}")
[ "${#targets[@]}" -gt 0 ] || targets=("${all[@]}")
for target in "${targets[@]}"; do
  [ -d "tests/fuzz/corpus/$target" ] || fail "unknown target '$target'; expected one of ${all[*]}"
done

clang=$(find_tool clang++ 19)
[ -f build/fuzz/build.ninja ] || cmake --preset fuzz -DCMAKE_CXX_COMPILER="$clang"
cmake --build --preset fuzz

# Each process has a folder of its own there, which is left behind by one that ends at a fault.
place=${TMPDIR:-/tmp}
[ ! -w /dev/shm ] || place=/dev/shm
TMPDIR=$(mktemp -d "$place/trainer_fuzz.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1
export LSAN_OPTIONS=suppressions=$PWD/scripts/leak_suppressions.txt
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
ASAN_SYMBOLIZER_PATH=$(find_tool llvm-symbolizer 14 2>/dev/null) && export ASAN_SYMBOLIZER_PATH

fuzz() {  # fuzz TARGET: for that time, and the line about it
  local own=build/fuzz/corpus/$1 log=build/fuzz/logs/$1.log status=0 start=$SECONDS options=() found
  mkdir -p "$own" build/fuzz/logs build/fuzz/findings
  [ ! -f "tests/fuzz/dictionaries/$1.dict" ] || options=("-dict=tests/fuzz/dictionaries/$1.dict")
  TRAINER_FUZZ_TARGET=$1 build/fuzz/bin/fuzz "$own" "tests/fuzz/corpus/$1" "${options[@]}" \
    -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/findings/$1-" >"$log" 2>&1 || status=1
  found=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  [ "$status" -ne 0 ] || found="nothing found"
  printf '%-13s %6d s %11d executions %6d edges %6d new inputs   %s\n' "$1" $((SECONDS - start)) \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)" \
    "$(sed -n 's/^stat::new_units_added: *//p' "$log")" "${found:-failed: $log}"
  return "$status"
}

status=0
num_running=0
for target in "${targets[@]}"; do
  if [ "$num_running" -lt "$(num_cores)" ]; then
    num_running=$((num_running + 1))
  else
    wait -n || status=1
  fi
  fuzz "$target" &
done
for ((; num_running > 0; --num_running)); do
  wait -n || status=1
done
[ "$status" -eq 0 ] || say "what was found, once more: TRAINER_FUZZ_TARGET=csv build/fuzz/bin/fuzz FILE." \
  "When it is mended: cp FILE tests/fuzz/corpus/csv/what_was_wrong, for make test"
exit "$status"
