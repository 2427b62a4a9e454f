// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/recipe.h"

#include <gtest/gtest.h>

#include "trainer/config/dump.h"
#include "trainer/config/fields.h"
#include "trainer/config/load.h"

#include "support/enums.h"
#include "support/error_of.h"

namespace trainer::config {
namespace {

Loaded load_text(const std::string& yaml, const std::vector<Override>& overrides = {}) {
  return load({{"a.yaml", yaml, "/"}}, overrides);
}

Loaded completed(const std::string& yaml, const DataFacts& facts) {
  Loaded loaded = load_text(yaml);
  complete_recipe(loaded.config, facts);
  return loaded;
}

int64_t batch_size_for(int64_t num_train) {
  const DataFacts facts{.task = Task::kClassification, .num_train = num_train};
  return completed("recipe: realmlp", facts).config.training.batch_size;
}

void expect_equal(const Config& actual, const Config& expected) {
  for (const Field& field : fields()) {
    EXPECT_EQ(value_text(field, actual), value_text(field, expected)) << field.path;
  }
}

TEST(RecipeTest, PlainIsTheDefaultAndChangesNothing) {
  EXPECT_TRUE(recipe_defaults(Recipe::kPlain).empty());
  expect_equal(load_text("recipe: plain").config, load_text("").config);
}

TEST(RecipeTest, EveryDefaultOfARecipeIsAValueOfItsKey) {
  for (const Recipe recipe : test::every<Recipe>()) {
    for (const RecipeDefault& value : recipe_defaults(recipe)) {
      EXPECT_NE(find_field(value.key), nullptr) << value.key;
    }
    for (const Task task : {Task::kClassification, Task::kRegression}) {
      for (const int64_t rows : {1, 100'000, 100'000'000}) {
        const DataFacts facts{.task = task, .num_train = rows};
        const Loaded loaded = completed("recipe: " + to_text(recipe), facts);
        EXPECT_TRUE(loaded.config.pending.empty());
      }
    }
  }
}

TEST(RecipeTest, SetsDefaultsAndSaysSo) {
  const Loaded loaded = load_text("recipe: realmlp");
  EXPECT_EQ(loaded.config.training.epochs, 256);
  EXPECT_EQ(loaded.config.data.binary, BinaryEncoding::kSign);
  EXPECT_EQ(origin_of(loaded, "training.epochs"), "recipe realmlp");
  EXPECT_EQ(origin_of(loaded, "training.ema_decay"), "default");
  EXPECT_EQ(origin_of(loaded, "recipe"), "a.yaml:1");
}

TEST(RecipeTest, WhatTheUserSetsCountsWhereverItStands) {
  const Loaded before = load_text("training: {epochs: 3}\nrecipe: realmlp\n");
  EXPECT_EQ(before.config.training.epochs, 3);
  const Loaded behind = load_text("training: {epochs: 3}\n", {{"recipe", "realmlp", "--recipe"}});
  EXPECT_EQ(behind.config.training.epochs, 3);
  EXPECT_EQ(behind.config.model.num_layers, 3);
  const Loaded null = load_text("training: {epochs: 3}\nrecipe: realmlp\n",
                                {{"training.epochs", "null", "command line"}});
  EXPECT_EQ(null.config.training.epochs, 256);
}

TEST(RecipeTest, ARecipeOfTheCommandLineHoldsForAllMembers) {
  const std::string yaml = "members: 5\nrecipe: realmlp\nmember_recipes: [realmlp, tabm]\n";
  EXPECT_EQ(load_text(yaml).config.member_recipes, (std::vector<std::string>{"realmlp", "tabm"}));
  EXPECT_TRUE(load_text(yaml, {{"recipe", "plain", "--recipe"}}).config.member_recipes.empty());
  EXPECT_EQ(
      test::message_of(ErrorKind::kUsage, [] { load_text("member_recipes: [tabm, best]\n"); }),
      "a.yaml:1: member_recipes: expected names of plain, realmlp, tabm or linear, got \"best\"");
}

TEST(RecipeTest, WidthsOfTheUserReplaceThoseOfTheRecipe) {
  const Loaded loaded = load_text("recipe: realmlp\nmodel: {hidden_sizes: [9, 8]}\n");
  EXPECT_EQ(hidden_sizes(loaded.config.model), (std::vector<int64_t>{9, 8}));
}

TEST(RecipeTest, TheTaskIsTakenFromTheConfigurationWhereItStatesOne) {
  const Loaded classes = load_text("recipe: realmlp\ndata: {task: classification}\n");
  EXPECT_EQ(classes.config.training.learning_rate, 0.04);
  EXPECT_EQ(classes.config.pending, std::vector<std::string>{"training.batch_size"});
  const Loaded numbers = load_text("recipe: realmlp\ntraining: {loss: huber}\n");
  EXPECT_EQ(numbers.config.training.learning_rate, 0.2);
  EXPECT_EQ(numbers.config.model.activation, Activation::kMish);
}

TEST(RecipeTest, DefaultsThatDependOnTheDataWaitForThem) {
  Loaded loaded = load_text("recipe: realmlp");
  EXPECT_EQ(
      loaded.config.pending,
      (std::vector<std::string>{"model.activation", "training.batch_size", "training.learning_rate",
                                "training.label_smoothing", "training.best_metric"}));
  const std::string text = dump(loaded);
  EXPECT_NE(text.find("\n  # learning_rate: 0.04 for classification, 0.2 for regression  # recipe "
                      "realmlp\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(load({{"dump.yaml", text, "/"}}, {}).config.pending, loaded.config.pending);

  complete_recipe(loaded.config, {.task = Task::kRegression, .num_train = 30'001});
  EXPECT_EQ(loaded.config.training.learning_rate, 0.2);
  EXPECT_EQ(loaded.config.training.label_smoothing, 0);
  EXPECT_EQ(loaded.config.training.best_metric, BestMetric::kRmse);
  EXPECT_EQ(loaded.config.training.batch_size, 512);
  EXPECT_TRUE(loaded.config.pending.empty());
}

TEST(RecipeTest, TheBatchSizeGrowsWithTheTable) {
  EXPECT_EQ(batch_size_for(1), 64);
  EXPECT_EQ(batch_size_for(1'024), 64);
  EXPECT_EQ(batch_size_for(1'025), 128);
  EXPECT_EQ(batch_size_for(8'192), 128);
  EXPECT_EQ(batch_size_for(30'000), 256);
  EXPECT_EQ(batch_size_for(100'000), 512);
  EXPECT_EQ(batch_size_for(100'001), 1024);
}

TEST(RecipeTest, WhatDependsOnTheSourceIsKnownBeforeTheDataAreRead) {
  const Config table = load_text("recipe: tabm\ndata: {source: csv, path: a, target: y}\n").config;
  EXPECT_EQ(table.data.scaling, ScalingMethod::kQuantileNormal);
  const Config other = load_text("recipe: tabm\ndata: {source: synthetic}\n").config;
  EXPECT_EQ(other.data.scaling, ScalingMethod::kStandard);
  for (const Config& config : {table, other}) {
    EXPECT_EQ(config.pending,
              (std::vector<std::string>{"training.batch_size", "training.best_metric"}));
  }
}

TEST(RecipeTest, WhatTheUserSetDoesNotWait) {
  const Loaded loaded = completed("recipe: realmlp\ntraining: {batch_size: 7}\n",
                                  {.task = Task::kClassification, .num_train = 5'000});
  EXPECT_EQ(loaded.config.training.batch_size, 7);
  EXPECT_EQ(loaded.config.training.learning_rate, 0.04);
}

TEST(RecipeTest, AResolvedConfigurationStaysWhatItIs) {
  // The first two are plain defaults that the recipe has otherwise.
  const Loaded loaded = completed(
      "recipe: realmlp\ntraining: {gradient_clip_norm: 1, label_smoothing: 0, epochs: 9}\n",
      {.task = Task::kClassification, .num_train = 5'000});
  Loaded again = load({{"last.pt", dump(loaded), "/"}}, {});
  expect_equal(again.config, loaded.config);
  EXPECT_TRUE(again.config.pending.empty());
  complete_recipe(again.config, {.task = Task::kRegression, .num_train = 1});
  expect_equal(again.config, loaded.config);
  EXPECT_EQ(origin_of(again, "model.init"), "recipe realmlp");
  EXPECT_EQ(origin_of(again, "model.norm"), "default");
  EXPECT_NE(origin_of(again, "training.gradient_clip_norm"), "recipe realmlp");
}

TEST(RecipeTest, WhatWaitsForTheDataIsNoDifferenceYet) {
  const Loaded loaded = load_text("recipe: realmlp");
  const Loaded other = completed("recipe: realmlp\nmodel: {norm: layer}\n",
                                 {.task = Task::kRegression, .num_train = 5'000});
  const std::vector<Difference> differences = fixed_differences(other.config, loaded.config);
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0].key, "model.norm");
}

TEST(RecipeTest, KeysOfARecipeThatDoNotApplyAreNoMistakeOfTheUser) {
  EXPECT_NO_THROW(load_text("recipe: realmlp\ndata: {source: synthetic, task: classification}\n"));
  EXPECT_NO_THROW(load_text("recipe: realmlp\nmodel: {numeric_embedding: none}\n"));
}

TEST(RecipeTest, AConflictNamesTheRecipeWhereItSetTheKey) {
  const Error error =
      test::error_of([] { load_text("recipe: realmlp\ntraining: {optimizer: {name: sgd}}\n"); });
  EXPECT_STREQ(error.what(),
               "recipe realmlp: model.parametrization: ntk requires training.optimizer.name: "
               "adamw");
}

TEST(RecipeTest, RecognizesItsOwnConstantDefaults) {
  Config config = load_text("recipe: realmlp").config;
  EXPECT_TRUE(has_recipe_default(config, "training.lr_factors"));
  EXPECT_FALSE(has_recipe_default(config, "training.batch_size"));
  EXPECT_FALSE(has_recipe_default(config, "model.norm"));
  config.training.lr_factors = {"*.bias=2"};
  EXPECT_FALSE(has_recipe_default(config, "training.lr_factors"));
}

}  // namespace
}  // namespace trainer::config
