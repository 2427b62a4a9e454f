// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/similar_text.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/text/suggest.h"

namespace trainer {
namespace {

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
