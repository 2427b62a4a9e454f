#!/usr/bin/env bash
# scripts/packaging/install.sh installs, replaces and removes an archive, and refuses a wrong one.
# shellcheck source=tests/scripts/house.sh
source "$(dirname "$0")/house.sh"

installer="$root/scripts/packaging/install.sh"
case "$(uname -s) $(uname -m)" in
  'Linux x86_64') platform=linux-x86_64 ;;
  'Linux aarch64') platform=linux-aarch64 ;;
  'Darwin arm64') platform=macos-arm64 ;;
  *)
    skip "install_archive" "a platform that has archives"
    exit
    ;;
esac
export HOME=$house/home
PATH=$HOME/.local/bin:$PATH

# pack VERSION FILE...: an archive with these files, the program among them, and its sum.
pack() {
  local name=trainer-$1-$platform file
  rm -rf "$house/release" "${house:?}/$name"
  for file in "${@:2}"; do
    put "$name/$file" '#!/bin/sh' "echo trainer $1"
    chmod +x "$house/$name/$file"
  done
  mkdir "$house/release"
  tar -C "$house" -czf "$house/release/$name.tar.gz" "$name"
  (cd "$house/release" && { sha256sum ./*.gz || shasum -a 256 ./*.gz; } | sed 's|\./||' >SHA256SUMS)
}
files() { (cd "$HOME/.local" && find . -type f | sort | tr '\n' ' '); }

pack 1.0.0 bin/trainer share/trainer/configs/old.yaml
put home/.local/bin/other "stays"
expect_of "an archive is installed" 0 "installed $HOME/.local/bin/trainer" sh "$installer" "$house/release"
report "the program runs" "trainer 1.0.0" "$(trainer)"
if command -v curl >/dev/null; then
  expect_of "an archive has an address" 0 "installed $house/else where/bin/trainer
to find it by its name: export PATH=\"$house/else where/bin:\$PATH\"" \
    sh "$installer" "file://$house/release/" "$house/else where"
fi

pack 1.1.0 bin/trainer share/trainer/configs/new.yaml
sh "$installer" "$house/release" >/dev/null
report "a new version takes the place of the old one" \
  "./bin/other ./bin/trainer ./share/trainer/configs/new.yaml ./share/trainer/installed.txt " "$(files)"

echo more >>"$house/release/trainer-1.1.0-$platform.tar.gz"
expect_of "another sum is refused" 1 "install: trainer-1.1.0-$platform.tar.gz is not what SHA256SUMS says \
(incomplete, or changed); nothing was installed" sh "$installer" "$house/release"
put release/SHA256SUMS "0000  trainer-1.1.0-plan9-mips.tar.gz"
expect_of "a platform without an archive is named" 1 \
  "install: $house/release/SHA256SUMS names no archive for $platform" sh "$installer" "$house/release"
expect_of "a folder without a list is named" 1 "install: cannot get SHA256SUMS from $house/nowhere" \
  sh -c "sh '$installer' '$house/nowhere' 2>&1 | grep -v ^cp; exit 1"
pack 1.2.0 bin/trainer
printf '#!/bin/sh\nexit 1\n' >"$house/trainer-1.2.0-$platform/bin/trainer"
tar -C "$house" -czf "$house/release/trainer-1.2.0-$platform.tar.gz" "trainer-1.2.0-$platform"
(cd "$house/release" && { sha256sum ./*.gz || shasum -a 256 ./*.gz; } | sed 's|\./||' >SHA256SUMS)
expect_of "a program that does not run is refused" 1 "install: the program of \
trainer-1.2.0-$platform.tar.gz does not run here; nothing was installed" sh "$installer" "$house/release"
report "what was there still runs" "trainer 1.1.0" "$(trainer)"

expect_of "it is removed" 0 "removed from $HOME/.local" sh "$installer" --remove
report "nothing else is removed" "./bin/other " "$(files)"
report "no folder is left" "bin" "$(ls "$HOME/.local")"
expect_of "nothing is left to remove" 1 \
  "install: nothing to remove: $HOME/.local/share/trainer/installed.txt is not there" sh "$installer" --remove
expect_of "too many words" 1 "install: usage: install.sh FOLDER_OR_URL [PREFIX], or install.sh --remove [PREFIX]" \
  sh "$installer" a b c
finish
