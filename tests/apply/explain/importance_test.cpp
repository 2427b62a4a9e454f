// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/explain/importance.h"

#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/apply/explain/partial_dependence.h"
#include "trainer/apply/model.h"
#include "trainer/config/config.h"
#include "trainer/nn/spec/mlp.h"

#include "support/checkpoints.h"
#include "support/error_of.h"
#include "support/numbers.h"

namespace trainer::explain {
namespace {

constexpr int64_t kRows = 500;

/// y = 3 a + c / 10 with weights that know it, and 0 for b; c is a sign of the date's month.
apply::Model some_model(const std::vector<float>& weights, std::vector<data::Column> columns) {
  apply::Model model;
  const auto width = static_cast<int64_t>(weights.size());
  model.members.push_back(
      {.config = std::make_shared<config::Config>(),
       .network = network::mlp({.num_features = width, .num_outputs = 1, .hidden_sizes = {}}),
       .weights = {{"layers.0.weight", test::float_data({1, width}, weights)},
                   {"layers.0.bias", test::float_data({1}, {0})}}});
  model.loss = config::Loss::kMse;
  data::Schema& schema = model.schema;
  schema.task = config::Task::kRegression;
  schema.columns = std::move(columns);
  schema.feature_names = data::feature_names(schema.columns);
  schema.target_names = {"y"};
  schema.scaling = {std::vector<float>(weights.size()), std::vector<float>(weights.size(), 1.0F)};
  schema.target_scaling = {{0}, {1}};
  schema.target_means = {0};
  return model;
}

apply::Model three_columns() {
  return some_model({3, 0.01F, 0}, {{.name = "a"}, {.name = "noise"}, {.name = "unused"}});
}

ExplainedRows some_rows(const apply::Model& model, int64_t num_rows = kRows) {
  const int64_t width = model.schema.num_features();
  ExplainedRows rows{.schema = model.schema, .rows = {}};
  const std::vector<float> values = test::some_numbers(num_rows * width, 7);
  for (int64_t i = 0; i < num_rows; ++i) {
    rows.rows.values.push_back(3 * values[static_cast<std::size_t>(i * width)]);
  }
  rows.rows.features = {num_rows, width, Array<float>(values.begin(), values.end())};
  rows.num_available = num_rows;
  return rows;
}

Importance importance_of(const apply::Model& model, const ExplainedRows& rows,
                         const ImportanceOptions& options = {}) {
  return permutation_importance(model, rows, column_groups(model.schema), options);
}

TEST(ImportanceTest, TheColumnThatTheTargetDependsOnIsFirstAndOthersAreNoise) {
  const apply::Model model = three_columns();
  const Importance found = importance_of(model, some_rows(model), {.seed = 3});
  ASSERT_EQ(found.columns.size(), 3U);
  EXPECT_EQ(found.columns[0].group, 0U);
  EXPECT_FALSE(found.columns[0].is_noise());
  // The mean of (3 (x - y))^2 for independent x and y in [-1, 1).
  EXPECT_NEAR(found.columns[0].mean, 9 * 2.0 / 3, 0.5);
  EXPECT_NEAR(found.score, 0.01 * 0.01 / 3, 1e-5);
  EXPECT_NEAR(found.baseline.value(), 9.0 / 3, 0.3);
  for (std::size_t i = 1; i < 3; ++i) EXPECT_TRUE(found.columns[i].is_noise()) << i;
  EXPECT_EQ(found.num_rows, kRows);
}

TEST(ImportanceTest, IsTheSameForAnyNumberOfThreadsAndMoreRepeatsBeginAlike) {
  const apply::Model model = three_columns();
  const ExplainedRows rows = some_rows(model);
  const Importance one = importance_of(model, rows, {.repeats = 1, .seed = 3});
  const Importance two = importance_of(model, rows, {.repeats = 2, .seed = 3});
  const Importance threads =
      importance_of(model, rows, {.repeats = 2, .seed = 3, .num_threads = 3});
  const Importance other = importance_of(model, rows, {.repeats = 2, .seed = 4});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(two.columns[i].mean, threads.columns[i].mean);
    EXPECT_EQ(two.columns[i].deviation, threads.columns[i].deviation);
  }
  EXPECT_NE(two.columns[0].mean, other.columns[0].mean);
  EXPECT_EQ(one.columns[0].deviation, 0);
  // Of two, the deviation is half their distance times the root of 2.
  EXPECT_NEAR(std::abs(one.columns[0].mean - two.columns[0].mean),
              two.columns[0].deviation / std::sqrt(2.0), 1e-9);
}

TEST(ImportanceTest, AMetricThatIsBetterWhenLargerFalls) {
  const apply::Model model = three_columns();
  const Importance found =
      importance_of(model, some_rows(model), {.metric = config::BestMetric::kR2});
  EXPECT_NEAR(found.score, 1, 1e-3);
  EXPECT_NEAR(found.baseline.value(), 0, 0.05);
  EXPECT_NEAR(found.columns[0].mean, 2, 0.2);
}

// The parts of one date: shuffled alone, each would break the sum that the model has learned.
TEST(ImportanceTest, AllFeaturesOfAColumnMoveTogether) {
  const apply::Model model = some_model(
      {1, 1, -1, 1}, {{.name = "d.month", .source = "d", .date_part = config::DatePart::kMonth},
                      {.name = "a"},
                      {.name = "d.hour", .source = "d", .date_part = config::DatePart::kHour},
                      {.name = "b"}});
  const std::vector<ColumnGroup> groups = column_groups(model.schema);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].name, "d");
  EXPECT_EQ(groups[0].features, (std::vector<int64_t>{0, 2}));
  ExplainedRows rows = some_rows(model);
  auto& features = std::get<Array<float>>(rows.rows.features.values);
  for (std::size_t i = 0; i < rows.rows.values.size(); ++i) {
    features[4 * i + 2] = features[4 * i];  // month less hour is 0
    rows.rows.values[i] = features[4 * i + 1] + features[4 * i + 3];
  }
  const Importance found = importance_of(model, rows);
  EXPECT_EQ(found.columns.back().group, 0U);
  EXPECT_NEAR(found.columns.back().mean, 0, 1e-6);
  EXPECT_GT(found.columns[1].mean, 0.5);
  EXPECT_EQ(cell_text(groups[0], std::vector<float>{3, 0, 14, 0}), "month 3, hour 14");
}

