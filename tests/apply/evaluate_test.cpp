// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/evaluate.h"

#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/text/json.h"  // IWYU pragma: keep
#include "trainer/config/config.h"
#include "trainer/metrics/report.h"
#include "trainer/nn/spec/mlp.h"

#include "support/error_of.h"
#include "support/synthetic_models.h"
#include "support/temporary_folder.h"

namespace trainer::apply {
namespace {

/// Two classes of two numbers, with weights that are made up.
Model evaluated_model() {
  Model model;
  Member& member = model.members.emplace_back();
  config::Config config;
  config.data.weight = "w";
  config.data.drop_rows_without_target = true;
  member.config = std::make_shared<config::Config>(config);
  member.network = network::mlp({.num_features = 2, .num_outputs = 2, .hidden_sizes = {8}});
  member.weights = test::make_weights(network::tensors(member.network), /*seed=*/1);
  data::Schema& schema = model.schema;
  schema.feature_names = {"a", "b"};
  schema.target_names = {"y"};
  schema.labels = {"no", "yes"};
  schema.scaling = {{0, 0}, {0.01F, 1}};
  schema.columns = {{.name = "a"}, {.name = "b"}};
  return model;
}

class EvaluateTest : public testing::Test {
 protected:
  std::string rows(int count, const std::string& target_of_odd_ones = "yes") const {
    std::string text = "a,b,y,w\n";
    for (int row = 0; row < count; ++row) {
      text += fmt::format("{},{},{},{}\n", row % 401, 0.125 * (row % 7),
                          row % 100 == 3 ? "" : (row % 2 == 0 ? "no" : target_of_odd_ones),
                          1 + row % 3);
    }
    return text;
  }

  EvaluationResult evaluate(const std::string& text, int64_t num_threads) const {
    return evaluate_file(evaluated_model(), {.data = {folder_.write("in.csv", text)}}, num_threads);
  }

  std::string problem(const std::string& text, int64_t num_threads) const {
    return test::replaced(test::message_of(ErrorKind::kData, [&] { evaluate(text, num_threads); }),
                          folder_.path().string() + "/", "");
  }

  test::TemporaryFolder folder_;
};

TEST_F(EvaluateTest, AllMetricsHaveTheSameBitsForAnyNumberOfThreads) {
  const std::string text = rows(100'000);
  const EvaluationResult expected = evaluate(text, 1);
  EXPECT_EQ(expected.report.num_rows, 99'000);
  EXPECT_EQ(expected.notes.num_without_target, 1000);
  for (const int64_t num_threads : {2, 3, 8}) {
    const EvaluationResult result = evaluate(text, num_threads);
    EXPECT_EQ(metrics::to_json(result.report), metrics::to_json(expected.report)) << num_threads;
    EXPECT_EQ(result.notes.num_without_target, 1000);
  }
}

TEST_F(EvaluateTest, TheFirstErrorOfTheFileIsReported) {
  const std::string text = rows(20'000);
  const std::string header = "a,b,y,w\n";
  for (const int64_t num_threads : {1, 2, 3}) {
    EXPECT_EQ(problem(text + "1,1,maybe,1\n1,1,other,1\n" + rows(20'000).substr(header.size()) +
                          "1,1,\"yes\n",
                      num_threads)
                  .substr(0, 13),
              "in.csv:20002:");
    EXPECT_EQ(problem(header, num_threads), "in.csv: no data rows after the header");
    EXPECT_EQ(problem(header + "1,1,,1\n2,1,,1\n", num_threads),
              "in.csv: none of the 2 rows has a target");
  }
}

}  // namespace
}  // namespace trainer::apply
