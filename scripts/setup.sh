#!/usr/bin/env bash
# Installs what is missing to build, test and check trainer; returns immediately if nothing is.
# Usage: scripts/setup.sh [build] [test] [gate] [tables] [duckdb] [fuzz] [package]    (no group: the first three)
#        scripts/setup.sh --select-blas             (makes OpenBLAS/OpenMP the BLAS of this machine)
# With TRAINER_REQUIRE_ALL set, the group test brings what skipped tests need too (Node.js, clangd, ...).
# Debian and Ubuntu: apt-get, as root or with sudo. macOS: Homebrew. It asks before it installs, except
# for root and with TRAINER_SETUP=yes; without a terminal it prints the command and fails.
# TRAINER_SKIP_SETUP=1: does nothing. TRAINER_LIBTORCH=DIR or =wheel: LibTorch comes from there, so none is installed
# (src/find_libtorch.cmake; CMake itself brings the wheel).
set -euo pipefail

# build: compiles everything, tests and benchmarks included. test: what only tests need.
# gate: formatting, linting, coverage. tables: peers and data of make bench-tables. duckdb: the library
# that reads Parquet, JSON and queries; also part of test. fuzz: the compiler of make fuzz. package: the
# tools of make package.
# require-all: what the tests need that are skipped otherwise.
packages() {
  case $1 in
    apt-build)
      echo g++ make cmake ninja-build ccache git zlib1g-dev
      [ -n "${TRAINER_LIBTORCH:-}" ] || echo libtorch-dev libgloo-dev libopenblas0-openmp
      [ "${TRAINER_LIBTORCH:-}" != wheel ] || has_pip || echo python3-pip
      echo libzstd-dev libsqlite3-dev
      echo libyaml-cpp-dev libcli11-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libonnx-dev
      echo libgtest-dev libgmock-dev libbenchmark-dev dataset-fashion-mnist
      ;;
    apt-test) echo python3 python3-torch ;;
    apt-require-all)  # a Node.js from elsewhere is as good, and would conflict with Debian's
      command -v npm >/dev/null || echo nodejs npm
      command -v curl >/dev/null || echo curl
      echo clangd-19 clang-tidy-19
      echo zsh fish man-db mandoc
      echo openmpi-bin mpich slurmctld slurmd slurm-client munge iproute2 chromium fonts-dejavu-core
      ;;
    apt-duckdb) command -v npm >/dev/null || echo nodejs npm ;;
    apt-gate)
      echo clang-format clangd-19 clang-tidy-19 cppcheck lcov shellcheck flake8 mypy black
      ;;
    apt-fuzz) echo clang-19 libclang-rt-19-dev llvm ;;
    apt-package) echo dpkg-dev file lintian debootstrap python3-pip python3-venv qemu-user libc6-arm64-cross ;;
    apt-tables)
      echo python3-sklearn python3-xgboost python3-pandas r-base-core r-cran-ggplot2 r-cran-mlbench
      echo r-cran-kernlab r-cran-modeldata r-cran-cardata
      ;;
    brew-build)
      echo cmake ninja ccache
      [ -n "${TRAINER_LIBTORCH:-}" ] || echo pytorch libomp
      echo yaml-cpp cli11 spdlog fmt nlohmann-json googletest google-benchmark onnx zstd
      ;;
    brew-test) echo node duckdb ;;
    brew-duckdb) echo duckdb ;;
    brew-fuzz) echo llvm ;;
    brew-package) ;;
    brew-require-all) ;;
    brew-gate) echo llvm clang-format cppcheck lcov shellcheck flake8 mypy black ;;
  esac
}

say() { printf 'setup: %s\n' "$*" >&2; }
fail() {
  say "$@"
  exit 1
}

may_install() {  # may_install PACKAGES COMMAND: fails unless root, TRAINER_SETUP or the user allows it
  local answer=""
  if [ "$(id -u)" -eq 0 ] || [ "${TRAINER_SETUP:-}" = yes ]; then return; fi
  say "missing packages: $1"
  say "to install them: $2"
  if [ -t 0 ] && [ -t 2 ] && [ -z "${CI:-}" ]; then
    printf 'setup: install them now? [y/N] ' >&2
    read -r answer || echo >&2
    case "$answer" in
      y | Y | yes | Yes | YES) return ;;
    esac
  fi
  fail "nothing was installed; TRAINER_SETUP=yes installs without asking," \
    "TRAINER_SKIP_SETUP=1 skips this check"
}

has_pip() { command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1; }

packages_of() {  # packages_of apt|brew GROUP...
  local manager=$1 group
  shift
  for group in "$@"; do
    packages "$manager-$group"
  done
}

