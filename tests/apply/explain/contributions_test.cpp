// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/explain/contributions.h"

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/apply/model.h"
#include "trainer/base/text/json.h"
#include "trainer/config/config.h"
#include "trainer/nn/spec/mlp.h"

#include "support/checkpoints.h"
#include "support/error_of.h"
#include "support/golden_file.h"
#include "support/numbers.h"

namespace trainer::explain {
namespace {

using Numbers = std::vector<float>;

apply::Model model_of(network::NetworkSpec network, std::vector<checkpoint::NamedTensor> weights) {
  apply::Model model;
  model.members.push_back({.config = std::make_shared<config::Config>(),
                           .network = std::move(network),
                           .weights = std::move(weights)});
  return model;
}

data::Matrix one_row(const Numbers& features) {
  return {1, std::ssize(features), Array<float>(features.begin(), features.end())};
}

void expect_sum(const ExplainedOutput& output) {
  double sum = 0;
  double sizes = 0;
  for (const double contribution : output.contributions) {
    sum += contribution;
    sizes += std::abs(contribution);
  }
  EXPECT_NEAR(sum, output.at_row - output.at_baseline, 1e-3 * sizes);
  EXPECT_NEAR(output.error, sum - (output.at_row - output.at_baseline), 1e-9);
}

// 2 a - b / 2 + [k = p] - 3 [k = q], with a scaled by 1/2 around 1.
apply::Model linear_regression() {
  apply::Model model =
      model_of(network::mlp({.num_features = 4, .num_outputs = 1, .hidden_sizes = {}}),
               {{"layers.0.weight", test::float_data({1, 4}, {4, -0.5F, 1, -3})},
                {"layers.0.bias", test::float_data({1}, {0.25F})}});
  model.loss = config::Loss::kMse;
  data::Schema& schema = model.schema;
  schema.task = config::Task::kRegression;
  schema.columns = {
      {.name = "a", .fill = 3},
      {.name = "id", .kind = data::ColumnKind::kId},
      {.name = "b", .fill = -2},
      {.name = "k", .kind = data::ColumnKind::kCategorical, .categories = {"p", "q"}}};
  schema.feature_names = data::feature_names(schema.columns);
  schema.target_names = {"y"};
  schema.scaling = {{1, 0, 0, 0}, {0.5F, 1, 1, 1}};
  schema.target_scaling = {{10}, {0.5F}};  // the file has twice the output
  return model;
}

TEST(ContributionsTest, OfALinearModelAreWeightsTimesDifferences) {
  const apply::Model model = linear_regression();
  const std::vector<ColumnGroup> groups = column_groups(model.schema);
  const Contributions found = explain_row(model, groups, one_row({5, 4, 0, 1}), 1);
  EXPECT_EQ(found.cells, (std::vector<std::string>{"5", "4", "q"}));
  EXPECT_EQ(found.baseline,
            "each number is at its mean in the training split, each category unknown");
  ASSERT_EQ(found.outputs.size(), 1U);
  const ExplainedOutput& output = found.outputs.front();
  EXPECT_EQ(output.name, "y");
  EXPECT_EQ(output.num_steps, 32);
  EXPECT_TRUE(output.adds_up);
  EXPECT_NEAR(output.at_baseline, 10 + 2 * (4 * (3 - 1) * 0.5 + 0.5 * 2 + 0.25), 1e-5);
  EXPECT_NEAR(output.at_row, 10 + 2 * (4 * (5 - 1) * 0.5 - 0.5 * 4 - 3 + 0.25), 1e-5);
  const std::vector<double> expected = {2 * 2 * (5 - 3), 2 * -0.5 * (4 + 2), 2 * -3};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(output.contributions[i], expected[i], 1e-5) << groups[i].name;
  }
}

TEST(ContributionsTest, TheFirstOfTwoClassesHasTheNegativeLogitOfTheSecond) {
  apply::Model model = linear_regression();
  model.loss = config::Loss::kBinaryCrossEntropy;
  model.schema.task = config::Task::kClassification;
  model.schema.labels = {"no", "yes"};
  const std::vector<ColumnGroup> groups = column_groups(model.schema);
  const Contributions no = explain_row(model, groups, one_row({-5, 4, 0, 1}), 1);
  EXPECT_EQ(no.prediction, "no (probability 1.0000)");
  EXPECT_EQ(no.outputs[0].name, "logit of \"no\"");
  EXPECT_NEAR(no.outputs[0].at_row, 16.75, 1e-5);
  EXPECT_NEAR(no.outputs[0].contributions[0], 16, 1e-5);
  EXPECT_NEAR(no.outputs[0].contributions[2], 3, 1e-5);
  const Contributions yes = explain_row(model, groups, one_row({5, 4, 1, 0}), 1);
  EXPECT_EQ(yes.outputs[0].name, "logit of \"yes\"");
  EXPECT_NEAR(yes.outputs[0].contributions[2], 1, 1e-5);
}

TEST(ContributionsTest, EachTargetIsExplained) {
  apply::Model model =
      model_of(network::mlp({.num_features = 1, .num_outputs = 2, .hidden_sizes = {}}),
               {{"layers.0.weight", test::float_data({2, 1}, {1, -2})},
                {"layers.0.bias", test::float_data({2}, {0, 0})}});
  model.loss = config::Loss::kMse;
  model.schema.task = config::Task::kRegression;
  model.schema.columns = {{.name = "a", .fill = 1}};
  model.schema.feature_names = {"a"};
  model.schema.target_names = {"u", "v"};
  model.schema.scaling = {{0}, {1}};
  model.schema.target_scaling = {{10, 0}, {0.5F, 2}};
  const Contributions found = explain_row(model, column_groups(model.schema), one_row({4}), 1);
  ASSERT_EQ(found.outputs.size(), 2U);
  EXPECT_EQ(found.prediction, "18, -4");
  EXPECT_NEAR(found.outputs[0].contributions[0], 6, 1e-5);
  EXPECT_NEAR(found.outputs[1].contributions[0], -3, 1e-5);
}

/// A network with kinks: more steps are needed.
apply::Model relu_model(uint64_t seed) {
  network::NetworkSpec network =
      network::mlp({.num_features = 6, .num_outputs = 3, .hidden_sizes = {32, 32}, .dropout = 0.5});
  std::vector<checkpoint::NamedTensor> weights;
  for (const network::TensorSpec& spec : network::tensors(network)) {
    weights.push_back(
        {spec.name, test::float_data(spec.shape, test::some_numbers(spec.num_elements(), seed++))});
  }
  apply::Model model = model_of(std::move(network), std::move(weights));
  model.schema.labels = {"a", "b", "c"};
  model.schema.scaling = {test::some_numbers(6, 3), Numbers(6, 2.0F)};
  for (int i = 0; i < 6; ++i) model.schema.feature_names.push_back(fmt::format("x_{}", i));
  return model;
}

TEST(ContributionsTest, AddUpBehindKinksWithTheSameBitsForAnyNumberOfThreads) {
  const apply::Model model = relu_model(10);
  const std::vector<ColumnGroup> groups = column_groups(model.schema);
  const data::Matrix row = one_row(test::some_numbers(6, 50));
  const Contributions found = explain_row(model, groups, row, 1);
  const ExplainedOutput& output = found.outputs.front();
  EXPECT_TRUE(output.adds_up);
  expect_sum(output);
  EXPECT_EQ(explain_row(model, groups, row, 3).outputs.front().contributions, output.contributions);
}

TEST(ContributionsTest, OfAnEnsembleExplainTheLogitOfItsMeanProbability) {
  apply::Model model = relu_model(10);
  for (const uint64_t seed : {uint64_t{100}, uint64_t{200}}) {
    model.members.push_back(relu_model(seed).members.front());
  }
  const Contributions found =
      explain_row(model, column_groups(model.schema), one_row(test::some_numbers(6, 50)), 2);
  const ExplainedOutput& output = found.outputs.front();
  EXPECT_TRUE(output.adds_up);
  expect_sum(output);
  const auto p = std::stod(found.prediction.substr(found.prediction.find("probability ") + 12));
  EXPECT_NEAR(output.at_row, std::log(p / (1 - p)), 0.01);
}

TEST(ContributionsTest, ARowWhoseOutputsAreNotFiniteIsRefused) {
  const apply::Model model = relu_model(10);
  EXPECT_EQ(test::message_of(ErrorKind::kData,
                             [&] {
                               explain_row(model, column_groups(model.schema),
                                           one_row({1e38F, 1e38F, 1e38F, -1e38F, 1e38F, 1}), 1);
                             }),
            "--row: the outputs of the model for this row are not finite");
}

TEST(ContributionsTest, TheBaselineIsWhatTheSchemaKeeps) {
  apply::Model model = linear_regression();
  model.schema.columns[0].quantiles = {1, 2, 3, 4};
  model.schema.columns[3].embedding_size = 2;
  model.schema.scaling = {{7, 8, 0}, {1, 1, 1}};
  model.schema.feature_names = data::feature_names(model.schema.columns);
  const data::Matrix filled = baseline_row(model);
  EXPECT_EQ(std::get<Array<float>>(filled.values)[0], 1.0F / 3);  // rank of 3
  EXPECT_EQ(std::get<Array<float>>(filled.values)[1], -2);
  EXPECT_EQ(std::get<Array<float>>(filled.values)[2], 2);  // behind the categories
  auto config = std::make_shared<config::Config>();
  config->data.fill = config::Imputation::kConstant;
  model.members.front().config = config;
  const data::Matrix scaled = baseline_row(model);
  EXPECT_EQ(std::get<Array<float>>(scaled.values)[0], 7);
  EXPECT_EQ(std::get<Array<float>>(scaled.values)[1], 8);
}

TEST(GaussLegendreTest, IsExactForPolynomials) {
  for (const int64_t n : {1, 5, 32, 4096}) {
    const Quadrature q = gauss_legendre(n);
    ASSERT_EQ(std::ssize(q.nodes), n);
    for (const int64_t degree : {int64_t{0}, int64_t{1}, std::min<int64_t>(2 * n - 1, 63)}) {
      double sum = 0;
      for (std::size_t i = 0; i < q.nodes.size(); ++i) {
        sum += q.weights[i] * std::pow(q.nodes[i], static_cast<double>(degree));
      }
      EXPECT_NEAR(sum, 1 / static_cast<double>(degree + 1), 1e-12) << n << ' ' << degree;
    }
  }
}

void collect(const Json& value, Numbers& numbers) {
  if (!value.is_array()) return numbers.push_back(value.get<float>());
  for (const Json& part : value) collect(part, numbers);
}

Numbers flat(const Json& value) {
  Numbers numbers;
  collect(value, numbers);
  return numbers;
}

network::NetworkSpec golden_network(const Json& c) {
  network::MlpOptions options{.num_features = 5, .num_outputs = 3, .hidden_sizes = {4, 4}};
  options.activation = from_text<config::Activation>(c["activation"].get<std::string>()).value();
  if (!c.contains("members")) {
    options.norm = from_text<config::Norm>(c["norm"].get<std::string>()).value();
    options.residual = c["residual"];
    options.embeddings = {{4, 3}, {7, 2}};
    return network::mlp(options);
  }
  options.num_members = c["members"];
  options.mean = c["loss"] == "mse" ? network::Mean::kOfNumbers : network::Mean::kOfProbabilities;
  options.numeric_embedding = config::NumericEmbedding::kPiecewiseLinear;
  options.embedded_features = {0, 1, 2, 3, 4};
  options.embedding_size = c["size"];
  options.num_bins = 4;
  return network::mlp(options);
}

Numbers golden_weight(const Json& c, const std::string& name) {
  if (name == "member_mean.scale") return {1};
  return flat(name == "numeric_embeddings.edges" ? c["edges"] : c["parameters"][name]);
}

apply::Model golden_model(const Json& c) {
  const network::NetworkSpec network = golden_network(c);
  std::vector<checkpoint::NamedTensor> weights;
  for (const network::TensorSpec& spec : network::tensors(network)) {
    weights.push_back({spec.name, test::float_data(spec.shape, golden_weight(c, spec.name))});
  }
  apply::Model model = model_of(network, std::move(weights));
  data::Schema& schema = model.schema;
  const Numbers baseline = flat(c["baseline"]);
  for (std::size_t i = 0; i < baseline.size(); ++i) {
    data::Column column{.name = fmt::format("x{}", i), .fill = baseline[i]};
    if (i >= 3 && !c.contains("members")) {
      column.kind = data::ColumnKind::kCategorical;
      column.embedding_size = i == 3 ? 3 : 2;
      column.categories.assign(static_cast<std::size_t>(baseline[i]), "category");
    }
    schema.columns.push_back(column);
  }
  schema.feature_names = data::feature_names(schema.columns);
  schema.labels = {"a", "b", "c"};
  schema.scaling = {Numbers(5, 0.0F), Numbers(5, 1.0F)};
  if (c.contains("loss") && c["loss"] == "mse") {
    schema.task = config::Task::kRegression;
    schema.target_names = {"u", "v", "w"};
    schema.target_scaling = {Numbers(3, 0.0F), Numbers(3, 1.0F)};
  }
  return model;
}

class ContributionsGoldenTest : public testing::TestWithParam<std::size_t> {};

TEST_P(ContributionsGoldenTest, AreThoseOfAutograd) {
  static const Json golden = test::read_golden("contributions.json");
  const Json& c = golden["cases"][GetParam()];
  const apply::Model model = golden_model(c);
  const Contributions found =
      explain_row(model, column_groups(model.schema), one_row(flat(c["row"])), 1);
  const ExplainedOutput& output = found.outputs.front();
  if (model.schema.task == config::Task::kClassification) {
    EXPECT_EQ(output.name,
              fmt::format("logit of \"{}\"", model.schema.labels[c["label"].get<std::size_t>()]));
  }
  EXPECT_NEAR(output.at_row, c["at_row"].get<double>(), 2e-6);
  EXPECT_NEAR(output.at_baseline, c["at_baseline"].get<double>(), 2e-6);
  EXPECT_TRUE(output.adds_up);
  const Numbers expected = flat(c["contributions"]);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(output.contributions[i], expected[i], 2e-6) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryNetwork, ContributionsGoldenTest,
                         testing::Range(std::size_t{0}, std::size_t{4}));

}  // namespace
}  // namespace trainer::explain
