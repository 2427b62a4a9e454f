#!/usr/bin/env bash
# Checks the program on an accelerator, with the folder that scripts/gpu_kit.sh made: the device tests,
# training against the CPU, resume from one device to the other, memory that runs out, speed beside
# PyTorch. Each part has a time limit; a part that fails is named at the end.
# Usage: scripts/gpu_check.sh KIT RESULTS [PART...]
#   KIT      the unpacked kit
#   RESULTS  folder for logs and measurements, written as they come
#   PART     names of parts (all of them, in order, if none is given; `peers`, the comparison on the CPU,
#            takes minutes and runs only on request)
# Environment: DEVICE=cuda; PYTHON=python3, which has the PyTorch that the kit was built for;
#   TORCH_FOLDER, where that PyTorch is elsewhere; LIMIT_FACTOR=1, times the time limits, for a busy machine
set -uo pipefail
kit=$(realpath "$1")
results=$2
shift 2
parts=${*:-versions doctor engine program train resume memory bench inference steps kernels cpu sanitizer}
device=${DEVICE:-cuda}
python=${PYTHON:-python3}
mkdir -p "$results"
results=$(realpath "$results")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The kit has no LibTorch. That of the wheel finds the libraries of CUDA beside it; the engine calls the
# runtime of CUDA itself.
torch=${TORCH_FOLDER:-$("$python" -c 'import torch; print(torch.__path__[0])')}
runtime=$(find "$torch/../nvidia" -name 'libcudart.so.*' -printf %h -quit 2>/dev/null)
export LD_LIBRARY_PATH=$torch/lib${runtime:+:$runtime}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# The tests name the folder that they were built in.
source_folder=$(cat "$kit/source_folder")
if [ ! -e "$source_folder" ]; then
  mkdir -p "$(dirname "$source_folder")"
  ln -s "$kit" "$source_folder"
fi
export PATH=$kit/bin:$PATH XDG_CACHE_HOME=$work/cache
cd "$work" || exit

is_cpu() { [ "$device" = cpu ]; }
summary() { grep -E '^(device|step|trained|best|test|warning|error)|^ *accuracy |graph'; }
versions() {
  is_cpu || nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,compute_mode --format=csv
  "$python" -c 'import torch, sys; print("torch", torch.__version__, "python", sys.version.split()[0])'
  trainer --version
  lscpu | grep -E '^(Model name|CPU\(s\)|Thread|L[123])'
  sed -n '/^flags/{s/.*: //p;q}' /proc/cpuinfo | tr ' ' '\n' | grep -E '^(avx|amx|fma)' | tr '\n' ' '
  echo
}
doctor() { trainer doctor; }
engine() {
  TRAINER_TEST_DEVICE=$device engine_tests --gtest_brief=1 "--gtest_filter=$(cat "$kit/device_tests")"
}
program() { TRAINER_TEST_DEVICE=$device end_to_end_tests --gtest_brief=1 '--gtest_filter=*AnyDevice*'; }
train() {
  for on in cpu "$device"; do
    for precision in fp32 bf16; do
      echo "== train.yaml on $on in $precision"
      trainer --config "$kit/configs/train.yaml" --device "$on" --precision "$precision" \
        device_fallback=false --output-dir "$on-$precision" 2>&1 | summary
    done
  done
  for on in cpu "$device"; do
    for recipe in realmlp tabm; do
      echo "== auto_mpg with $recipe on $on"
      trainer --config "$kit/configs/auto_mpg.yaml" --device "$on" "recipe=$recipe" --epochs 20 \
        device_fallback=false --output-dir "$on-$recipe" 2>&1 | summary
    done
  done
  echo "== the same bits twice"
  for run in one two; do
    trainer -q --config "$kit/configs/train.yaml" --device "$device" --epochs 5 --output-dir $run
  done
  cmp <(without_times one) <(without_times two) && echo same
}
without_times() {
  sed -E 's/"(samples_per_second|time_seconds|(peak_)?memory_bytes)":[^,}]*//g' "$1/latest/metrics.jsonl"
}
resume() {
  trainer -q --config "$kit/configs/train.yaml" --device cpu --epochs 4 --output-dir runs
  trainer --resume runs/latest --device "$device" --epochs 8 2>&1 | summary
  trainer --resume runs/latest --device cpu --epochs 12 2>&1 | summary
  trainer eval runs/latest 2>&1 | tail -8
}
memory() {
  ! is_cpu || return 0
  echo "== a batch that does not fit"
  trainer data.source=synthetic data.synthetic.num_samples=500000 data.synthetic.num_features=16 \
    'model.hidden_sizes=[65536]' --batch-size 400000 --epochs 1 --device "$device" \
    --output-dir oom 2>&1 | tail -12 || echo "exit code $?"
  echo "== a model that does not fit beside another program"
  "$python" -c 'import time, torch
x = torch.empty(torch.cuda.mem_get_info()[0] - (3 << 30), dtype=torch.uint8, device="cuda"); time.sleep(100)' &
  sleep 12
  trainer data.source=synthetic 'model.hidden_sizes=[16384,16384]' --epochs 1 --device "$device" \
    --output-dir too_large 2>&1 | tail -4 || echo "exit code $?"
  kill %1
  trainer find-batch --config "$kit/configs/train.yaml" --device "$device" --max-batch 1000000 2>&1 | tail -6
}
bench() {
  bench_devices --device "cpu,$device" --max-seconds 2 --json "$results/bench_devices.json"
}
inference() {
  bench_devices --device "cpu,$device" --inference --model mid,large --batch-size 1,128,4096 \
    --max-seconds 1 --json "$results/inference.json"
}
steps() {
  "$python" "$kit/bench/peers/gpu_step.py" --trainer "$kit/bin/trainer" --device "$device" \
    --json "$results/steps.json"
}
kernels() { core_tests --gtest_brief=1 '--gtest_filter=*InstructionSets*'; }
cpu() { bench_step --benchmark_filter='fused|peak' --benchmark_min_time=0.1 2>&1; }
peers() {
  "$python" "$kit/bench/peers/compare.py" --build "$kit" --repetitions 2 --json "$results/peers.json"
}
sanitizer() {
  ! is_cpu || return 0
  compute-sanitizer --error-exitcode 9 "$kit/bin/trainer" -q --config "$kit/configs/train.yaml" --epochs 1 \
    --device "$device" --output-dir checked 2>&1 | tail -5
}

declare -A limits=([engine]=80 [program]=80 [memory]=80 [steps]=170 [bench]=100 [peers]=300 [sanitizer]=90)
failed=""
export device kit python work results
for part in $parts; do
  printf '\n######## %s (at %d s)\n' "$part" "$SECONDS"
  export -f is_cpu summary without_times "${part?}"
  limit=$((${limits[$part]:-60} * ${LIMIT_FACTOR:-1}))
  timeout -k 5 $limit bash -c "set -eo pipefail; $part" >"$results/$part.log" 2>&1
  status=$?
  cat "$results/$part.log"
  [ $status = 0 ] || failed+=" $part($status)"
done 2>&1
printf '\n%d s; failed:%s\n' "$SECONDS" "${failed:- none}"
[ -z "$failed" ]
