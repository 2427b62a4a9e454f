#!/usr/bin/env bash
# What checkpoints within epochs cost: trains the Fashion-MNIST configuration in turn without and
# with checkpoint.every_steps, and prints the median of the ratios of the epochs' times.
# Usage: bench/checkpoint_overhead.sh [PAIRS] [EVERY_STEPS]    (default: 5 pairs, every 50 steps)
set -euo pipefail
cd "$(dirname "$0")/.."
pairs=${1:-5}
every=${2:-50}
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

# Seconds of three epochs, checkpoints within them included.
seconds_with() {
  build/release/bin/trainer -q --config configs/fashion_mnist.yaml --epochs 3 --output-dir "$runs" \
    "checkpoint.every_steps=$1" >"$runs/out" 2>&1
  sed -n 's/.*"split":"train".*"time_seconds":\([0-9.e-]*\).*/\1/p' "$runs/latest/metrics.jsonl" |
    awk '{ sum += $1 } END { print sum }'
}

seconds_with 0 >/dev/null # the first run reads the data from the disk
for ((pair = 1; pair <= pairs; ++pair)); do
  without=$(seconds_with 0)
  with=$(seconds_with "$every")
  awk -v a="$without" -v b="$with" 'BEGIN { printf "%.3f s without, %.3f s with: %+.1f %%\n", a, b, 100 * (b / a - 1) }'
done | tee "$runs/ratios"
sed 's/.*: //; s/ %//' "$runs/ratios" | sort -g |
  awk '{ r[NR] = $1 } END { printf "median overhead of a checkpoint every '"$every"' steps: %+.1f %%\n", (r[int((NR + 1) / 2)] + r[int((NR + 2) / 2)]) / 2 }'
