#!/usr/bin/env bash
# Checks the program on an accelerator, with the folder that scripts/gpu_kit.sh made: the device tests,
# training against the CPU, resume from one device to the other, memory that runs out, speed beside
# PyTorch. Each part has a time limit, and all have one together; a table at the end says what became of each.
# Usage: scripts/gpu_check.sh KIT RESULTS [PART...]
#   KIT      the unpacked kit
#   RESULTS  folder for logs and measurements, written as they come; report.txt is all that is printed
#   PART     names of parts (all of them, in order, if none is given; `peers`, the comparison on the CPU,
#            takes minutes and runs only on request)
# Environment: DEVICE=cuda, or mps or cpu; PYTHON=python3, which has the PyTorch that the kit was built for;
#   TORCH_FOLDER, where that PyTorch is elsewhere; TIME_LIMIT=480, seconds for all parts;
#   LIMIT_FACTOR=1, times all limits, for a busy machine
# On a Mac the kit has its LibTorch, and PYTHON is for `steps` and `peers` alone. Bash is 3.2 there, with no
# tools of GNU.
# shellcheck disable=SC2317  # the parts are called by their names
set -uo pipefail
[ $# -ge 2 ] || { echo "usage: gpu_check.sh KIT RESULTS [PART...]" >&2 && exit 2; }
kit=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && results=$(cd "$2" && pwd) || exit 2
shift 2
parts=${*:-versions doctor engine program train resume bench steps memory processes same_bits bf16 recipes inference
  sanitizer kernels cpu}
device=${DEVICE:-cuda}
# On a Mac python3 may be a stub that asks to install developer tools.
if [ "$(uname)" = Darwin ]; then python=${PYTHON:-none}; else python=${PYTHON:-python3}; fi
total=$((${TIME_LIMIT:-480} * ${LIMIT_FACTOR:-1}))

# Without LibTorch in the kit, it is that of the wheel, which finds the libraries of CUDA beside it; the engine
# calls the runtime of CUDA itself.
if [ ! -e "$kit/lib/libtorch_cpu.dylib" ]; then
  torch=${TORCH_FOLDER:-$("$python" -c 'import torch; print(torch.__path__[0])' 2>/dev/null)}
  [ -n "$torch" ] || { echo "gpu_check: $python has no PyTorch; PYTHON names one that has" >&2 && exit 2; }
  runtime=$(find "$torch/../nvidia" -name 'libcudart.so.*' 2>/dev/null | head -n 1)
  export LD_LIBRARY_PATH=$torch/lib${runtime:+:${runtime%/*}}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
# The tests name the folders of their sources and of their build, which the kit stands for. Sources may be
# there, and without what was built.
built_in=$(cat "$kit/built_in")
source_folder=${built_in%/build/*}
if [ ! -e "$source_folder" ]; then
  mkdir -p "$(dirname "$source_folder")" 2>/dev/null && ln -s "$kit" "$source_folder"
elif [ ! -e "$built_in/bin" ]; then
  mkdir -p "$built_in" 2>/dev/null && ln -s "$kit/bin" "$kit/lib" "$built_in"
fi

is_cpu() { [ "$device" = cpu ]; }
not_run() {
  echo "not run: $*"
  exit 77
}
needs_cuda() { [ "$device" = cuda ] || not_run "it needs a GPU with CUDA, and the device is $device"; }
needs_torch() { "$python" -c 'import torch' 2>/dev/null || not_run "it needs PyTorch (PYTHON: $python)"; }
needs_build_folder() { [ -e "$built_in/bin" ] || not_run "the tests need $built_in, which cannot be made here"; }
summary() { grep -E '^(device|processes|step|trained|best|warning|error)|^accuracy |graph'; }

versions() {
  "$python" -c 'import torch, sys; print("torch", torch.__version__, "python", sys.version.split()[0])' 2>/dev/null ||
    echo "no PyTorch (PYTHON: $python)"
  trainer --version
  if [ "$(uname)" = Darwin ]; then
    sw_vers
    sysctl machdep.cpu.brand_string hw.ncpu hw.memsize
  else
    lscpu | grep -E '^(Model name|CPU\(s\)|Thread|L[123])'
    grep -m 1 '^flags' /proc/cpuinfo | tr ' ' '\n' | grep -E '^(avx|amx|fma)' | fmt -w 80 || true
  fi
  [ "$device" != cuda ] || nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,compute_mode --format=csv
}
doctor() { trainer doctor; }
engine() {
  needs_build_folder
  TRAINER_TEST_DEVICE=$device engine_tests --gtest_brief=1 "--gtest_filter=$(cat "$kit/device_tests")"
}
program() {
  needs_build_folder
  TRAINER_TEST_DEVICE=$device end_to_end_tests --gtest_brief=1 '--gtest_filter=*AnyDevice*'
}
# train_in PRECISION: there and on the CPU, to the same end.
train_in() {
  local on
  for on in cpu "$device"; do
    echo "== train.yaml on $on in $1"
    trainer --config "$kit/configs/train.yaml" --device "$on" --precision "$1" \
      device_fallback=false --output-dir "$on-$1" 2>&1 | summary
    trainer eval "$on-$1/latest" --require 'accuracy>0.95' >/dev/null
  done
  is_cpu || trainer runs compare "cpu-$1/latest" "$device-$1/latest"
}
train() { train_in fp32; }
bf16() { train_in bf16; }
recipes() {
  local on recipe
  for on in cpu "$device"; do
    for recipe in realmlp tabm; do
      echo "== auto_mpg with $recipe on $on"
      trainer --config "$kit/configs/auto_mpg.yaml" --device "$on" "recipe=$recipe" --epochs 20 \
        device_fallback=false --output-dir "$on-$recipe" 2>&1 | summary
    done
  done
}
same_bits() {
  local run
  for run in one two; do
    trainer -q --config "$kit/configs/train.yaml" --device "$device" --epochs 5 --output-dir "$run"
    without_times "$run" >"$run.jsonl"
  done
  cmp one.jsonl two.jsonl
  echo "the same bits twice"
}
without_times() {
  sed -E 's/"(samples_per_second|time_seconds|(peak_)?memory_bytes)":[^,}]*//g' "$1/latest/metrics.jsonl"
}
resume() {
  trainer -q --config "$kit/configs/train.yaml" --device cpu --epochs 4 --output-dir runs
  trainer --resume runs/latest --device "$device" --epochs 8 device_fallback=false 2>&1 | summary
  trainer --resume runs/latest --device cpu --epochs 12 2>&1 | summary
  trainer eval runs/latest --require 'accuracy>0.9' 2>&1 | summary
}
# ended_by_memory STATUS: of a run that is allowed to end because it does not fit.
ended_by_memory() {
  echo "exit code $1"
  [ "$1" = 5 ]
}
memory() {
  needs_cuda
  echo "== a batch that does not fit"
  trainer data.source=synthetic data.synthetic.num_samples=500000 data.synthetic.num_features=16 \
    'model.hidden_sizes=[65536]' --batch-size 400000 --epochs 1 --device cuda \
    --output-dir oom 2>&1 | summary || ended_by_memory $?
  echo "== a model that does not fit beside another program"
  "$python" -c 'import time, torch
x = torch.empty(torch.cuda.mem_get_info()[0] - (3 << 30), dtype=torch.uint8, device="cuda"); time.sleep(100)' &
  local other=$!
  sleep 12
  trainer data.source=synthetic 'model.hidden_sizes=[16384,16384]' --epochs 1 --device cuda \
    --output-dir too_large 2>&1 | summary || ended_by_memory $?
  kill "$other"
  trainer find-batch --config "$kit/configs/train.yaml" --device cuda --max-batch 1000000 2>&1 | tail -n 6
}
processes() {
  local rank others
  for rank in 1 0; do
    RANK=$rank WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29571 trainer --config "$kit/configs/train.yaml" \
      --device "$device" --epochs 5 device_fallback=false distributed.sync_batch_norm=false \
      --output-dir together >"rank_$rank.log" 2>&1 &
    [ "$rank" = 0 ] || others=$!
  done
  wait $! || { cat rank_0.log && return 1; }
  wait "$others" || { cat rank_1.log && return 1; }
  summary <rank_0.log
}
# Model by model, so that what is measured is there if the time ends.
bench() { measure bench_ --max-seconds 2; }
inference() { measure inference_ --inference --precision fp32,bf16 --batch-size 1,1024 --max-seconds 0.3; }
# measure NAME OPTION...
measure() {
  local name=$1 model
  shift
  for model in tiny mid large; do
    bench_devices --device "$(devices)" --model "$model" "$@" --json "$results/$name$model.json"
  done
}
devices() { is_cpu && echo cpu || echo "cpu,$device"; }
steps() {
  needs_torch
  local works=tiny,mid,large,tabm rounds=2 epochs=5
  ! is_cpu || works=tiny rounds=1 epochs=1
  "$python" "$kit/bench/peers/gpu_step.py" --trainer "$kit/bin/trainer" --device "$device" \
    --works "$works" --rounds "$rounds" --epochs "$epochs" --json "$results/steps.json"
}
kernels() { core_tests --gtest_brief=1 '--gtest_filter=*InstructionSets*'; }
cpu() { bench_step --benchmark_filter='fused|peak' --benchmark_min_time=0.1; }
peers() {
  needs_torch
  "$python" "$kit/bench/peers/compare.py" --build "$kit" --repetitions 2 --json "$results/peers.json"
}
sanitizer() {
  needs_cuda
  command -v compute-sanitizer >/dev/null || not_run "compute-sanitizer is not installed"
  compute-sanitizer --error-exitcode 9 "$kit/bin/trainer" -q --config "$kit/configs/train.yaml" --epochs 1 \
    --device cuda --output-dir checked 2>&1 | tail -n 5
}

# Seconds.
limit_of() {
  case $1 in
    engine | program | memory) echo 80 ;;
    steps) echo 170 ;;
    bench) echo 100 ;;
    peers) echo 300 ;;
    sanitizer) echo 90 ;;
    *) echo 60 ;;
  esac
}

