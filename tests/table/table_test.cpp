// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/table.h"

#include <gtest/gtest.h>

namespace trainer::data {
namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<uint8_t>;

TEST(TableTest, ReadsElementsOfBothKinds) {
  const Matrix floats{2, 2, Floats{1.5f, 2, 3, 4}};
  const Matrix bytes{2, 2, Bytes{0, 255, 7, 8}};
  EXPECT_EQ(value_at(floats, 0, 0), 1.5);
  EXPECT_EQ(value_at(floats, 1, 0), 3);
  EXPECT_EQ(value_at(bytes, 0, 1), 255);
}

TEST(TableTest, TakesRowsInTheGivenOrder) {
  const Matrix matrix{3, 2, Bytes{0, 1, 10, 11, 20, 21}};
  const Matrix taken = take_rows(matrix, std::vector<int64_t>{2, 0, 2});
  EXPECT_EQ(taken.num_rows, 3);
  EXPECT_EQ(taken.num_columns, 2);
  EXPECT_EQ(std::get<Array<uint8_t>>(taken.values), (Bytes{20, 21, 0, 1, 20, 21}));
}

TEST(TableTest, TakesNoRows) {
  const Matrix taken = take_rows({1, 2, Floats{1, 2}}, {});
  EXPECT_EQ(taken.num_rows, 0);
  EXPECT_EQ(taken.num_columns, 2);
  EXPECT_EQ(std::get<Array<float>>(taken.values), Floats{});
}

TEST(TableTest, KeepsTheGivenRowsInPlace) {
  Matrix matrix{4, 2, Floats{0, 1, 10, 11, 20, 21, 30, 31}};
  const float* const storage = std::get<Array<float>>(matrix.values).data();
  keep_rows(matrix, std::vector<int64_t>{0, 2, 3});
  EXPECT_EQ(matrix.num_rows, 3);
  EXPECT_EQ(std::get<Array<float>>(matrix.values), (Floats{0, 1, 20, 21, 30, 31}));
  EXPECT_EQ(std::get<Array<float>>(matrix.values).data(), storage);
}

TEST(TableTest, KeepsAllRowsAndNone) {
  Matrix matrix{2, 1, Bytes{1, 2}};
  keep_rows(matrix, std::vector<int64_t>{0, 1});
  EXPECT_EQ(std::get<Array<uint8_t>>(matrix.values), (Bytes{1, 2}));
  keep_rows(matrix, {});
  EXPECT_EQ(matrix.num_rows, 0);
  EXPECT_EQ(std::get<Array<uint8_t>>(matrix.values), Bytes{});
}

}  // namespace
}  // namespace trainer::data
