// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/apply/model.h"

/// Options, names, shapes and metadata that all exports to other formats have in common, and the
/// simplest one.

namespace trainer::apply {

/// The inputs of an exported model.
enum class ExportInputs {
  kFeatures,  // one matrix of features as data::encode() returns them, not scaled
  kColumns    // one input per column of the table, with its cells as they are in the file
};

/// The outputs of an exported classifier; the outputs of a regression are always its predictions.
enum class ExportOutputs {
  kScores,        // logits, see output_width()
  kProbabilities  // one probability per class
};

/// How the matrices of weights are stored; a model always computes in float32.
enum class WeightType {
  kFloat32,
  kFloat16,
  kInt8  // integers from -127 to 127 and a factor for each row
};

/// The inputs and outputs that the exported model is to have.
struct ExportOptions {
  ExportInputs inputs = ExportInputs::kFeatures;
  ExportOutputs outputs = ExportOutputs::kScores;
  std::optional<int64_t> batch = {};          // fixed number of rows; none: any number (ONNX)
  WeightType weights = WeightType::kFloat32;  // ONNX
};

/// An input or output of an exported file.
struct TensorInfo {
  std::string name;
  std::string type;  // "float32 [batch, 10]"
};

/// A description of the exported file for the user.
struct ExportReport {
  std::string format;                // "ONNX, opset 13"
  std::vector<TensorInfo> inputs;    // empty if the file holds weights only
  std::vector<TensorInfo> outputs;   // empty if the file holds weights only
  std::vector<std::string> checked;  // lines that say how the file was verified before its rename
};

/// The prefix of the names of a member's tensors in a file: "members.2." in an ensemble, else
/// empty.
std::string member_prefix(const Model& model, std::size_t member);

/// The name of the output tensor: "logits" or "probabilities"; "predictions" for a regression,
/// whose outputs are always numbers in the units of the data.
std::string output_name(const Model& model, ExportOutputs outputs);

/// The number of columns of the output. With binary cross-entropy it is 1 for logits, but 2 for
/// probabilities.
int64_t output_width(const Model& model, ExportOutputs outputs);

/// The names of the outputs that follow those of a model with intervals: "lower" and "upper"
/// `[batch, targets]`, or "set" `[batch, classes]`, of booleans; none without intervals.
std::vector<std::string> interval_names(const Model& model);

/// Whether features have offsets (data::Scaling), so that exported models take them as float64.
bool takes_doubles(const data::Schema& schema);

/// Whether targets have offsets, so that exported models return predictions as float64.
bool gives_doubles(const data::Schema& schema);

/// The range to which features without their offsets are clipped (data.outliers: clip).
struct FeatureLimits {
  std::vector<float> low;   // [num_features]; empty: no feature is clipped
  std::vector<float> high;  // [num_features]; empty: no feature is clipped
};

/// The limits of the features of `schema`; features without limits get the full range of float32.
FeatureLimits feature_limits(const data::Schema& schema);

/// Throws Error(kRuntime) if the model has more weights than `what` ("a C file") may have.
void check_num_weights(const Model& model, std::string_view what);

/// The metadata of a model for exported files, as the text of a JSON object: task, labels, names of
/// features and targets, columns, scaling, versions, the checkpoint and its position.
std::string export_description(const Model& model);

/// The same metadata as pairs of a name and a text; lists, objects and numbers are JSON texts.
std::vector<std::pair<std::string, std::string>> export_metadata(const Model& model);

/// Writes weights and metadata as a safetensors file, complete or not at all (see
/// archive::write_safetensors). Throws Error(kFileSystem).
ExportReport export_safetensors(const Model& model, const std::filesystem::path& path);

/// Writes a C99 file with functions that predict, from the columns of a table if the model has
/// some, and from features. Their names begin with that of the file. Throws Error(kRuntime), before
/// anything is written, if C has no form for the model.
ExportReport export_c(const Model& model, const std::filesystem::path& path);

}  // namespace trainer::apply
