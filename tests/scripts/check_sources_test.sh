#!/usr/bin/env bash
# Tests that scripts/check_sources.py finds what is wrong in sources and headers, and checks only what
# changed.
# Usage: tests/scripts/check_sources_test.sh
# shellcheck source=tests/scripts/house.sh
source "$(dirname "$0")/house.sh"

mkdir -p "$house/scripts" "$house/src" "$house/build"
cp "$root/scripts/check_sources.py" "$house/scripts/"
cp "$root/.clangd" "$root/.clang-tidy" "$house/"
put build/compile_commands.json \
  '[{"directory": "'"$house"'/build", "file": "../src/one.cpp", "command": "c++ -std=c++20 -c one"},' \
  ' {"directory": "'"$house"'/build", "file": "../src/two.cpp", "command": "c++ -std=c++20 -c two"}]'

# Stands in for clangd: prints what the comments of a source tell it to.
tool=$house/tool
cat >"$tool" <<'TOOL'
#!/usr/bin/env bash
for word; do
  case $word in
    --version) echo "version 1" ;;
    --check=*) sed -n 's|^// says |E[12:00:00.000] |p' "${word#--check=}" ;;
  esac
done
TOOL
chmod +x "$tool"

check() {  # check clangd|analyzer: its output is $said, the end of its last line $summary
  status=0
  said=$("$house/scripts/check_sources.py" "$1" "$tool" "$house/build" 2>"$house/summary") || status=$?
  summary=$(sed -n '$s/, [0-9]* s$//p' "$house/summary")
}

expect() {  # expect NAME STATUS TEXT SUMMARY: TEXT is standard output
  check clangd
  report "$1" "status $2, clangd: $4: $3" "status $status, $summary: $said"
}

put src/one.cpp '#include <vector>' '// says [unused-includes] Line 1: vector is not used'
put src/two.cpp '#include "two.h"' 'std::string name() { return {}; }'
put src/two.h '#pragma once' '#include <string>' 'std::string name();'

unused="src/one.cpp:1: vector is not used [unused-includes]"
expect "a problem" 1 "$unused" "3 sources, 3 looked at, 1 failed"
expect "what passed is not looked at again" 1 "$unused" "3 sources, 1 looked at, 1 failed"
put src/one.cpp ''
expect "the problem is gone" 0 "" "3 sources, 1 looked at, 0 failed"
expect "nothing has changed" 0 "" "3 sources, 0 looked at, 0 failed"
echo '// says [some-check] Line 2: wrong' >>"$house/src/two.h"
expect "a header has changed, and the source that includes it is looked at again" 1 \
  "src/two.h:2: wrong [some-check]" "3 sources, 2 looked at, 1 failed"
put src/two.h '#pragma once' '#include <string>' 'std::string name();'
put .clang-tidy "Checks: '-*,misc-*'"
expect "other settings, and everything is looked at again" 0 "" "3 sources, 3 looked at, 0 failed"

# The real tools, if they are installed.
cp "$root/.clang-tidy" "$house/"
# shellcheck source=scripts/common.sh
if tool=$(source "$root/scripts/common.sh" && find_tool clangd 19 2>"$house/summary"); then
  put src/one.cpp '#include <map>  // IWYU pragma: keep' '#include <vector>' \
    'namespace {' 'int half(long Whole) { return Whole / 2; }' '}  // namespace' \
    'int main() { return half(1); }'
  expect "unused includes, names and warnings, by clangd" 1 \
    "src/one.cpp:4: implicit conversion loses integer precision: 'long' to 'int' [-Wshorten-64-to-32]
src/one.cpp:4: invalid case style for parameter 'Whole' [readability-identifier-naming]
src/one.cpp:2: included header vector is not used directly [unused-includes]" \
    "3 sources, 3 looked at, 1 failed"
else
  skip "unused includes, names and warnings, by clangd" "clangd of LLVM 19 or newer"
fi
# shellcheck source=scripts/common.sh
if tool=$(source "$root/scripts/common.sh" && find_tool clang-tidy 19 2>"$house/summary"); then
  put src/one.cpp '#include <string>' '#include <utility>' 'std::string take(std::string text) {' \
    '  const std::string taken = std::move(text);' '  return text + taken;' '}'
  put src/two.cpp 'int divide(int by) { return by == 0 ? 1 / by : 1; }'
  check analyzer
  for line in "src/one.cpp:5:.*bugprone-use-after-move" "src/two.cpp:1:.*core.DivideZero"; do
    grep -q "$line" <<<"$said" || report "paths, by clang-tidy" "$line" "$said"
  done
  report "paths, by clang-tidy" "status 1, analyzer: 2 sources, 2 looked at, 2 failed" \
    "status $status, $summary"
else
  skip "paths, by clang-tidy" "clang-tidy of LLVM 19 or newer"
fi

finish