# limited SECONDS FUNCTION: as timeout, which a Mac lacks: 124 where the time was not enough.
limited() {
  local end=$((SECONDS + $1))
  set -m # makes a process group of it, to be ended as a whole
  (
    set +m -eo pipefail
    "$2"
  ) </dev/null &
  group=$!
  set +m
  while kill -0 "$group" 2>/dev/null; do
    if [ $SECONDS -ge $end ]; then
      kill -TERM -- -"$group"
      sleep 2
      kill -KILL -- -"$group"
      return 124
    fi
    sleep 0.2
  done 2>/dev/null
  wait "$group"
}

# outcome PART STATUS LIMIT
outcome() {
  case $2 in
    0) echo passed ;;
    77) tail -n 1 "$results/$1.log" ;;
    124) echo "FAILED: not done within $3 s, see $1.log" ;;
    *) echo "FAILED: exit code $2, see $1.log" ;;
  esac
}

run_parts() {
  local part limit status start table="" failed=0
  group=""
  work=$(mktemp -d)
  trap '[ -z "$group" ] || kill -KILL -- -"$group" 2>/dev/null; rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
  export PATH=$kit/bin:$PATH XDG_CACHE_HOME=$work/cache
  cd "$work" || return
  for part in $parts; do
    start=$SECONDS
    limit=$(($(limit_of "$part") * ${LIMIT_FACTOR:-1}))
    [ $limit -lt $((total - start)) ] || limit=$((total - start))
    printf '\n######## %s (at %d s)\n' "$part" "$start"
    if [ $limit -lt 5 ]; then
      echo "not run: the $total s for all parts are over" >"$results/$part.log"
      status=77
    else
      limited $limit "$part" >"$results/$part.log" 2>&1
      status=$?
    fi
    cat "$results/$part.log"
    [ $status = 0 ] || [ $status = 77 ] || failed=1
    table+=$(printf '%-10s %4d s  %s' "$part" $((SECONDS - start)) "$(outcome "$part" $status $limit)")$'\n'
  done
  printf '\n######## %s, %d s\n%s' "$device" "$SECONDS" "$table"
  return $failed
}

(run_parts) 2>&1 | tee "$results/report.txt"
exit "${PIPESTATUS[0]}"
