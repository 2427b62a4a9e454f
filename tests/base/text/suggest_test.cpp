// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/suggest.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace trainer {
namespace {

const std::vector<std::string> kWords = {"learning_rate", "batch_size", "epochs", "seed"};

TEST(NearestWordTest, FindsWordsWithAFewWrongLetters) {
  EXPECT_EQ(nearest_word("learning_rat", kWords), "learning_rate");
  EXPECT_EQ(nearest_word("learningrate", kWords), "learning_rate");
  EXPECT_EQ(nearest_word("epoch", kWords), "epochs");
  EXPECT_EQ(nearest_word("sead", kWords), "seed");
}

TEST(NearestWordTest, CountsSwappedLettersOnce) {
  EXPECT_EQ(nearest_word("sede", kWords), "seed");
  EXPECT_EQ(nearest_word("bacth_size", kWords), "batch_size");
}

TEST(NearestWordTest, DoesNotCountCapitals) {
  EXPECT_EQ(nearest_word("SEED", kWords), "seed");
  EXPECT_EQ(nearest_word("seed", std::vector<std::string>{"SEED"}), "SEED");
}

TEST(NearestWordTest, FindsNothingThatIsFar) {
  EXPECT_EQ(nearest_word("momentum", kWords), std::nullopt);
  EXPECT_EQ(nearest_word("", kWords), std::nullopt);
  EXPECT_EQ(nearest_word("x", std::vector<std::string>{"y"}), std::nullopt);
  EXPECT_EQ(nearest_word("seed", {}), std::nullopt);
}

TEST(NearestWordTest, TakesTheNearestAndTheFirstOfEquallyNear) {
  EXPECT_EQ(nearest_word("column_1", std::vector<std::string>{"colum_2", "column_2", "column_3"}),
            "column_2");
}

}  // namespace
}  // namespace trainer
