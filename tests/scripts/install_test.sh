#!/usr/bin/env bash
# Proves that no program or library of a build tree, nor of an installed copy, looks for libraries in
# the current folder, and that the copy is complete: it runs, and has the license and what README.md
# links to. Needs readelf (binutils, which compilers need too).
# Usage: tests/scripts/install_test.sh BUILD_FOLDER
set -euo pipefail

build=$1
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
num_failed=0

fail() {
  printf 'FAILED: %s\n' "$*"
  num_failed=$((num_failed + 1))
}

is_elf() { [ "$(head -c 4 "$1" | tail -c 3)" = ELF ]; }

# An empty element of the path is the current folder for the loader, and so is what relative ones
# begin with.
check_paths() {  # check_paths FOLDER: of all programs and libraries below it
  local file path element num_files=0
  while IFS= read -r -d '' file; do
    is_elf "$file" || continue
    num_files=$((num_files + 1))
    path=$(readelf -dW "$file" | sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\]/\2/p')
    [ -n "$path" ] || continue
    while IFS= read -r -d : element; do
      case "$element" in
        /* | "\$ORIGIN" | "\$ORIGIN/"*) ;;
        *) fail "$file: library path [$path]" && break ;;
      esac
    done <<<"$path:"
  done < <(find "$1" -type f ! -name '*.o' ! -name '*.gch' ! -name '*.a' -print0)
  [ "$num_files" -ge 2 ] || fail "$1: $num_files programs and libraries"
}

cmake --install "$build" --prefix "$room/copy" >"$room/log" || fail "$(cat "$room/log")"
if [ "$(uname -s)" = Linux ]; then
  check_paths "$build"
  check_paths "$room/copy"
fi

mkdir "$room/elsewhere"
cd "$room/elsewhere"
"$room/copy/bin/trainer" --version | grep -q '^trainer [0-9]' || fail 'the copy does not run'
"$room/copy/bin/trainer" -q --epochs 1 threads=1 || fail 'the copy does not train'

doc=$room/copy/share/doc/trainer
[ -s "$doc/LICENSE" ] || fail 'no LICENSE'
num_links=0
while IFS= read -r link; do
  num_links=$((num_links + 1))
  [ -e "$doc/$link" ] || fail "README.md links to $link, which is not installed"
done < <(grep -oE '\]\([^)#]+' "$doc/README.md" | cut -c 3- | grep -vE '^https?:' | sort -u)
[ "$num_links" -ge 10 ] || fail "$num_links links found in README.md"

[ "$num_failed" -eq 0 ]
