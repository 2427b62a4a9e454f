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

using Names = std::vector<std::string>;

TEST(SimilarTextTest, CapitalsAndTheFormOfUnicodeDoNotCount) {
  EXPECT_EQ(folded("Ab-9"), "ab-9");
  EXPECT_EQ(folded("\u00C9t\u00E9"), "e\u0301te\u0301");
  EXPECT_EQ(folded("\u017D"), "z\u030C");
  EXPECT_EQ(folded("\u00D8\u0419\u042F\u03A9"), "\u00F8\u0438\u0306\u044F\u03C9");
  EXPECT_EQ(folded("\u65E5\xFF"), "\u65E5\xFF");
}

TEST(SimilarTextTest, NamesWhatIsAlike) {
  EXPECT_EQ(similar_texts(Names{"No", "Yes", "no", "NO", "na\u00EFve", "nai\u0308ve"}),
            (Names{"\"No\"", "\"no\"", "\"NO\"", "\"na\u00EFve\"", "\"nai\u0308ve\""}));
  EXPECT_TRUE(similar_texts(Names{"a", "b"}).empty());
}

TEST(SimilarTextTest, AWordInAnotherFormIsSuggested) {
  const Names words = {"x", "pr\u00E9nom"};
  EXPECT_EQ(nearest_word("pre\u0301nom", words), words[1]);
}

}  // namespace

}  // namespace trainer
