// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/apply/export_metadata.h"
#include "trainer/apply/export_safetensors.h"
#include "trainer/apply/export_samples.h"
#include "trainer/archive/safetensors.h"
#include "trainer/core/json.h"
#include "trainer/core/version.h"

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
