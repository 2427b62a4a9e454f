// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/apply/model.h"

/// What the exports to other formats have in common.
namespace trainer::apply {

/// What an exported model takes.
enum class ExportInputs {
  kFeatures,  // one matrix of features as data::encode makes them, not scaled
  kColumns    // one input a column of the table, as its cells are
};

/// What an exported model returns.
enum class ExportOutputs {
  kScores,        // logits of classes
  kProbabilities  // one a class
};

/// What an export takes and returns.
struct ExportOptions {
  ExportInputs inputs = ExportInputs::kFeatures;
  ExportOutputs outputs = ExportOutputs::kScores;
  std::optional<int64_t> batch = {};  // the number of rows; none: any (ONNX)
};

/// An input or output of an exported file.
struct TensorInfo {
  std::string name;
  std::string type;  // "float32 [batch, 10]"
};

/// What an export wrote.
struct ExportReport {
  std::string format;                // "ONNX, opset 13"
  std::vector<TensorInfo> inputs;    // empty if the file holds weights only
  std::vector<TensorInfo> outputs;   // empty in that case too
  std::vector<std::string> checked;  // how it was verified before it was moved into place, in lines
};

/// What comes before the names of a member's tensors in a file: "members.2." in an ensemble.
std::string member_prefix(const Model& model, std::size_t member);

/// "logits" or "probabilities"; of a regression, whose numbers are in the units of the data always,
/// "predictions".
std::string output_name(const Model& model, ExportOutputs outputs);

/// How many columns that output has: one logit, but two probabilities with binary cross-entropy.
int64_t output_width(const Model& model, ExportOutputs outputs);

/// Whether features have offsets (data::Scaling), so that they are float64 as the file has them.
bool takes_doubles(const data::Schema& schema);

/// Whether targets have offsets, so that predictions are float64.
bool gives_doubles(const data::Schema& schema);

/// What features without their offsets are limited to (data.outliers: clip).
struct FeatureLimits {
  std::vector<float> low;   // [num_features]; empty: none is limited
  std::vector<float> high;  // [num_features], too; or empty
};

/// The limits of the columns of `schema`, by feature.
FeatureLimits feature_limits(const data::Schema& schema);

}  // namespace trainer::apply
