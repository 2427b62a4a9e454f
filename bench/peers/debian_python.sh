#!/usr/bin/env bash
# Installs Python with PyTorch of another release of Debian in build/debian/peers-SUITE, and prints the
# program that runs it: TRAINER_PYTHON of compare.py. What torch.compile needs is there too.
# Usage: TRAINER_PYTHON=$(bench/peers/debian_python.sh trixie) bench/peers/compare.py
#        bench/peers/debian_python.sh [--copy FILE]... SUITE    --copy as in scripts/test_on_debian.sh
# Needs root and debootstrap.
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/../../scripts/common.sh"
# shellcheck source=scripts/debian.sh
source "$(dirname "$0")/../../scripts/debian.sh"

copied=()
while [ "${1:-}" = --copy ]; do
  copied+=("$2")
  shift 2
done
suite=${1:?"usage: bench/peers/debian_python.sh [--copy FILE]... SUITE"}
root=$PWD/build/debian/peers-$suite
install_debian "$root" "$suite" "${copied[@]}" >&2
run_in_debian "$root" bash -euc '
  apt-get -qq update
  apt-get -qq install -y --no-install-recommends python3-{torch,numpy,sklearn,dev,setuptools} \
    libtorch-dev g++ libopenblas0-openmp >/dev/null' >&2

# Sees this repository and /tmp at their places.
program=$root.python
cat >"$program" <<END
#!/usr/bin/env bash
exec unshare --mount bash -euc '
  mount --bind "\$1" "\$1"
  cd "\$1"
  mount -t proc proc proc
  mount --rbind /sys sys
  mount --rbind /dev dev
  mkdir -p ".\$2"
  mount --rbind "\$2" ".\$2"
  mount --rbind /tmp tmp
  exec chroot . python3 "\${@:3}"' unshare "$root" "$PWD" "\$@"
END
chmod +x "$program"
echo "$program"
