# Tells ctest the tests of one test program. ctest reads this when it starts, not the build: so they
# are those of the program as it was built last, no build loads LibTorch, and the program is asked in
# the environment of the test preset, which sanitizers need. tests/CMakeLists.txt sets
#   program, emulator  what to run; the second for cross-compiled trees
#   list               where what the program says is kept until it is built anew
#   label              of all its tests, for ctest -L
#   entries            TESTS: an entry a test, SUITES: an entry a suite
#   environment        "NAME=value" for its tests
#   cost               of an entry of which ctest has not measured how long it takes
cmake_minimum_required(VERSION 3.22)  # ctest itself asks for none

if(NOT EXISTS "${program}")
  add_test("${label}_tests_NOT_BUILT" "${program}")
  return()
endif()

if(NOT EXISTS "${list}" OR "${program}" IS_NEWER_THAN "${list}")
  execute_process(COMMAND ${emulator} "${program}" --gtest_list_tests
                  OUTPUT_FILE "${list}.new" RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${program} --gtest_list_tests: ${status}")
  endif()
  file(RENAME "${list}.new" "${list}")
endif()

# "Suite." and below it "  Test" or "  Test/AVX2  # GetParam() = ...".
file(READ "${list}" lines)
string(REGEX REPLACE " *#[^\n]*" "" lines "${lines}")
string(REPLACE "\n" ";" lines "${lines}")
set(names "")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^ ")
    set(suite "${line}")
    if(entries STREQUAL "SUITES" AND suite)
      list(APPEND names "${suite}*")
    endif()
  elseif(entries STREQUAL "TESTS")
    string(STRIP "${line}" test)
    list(APPEND names "${suite}${test}")
  endif()
endforeach()

foreach(name IN LISTS names)
  add_test("${name}" ${emulator} "${program}" --gtest_brief=1 "--gtest_filter=${name}")
  set_tests_properties("${name}" PROPERTIES LABELS "${label}" ENVIRONMENT "${environment}"
                                            COST "${cost}")
  # Of a suite, one test may have failed where another was skipped.
  if(entries STREQUAL "TESTS")
    set_tests_properties("${name}" PROPERTIES SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
  endif()
endforeach()
