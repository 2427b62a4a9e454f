#!/usr/bin/env bash
# Kills runs of many kinds by SIGKILL at random moments, resumes them, and compares the results
# bit for bit with uninterrupted runs; then, with 100 kills or more, kills at every single moment
# of writing, kills searches, and on Linux lets each operation on files fail, and goes on from what
# a power failure may leave. Exits with 0 if all are the same.
# Usage: scripts/torture.sh [KILLS] [FOLDER]   (default: 500 kills, the programs in build/release/bin)
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

kills=${1:-500}
programs=${2:-build/release/bin}
shopt -s extglob
table=$(mktemp)
trap 'rm -f "$table"' EXIT
# A table in which some rows are beyond what float32 can compute with.
awk -F, -v OFS=, 'NR % 150 == 75 { $10 = 3e38; $11 = -3e38 } { print }' configs/data/digits.csv >"$table"

# Every optimizer, schedule, norm and kind of checkpoint stands in one of them.
courses=(
  "training.epochs=14 training.optimizer.name=adamw model.norm=batch model.dropout=0.2
   training.gradient_accumulation_steps=3 training.batch_size=20 checkpoint.every_steps=7"
  "training.epochs=10 training.optimizer.name=sgd training.optimizer.nesterov=true
   training.schedule.name=linear training.schedule.warmup_epochs=1.5 checkpoint.every_epochs=3
   checkpoint.every_steps=20 model.residual=true"
  "training.epochs=40 training.optimizer.name=adam model.norm=layer
   training.schedule.name=reduce_on_plateau training.schedule.patience=1 training.schedule.threshold=0.2
   training.early_stopping.patience=6 training.best_metric=accuracy checkpoint.keep_last=1"
  "training.epochs=10 training.optimizer.name=sgd training.optimizer.momentum=0 model.activation=gelu
   training.label_smoothing=0.1 checkpoint.every_epochs=100 checkpoint.every_seconds=0.05
   training.schedule.name=one_cycle training.schedule.warmup_epochs=0"
  "training.epochs=10 training.freeze=[layers.0.*,norms.0.*] model.norm=batch model.activation=silu
   training.gradient_clip_norm=0.1 training.optimizer.decay_bias_and_norm=true training.ema_decay=0.98
   checkpoint.every_steps=1 checkpoint.keep_last=2 training.schedule.name=step
   training.schedule.step_epochs=3"
  "training.epochs=10 training.optimizer.name=sgd training.learning_rate=1e3 model.norm=none
   training.gradient_clip_norm=0 training.on_nonfinite=rollback model.hidden_sizes=[32,32,32]
   training.schedule.name=constant checkpoint.every_steps=25"
  "training.epochs=10 data.source=csv data.path=$table data.target=digit data.scaling=none
   training.on_nonfinite=skip model.norm=batch checkpoint.every_steps=10"
  "training.epochs=8 recipe=realmlp model.hidden_sizes=[32,32,32] data.source=csv
   data.path=configs/data/digits.csv data.target=digit checkpoint.every_steps=9"
  "training.epochs=8 recipe=tabm model.hidden_sizes=[32,32] model.ensemble_size=4 data.source=csv
   data.path=configs/data/digits.csv data.target=digit checkpoint.every_steps=15"
)

done_kills=0
for i in "${!courses[@]}"; do
  share=$((kills / ${#courses[@]} + (i < kills % ${#courses[@]} ? 1 : 0)))
  ((share > 0)) || continue
  echo "scenario $((i + 1)): ${courses[i]//+([[:space:]])/ }"
  # shellcheck disable=SC2086  # words are arguments
  "$programs/trainer" selftest resume --quiet --kills "$share" ${courses[i]}
  done_kills=$((done_kills + share))
done
echo "torture: $done_kills of $kills kills resumed bit for bit"

((kills >= 100)) || exit 0
TRAINER_TORTURE=full GOMP_SPINCOUNT=1000 "$programs/crash_tests" --gtest_brief=1
tests/torture/kill_searches.py --program "$programs/trainer" --kills $((kills / 5))

[ "$(uname)" = Linux ] || exit 0
tests/torture/failures.py --program "$programs/trainer"
tests/torture/crash_states.py --program "$programs/trainer"
