#!/usr/bin/env bash
# Tests that scripts/check_sources.py finds unused includes, also in headers, and checks only what
# changed.
# Usage: tests/scripts/check_sources_test.sh
# shellcheck source=tests/scripts/house.sh
source "$(dirname "$0")/house.sh"

mkdir -p "$house/scripts" "$house/src" "$house/build"
cp "$root/scripts/check_sources.py" "$house/scripts/"
cat >"$house/build/compile_commands.json" <<JSON
[{"directory": "$house/build", "file": "../src/one.cpp", "command": "c++ -std=c++20 -c ../src/one.cpp"},
 {"directory": "$house/build", "file": "../src/two.cpp", "command": "c++ -std=c++20 -c ../src/two.cpp"}]
JSON

# Stands in for clang-include-cleaner: prints what the comments of a source tell it to.
tool=$house/tool
cat >"$tool" <<'TOOL'
#!/usr/bin/env bash
for word; do
  case $word in
    --version) echo "version 1" ;;
    *.cpp | *.h) sed -n 's|^// says ||p' "$word" ;;
    --) break ;;
  esac
done
TOOL
chmod +x "$tool"

expect() {  # expect NAME STATUS TEXT SUMMARY: TEXT is standard output
  local said status=0 summary
  said=$("$house/scripts/check_sources.py" includes "$tool" "$house/build" 2>"$house/summary") ||
    status=$?
  summary=$(sed -n '$s/, [0-9]* s$//p' "$house/summary")
  report "$1" "status $2, includes: $4: $3" "status $status, $summary: $said"
}

printf '%s\n' '#include <string>' '#include <vector>' 'std::string name();' \
  '// says - <vector> @Line:2' '// says + <other>' >"$house/src/one.cpp"
printf '%s\n' '#include "two.h"' 'std::string name() { return {}; }' '// says + <string>' \
  >"$house/src/two.cpp"
printf '%s\n' '#pragma once' '#include <string>' 'std::string name();' >"$house/src/two.h"

unused="src/one.cpp:2: unused include <vector>"
expect "an unused include" 1 "$unused" "3 sources, 3 looked at, 1 failed"
expect "what passed is not looked at again" 1 "$unused" "3 sources, 1 looked at, 1 failed"
printf '%s\n' '#include <string>' 'std::string name();' >"$house/src/one.cpp"
expect "the include is gone" 0 "" "3 sources, 1 looked at, 0 failed"
expect "nothing has changed" 0 "" "3 sources, 0 looked at, 0 failed"
echo '// says - <string> @Line:2' >>"$house/src/two.h"
expect "a header has changed, and the source that includes it is looked at again" 1 \
  "src/two.h:2: unused include <string>" "3 sources, 2 looked at, 1 failed"

# The real tool, if it is installed; it reports warnings too.
# shellcheck source=scripts/common.sh
tool=$(source "$root/scripts/common.sh" && find_include_cleaner)
if [ -n "$tool" ]; then
  printf '%s\n' '#include <string>' '#include <vector>' '#include <map>  // IWYU pragma: keep' \
    'std::string name() { return {}; }' >"$house/src/one.cpp"
  expect "an unused include, by $tool" 1 "$unused" "3 sources, 3 looked at, 1 failed"
  printf '%s\n' 'int half(long whole) { return whole / 2; }' >"$house/src/one.cpp"
  "$house/scripts/check_sources.py" includes "$tool" "$house/build" >"$house/said" 2>&1 || true
  if grep -q 'one.cpp:1:.*-Werror,-Wshorten-64-to-32' "$house/said"; then
    echo "ok: a warning, by $tool"
  else
    printf 'FAILED: a warning, by %s\n' "$tool" && cat "$house/said"
    num_failed=$((num_failed + 1))
  fi
fi

finish
