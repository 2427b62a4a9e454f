#!/usr/bin/env bash
# Tests when scripts/setup.sh installs packages, when it asks and what it prints, with fake users and
# package managers: nothing is installed.
# Usage: tests/scripts/setup_test.sh
# shellcheck disable=SC2016  # the texts of scripts
set -euo pipefail

setup=$(cd "$(dirname "$0")/../.." && pwd)/scripts/setup.sh
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
num_failed=0

# The PATH of setup.sh: a few programs of the system, and fake ones that log their calls in $ROOM/done.
mkdir "$room/bin" "$room/with_sudo"
for name in bash cat env grep mktemp readlink rm sh; do
  ln -s "$(command -v "$name")" "$room/bin/$name"
done
make_fake() {  # make_fake FOLDER/NAME TEXT
  printf '#!/bin/sh\n%s\n' "$2" >"$room/$1"
  chmod +x "$room/$1"
}
make_fake bin/id 'echo "$FAKE_USER"'
make_fake bin/uname 'echo "$FAKE_SYSTEM"'
make_fake bin/dpkg-query 'for word; do
  grep -qx -e "$word" "$ROOM/missing" || echo "installed $word"
done'
make_fake bin/apt-get 'echo "$FAKE_USER apt-get $1" >>"$ROOM/done"'
make_fake bin/brew 'if [ "$1" = --prefix ]; then echo "$ROOM/homebrew"; else echo "brew $*" >>"$ROOM/done"; fi'
make_fake with_sudo/sudo '[ "$1" = -n ] && exit "$FAKE_SUDO_ASKS"
FAKE_USER=0 exec "$@"'

# Runs a command in a pseudo-terminal and types a line; prints its output and returns its status.
cat >"$room/terminal.py" <<'PYTHON'
import os
import pty
import sys
import termios

master, slave = pty.openpty()
modes = termios.tcgetattr(slave)
modes[3] &= ~termios.ECHO
termios.tcsetattr(slave, termios.TCSANOW, modes)
process = os.fork()
if process == 0:
    for stream in range(3):
        os.dup2(slave, stream)
    os.execvp(sys.argv[2], sys.argv[2:])
os.close(slave)
os.write(master, (sys.argv[1] + "\n").encode())
shown = b""
try:
    while piece := os.read(master, 1000):
        shown += piece
except OSError:  # the end, on Linux
    pass
print(shown.decode().replace("\r", ""))
status = os.waitpid(process, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 99)
PYTHON

system=Linux user=1000 path=$room/with_sudo:$room/bin sudo_asks=1 variable=NONE=
run_setup() {  # run_setup GROUP [ANSWER]: setup.sh with these settings, in a terminal if it is answered
  local words=(env -u TRAINER_SETUP -u TRAINER_SKIP_SETUP -u TRAINER_REQUIRE_ALL -u TRAINER_LIBTORCH -u CI
    ROOM="$room"
    PATH="$path" FAKE_SYSTEM="$system" FAKE_USER="$user" FAKE_SUDO_ASKS="$sudo_asks" "$variable"
    bash "$setup" "$1")
  : >"$room/done"
  if [ $# -gt 1 ]; then
    python3 "$room/terminal.py" "$2" "${words[@]}"
  else
    "${words[@]}" </dev/null 2>&1
  fi
}

expect() {  # expect NAME STATUS DONE OUTPUT GROUP [ANSWER]: DONE are the logged calls
  local name=$1 expected="status $2, done: $3"$'\n'"$4" status=0 said
  shift 4
  said=$(run_setup "$@") || status=$?
  said=$(grep -v '^setup: note: ' <<<"$said" || true)  # of the BLAS of this machine
  said="status $status, done: $(cat "$room/done")"$'\n'"$said"
  if [ "$said" = "$expected" ]; then
    printf 'ok: %s\n' "$name"
  else
    printf 'FAILED: %s\nexpected %s\ngot %s\n' "$name" "$expected" "$said"
    num_failed=$((num_failed + 1))
  fi
}

command="apt-get install -y --no-install-recommends g++ zlib1g-dev"
installing="setup: installing with apt-get: g++ zlib1g-dev"
installed="0 apt-get update
0 apt-get install"
told="setup: missing packages: g++ zlib1g-dev
setup: to install them: sudo $command"
refused="setup: nothing was installed; TRAINER_SETUP=yes installs without asking, TRAINER_SKIP_SETUP=1 skips this check"

: >"$room/missing"
expect "nothing is missing" 0 "" "" build
printf 'g++\nzlib1g-dev\n' >"$room/missing"

expect "a user without a terminal is told the command" 1 "" "$told
$refused" build
expect "a user who says no" 1 "" "$told
setup: install them now? [y/N] $refused" build n
expect "a user who says nothing" 1 "" "$told
setup: install them now? [y/N] $refused" build ""
expect "a user who says yes" 0 "$installed" "$told
setup: install them now? [y/N] $installing" build y
variable=CI=true
expect "continuous integration is not asked" 1 "" "$told
$refused" build y

variable=TRAINER_SETUP=yes
expect "TRAINER_SETUP=yes where sudo would ask" 1 "" \
  "setup: installing packages needs root, and sudo asks for a password here. Run: sudo $command" build
sudo_asks=0
expect "TRAINER_SETUP=yes" 0 "$installed" "$installing" build
variable=TRAINER_SKIP_SETUP=1
expect "TRAINER_SKIP_SETUP=1" 0 "" "" build
printf 'libtorch-dev\nlibgloo-dev\n' >"$room/missing"
variable=TRAINER_LIBTORCH=/opt/libtorch
expect "a LibTorch from elsewhere" 0 "" "" build
echo python3-pip >>"$room/missing"
variable=TRAINER_LIBTORCH=wheel
expect "a wheel, without pip" 1 "" "setup: missing packages: python3-pip
setup: to install them: sudo apt-get install -y --no-install-recommends python3-pip
$refused" build
printf 'g++\nzlib1g-dev\n' >"$room/missing"
variable=NONE=

path=$room/bin
expect "a user without sudo" 1 "" \
  "setup: installing packages needs root, and there is no sudo here. As root: $command" build y
user=0
expect "root is not asked" 0 "$installed" "$installing" build

system=Darwin user=501
mkdir -p "$room/homebrew/opt"
for name in llvm clang-format cppcheck shellcheck mypy black; do : >"$room/homebrew/opt/$name"; done
expect "Homebrew: a user without a terminal" 1 "" "setup: missing packages: lcov flake8
setup: to install them: brew install lcov flake8
$refused" gate
variable=TRAINER_SETUP=yes
expect "Homebrew: TRAINER_SETUP=yes" 0 "brew install --quiet lcov flake8" \
  "setup: installing with Homebrew: lcov flake8" gate

[ "$num_failed" -eq 0 ]