TEST(ImportanceTest, CategoriesMoveWithTheMarkOfMissingCells) {
  const apply::Model model =
      some_model({1, 1, 1, 1, 1}, {{.name = "k",
                                    .kind = data::ColumnKind::kCategorical,
                                    .categories = {"p", "q"},
                                    .has_missing_indicator = true},
                                   {.name = "n", .fill = 0, .has_missing_indicator = true}});
  const std::vector<ColumnGroup> groups = column_groups(model.schema);
  EXPECT_EQ(groups[0].features, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(groups[1].features, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(cell_text(groups[0], std::vector<float>{0, 1, 0, 5, 0}), "q");
  EXPECT_EQ(cell_text(groups[0], std::vector<float>{0, 0, 1, 5, 0}), "missing");
  EXPECT_EQ(cell_text(groups[0], std::vector<float>{0, 0, 0, 5, 0}), "unknown");
  EXPECT_EQ(cell_text(groups[1], std::vector<float>{0, 1, 0, 5, 0}), "5");
  EXPECT_EQ(cell_text(groups[1], std::vector<float>{0, 1, 0, 0, 1}), "missing");
}

TEST(ImportanceTest, PixelsAreInSquaresAndManyFeaturesInBlocks) {
  data::Schema schema;
  for (int i = 0; i < 28; ++i) {
    for (int j = 0; j < 28; ++j) schema.feature_names.push_back(fmt::format("pixel_{}_{}", i, j));
  }
  const std::vector<ColumnGroup> squares = column_groups(schema);
  ASSERT_EQ(squares.size(), 49U);
  EXPECT_EQ(squares[8].name, "pixels in rows 4 to 7, columns 4 to 7");
  EXPECT_EQ(squares[8].features[4], 5 * 28 + 4);
  schema.feature_names.clear();
  for (int i = 0; i < 130; ++i) schema.feature_names.push_back(fmt::format("x_{}", i));
  const std::vector<ColumnGroup> blocks = column_groups(schema);
  EXPECT_EQ(blocks.size(), 44U);
  EXPECT_EQ(blocks.back().name, "x_129 to x_129");
  schema.feature_names.resize(100);
  EXPECT_EQ(column_groups(schema)[99].name, "x_99");
}

TEST(ImportanceTest, MetricsThatAreNotDefinedAreRefused) {
  const apply::Model model = three_columns();
  const auto message = [&](ErrorKind kind, const ImportanceOptions& options, int64_t num_rows) {
    return test::message_of(kind,
                            [&] { importance_of(model, some_rows(model, num_rows), options); });
  };
  EXPECT_EQ(message(ErrorKind::kUsage, {.metric = config::BestMetric::kAuroc}, 5),
            "--metric: auroc is not defined for regression; use loss");
  EXPECT_EQ(message(ErrorKind::kData, {.metric = config::BestMetric::kR2}, 1),
            "--metric: r2 is not defined for these rows (1); choose another metric");
}

TEST(ExplainedRowsTest, OfManyRowsSomeAreChosenBySeed) {
  const apply::Model model = three_columns();
  const auto chosen = [&](int64_t max_rows, uint64_t seed) {
    ExplainedRows rows = some_rows(model);
    return choose_rows({.split = "test", .schema = model.schema, .rows = std::move(rows.rows)},
                       {max_rows, seed});
  };
  const ExplainedRows all = chosen(kRows, 1);
  const ExplainedRows some = chosen(50, 1);
  EXPECT_EQ(all.rows.size(), kRows);
  EXPECT_EQ(some.rows.size(), 50);
  EXPECT_EQ(some.num_available, kRows);
  EXPECT_EQ(some.split, "test");
  EXPECT_EQ(some.rows.values.size(), 50U);
  EXPECT_EQ(chosen(50, 1).rows.values, some.rows.values);
  EXPECT_NE(chosen(50, 2).rows.values, some.rows.values);
  // Features and targets belong together.
  const auto& features = std::get<Array<float>>(some.rows.features.values);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(some.rows.values[i], 3 * features[3 * i]);
}

TEST(PartialDependenceTest, OfALinearModelIsALine) {
  const apply::Model model = three_columns();
  const std::vector<ColumnGroup> groups = column_groups(model.schema);
  const std::vector<PartialDependence> found =
      partial_dependence(model, some_rows(model), groups[0], 2);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].is_numeric);
  ASSERT_EQ(found[0].points.size(), 11U);
  double shares = 0;
  for (const DependencePoint& point : found[0].points) {
    EXPECT_NEAR(point.means[0], 3 * point.value.value(), 0.01);
    EXPECT_NEAR(point.share, 0.1, 0.06);
    shares += point.share;
  }
  EXPECT_NEAR(shares, 1, 1e-12);
  EXPECT_NEAR(found[0].points[5].value.value(), 0, 0.1);
}

