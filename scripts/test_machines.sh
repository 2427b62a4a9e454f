#!/usr/bin/env bash
# Runs the tests of the release tree as other machines would: with each instruction set that this CPU
# has, on one CPU, beside four busy processes, with another time zone, locale and umask, without HOME.
# Of the tests that run the program each machine gets a third, another one each.
# Usage: scripts/test_machines.sh [--quick]
#   --quick    the first machine only, without the tests that run the program or the simulated device
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

command -v taskset >/dev/null || fail "needs taskset (Linux, util-linux)"
quick=false
case "${1:-}" in
  '') ;;
  --quick) quick=true ;;
  *) fail "unknown word '$1'; expected --quick" ;;
esac

# Their own names, for which the tests of the kernels exist once each: "  Test/avx2  # GetParam()".
mapfile -t sets < <(build/release/bin/core_tests --gtest_list_tests \
  --gtest_filter='InstructionSets/KernelsTest.GatheredRowsAreScaled/*' |
  sed -nE 's|^  .*/([a-z0-9_]+).*|\1|p')
[ "${#sets[@]}" -gt 0 ] || fail "build/release/bin/core_tests does not list the instruction sets"

# The library stays where it is, whatever HOME is.
duckdb=${XDG_DATA_HOME:-${HOME:-}/.local/share}/trainer/libduckdb.so
if [ -z "${TRAINER_DUCKDB_LIBRARY:-}" ] && [ -e "$duckdb" ]; then
  export TRAINER_DUCKDB_LIBRARY=$duckdb
fi
unset LANG LC_ALL LC_CTYPE

busy=()
stop_busy() {
  [ "${#busy[@]}" -eq 0 ] || kill "${busy[@]}" 2>/dev/null || true
  busy=()
}
trap stop_busy EXIT

tests() {  # tests WORDS...: runs those of ctest's words in this environment
  # shellcheck disable=SC2154  # set by each machine
  TRAINER_INSTRUCTION_SET=$set "${on[@]}" scripts/run_tests.sh release "$@"
}

num_machines=0
machine() {  # machine NAME COMMAND_WORDS... -- LABELS: the tests with these labels
  local name=$1 labels status=0 start=$SECONDS on=()
  shift
  while [ "$1" != -- ]; do
    on+=("$1")
    shift
  done
  labels=$2
  num_machines=$((num_machines + 1))
  printf '\n==== %s\n' "$name"
  tests -L "^($labels)\$" --no-tests=ignore || status=1
  if ! $quick && [ "$labels" = "$most" ]; then
    tests -L '^end_to_end$' -I "$num_machines,,3" || status=1
  fi
  results+=("$(printf '%6d s  %s  %s' $((SECONDS - start)) "$([ $status = 0 ] && echo passed || echo FAILED)" "$name")")
  failed=$((failed + status))
}

most='core|engine|device|bench'
if $quick; then most='core|engine|bench'; fi
results=()
failed=0
cpu=$(taskset -cp $$ | sed -E 's/.*: *([0-9]+).*/\1/')

set=${sets[0]}
umask=$(umask)
umask 077
machine "$set, one CPU, umask 077, TZ=Asia/Kolkata, LC_ALL=C" \
  env TZ=Asia/Kolkata LC_ALL=C taskset -c "$cpu" -- "$most"
umask "$umask"

if ! $quick; then
  set=${sets[1]:-${sets[0]}}
  for _ in 1 2 3 4; do
    bash -c 'while :; do :; done' &
    busy+=($!)
  done
  machine "$set, four busy processes, no HOME, no locale" env -u HOME -- "$most"
  stop_busy
  for set in "${sets[@]:2}"; do
    machine "$set, LC_ALL=C.UTF-8" env LC_ALL=C.UTF-8 -- 'core|engine'
  done
fi

printf '\n'
printf '%s\n' "${results[@]}"
[ "$failed" -eq 0 ]
