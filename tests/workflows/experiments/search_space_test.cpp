// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/search_space.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/text/parse.h"

#include "support/error_of.h"

namespace trainer::experiments {
namespace {

std::vector<std::string> values_of(const SpaceKey& key, int count) {
  std::vector<std::string> values;
  for (int64_t number = 2; number < count + 2; ++number) {
    values.push_back(draw_trial(parse_space({key}), /*seed=*/3, number).front().value);
  }
  return values;
}

TEST(SearchSpaceTest, NumbersAreWithinTheirRange) {
  int below_middle = 0;
  for (const std::string& value : values_of({"training.learning_rate", "log(1e-4, 1e-2)"}, 400)) {
    const double number = parse_double(value).value_or(0);
    EXPECT_GE(number, 1e-4);
    EXPECT_LE(number, 1e-2);
    below_middle += static_cast<int>(number < 1e-3);
  }
  EXPECT_NEAR(below_middle, 200, 50);  // the middle of a logarithmic range
  for (const std::string& value : values_of({"model.dropout", "uniform(0.1,0.3)"}, 100)) {
    EXPECT_GE(parse_double(value).value_or(0), 0.1);
    EXPECT_LE(parse_double(value).value_or(1), 0.3);
  }
}

TEST(SearchSpaceTest, WholeNumbersAndChoicesAllOccur) {
  const auto layers = values_of({"model.num_layers", "int(1,3)"}, 60);
  EXPECT_EQ(std::set<std::string>(layers.begin(), layers.end()),
            (std::set<std::string>{"1", "2", "3"}));
  const auto sizes = values_of({"model.hidden_sizes", "choice([64, 64],[128])"}, 30);
  EXPECT_EQ(std::set<std::string>(sizes.begin(), sizes.end()),
            (std::set<std::string>{"[64, 64]", "[128]"}));
}

TEST(SearchSpaceTest, ATrialIsAFunctionOfSeedAndNumber) {
  const auto space = parse_space(
      {{"training.learning_rate", "log(1e-4,1e-1)"}, {"model.activation", "choice(relu,gelu)"}});
  const auto value = [&](uint64_t seed, int64_t number) {
    return draw_trial(space, seed, number).front().value;
  };
  EXPECT_EQ(value(1, 2), value(1, 2));
  EXPECT_NE(value(1, 2), value(1, 3));
  EXPECT_NE(value(1, 2), value(2, 2));
}

TEST(SearchSpaceTest, MistakesAreNamed) {
  const auto problem = [](const SpaceKey& key) {
    return test::message_of(ErrorKind::kUsage, [&] { parse_space({key}); });
  };
  for (const char* range :
       {"log(0,1)", "log(1,1)", "log(2,1)", "int(1,2.5)", "uniform(1)", "choice()", "choice(a,)",
        "log(a,b)", "normal(0,1)", "uniform(0,1,2)"}) {
    EXPECT_EQ(problem({"model.dropout", range}),
              "model.dropout: expected log(LOW,HIGH), uniform(LOW,HIGH), int(LOW,HIGH) or "
              "choice(A,B,...), got \"" +
                  std::string(range) + "\"");
  }
  EXPECT_EQ(problem({"model.width", "int(1,2)"}),
            "model.width: unknown key, got the range \"int(1,2)\"; `trainer config reference` "
            "lists the keys");
  EXPECT_EQ(problem({"data.scaling", "choice(none,standard)"}),
            "data.scaling: only keys of model and training can be searched, because all members of "
            "an ensemble share the rest; give one value, or make a search for each");
  EXPECT_EQ(
      test::message_of(
          ErrorKind::kUsage,
          [] {
            parse_space({{"model.dropout", "uniform(0,1)"}, {"model.dropout", "choice(0,1)"}});
          }),
      "model.dropout: expected one range, got several; remove all but one");
}

TEST(SearchSpaceTest, ARangeIsToldFromAValue) {
  for (const char* range : {"log(1,2)", "uniform(0,1)", "int(1,2)", "choice(a)"}) {
    EXPECT_TRUE(is_range(range)) << range;
  }
  for (const char* value : {"", "log", "1e-3", "relu", "(1,2)", "[1, 2]", "logistic(1)"}) {
    EXPECT_FALSE(is_range(value)) << value;
  }
}

}  // namespace
}  // namespace trainer::experiments
