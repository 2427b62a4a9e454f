// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/search_importance.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/text/parse.h"

namespace trainer::experiments {
namespace {

using config::Recipe;

const std::vector<SpaceKey> kSpace = {{"training.learning_rate", "log(1e-4,1e-1)"},
                                      {"model.dropout", "uniform(0,0.5)"},
                                      {"model.num_layers", "int(1,3)"},
                                      {"model.activation", "choice(relu,gelu,silu)"}};

using LossOf = std::function<double(double rate, const std::string& activation)>;

/// The trials of a search whose losses are a function of two of the four keys.
std::vector<Trial> trials_with(int64_t count, const LossOf& loss) {
  std::vector<Trial> trials = {{.number = 1, .recipe = Recipe::kRealmlp}};
  for (int64_t number = 2; number < count + 2; ++number) {
    Trial& trial = trials.emplace_back(Trial{.number = number, .recipe = Recipe::kRealmlp});
    trial.settings = draw_trial(parse_space(kSpace), /*seed=*/5, number);
    trial.first_loss = loss(std::log10(parse_double(trial.settings[0].value).value_or(0)),
                            trial.settings[3].value);
  }
  return trials;
}

std::vector<KeyImportance> importance_of(const std::vector<Trial>& trials) {
  return key_importance({{Recipe::kRealmlp, parse_space(kSpace)}}, trials);
}

double share_of(const std::string& key, const std::vector<KeyImportance>& importance) {
  for (const KeyImportance& one : importance) {
    if (one.key == key) return one.share;
  }
  return -1;
}

TEST(SearchImportanceTest, ANumberWithABestValueExplainsTheLosses) {
  for (const int64_t count : {10, 30, 100}) {
    const auto found = importance_of(trials_with(
        count, [](double rate, const std::string&) { return 1 + std::pow(rate + 2.5, 2); }));
    ASSERT_EQ(found.size(), 4U);
    EXPECT_EQ(found[0].key, "training.learning_rate");
    EXPECT_GT(found[0].share, 0.9) << count;
    EXPECT_LT(found[1].share, count == 10 ? 0.4 : 0.15) << count << found[1].key;
  }
}

TEST(SearchImportanceTest, SharesOfTwoKeysAddUp) {
  const auto found = importance_of(trials_with(100, [](double rate, const std::string& activation) {
    return rate + (activation == "gelu" ? 2 : 0);
  }));
  EXPECT_EQ(found[2].share, 0);
  const double rate = share_of("training.learning_rate", found);
  const double activation = share_of("model.activation", found);
  EXPECT_NEAR(rate, 0.45, 0.15);
  EXPECT_NEAR(activation, 0.5, 0.15);
  EXPECT_NEAR(rate + activation, 1, 0.2);  // the draws of two keys are correlated by chance
}

// A loss that is a million times larger is one rank worse, and so is a trial that failed.
TEST(SearchImportanceTest, OneTrialDoesNotDecide) {
  std::vector<Trial> trials =
      trials_with(30, [](double rate, const std::string&) { return std::abs(rate + 2.5); });
  const double before = share_of("training.learning_rate", importance_of(trials));
  *trials[7].first_loss *= 1e6;
  const double large = share_of("training.learning_rate", importance_of(trials));
  EXPECT_NEAR(large, before, 0.2);
  trials[7].first_loss.reset();
  EXPECT_EQ(share_of("training.learning_rate", importance_of(trials)), large);
}

TEST(SearchImportanceTest, FewTrialsOrEqualLossesSayNothing) {
  const LossOf loss = [](double rate, const std::string&) { return rate; };
  EXPECT_TRUE(importance_of(trials_with(9, loss)).empty());
  EXPECT_FALSE(importance_of(trials_with(10, loss)).empty());
  EXPECT_TRUE(
      importance_of(trials_with(20, [](double, const std::string&) { return 1.0; })).empty());
}

// A choice that occurs once says nothing, and one that is always the same nothing either.
TEST(SearchImportanceTest, AChoiceOfOneTrialExplainsNothing) {
  std::vector<Trial> trials = trials_with(12, [](double rate, const std::string&) { return rate; });
  KeyRange each{{.key = "model.activation", .range = ""}};
  for (std::size_t i = 1; i < trials.size(); ++i) {
    each.choices.push_back(std::to_string(i));
    trials[i].settings = {{each.key, each.choices.back(), "search"}};
  }
  EXPECT_EQ(key_importance({{Recipe::kRealmlp, {each}}}, trials).front().share, 0);
  for (Trial& trial : trials) {
    if (!trial.settings.empty()) trial.settings.front().value = "1";
  }
  EXPECT_EQ(key_importance({{Recipe::kRealmlp, {each}}}, trials).front().share, 0);
}

}  // namespace
}  // namespace trainer::experiments
