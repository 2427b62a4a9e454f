#!/usr/bin/env bash
# Watches the speed of training steps over time. The first run in FOLDER keeps its numbers as the
# baseline; each later one is compared with it and fails when a row has become slower. Every run
# adds a line to FOLDER/history.csv; the last ones are shown.
# Usage: scripts/performance_monitor.sh FOLDER [--new-baseline] [OPTION of bench_devices ...]
#   --new-baseline    the numbers of this run become the baseline; the old one is kept next to it
#   BENCH_DEVICES     the program, where it is not build/release/bin/bench_devices
# Status: that of bench_devices: 0 no row is slower, or other programs used the CPU (busy in the
# history), 1 a row is slower, others are errors (--help lists them)
set -euo pipefail

usage() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$0"
}

case "${1:-}" in
  -h | --help)
    usage
    exit 0
    ;;
  '' | -*)
    usage >&2
    exit 2
    ;;
esac
folder=$1
shift
new_baseline=false
if [ "${1:-}" = --new-baseline ]; then
  new_baseline=true
  shift
fi

bench=${BENCH_DEVICES:-$(dirname "$0")/../build/release/bin/bench_devices}
if [ ! -x "$bench" ]; then
  printf 'performance_monitor: %s does not exist; run: make build\n' "$bench" >&2
  exit 2
fi
mkdir -p "$folder"
baseline=$folder/baseline.json
history=$folder/history.csv

status=0
if [ -e "$baseline" ] && ! $new_baseline; then
  "$bench" --json "$folder/last.json" --history "$history" --baseline "$baseline" "$@" || status=$?
else
  "$bench" --json "$folder/last.json" --history "$history" "$@" || status=$?
  # Numbers of a run that failed, or that other programs disturbed, are nothing to compare with.
  if [ "$status" -eq 0 ] && [ "$(tail -n 1 "$history" | cut -d , -f 3)" = busy ]; then
    printf '\nNo baseline is kept: other programs used the CPU; measure again on a quiet machine\n'
  elif [ "$status" -eq 0 ]; then
    if [ -e "$baseline" ]; then mv "$baseline" "$folder/baseline_$(date +%Y%m%d_%H%M%S).json"; fi
    mv "$folder/last.json" "$baseline"
    printf '\nBaseline: %s\n' "$baseline"
  fi
fi

if [ -e "$history" ]; then
  printf '\nHistory (%s):\n' "$history"
  head -n 1 "$history"
  tail -n +2 "$history" | tail -n 5
fi
exit "$status"