TEST(PartialDependenceTest, OfCategoriesBeginsWithTheMostFrequentOne) {
  const apply::Model model = some_model({1, -2, 5}, {{.name = "k",
                                                      .kind = data::ColumnKind::kCategorical,
                                                      .categories = {"p", "q"},
                                                      .has_missing_indicator = true}});
  ExplainedRows rows = some_rows(model, 10);
  Array<float> features;
  for (int i = 0; i < 10; ++i) {
    for (int k = 0; k < 3; ++k) features.push_back(k == (i < 2 ? 0 : i < 9 ? 1 : 2) ? 1.0F : 0.0F);
  }
  rows.rows.features.values = features;
  const auto found = partial_dependence(model, rows, column_groups(model.schema)[0], 1);
  ASSERT_EQ(found[0].points.size(), 3U);
  EXPECT_EQ(found[0].points[0].text, "q");
  EXPECT_NEAR(found[0].points[0].share, 0.7, 1e-12);
  EXPECT_EQ(found[0].points[0].means, std::vector<double>{-2});
  EXPECT_EQ(found[0].points[1].text, "p");
  EXPECT_EQ(found[0].points[2].text, "missing");
  EXPECT_EQ(found[0].points[2].means, std::vector<double>{5});
}

}  // namespace
}  // namespace trainer::explain
