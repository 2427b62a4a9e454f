// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of exports share: made-up models, and how they are exported.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/apply/ensemble.h"
#include "trainer/apply/export.h"
#include "trainer/apply/export_samples.h"
#include "trainer/apply/model.h"
#include "trainer/base/text/json.h"
#include "trainer/run/checkpoint/checkpoint.h"

#include "support/files.h"
#include "support/process.h"
#include "support/program_test.h"
#include "support/synthetic_models.h"
#include "support/temporary_folder.h"

namespace trainer::test {

namespace fs = std::filesystem;
using apply::ExportOutputs;

#ifdef TRAINER_HAS_ONNX
inline constexpr bool kHasOnnx = true;
#else
inline constexpr bool kHasOnnx = false;
#endif

/// A made-up model and how it is exported.
struct ExportCase {
  ModelRecipe recipe;
  ExportOutputs outputs = ExportOutputs::kScores;
  int num_members = 1;           // of an ensemble
  std::string other_model = {};  // of each second one, if it differs
};

inline std::vector<ExportCase> export_cases() {
  constexpr auto kProbabilities = ExportOutputs::kProbabilities;
  const std::vector<std::string> two = {"no", "yes"};
  std::vector<ExportCase> all = {
      {{}, kProbabilities},
      {{.model = "{hidden_sizes: [16, 7]}", .is_averaged = true}},
      {{.training = "{loss: binary_cross_entropy}", .labels = two}, kProbabilities},
      {{.training = "{loss: binary_cross_entropy}", .labels = two}},
      {{.labels = two}, kProbabilities},
      {{.labels = {}, .num_targets = 3}},
      {{.has_offsets = true}},
      {{.has_smooth_clip = true}},
      {{.labels = {}, .num_targets = 2, .clips_predictions = true}},
      {{.labels = {}, .num_targets = 2, .has_offsets = true}},
      {{.model = "{hidden_sizes: [6], norm: layer}", .labels = {}}},
      {{}, kProbabilities, 3},
      {{.model = "{hidden_sizes: [9], numeric_embedding: periodic, input_scale: true}"},
       ExportOutputs::kScores,
       2},
      {{.training = "{loss: binary_cross_entropy}", .labels = two}, kProbabilities, 3},
      {{.training = "{loss: binary_cross_entropy}", .labels = two}, ExportOutputs::kScores, 3},
      {{.labels = {}, .num_targets = 2, .clips_predictions = true}, ExportOutputs::kScores, 3},
      {{.model = "{hidden_sizes: [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4], residual: true}"}}};
  constexpr auto* kMembers = "{hidden_sizes: [9, 9], ensemble_size: 3}";
  all.push_back({{.model = kMembers}, kProbabilities});
  all.push_back({{.model = kMembers}, kProbabilities, 2});
  all.push_back({{.model = kMembers, .training = "{loss: binary_cross_entropy}", .labels = two},
                 kProbabilities});
  all.push_back({{.model = kMembers, .labels = {}, .num_targets = 2}});
  constexpr auto* kOther = "{hidden_sizes: [7], numeric_embedding: periodic, activation: mish}";
  all.push_back({{.model = kMembers}, kProbabilities, 3, kOther});
  all.push_back({{.model = kMembers, .labels = {}, .num_targets = 2}, {}, 2, kOther});
  for (const char* part : {"input_scale: true", "numeric_embedding: periodic",
                           "numeric_embedding: periodic, norm: batch, ensemble_size: 2",
                           "numeric_embedding: piecewise_linear, num_bins: 6",
                           "parametric_activation: true, activation: mish",
                           "parametric_activation: true, activation: selu",
                           "norm: layer, input_scale: true, numeric_embedding: periodic"}) {
    all.push_back({{.model = fmt::format("{{hidden_sizes: [9, 9], {}}}", part)}, kProbabilities});
  }
  for (const std::string& activation : enum_names<config::Activation>()) {
    for (const char* norm : {"none", "batch", "layer"}) {
      const std::string residual = *norm == 'n' ? "false" : "true";
      all.push_back({{.model = fmt::format("{{hidden_sizes: [9, 9, 9], activation: {}, norm: {}, "
                                           "residual: {}}}",
                                           activation, norm, residual)}});
    }
  }
  return all;
}

inline void expect_near(const std::vector<double>& got, const std::vector<double>& expected,
                        const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-5 * std::clamp(std::abs(expected[i]), 1.0, 1e3))
        << what << ", place " << i;
  }
}

class ExportTestBase : public ProgramTest {
 protected:
  ProcessResult run(const std::string& arguments, const std::string& environment = "") const {
    return trainer("export " + arguments, environment);
  }

  /// Writes the model of a case, exports it and returns it, with one job for the other program.
  apply::Model exported(const ExportCase& wanted, const std::string& name, Json& jobs) const {
    const fs::path checkpoint = folder_.path() / (name + ".checkpoint");
    write_model(wanted, checkpoint);
    const bool softmax = wanted.outputs == ExportOutputs::kProbabilities;
    const ProcessResult result = run(
        fmt::format("{} --output {} {}", checkpoint.string(), name, softmax ? "--softmax" : ""));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("\nchecked "), std::string::npos) << result.out;
    apply::Model model = apply::load_model(checkpoint);
    const data::Matrix features = apply::sample_features(model, kNumRows);
    jobs.push_back({{"model", (folder_.path() / name).string()},
                    {"inputs",
                     {{"features",
                       {{"type", apply::takes_doubles(model.schema) ? "float64" : "float32"},
                        {"dims", {features.num_rows, features.num_columns}},
                        {"data", apply::in_file_units(model, features)}}}}}});
    return model;
  }

  // A checkpoint, or the folder of an ensemble.
  static void write_model(const ExportCase& wanted, const fs::path& path) {
    if (wanted.num_members == 1) {
      checkpoint::write(path, make_checkpoint(wanted.recipe));
      return;
    }
    apply::EnsembleFile ensemble{.num_members = wanted.num_members, .runs = {}};
    for (int i = 1; i <= wanted.num_members; ++i) {
      ensemble.runs.push_back(fmt::format("member_{}", i));
      fs::create_directories(path / ensemble.runs.back());
      ModelRecipe recipe = wanted.recipe;
      if (i % 2 == 0 && !wanted.other_model.empty()) recipe.model = wanted.other_model;
      checkpoint::write(path / ensemble.runs.back() / "best.pt",
                        make_checkpoint(recipe, 100 * static_cast<uint64_t>(i)));
    }
    apply::write_ensemble(path, ensemble);
  }

  static std::vector<double> expected(const apply::Model& model, ExportOutputs outputs) {
    return apply::expected_outputs(model, apply::sample_features(model, kNumRows), outputs);
  }

  Json run_python(const std::string& command) const {
    const ProcessResult result = run_process("cd " + folder_.path().string() + " && " + command);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? parse_json(result.out) : Json();
  }

  std::vector<std::string> names_here() const { return file_names(folder_.path()); }

  static constexpr int64_t kNumRows = 7;
};

}  // namespace trainer::test