# ---- Debian, Ubuntu ------------------------------------------------------------------------------

missing_apt() {  # those of the named packages that are not installed, on one line
  local installed package missing=""
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    case $'\n'"$installed"$'\n' in
      *$'\n'"installed $package"$'\n'*) ;;
      *) missing="$missing $package" ;;
    esac
  done
  printf '%s' "${missing# }"
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

need_root() {  # need_root WHAT COMMAND: ends unless root, or sudo that works without a question
  [ "$(id -u)" -eq 0 ] && return
  if ! command -v sudo >/dev/null; then
    fail "$1 needs root, and there is no sudo here. As root: $2"
  fi
  if ! sudo -n true 2>/dev/null && { [ ! -t 0 ] || [ -n "${CI:-}" ]; }; then
    fail "$1 needs root, and sudo asks for a password here. Run: sudo $2"
  fi
}

install_apt() {
  local missing install
  missing=$(missing_apt "$@")
  [ -z "$missing" ] && return
  install="apt-get install -y --no-install-recommends $missing"
  if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null; then
    may_install "$missing" "sudo $install"
  fi
  need_root "installing packages" "$install"
  say "installing with apt-get: $missing"
  local log quiet=(-qq -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0)
  log=$(mktemp)
  as_root apt-get update "${quiet[@]}" >"$log" 2>&1 ||
    say "apt-get update failed; continuing with the existing package lists"
  # shellcheck disable=SC2086  # one word a package
  if ! as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${quiet[@]}" $missing >>"$log" 2>&1; then
    grep -E "^(E|dpkg):" "$log" | head -n 5 >&2 || true
    fail "apt-get could not install them (no network, or not in this release); full output:" \
      "$log. By hand: $install"
  fi
  rm -f "$log"
}

