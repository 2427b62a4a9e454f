// SPDX-License-Identifier: Apache-2.0
// The recipe that `trainer init` writes, on tables with something odd in them.
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/files.h"
#include "support/process.h"
#include "support/program_test.h"

namespace trainer {
namespace {

using test::ProcessResult;

/// A recipe, with what makes it fast enough for a test.
struct RecipeCase {
  const char* name;
  const char* options;
};

class RecipeProgramTest : public test::ProgramTest, public testing::WithParamInterface<RecipeCase> {
 protected:
  static std::string recipe() {
    return fmt::format("recipe={} {} ", GetParam().name, GetParam().options);
  }

  /// Writes t.csv with 200 rows, and trains a model of it with the defaults of the recipe.
  ProcessResult train(const std::string& header, const std::function<std::string(int)>& row,
                      const std::string& more = "") {
    std::string text = header + "\n";
    for (int i = 0; i < 200; ++i) text += row(i) + "\n";
    folder_.write("t.csv", text);
    return trainer(recipe() + "data.source=csv data.path=t.csv data.target=y " + more);
  }

  /// What the model predicts of a table, without a cell that is empty.
  std::vector<std::string> predictions(const std::string& table) {
    folder_.write("new.csv", table);
    const ProcessResult result = trainer("predict runs/latest --data new.csv");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<std::string> lines = test::lines_of(result.out);
    lines.erase(lines.begin());
    for (const std::string& line : lines) {
      EXPECT_FALSE(line.starts_with(",") || line.empty()) << result.out;
    }
    return lines;
  }
};

std::string label(int i) { return i * 37 % 100 < 50 ? "no" : "yes"; }

TEST_P(RecipeProgramTest, AColumnThatVariesOnlyLaterChangesNothing) {
  const ProcessResult result =
      train("x,same,y", [](int i) { return fmt::format("{},7,{}", i * 37 % 100, label(i)); });
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<std::string> lines = predictions("x,same\n5,7\n5,7.5\n5,-1e9\n5,\n");
  ASSERT_EQ(lines.size(), 4U);
  // A constant is scaled to 0; what differs is limited, and the network has not learned from it.
  for (const std::string& line : lines) EXPECT_TRUE(line.starts_with("no,")) << line;
}

// Sums in another order differ by so much, and a scale of it would make a new value enormous.
TEST_P(RecipeProgramTest, AColumnThatVariesInItsLastBitChangesNothing) {
  const ProcessResult result = train("x,same,y", [](int i) {
    return fmt::format("{},{},{}", i * 37 % 100, i % 2 == 0 ? "0.3" : "0.30000000000000004",
                       label(i));
  });
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<std::string> lines = predictions("x,same\n5,0.3\n5,0.31\n5,7\n5,-1e9\n");
  ASSERT_EQ(lines.size(), 4U);
  for (const std::string& line : lines) EXPECT_TRUE(line.starts_with("no,")) << line;
}

TEST_P(RecipeProgramTest, ANumberOfThreeValuesIsANumber) {
  const ProcessResult result =
      train("few,y", [](int i) { return fmt::format("{},{}", i % 3, i % 3 == 1 ? "no" : "yes"); });
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(summary()["test"]["accuracy"], 1);
}

TEST_P(RecipeProgramTest, AnInfiniteValueIsRefusedByItsLine) {
  const ProcessResult result = train("x,y", [](int i) {
    return i == 50 ? std::string("inf,no") : fmt::format("{},{}", i, label(i));
  });
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err, "error: " + (folder_.path() / "t.csv").string() +
                            ":52: column \"x\": expected a finite number, got \"inf\"\n");
}

TEST_P(RecipeProgramTest, ACategoryThatIsSeenOnceIsACategory) {
  const ProcessResult result = train(
      "kind,y",
      [](int i) {
        return fmt::format("{},{}",
                           i == 7       ? "rare"
                           : i % 2 == 0 ? "a"
                                        : "b",
                           i % 2 == 0 ? "u" : "v");
      },
      "data.max_categories=10");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(predictions("kind\nrare\na\nnew\n").size(), 3U);
}

// It is trained on, and in no other split.
TEST_P(RecipeProgramTest, AClassOfOneRowIsTrainedOn) {
  const ProcessResult result = train(
      "x,y", [](int i) { return fmt::format("{},{}", i * 37 % 100, i == 9 ? "once" : label(i)); });
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json result_of_run = summary();
  for (const Json& one : result_of_run["test"]["classes"]) {
    EXPECT_EQ(one["rows"].get<int>() == 0, one["label"] == "once") << one;
  }
}

TEST_P(RecipeProgramTest, ATargetOfOneValueCannotBeLearned) {
  const ProcessResult text = train("x,y", [](int i) { return fmt::format("{},same", i); });
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_EQ(text.err, "error: " + (folder_.path() / "t.csv").string() +
                          ": column \"y\": every row has the label \"same\"; a constant target "
                          "cannot be learned\n");
  const ProcessResult number = train("x,y", [](int i) { return fmt::format("{},2.5", i); });
  EXPECT_EQ(number.exit_code, 3);
  EXPECT_NE(number.err.find(": column \"y\": every row has the "), std::string::npos) << number.err;
}

TEST_P(RecipeProgramTest, AnEnsembleHasNoMoreMembersThanRows) {
  folder_.write("t.csv", "x,y\n1,u\n2,v\n3,u\n4,v\n");
  const ProcessResult result = trainer("ensemble --members 5 " + recipe() +
                                       "data.source=csv data.path=t.csv data.target=y "
                                       "data.test_fraction=0");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err,
            "error: data.validation_folds: expected at most 4, as many as there are rows that are "
            "not in the test split, got 5\n");
}

