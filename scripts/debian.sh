# shellcheck shell=bash
# Other releases of Debian in folders, for scripts that source this after common.sh. Root and debootstrap
# are needed.

# The mirror that they are installed from.
debian_mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

# install_debian ROOT SUITE [FILE...]: installs SUITE in the folder ROOT unless it is there, and copies
# files of this machine to the same places there, such as an apt.conf.
install_debian() {
  local root=$1 suite=$2
  [ "$(id -u)" -eq 0 ] || fail "only root can do this"
  command -v debootstrap >/dev/null || fail "debootstrap is not installed"
  if [ ! -e "$root/root/complete" ]; then
    rm -rf "$root"
    mkdir -p "$root"
    say "installing Debian $suite in $root"
    debootstrap --variant=minbase --include=ca-certificates,git,make "$suite" "$root" \
      "$debian_mirror" >"$root.log" || fail "see $root.log"
    chmod 755 "$root/root"
    echo "127.0.0.1 localhost $(hostname)" >"$root/etc/hosts"
    touch "$root/root/complete"
  fi
  local copied=(/etc/resolv.conf "${@:3}")
  tar -C / -chf - "${copied[@]#/}" | tar -C "$root" -xf -
}

# run_in_debian ROOT COMMAND...: runs the command in the folder, with its own mounts, which are seen by
# these processes alone and end with them. The folder is mounted on itself because tests and tools ask for
# the file system of /.
run_in_debian() {
  # shellcheck disable=SC2016  # for the shell that runs it
  unshare --mount bash -euc '
    mount --bind "$1" "$1"
    cd "$1"
    mount -t proc proc proc
    mount --rbind /sys sys
    mount --rbind /dev dev
    mount -t tmpfs tmpfs dev/shm
    exec chroot . env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${@:2}"' unshare "$@"
}
