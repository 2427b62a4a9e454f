#!/usr/bin/env bash
# Proves that scripts/performance_monitor.sh keeps, compares and replaces a baseline, and that its
# status is that of the comparison.
# Usage: tests/scripts/performance_monitor_test.sh BENCH_DEVICES
set -euo pipefail

export BENCH_DEVICES=$1
monitor=$(cd "$(dirname "$0")/../.." && pwd)/scripts/performance_monitor.sh
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
folder=$room/numbers # made by the script
num_failed=0
tiny=(--device cpu --precision fp32 --train-step fused --model 10-8-2 --batch-size 4 --steps 5
  --warmup-steps 0 --check-steps 3 --threads 1 --max-seconds 10000 --max-lost 1000000)

expect() { # expect NAME STATUS TEXT COMMAND...: its status, and a line of what it says
  local name=$1 expected=$2 text=$3 said status=0
  shift 3
  said=$("$@" 2>&1) || status=$?
  if [ "$status" = "$expected" ] && grep -qe "$text" <<<"$said"; then
    printf 'ok: %s\n' "$name"
  else
    printf 'FAILED: %s\nexpected status %s and: %s\ngot status %s:\n%s\n' "$name" "$expected" \
      "$text" "$status" "$said"
    num_failed=$((num_failed + 1))
  fi
}

# Multiplies the times of the baseline by a power of ten.
change_baseline() {
  sed -i.old -E "s/(\"(median|lower_quartile|upper_quartile)\": [0-9.]+)(e-?[0-9]+)?/\1e$1/" \
    "$folder/baseline.json"
}

num_lines() { wc -l <"$folder/history.csv" | tr -d ' '; }
check() { # check NAME CONDITION...
  local name=$1
  shift
  expect "$name" 0 '' "$@"
}

expect 'no folder' 2 'Usage: ' "$monitor"
expect 'help' 0 '--new-baseline' "$monitor" --help
expect 'no program' 2 'does not exist; run: make build' env BENCH_DEVICES="$room/none" "$monitor" "$folder"
expect 'the first run keeps a baseline' 0 "^Baseline: $folder/baseline.json" \
  "$monitor" "$folder" "${tiny[@]}"
expect 'its line is in the history' 0 ',measured,1,0,' cat "$folder/history.csv"

change_baseline 6
expect 'a run that is not slower passes' 0 '^No row is slower' "$monitor" "$folder" "${tiny[@]}"
expect 'the history is shown' 0 ',ok,1,0,' "$monitor" "$folder" "${tiny[@]}"

change_baseline -9
expect 'a slower run fails' 1 'SLOWER' "$monitor" "$folder" "${tiny[@]}"
expect 'and stays in the history' 0 ',failed,1,1,' cat "$folder/history.csv"
check 'one header and a line for each run' test "$(num_lines)" = 5

expect 'a mistake is handed on' 2 'expected an integer >= 1' "$monitor" "$folder" --steps 0
expect 'a new baseline takes the place of the old one' 0 '^Baseline: ' \
  "$monitor" "$folder" --new-baseline "${tiny[@]}"
check 'which is kept' test "$(find "$folder" -name 'baseline_*.json' | wc -l)" -eq 1
expect 'and the new one has other numbers' 1 '' grep 'e-9,' "$folder/baseline.json"

[ "$num_failed" -eq 0 ]