// As in a table of diamonds with a width of 59 mm: neither the validation loss nor a prediction is
// decided by it.
TEST_P(RecipeProgramTest, OutliersDecideNothing) {
  for (const char* more : {"", "data.target_scaling=standard"}) {
    const ProcessResult result = train(
        "x,wide,y",
        [](int i) {
          const int x = i * 37 % 100;
          return fmt::format("{},{},{}", x, i % 50 == 3 ? 5.9e6 : 0.1 * x, 3 * x + i % 7);
        },
        std::string("training.epochs=64 data.task=regression ") + more);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_GT(summary()["test"]["r2"], 0.98) << result.out;
  }
  for (const std::string& line : predictions("x,wide\n10,1e30\n1e9,3\n")) {
    EXPECT_LE(std::stod(line), 303) << line;
    EXPECT_GE(std::stod(line), 0) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryRecipe, RecipeProgramTest,
                         testing::Values(RecipeCase{"realmlp", "training.epochs=32"},
                                         RecipeCase{"tabm",
                                                    "model.hidden_size=64 model.ensemble_size=4"}),
                         [](const auto& test) { return std::string(test.param.name); });

/// Spectra of two substances, of which the smaller one is the target: 40 columns that all say
/// nearly the same.
std::string spectra() {
  std::string text;
  for (int column = 0; column < 40; ++column) text += fmt::format("w{},", column);
  text += "y\n";
  for (int i = 0; i < 120; ++i) {
    const double large = i * 37 % 101 / 10.0;
    const double small = i * 53 % 103 / 100.0;
    for (int column = 0; column < 40; ++column) {
      const double noise = (i * 7919 + column * 104729) % 1009 / 1009.0;
      text += fmt::format("{:.5f},", large * (1 + std::cos(column / 9.0)) +
                                         small * std::sin(column / 5.0) + 0.01 * noise);
    }
    text += fmt::format("{:.4f}\n", small);
  }
  return text;
}

class LinearRecipeTest : public test::ProgramTest {
 protected:
  LinearRecipeTest() { folder_.write("t.csv", spectra()); }

  Json train(const std::string& options) {
    const ProcessResult result =
        trainer("data.source=csv data.path=t.csv data.target=y data.task=regression " + options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return summary();
  }
};

TEST_F(LinearRecipeTest, FindsInFewRowsOfManyColumnsWhatNetworksDoNot) {
  const double linear = train("recipe=linear")["test"]["rmse"];
  const double network = train("recipe=realmlp training.epochs=32")["test"]["rmse"];
  EXPECT_LT(linear, 0.1);
  EXPECT_LT(2 * linear, network);
}

TEST_F(LinearRecipeTest, BothStepsTrainIt) {
  const double fused = train("recipe=linear training.step=fused")["test"]["rmse"];
  const double autograd = train("recipe=linear training.step=autograd")["test"]["rmse"];
  EXPECT_NEAR(fused, autograd, 1e-3 * fused);
}

TEST_F(LinearRecipeTest, IsWhatInitWritesAndWhatASearchTriesOnce) {
  ASSERT_EQ(trainer("init t.csv --target y").exit_code, 0);
  const std::string config = test::read_file(path("t.yaml"));
  EXPECT_NE(config.find("# A linear model, for few rows of many columns."), std::string::npos);
  EXPECT_NE(config.find("\nrecipe: linear\n"), std::string::npos) << config;
  const ProcessResult result =
      trainer("search --config t.yaml --trials 3 --folds 2 training.epochs=2 members=1");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::vector<std::string> recipes;
  const Json found = parse_json(test::read_file(path("runs/latest/search.json")));
  for (const Json& trial : found["trials"]) recipes.push_back(trial["recipe"]);
  EXPECT_EQ(recipes, (std::vector<std::string>{"linear", "realmlp", "realmlp"}));
}

TEST_F(LinearRecipeTest, PredictsClassesToo) {
  std::string text = "x,z,y\n";
  for (int i = 0; i < 200; ++i) {
    const int x = i * 37 % 100;
    const int z = i * 53 % 90;
    text += fmt::format("{},{},{}\n", x, z, x < z - 20 ? "low" : x < z + 20 ? "middle" : "high");
  }
  folder_.write("t.csv", text);
  const Json found = train("data.task=classification recipe=linear");
  EXPECT_GT(found["test"]["accuracy"], 0.8);
}

}  // namespace
}  // namespace trainer