# LibTorch computes with whatever libblas.so.3 is: the reference BLAS is 40 times slower than
# OpenBLAS, and OpenBLAS with its own threads fights with LibTorch's OpenMP threads. In automatic
# mode libopenblas0-pthread wins over libopenblas0-openmp. The choice is the whole machine's, so it
# is changed on request only.
blas_dir() {
  local dir
  for dir in /usr/lib/*/openblas-openmp; do
    [ -e "$dir/libblas.so.3" ] && printf '%s' "$dir" && return
  done
  return 1
}

note_blas() {
  local dir link now
  dir=$(blas_dir) || return 0
  link="${dir%/*}/libblas.so.3"
  now=$(readlink -f "$link" 2>/dev/null || true)
  case "$now" in
    "$dir"/*) ;;
    *) say "note: $link is $now, not OpenBLAS with OpenMP; programs that use it with LibTorch" \
           "can be many times slower. To change it for this machine: scripts/setup.sh --select-blas" ;;
  esac
}

select_blas() {
  local dir triplet library
  command -v update-alternatives >/dev/null || fail "--select-blas is for Debian and Ubuntu"
  dir=$(blas_dir) || fail "libopenblas0-openmp is not installed; run scripts/setup.sh build first"
  triplet=$(basename "$(dirname "$dir")")
  need_root "choosing the BLAS of this machine" "scripts/setup.sh --select-blas"
  for library in libblas.so.3 liblapack.so.3; do
    as_root update-alternatives --quiet --set "$library-$triplet" "$dir/$library" >&2
    say "$library is now $dir/$library (back to automatic: update-alternatives --auto" \
        "$library-$triplet)"
  done
}

# ---- macOS ---------------------------------------------------------------------------------------

install_brew() {
  local prefix package missing=""
  command -v brew >/dev/null ||
    fail "Homebrew is not installed (https://brew.sh). Needed from it: $*"
  prefix=$(brew --prefix)
  for package in "$@"; do
    [ -e "$prefix/opt/$package" ] || missing="$missing $package"
  done
  [ -z "$missing" ] && return
  may_install "${missing# }" "brew install$missing"
  say "installing with Homebrew:$missing"
  # shellcheck disable=SC2086  # one word a package
  HOMEBREW_NO_AUTO_UPDATE=1 HOMEBREW_NO_INSTALL_CLEANUP=1 NONINTERACTIVE=1 \
    brew install --quiet $missing >&2 ||
    fail "Homebrew could not install them. By hand: brew install$missing"
}

# ---- Node.js -------------------------------------------------------------------------------------

# ONNX Runtime runs exported models in the tests, which are skipped without it. Of this version the
# package has the libraries of all systems inside, so that no script of its own has to download them.
# Debian's npm would bring hundreds of packages: it is used where it is, and installed for
# TRAINER_REQUIRE_ALL only, as are the packages that look at reports in a browser and read the event
# files of TensorBoard.
node_packages() {
  echo onnxruntime-node@1.14.0
  [ -z "${TRAINER_REQUIRE_ALL:-}" ] || echo puppeteer-core@23.11.1 axe-core@4.10.3 tfrecord-stream@0.2.0 protobufjs@7.4.0
}

install_node_packages() {
  local folder package missing=""
  folder="$(cd "$(dirname "$0")/.." && pwd)/build/node"
  for package in $(node_packages); do
    [ -e "$folder/node_modules/${package%@*}" ] || missing="$missing $package"
  done
  [ -z "$missing" ] && return
  command -v node >/dev/null && command -v npm >/dev/null || return 0
  say "installing with npm:$missing"
  # All of them: npm removes what it is not told.
  # shellcheck disable=SC2046  # one word a package
  npm install --silent --no-save --ignore-scripts --no-audit --no-fund --prefix "$folder" \
    $(node_packages) >&2 && return
  [ -z "${TRAINER_REQUIRE_ALL:-}" ] || fail "npm could not install$missing"
  say "note: npm could not install it; the tests that need it are skipped"
}

# ---- DuckDB --------------------------------------------------------------------------------------

# Where trainer looks for it (src/table/duckdb/c_api.cpp). Debian has no package; that of npm has nothing
# but the library that DuckDB's makers build.
duckdb="@duckdb/node-bindings-linux"
duckdb_version="1.5.6-r.1"

install_duckdb() {
  local folder="${XDG_DATA_HOME:-${HOME:-$(cd ~ && pwd)}/.local/share}/trainer" machine package temporary
  [ -e "$folder/libduckdb.so" ] && return
  case "$(uname -m)" in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
    *) say "note: no DuckDB for $(uname -m); Parquet, JSON and queries cannot be read" && return ;;
  esac
  command -v npm >/dev/null || return 0
  package="$duckdb-$machine@$duckdb_version"
  say "installing with npm: $package in $folder"
  temporary=$(mktemp -d)
  if npm install --silent --no-save --ignore-scripts --no-audit --no-fund --prefix "$temporary" \
    "$package" >&2; then
    mkdir -p "$folder"
    mv "$temporary/node_modules/$duckdb-$machine/libduckdb.so" "$folder/libduckdb.so"
    rm -rf "$temporary"
    return
  fi
  rm -rf "$temporary"
  [ -z "${TRAINER_REQUIRE_ALL:-}" ] || fail "npm could not install $package"
  say "note: npm could not install it; Parquet, JSON and queries cannot be read"
}

# ---- what is asked -------------------------------------------------------------------------------

groups=()
for argument in "$@"; do
  case "$argument" in
    build | test | gate | tables | duckdb | fuzz | package) groups+=("$argument") ;;
    --select-blas)
      select_blas
      exit
      ;;
    -h | --help)
      sed -n '2,10s/^# \{0,1\}//p' "$0"
      exit
      ;;
    *) fail "unknown word '$argument'; expected build, test, gate, tables, duckdb, fuzz, package or --select-blas" ;;
  esac
done
[ "${#groups[@]}" -eq 0 ] && groups=(build test gate)
[ -n "${TRAINER_SKIP_SETUP:-}" ] && exit 0
case " ${groups[*]} " in
  *" test "*) [ -z "${TRAINER_REQUIRE_ALL:-}" ] || groups+=(require-all) ;;
esac

if [ "$(uname -s)" = Darwin ]; then
  # shellcheck disable=SC2046  # one word a package
  install_brew $(packages_of brew "${groups[@]}")
elif command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
  # shellcheck disable=SC2046  # one word a package
  install_apt $(packages_of apt "${groups[@]}")
  [ -n "${TRAINER_LIBTORCH:-}" ] || note_blas
else
  fail "this system has neither apt-get nor Homebrew. Install by hand a C++20 compiler, CMake 3.22," \
    "Ninja, LibTorch 1.13 or newer, OpenBLAS (built with OpenMP), yaml-cpp, CLI11, spdlog, fmt," \
    "nlohmann_json, zlib, zstd, SQLite, ONNX, GoogleTest and Google Benchmark; for the gate also clang-format," \
    "clangd, clang-tidy, cppcheck, lcov. Then set TRAINER_SKIP_SETUP=1"
fi

case " ${groups[*]} " in
  *" test "*) install_node_packages ;;
esac
case " $(uname -s) ${groups[*]} " in
  *Linux*" test "* | *Linux*" duckdb "*) install_duckdb ;;
esac
