#!/usr/bin/env bash
# Corrects what tools can correct: clang-tidy in the C++ sources that differ from the last commit, and the
# format of all files. Look at the changes before you commit them.
# Usage: scripts/fix.sh [FILE...]    (files: clang-tidy on these sources)
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

clang_tidy=$(find_tool clang-tidy 19)
configured

files=("$@")
if [ $# -eq 0 ]; then
  while IFS= read -r file; do files+=("$file"); done < <(
    {
      git diff --name-only --diff-filter=d HEAD -- src tests bench
      git ls-files --others --exclude-standard -- src tests bench
    } | grep '\.cpp$' || true
  )
fi

# One after the other: two that share a header would both correct it.
status=0
for file in "${files[@]}"; do
  "$clang_tidy" --quiet --fix --fix-errors -p build/dev "$file" || status=1
done
scripts/format.sh
exit "$status"
