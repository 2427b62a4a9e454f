// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/data/table.h"

/// What the exports to other formats have in common, and the one that needs no library.
namespace trainer::apply {

enum class ExportInputs {
  kFeatures,  // one matrix of features as data::encode makes them, not scaled
  kColumns    // one input a column of the table, as its cells are
};

enum class ExportOutputs {
  kScores,        // logits of classes
  kProbabilities  // one a class
};

struct ExportOptions {
  ExportInputs inputs = ExportInputs::kFeatures;
  ExportOutputs outputs = ExportOutputs::kScores;
};

/// What goes into an exported file or comes out of it.
struct Port {
  std::string name;
  std::string type;  // "float32 [batch, 10]"
};

struct ExportReport {
  std::string format;         // "ONNX, opset 13"
  std::vector<Port> inputs;   // none: the file holds weights only
  std::vector<Port> outputs;  // likewise
  std::string checked;        // what was done with the file before it got its name
};

/// "logits" or "probabilities"; of a regression, whose numbers are in the units of the data always,
/// "predictions".
std::string output_name(const Model& model, ExportOutputs outputs);

/// How many columns that output has: one logit, but two probabilities with binary cross-entropy.
int64_t output_width(const Model& model, ExportOutputs outputs);

/// Whether features have offsets (data::Scaling), so that they are float64 as the file has them;
/// and whether targets have some, so that predictions are.
bool takes_doubles(const data::Schema& schema);
bool gives_doubles(const data::Schema& schema);

/// What features without their offsets are limited to (data.outliers: clip).
struct FeatureLimits {
  std::vector<float> low;   // [num_features]; empty: none is limited
  std::vector<float> high;  // likewise
};
FeatureLimits feature_limits(const data::Schema& schema);

/// All that the file of another format should tell of a model, as a JSON object: task, labels,
/// names of features and targets, columns, scaling, versions, the checkpoint and its place.
std::string export_description(const Model& model);

/// The same as texts by name; those of lists and objects are JSON.
std::vector<std::pair<std::string, std::string>> export_metadata(const Model& model);

/// Rows of made-up features, spread as those of the training part were, to try a model on; without
/// their offsets. Always the same ones.
data::Matrix made_up_features(const Model& model, int64_t num_rows);

/// The same with their offsets, as an exported model takes them.
std::vector<double> in_file_units(const Model& model, const data::Matrix& features);

/// What an exported model should answer on `features`, computed by this program: `[n,
/// output_width]`.
std::vector<double> expected_outputs(const Model& model, const data::Matrix& features,
                                     ExportOutputs outputs);

/// Writes weights and metadata as a safetensors file, complete or not at all (see
/// archive::write_safetensors). Throws Error(kFileSystem).
ExportReport export_safetensors(const Model& model, const std::filesystem::path& path);

}  // namespace trainer::apply
