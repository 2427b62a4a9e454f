#!/usr/bin/env bash
# Builds with line counting, runs all tests, prints the line coverage of src/ and include/, and fails
# if it is under 80 percent. The report by file is in build/coverage/coverage.txt.
# Usage: scripts/coverage.sh [MINIMUM_PERCENT]
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

minimum=${1:-80}
command -v lcov >/dev/null || fail "lcov is not installed; run scripts/setup.sh gate"

[ -f build/coverage/build.ninja ] || cmake --preset coverage
cmake --build --preset coverage
find build/coverage -name '*.gcda' -delete
# Some tests run a program as another user, or without room for files. What gcov says on standard error
# where it cannot write its counters is not what these tests expect there.
find build/coverage -name '*.gcno' | while read -r notes; do
  : >"${notes%.gcno}.gcda"
  chmod a+rw "${notes%.gcno}.gcda"
done
export GCOV_ERROR_FILE=/dev/null
ctest --preset coverage
find build/coverage -name '*.gcda' -empty -delete

lcov --quiet --capture --directory build/coverage --base-directory "$PWD" --no-external \
  --rc lcov_branch_coverage=0 --output-file build/coverage/all.info
# Headers are found through the links of src/add_layer.cmake.
sed -i -E "s#^SF:$PWD/build/coverage/layers/[a-z_]+/public/#SF:$PWD/include/#
           s#^SF:$PWD/build/coverage/layers/[a-z_]+/private/#SF:$PWD/src/#" build/coverage/all.info
lcov --quiet --extract build/coverage/all.info "$PWD/src/*" "$PWD/include/*" \
  --output-file build/coverage/own.info
lcov --list build/coverage/own.info >build/coverage/coverage.txt
cat build/coverage/coverage.txt
# A test that kills a process while it writes its counters can spoil those of a group of files.
awk -F: '/^SF:/ { file = $2 } /^LH:0$/ { print "no line counted: " file }' build/coverage/own.info

percent=$(awk -F: '/^LF:/ { found += $2 } /^LH:/ { hit += $2 }
                   END { printf "%.1f", found ? 100 * hit / found : 0 }' build/coverage/own.info)
say "$percent % of the lines of src/ and include/ are covered by tests; required: at least $minimum %"
awk -v percent="$percent" -v minimum="$minimum" 'BEGIN { exit !(percent >= minimum) }'
