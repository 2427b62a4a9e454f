#!/usr/bin/env bash
# Installs the packages of trainer that lie in the folder above this one, uses and removes them; in a system
# of its own, as root (scripts/try_package.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  printf 'FAILED: %s\n' "$*"
  exit 1
}

step() { printf '\n== %s\n' "$*"; }

install() { apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install "$@" >apt.log 2>&1 || fail "$(cat apt.log)"; }

# All files, but those in which the tools of the system count.
files() {
  find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /srv -o -path /tmp -o -path /run \
    -o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log \) -prune \
    -o -print | sort
}

installed_kb() { dpkg-query -W -f '${db:Status-Status} ${Installed-Size}\n' | awk '/^installed/ { n += $2 } END { print n }'; }

# says STATUS PART COMMAND...: the command ends with the status and says one line with the part.
says() {
  local said status=0
  said=$("${@:3}" 2>&1 >/dev/null) || status=$?
  printf '%s\n' "$said"
  [ "$status" = "$1" ] || fail "status $status"
  [ "$(wc -l <<<"$said")" = 1 ] || fail 'more than one line'
  [[ $said == *"$2"* ]] || fail "nothing about $2"
}

predict() { trainer predict penguins.csv --output "$1" 2>/dev/null; }

apt-get -qq update
files >before.txt
before=$(installed_kb)

step 'the core alone'
install ./trainer_*.deb
echo "installed with all it pulls: $(($(installed_kb) - before)) kB"
dpkg-query -W -f '${Package} ${Version} ${Installed-Size} kB\n' trainer
trainer --version
man -w trainer 2>/dev/null || [ -e /usr/share/man/man1/trainer.1.gz ] || echo 'no manual page (left out by this system)'
trainer init penguins.csv --target species --output penguins.yaml >/dev/null 2>&1 || fail init
says 4 'install the package trainer-engine' trainer --config penguins.yaml

step 'with the engine'
install ./trainer-engine_*.deb
echo "installed with all it pulls: $(($(installed_kb) - before)) kB"
trainer --config penguins.yaml --epochs 5 --quiet
predict with_engine.csv
head -n 3 with_engine.csv
/usr/lib/trainer/bin/bench_devices --help | head -n 1

step 'ONNX'
says 2 'install the package trainer-onnx' trainer export --output m.onnx
install ./trainer-onnx_*.deb
trainer export --output m.onnx >/dev/null
ls -s m.onnx

step 'a program in C++'
install ./trainer-dev_*.deb cmake g++ make
cmake -S package -B built >/dev/null
cmake --build built >build.log 2>&1 || fail "$(cat build.log)"
built/predict_rows runs/latest penguins.csv >rows.csv
head -n 2 rows.csv
[ "$(wc -l <rows.csv)" = "$(($(wc -l <with_engine.csv) - 1))" ] || fail 'another number of rows'

step 'half removed'
apt-get -qq -y remove trainer-dev >/dev/null
# The names of libraries differ from release to release.
dpkg-query -W -f '${db:Status-Status} ${Package}\n' 'libonnx[0-9]*' 'libtorch[0-9]*' | sed -n 's/^installed //p' |
  xargs dpkg --force-depends --remove >/dev/null 2>&1
says 4 'cannot load libtrainer_engine.so: libtorch' trainer --config penguins.yaml
says 2 'cannot load libtrainer_onnx.so: libonnx' trainer export --output m.onnx
dpkg --remove trainer-engine trainer-onnx >/dev/null
predict core_alone.csv
cmp with_engine.csv core_alone.csv

step 'removed'
dpkg -L trainer | sort >owned.txt
apt-get -qq -y purge trainer cmake g++ >/dev/null
apt-get -qq -y autoremove --purge >/dev/null
files >after.txt
while IFS= read -r file; do
  [ ! -e "$file" ] || grep -qxF "$file" before.txt || fail "$file is left"
done <owned.txt
comm -13 before.txt after.txt >left.txt
if grep trainer left.txt; then fail 'the files above are left'; fi
echo "left by other packages: $(wc -l <left.txt)"
head -n 20 left.txt
