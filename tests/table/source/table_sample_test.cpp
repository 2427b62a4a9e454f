// SPDX-License-Identifier: Apache-2.0

#include "table/source/table_sample.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/numbers.h"

namespace trainer::data {
namespace {

using Numbers = std::vector<double>;

Numbers numbers(int count, const std::function<double(int)>& number) {
  Numbers result;
  for (int i = 0; i < count; ++i) result.push_back(number(i));
  return result;
}

using test::mixed;

TEST(OffsetTest, OrdinaryColumnsHaveNone) {
  const std::vector<std::pair<const char*, std::function<double(int)>>> columns = {
      {"years", [](int i) { return 1990 + std::floor(30 * mixed(i)); }},
      {"years of a sorted file", [](int i) { return 2015 + i / 200; }},
      {"one year", [](int) { return 2015; }},
      {"ages", [](int i) { return std::floor(90 * mixed(i)); }},
      {"pixels", [](int i) { return std::floor(256 * mixed(i)); }},
      {"prices", [](int i) { return 100 * std::exp(8 * mixed(i)) + 0.99; }},
      {"mostly one price", [](int i) { return i % 5 == 0 ? 200 * mixed(i) : 99.99; }},
      {"Kelvin", [](int i) { return 293.15 + mixed(i); }},
      {"pascals", [](int i) { return 101325 + 600 * mixed(i); }},
      {"degrees of a city", [](int i) { return -122.4 + 0.1 * mixed(i); }},
      {"integers that float32 holds", [](int i) { return 1.6e7 + i; }},
      {"populations", [](int i) { return std::floor(1.4e9 * mixed(i)); }},
      {"a constant", [](int) { return 0.1; }},
      {"a code in most rows", [](int i) { return i % 5 < 3 ? 9999999999 : 100 * mixed(i); }},
      {"two codes",
       [](int i) { return i % 5 < 2   ? 999999998
                          : i % 5 < 4 ? 999999999
                                      : 100 * mixed(i); }},
      {"beyond float32", [](int) { return 1e300; }}};
  for (const auto& [name, column] : columns) {
    EXPECT_EQ(choose_offset(numbers(256, column)), 0) << name;
  }
  EXPECT_EQ(choose_offset({}), 0);
}

TEST(OffsetTest, WhatFloat32WouldLoseHasOneOfItsValues) {
  const std::vector<std::pair<const char*, std::function<double(int)>>> columns = {
      {"seconds since 1970", [](int i) { return 1.7e9 + 100 * mixed(i); }},
      {"seconds of years", [](int i) { return std::floor(1.6e9 + 1e8 * mixed(i)); }},
      {"sorted ones", [](int i) { return 1.7e9 + i; }},
      {"with codes", [](int i) { return i % 3 == 0 ? 0 : 1.7e9 + i; }},
      {"mostly 0", [](int i) { return i % 3 == 0 ? 1.7e9 + i : 0; }},
      {"with a wild first row", [](int i) { return i == 0 ? -1 : 1.7e9 + i; }},
      {"yyyymmdd", [](int i) { return 20230101 + 100 * (i % 12) + i % 28; }},
      {"a large constant", [](int) { return 20230101; }},
      {"negative ones", [](int i) { return -1e9 + mixed(i); }},
      {"nearly equal ones", [](int i) { return 5 + 1e-9 * mixed(i); }},
      {"mostly 5", [](int i) { return i % 4 == 0 ? 5 + 1e-9 * mixed(i) : 5; }}};
  for (const auto& [name, column] : columns) {
    const Numbers all = numbers(256, column);
    const double offset = choose_offset(all);
    EXPECT_NE(offset, 0) << name;
    EXPECT_NE(std::find(all.begin(), all.end(), offset), all.end()) << name;
  }
}

TEST(OffsetTest, ASampleLooksBehindRowsThatAreAllEqual) {
  constexpr size_t kMax = 8;
  OffsetSample sample;
  for (int i = 0; i < 100; ++i) sample.add(999999999, kMax);
  EXPECT_TRUE(sample.is_open());
  for (int i = 0; i < 100; ++i) sample.add(i, kMax);
  EXPECT_FALSE(sample.is_open());
  EXPECT_EQ(sample.take(), (Numbers{999999999, 999999999, 999999999, 999999999, 0, 1, 2, 3}));

  OffsetSample small;
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), 7.0, 7.0}) {
    small.add(value, kMax);
  }
  EXPECT_FALSE(small.is_open());
  EXPECT_EQ(small.take(), (Numbers{7, 7}));
}

}  // namespace

}  // namespace trainer::data
