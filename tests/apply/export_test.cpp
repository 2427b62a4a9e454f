// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export.h"

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/apply/export_samples.h"
#include "trainer/base/archive/safetensors.h"
#include "trainer/base/error.h"
#include "trainer/base/memory/array.h"
#include "trainer/base/text/json.h"
#include "trainer/base/version.h"
#include "trainer/table/table.h"

#include "support/error_of.h"
#include "support/synthetic_models.h"
#include "support/temporary_folder.h"

namespace trainer::apply {
namespace {

using test::ModelRecipe;

class ExportDataTest : public testing::Test {
 protected:
  Model model_of(const ModelRecipe& recipe) const {
    return model_of(test::make_checkpoint(recipe));
  }

  Model model_of(const checkpoint::Checkpoint& c) const {
    checkpoint::write(folder_.path() / "some.pt", c);
    return load_model(folder_.path() / "some.pt");
  }

  test::TemporaryFolder folder_;
};

TEST_F(ExportDataTest, OutputsHaveTheNameAndWidthOfWhatTheyAre) {
  const auto expect = [&](const ModelRecipe& recipe, ExportOutputs outputs, const std::string& name,
                          int64_t width) {
    const Model model = model_of(recipe);
    EXPECT_EQ(output_name(model, outputs), name);
    EXPECT_EQ(output_width(model, outputs), width);
    EXPECT_EQ(expected_outputs(model, sample_features(model, 4), outputs).size(),
              static_cast<std::size_t>(4 * width));
  };
  const ModelRecipe binary = {.training = "{loss: binary_cross_entropy}", .labels = {"n", "y"}};
  expect({}, ExportOutputs::kScores, "logits", 3);
  expect({}, ExportOutputs::kProbabilities, "probabilities", 3);
  expect(binary, ExportOutputs::kScores, "logits", 1);
  expect(binary, ExportOutputs::kProbabilities, "probabilities", 2);
  expect({.labels = {}, .num_targets = 2}, ExportOutputs::kScores, "predictions", 2);
}

TEST_F(ExportDataTest, OutputsThatDifferAreRefused) {
  const auto message = [](const Model& model, const std::vector<double>& expected,
                          const std::vector<double>& got) {
    return test::message_of(ErrorKind::kRuntime, [&] {
      check_outputs(model, "m.onnx", "Another Program 1.2", expected, got);
    });
  };
  const Model model = model_of(ModelRecipe{});
  const auto differ = [](const std::string& difference) {
    return "m.onnx: the outputs of the exported file in Another Program 1.2 differ by " +
           difference + " from those of trainer; this is a bug in trainer, please report it";
  };
  check_outputs(model, "m.onnx", "", std::vector{1.0, 1e6, 1e-9},
                std::vector{1.000009, 1e6 + 9, 0.0});
  EXPECT_EQ(message(model, {1, 2}, {1, 2.5}), differ("0.25"));
  EXPECT_EQ(message(model, {1, 2}, {1}), differ("inf"));
  EXPECT_EQ(message(model, {1, 2}, {1, NAN}), differ("inf"));
  EXPECT_EQ(message(model, {1, INFINITY}, {1, 2}), differ("inf"));
  const Model dated = model_of({.labels = {}, .has_offsets = true});
  EXPECT_EQ(message(dated, {1e9 + 1.5}, {1e9 + 2.5}), differ("1"));
}

TEST_F(ExportDataTest, SampleCellsCoverWhatAColumnMayHold) {
  checkpoint::Checkpoint c = test::make_checkpoint({.num_features = 4});
  c.schema.columns = {{.name = "x0", .fill = 0.5F},
                      {.name = "id", .kind = data::ColumnKind::kId},
                      {.name = "k",
                       .kind = data::ColumnKind::kCategorical,
                       .categories = {"a", "b"},
                       .has_missing_indicator = true}};
  c.schema.feature_names = data::feature_names(c.schema.columns);
  const data::Table table = sample_cells(model_of(c), 64);
  EXPECT_EQ(table.feature_names, (std::vector<std::string>{"x0", "k"}));
  const auto& cells = std::get<Array<float>>(table.features.values);
  ASSERT_EQ(cells.size(), 128);
  std::set<float> categories;
  int num_missing[2] = {};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    num_missing[i % 2] += std::isnan(cells[i]) ? 1 : 0;
    if (i % 2 == 1 && !std::isnan(cells[i])) categories.insert(cells[i]);
  }
  EXPECT_GT(num_missing[0], 0);
  EXPECT_GT(num_missing[1], 0);
  EXPECT_EQ(categories, (std::set<float>{0, 1, 2}));  // the last one is not known
}

TEST_F(ExportDataTest, TheDescriptionOfAClassifier) {
  checkpoint::Checkpoint c = test::make_checkpoint({.num_features = 4, .is_averaged = true});
  c.schema.columns = {{.name = "x0", .fill = 0.5F},
                      {.name = "id", .kind = data::ColumnKind::kId},
                      {.name = "k",
                       .kind = data::ColumnKind::kCategorical,
                       .categories = {"u", "v"},
                       .has_missing_indicator = true}};
  c.schema.feature_names = {"x0", "k=u", "k=v", "k is missing"};
  c.schema.labels = {"a", "\"b\"", "\xFF"};
  c.schema.missing = {"NA", "-999"};
  const Json description = parse_json(export_description(model_of(c)));
  EXPECT_EQ(description["producer"], "trainer " + build_info().version);
  EXPECT_EQ(description["checkpoint"], "some.pt");
  EXPECT_EQ(description["epoch"], 3);
  EXPECT_EQ(description["step"], 12);
  EXPECT_EQ(description["averaged_weights"], true);
  EXPECT_EQ(description["task"], "classification");
  EXPECT_EQ(description["loss"], "cross_entropy");
  EXPECT_EQ(description["labels"], Json({"a", "\"b\"", "\xEF\xBF\xBD"}));  // what is no UTF-8
  EXPECT_EQ(description["feature_names"], Json(c.schema.feature_names));
  EXPECT_EQ(description["feature_scaling"]["scale"], Json({0.75, 0.75, 0.75, 0.75}));
  EXPECT_EQ(description["model"]["hidden_sizes"], Json({8, 8}));
  EXPECT_EQ(description["columns"], parse_json(R"([
      {"name": "x0", "kind": "numeric", "fill": 0.5, "missing_indicator": false},
      {"name": "id", "kind": "id"},
      {"name": "k", "kind": "categorical", "categories": ["u", "v"], "missing_indicator": true}])"));
  EXPECT_EQ(description["missing"], Json(c.schema.missing));
  EXPECT_FALSE(description.contains("target_scaling"));
}

TEST_F(ExportDataTest, TheDescriptionOfARegressionHasTheScalingOfItsTargets) {
  const Json description =
      parse_json(export_description(model_of({.labels = {}, .num_targets = 2})));
  EXPECT_EQ(description["task"], "regression");
  EXPECT_EQ(description["loss"], "mse");
  EXPECT_EQ(description["target_scaling"], Json({{"shift", {-3, 7}}, {"scale", {0.25, 0.125}}}));
  EXPECT_FALSE(description.contains("labels"));
}

TEST_F(ExportDataTest, SafetensorsHoldTheAveragedWeights) {
  const Model model = model_of({.is_averaged = true});
  const std::filesystem::path path = folder_.path() / "m.safetensors";
  const ExportReport report = export_safetensors(model, path);
  EXPECT_TRUE(report.inputs.empty());
  const archive::Safetensors content = archive::read_safetensors(path);
  ASSERT_EQ(content.tensors.size(), model.members.front().weights.size());
  for (std::size_t i = 0; i < model.members.front().weights.size(); ++i) {
    const auto& [name, tensor] = content.tensors[i];
    EXPECT_EQ(name, model.members.front().weights[i].name);
    EXPECT_EQ(float_values(tensor)[0], float_values(model.members.front().weights[i].tensor)[0]);
  }
}

}  // namespace
}  // namespace trainer::apply
