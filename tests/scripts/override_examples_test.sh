#!/usr/bin/env bash
# Tests that the examples of documents and help that set keys work as printed, in bash and in zsh: no
# shell expands them, and the program takes them.
# Usage: tests/scripts/override_examples_test.sh TRAINER
# shellcheck disable=SC2016  # patterns and texts of scripts
# shellcheck source=tests/scripts/house.sh
source "$(dirname "$0")/house.sh"

trainer=$(realpath "$1")
ln -s "$root/configs" "$house/configs"
for name in houses mine penguins; do
  cp "$root/configs/penguins.yaml" "$house/$name.yaml"
done
ln -s "$root/configs/data" "$house/data"

# Whatever the command does with a configuration, here it prints it.
put bin/trainer '#!/bin/sh' 'case $1 in cv | ensemble | train | profile | find-batch) shift ;; esac' \
  "exec '$trainer' \"\$@\" --print-config"
chmod +x "$house/bin/trainer"

# The commands, a line each: those in code font and those of indented blocks, continued lines joined.
examples() {
  sed -e ':join' -e '/\\$/{N;s/ *\\\n */ /;b join' -e '}' |
    grep -oE '(^|`|[$] |  )trainer [^`|#]*--config [^`|#]*' |
    sed -e 's/^[`$ ]*//' -e 's/ *$//' |
    grep -E ' [a-z][a-z_.]*=' | grep -vE '<Tab>|--members|--recipes|--folds|KEY=|key=value' | sort -u || true
}

try_all() {  # try_all WHERE: reads the text from standard input
  local where=$1 found example shell status
  found=$(examples)
  for shell in bash zsh; do
    if ! command -v "$shell" >/dev/null; then
      skip "the examples of $where in $shell" "$shell"
      continue
    fi
    while IFS= read -r example; do
      status=0
      said=$(cd "$house" && PATH="$house/bin:$PATH" "$shell" -c "$example" 2>&1 >/dev/null) || status=$?
      report "$where, $shell: $example" "status 0: " "status $status: $said"
    done <<<"${found:-echo there is no example in $where >&2}"
  done
}

try_all README.md <"$root/README.md"
try_all docs/user-guide.md <"$root/docs/user-guide.md"
try_all docs/tutorial.md <"$root/docs/tutorial.md"
try_all "trainer --help" < <("$trainer" --help)
try_all "trainer train --help" < <("$trainer" train --help)

finish
